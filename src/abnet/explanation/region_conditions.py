"""Regions of a narrow network in words: a few conditions on columns that mostly tell a region from the others.

A region is a sign of every leading neuron, and a neuron's sum has a term for each column. So only the columns with the
largest terms are considered, and of these the conditions that best separate the region's training rows from the others.
"""

from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from abnet.explanation.background import column_layout, network_inputs
from abnet.explanation.restored_cells import RestoredCells, restore_cells
from abnet.model.leading_signs import LeadingLayer, leading_layer, leading_signs
from abnet.model.model import Model
from abnet.model.region_words import RegionWords
from abnet.utils.coded_rows import Inputs
from abnet.utils.wording import printable

__all__ = ["regions_in_words"]

Floats = NDArray[np.float64]
Rows = NDArray[np.bool_]

MOST_ROWS = 4000
"""Maximum number of training rows that the words are computed from."""
MOST_REGIONS = 64
"""Maximum number of regions with words: those with most training rows."""
LEAST_ROWS = 10
"""Minimum number of training rows of a region with words."""
MOST_COLUMNS = 12
"""Maximum number of columns that conditions may name."""
MOST_CONDITIONS = 3
LEAST_GAIN = 0.02
"""A further condition must improve the separation (recall + specificity - 1) by this much."""
EXACTNESS = 1e5
"""Numbers are rounded to about this many steps over the range of a column."""
FINENESS = 50
"""Thresholds are rounded to about this many steps over the range of a column."""
N_THRESHOLDS = 40
"""Number of thresholds that are tried for a column of numbers."""
MOST_CATEGORIES = 3
"""Maximum number of categories that a condition lists."""
EPOCH = date(1970, 1, 1)


class Condition(NamedTuple):
    """A condition on one column, and the rows that meet it."""

    name: str
    words: str
    rows: Rows


class ConditionRows(NamedTuple):
    """Conditions that are tried together, and the rows that meet each of them, as ones and zeros."""

    conditions: Sequence[Condition]
    met: NDArray[np.float32]  # (conditions, rows)

    @staticmethod
    def of(conditions: Sequence[Condition], n_rows: int) -> "ConditionRows":
        """Some conditions on the same rows."""
        met = np.zeros((len(conditions), n_rows), np.float32)
        for place, condition in enumerate(conditions):
            met[place] = condition.rows
        return ConditionRows(conditions, met)


class NamedColumn(NamedTuple):
    """A column that conditions may name: its categories, or its conditions on numbers, which suit every region."""

    name: str
    categories: NDArray[np.object_] | None
    ranges: ConditionRows

    def candidates(self, inside: Rows, met: Rows) -> ConditionRows:
        """The conditions that are tried for a region, among rows that meet all so far."""
        if self.categories is None:
            return self.ranges
        return ConditionRows.of(list(_sets(self.name, self.categories, inside, met)), len(inside))


def regions_in_words(model: Model, inputs: Inputs) -> tuple[RegionWords, ...]:
    """The regions of a model in words, those with most rows first; none for a model without such regions.

    Parameters
    ----------
    model : Model
    inputs : array or CodedRows (rows, n_inputs)
        Prepared training rows.

    Examples
    --------
    >>> from abnet.model.predictors.compact import Compact
    >>> from abnet.tables.preparation import StandardMap
    >>> one = Compact(np.array([[[1.0, 0.01]]]), np.array([[-0.5]]), np.array([[-1.0, 1.0]]))
    >>> scaler = StandardMap((40.0, 0.0), (10.0, 1.0))
    >>> model = Model(one, preparation=scaler, feature_names=("age", "size"))
    >>> X = np.random.default_rng(0).normal((40.0, 0.0), (10.0, 1.0), (1000, 2))
    >>> for region in regions_in_words(model, scaler.transform(X)):
    ...     print(region.signs, region)
    - age at most 45
    + mostly age above 45
    """
    layer = leading_layer(model.predictor)
    if layer is None or not len(inputs):
        return ()
    step = -(-len(inputs) // MOST_ROWS)
    rows = network_inputs(inputs[::step], model.n_inputs)
    signs = leading_signs(model.predictor, rows)
    assert signs is not None
    columns = _columns(model, layer, rows)
    names, counts = np.unique(signs, return_counts=True)
    made = []
    for place in np.argsort(-counts, kind="stable")[:MOST_REGIONS]:
        if counts[place] < LEAST_ROWS or counts[place] == len(rows):
            continue
        region = _in_words(str(names[place]), signs == names[place], columns)
        if region is not None:
            made.append(region)
    return tuple(made)


def _columns(model: Model, layer: LeadingLayer, rows: Floats) -> list[NamedColumn]:
    """The columns with the largest terms in the neurons' sums."""
    layout = column_layout(model)
    by_owner = np.argsort(layout.input_owners, kind="stable")
    owners, starts = np.unique(layout.input_owners[by_owner], return_index=True)
    cells = restore_cells(model, rows[:, : layout.n_features])
    weights = np.zeros(len(layout.names))
    for w in layer.W:
        variances = np.zeros(len(layout.names))
        variances[owners] = np.add.reduceat((rows * w).T[by_owner], starts, axis=0).var(axis=1)
        weights += variances / max(float(variances.sum()), np.finfo(np.float64).tiny)
    ranked = np.argsort(-weights, kind="stable")[:MOST_COLUMNS]
    return [_named_column(printable(layout.names[j]), cells[j], len(rows)) for j in ranked if weights[j] > 0]


def _named_column(name: str, cells: RestoredCells, n_rows: int) -> NamedColumn:
    if cells.numbers is not None:
        return NamedColumn(name, None, ConditionRows.of(list(_ranges(name, cells)), n_rows))
    nothing = ConditionRows.of([], n_rows)
    if cells.categories is None:
        return NamedColumn(name, None, nothing)
    return NamedColumn(name, np.array(cells.categories, object), nothing)


def _in_words(signs: str, inside: Rows, columns: Sequence[NamedColumn]) -> RegionWords | None:
    """Conditions that separate the rows inside a region from the others, added one at a time while they help."""
    chosen: list[Condition] = []
    met = np.ones(len(inside), bool)
    best = 0.0
    while len(chosen) < MOST_CONDITIONS:
        tried = [column.candidates(inside, met) for column in columns]
        candidates = [condition for each in tried for condition in each.conditions]
        if not candidates:
            break
        gains = np.concatenate([_separations(inside, met, each.met) for each in tried])
        if gains.max() < best + LEAST_GAIN:
            break
        place = int(np.argmax(gains))
        best = float(gains[place])
        chosen.append(candidates[place])
        met &= candidates[place].rows
    if not chosen:
        return None
    return RegionWords(
        signs=signs,
        words=_joined(chosen),
        n_rows=int(inside.sum()),
        covered=float(met[inside].mean()),
        pure=float(inside[met].mean()),
    )


def _joined(conditions: Sequence[Condition]) -> str:
    """The conditions in words, each column once."""
    of_column: dict[str, list[str]] = {}
    for condition in conditions:
        of_column.setdefault(condition.name, []).append(condition.words)
    return ", ".join(f"{name} {' and '.join(words)}" for name, words in of_column.items())


def _separations(inside: Rows, met: Rows, further: NDArray[np.float32]) -> Floats:
    """Recall + specificity - 1 of `met` and each further condition, as tests for the region.

    Parameters
    ----------
    inside, met : bool array (rows,)
        Rows of the region, and rows that meet all conditions so far.
    further : float32 array (conditions, rows)
    """
    # Sums of at most `MOST_ROWS` ones are exact in float32.
    n_inside = further @ (met & inside).astype(np.float32)
    n_outside = further @ (met & ~inside).astype(np.float32)
    recall = n_inside.astype(np.float64) / np.count_nonzero(inside)
    false_alarms = n_outside.astype(np.float64) / np.count_nonzero(~inside)
    return recall - false_alarms


def _ranges(name: str, cells: RestoredCells) -> Iterator[Condition]:
    """Conditions on a column of numbers or dates."""
    assert cells.numbers is not None
    known = cells.numbers[~np.isnan(cells.numbers)]
    if len(known) == 0 or np.ptp(known) == 0:
        return
    step = float(np.ptp(known)) / EXACTNESS
    numbers = _rounded(cells.numbers, step)  # they were stored as float32
    for threshold in _thresholds(_rounded(known, step)):
        shown = _shown(threshold, cells)
        yield Condition(name, f"above {shown}", numbers > threshold)
        yield Condition(name, f"at most {shown}", numbers <= threshold)


def _thresholds(numbers: Floats) -> list[float]:
    """Round numbers that are tried as thresholds.

    Examples
    --------
    >>> _thresholds(np.array([0.0, 1.0, 1.0, 3.0])), _thresholds(np.linspace(20.3, 80.3, 1001))[:3]
    ([0.0, 1.0], [22.0, 23.0, 24.0])
    """
    known = np.unique(numbers)
    if len(known) <= N_THRESHOLDS:
        return [float(number) for number in known[:-1]]
    wanted = np.quantile(numbers, np.linspace(0.02, 0.98, N_THRESHOLDS))
    return [float(number) for number in np.unique(_rounded(wanted, float(np.ptp(known)) / FINENESS))]


def _rounded(numbers: Floats, step: float) -> Floats:
    """The numbers with so many decimals that they change by less than a step."""
    decimals = int(np.ceil(-np.log10(step)))
    return np.asarray(np.round(numbers, decimals) + 0.0)  # without -0


def _shown(value: float, cells: RestoredCells) -> str:
    """A number of a column as text."""
    if cells.dates:
        return (EPOCH + timedelta(days=int(np.floor(value)))).isoformat()
    text = f"{value:.10g}"
    if cells.unit:
        return f"{text} {cells.unit}"
    return text


def _sets(name: str, texts: NDArray[np.object_], inside: Rows, met: Rows) -> Iterator[Condition]:
    """The categories that are more frequent inside the region than outside, among rows that meet all so far."""
    frequent = []
    others = []
    for text in dict.fromkeys(texts):
        has = np.asarray(texts == text, np.float32)[None]
        if _separations(inside, met, has)[0] > 0:
            frequent.append(text)
        else:
            others.append(text)
    rows = np.isin(texts, frequent)
    if 0 < len(frequent) <= MOST_CATEGORIES and others:
        yield Condition(name, _listed(frequent), rows)
    elif 0 < len(others) <= MOST_CATEGORIES:
        yield Condition(name, f"not {_listed(others)}", rows)


def _listed(categories: Sequence[str]) -> str:
    return " or ".join(printable(category, 20) for category in categories)
