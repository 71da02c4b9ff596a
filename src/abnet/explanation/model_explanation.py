"""A model explained as a whole, on rows: columns that matter, regions that hold the data, neurons that interact."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abnet.explanation.background import ExplanationPlan
from abnet.explanation.direction import CLEAR, Level, levels, rank_correlation
from abnet.explanation.own_cells import OwnCells, own_cells
from abnet.explanation.regions import RowRegions, region_table, why_no_regions
from abnet.explanation.row_explanation import Unit, amount, as_read, bare, points, shown, unit_of
from abnet.explanation.shapley import game_of, shapley_values
from abnet.model.model import FittedClassifier, Model, model_of
from abnet.tables.labels import winners
from abnet.utils.natural_order import natural_order
from abnet.utils.threads import one_blas_thread
from abnet.utils.wording import aligned, number_of, paragraphs, percent

__all__ = ["ColumnImportance", "ModelExplanation", "explain_model", "explain_model_inputs"]

Floats = NDArray[np.float64]

EXPLAINED_ROWS = 100
"""Rows whose contributions are computed."""
SHUFFLED_ROWS = 2000
"""Rows on which errors are counted again with a column shuffled."""
ROW_EVALUATIONS = 2000
"""Network evaluations for one explained row, about: importance averages over rows, so that each needs fewer."""
REPEATS = 5
"""Shuffles of a column, where the table is small enough."""
MOST_EVALUATIONS = 60_000
"""Network evaluations that the shuffles may take, about: of wide tables fewer shuffles of fewer rows."""
MOST_PROBABILITIES = 2**27
"""Probabilities of regions that are averaged; of wider networks fewer rows are located."""


@dataclass(frozen=True)
class ColumnImportance:
    """How much a column matters, in two ways, each with its standard error over rows.

    Attributes
    ----------
    column : str
    contribution, contribution_error : float
        Mean of ``|contribution|`` to the probability of the second class; of several classes, half the sum over the
        classes: how much probability is moved.
    direction : float or None
        Rank correlation of the column's value and its contribution, in [-1, 1]: positive where higher values raise the
        probability of the second class. None for several classes and for columns whose values have no order.
    error_growth, error_growth_error : float or None
        How much more often the model errs when the column is taken from other rows; None without labels.
    """

    column: str
    contribution: float
    contribution_error: float
    direction: float | None
    error_growth: float | None
    error_growth_error: float | None

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return dict(vars(self))


@dataclass(frozen=True, eq=False)
class ModelExplanation:
    """What matters to a model, on some rows.

    Attributes
    ----------
    importance : tuple of ColumnImportance
        In the order of the columns.
    n_explained, n_shuffled, n_located, n_rows : int
        Rows whose contributions were computed, rows on which errors were counted, rows that were put in regions, rows
        of the table.
    error : float or None
        The model's error on the shuffled rows as they are.
    regions : RowRegions or None
        The regions that hold the most of the rows: probabilities are means over all of them.
    no_regions : str
        Why there are none.
    classes : tuple of str
    contributions : array (rows, columns, C)
        Of the explained rows: to the probability of the second class, or of each of several.
    cells : tuple of OwnCells
        What the explained rows have in each column, in the table's own units.
    unit : {"probability", "score"}
        What is explained: a score where the model has no probabilities.
    """

    importance: tuple[ColumnImportance, ...]
    n_explained: int
    n_shuffled: int
    n_located: int
    n_rows: int
    error: float | None
    regions: RowRegions | None
    no_regions: str
    classes: tuple[str, ...]
    contributions: Floats
    cells: tuple[OwnCells, ...]
    unit: Unit

    def ranked(self) -> list[ColumnImportance]:
        """The columns, the most important first."""
        return sorted(self.importance, key=lambda one: -one.contribution)

    @property
    def quantity(self) -> str:
        """What is explained, in a few words."""
        if self.unit == "score":
            return "the score"
        return f"P({shown(self.classes[1])})" if len(self.classes) == 2 else "the probabilities"

    @property
    def sizes(self) -> Floats:
        """Mean size of the contributions of each column to each output, (columns, C)."""
        return np.asarray(np.abs(self.contributions).mean(axis=0))

    def ranked_for(self, output: int) -> list[int]:
        """Places of the columns that move one output, those that move it most first."""
        sizes = self.sizes[:, output]
        return [j for j in np.argsort(-sizes, kind="stable").tolist() if sizes[j] > 0]

    def outputs(self, most: int) -> list[int]:
        """The outputs in the natural order of their classes; of more than `most`, those that are moved most."""
        moved = np.argsort(-self.sizes.sum(axis=0), kind="stable")[:most].tolist()
        return [moved[place] for place in natural_order([self.class_of(c) for c in moved])]

    def most_moved(self, column: int) -> int:
        """The output that a column moves most: the class to draw its contributions for."""
        return int(np.argmax(self.sizes[column]))

    def class_of(self, output: int) -> str:
        """The class that an output is about: of two classes the second."""
        return self.classes[1 if self.contributions.shape[-1] == 1 else output]

    def _repr_html_(self) -> str:
        from abnet.explanation.notebook import model_html

        return model_html(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {
            "importance": [one.to_dict() for one in self.importance], "n_explained": self.n_explained,
            "n_shuffled": self.n_shuffled, "n_located": self.n_located, "n_rows": self.n_rows, "error": self.error,
            "regions": None if self.regions is None else self.regions.to_dict(), "no_regions": self.no_regions,
            "classes": list(self.classes),
        }  # fmt: skip

    def describe(self, most: int = 10) -> str:
        """The explanation in plain text."""
        parts = [self._importance_text(most)]
        parts += [] if self.regions is None else [self._region_text(self.regions)]
        return "\n\n".join(parts)

    def _importance_text(self, most: int) -> str:
        judged = self.error is not None
        over = number_of(self.n_explained, "row")
        head = f"Columns by how much they move {self.quantity} (mean of |contribution| over {over})"
        if self.error is not None:
            head += f", and by how much the error of {percent(self.error)} grows when a column is shuffled "
            head += f"({number_of(self.n_shuffled, 'row')}; ± one standard error)"
        known = [self.effect(one) for one in self.ranked()[:most]]
        told = any(known)
        lines = [["column", "moves by", "", *["effect"] * told, *["error grows by", ""] * judged]]
        for one, effect in zip(self.ranked(), known, strict=False):
            moved_by = [amount(one.contribution, self.unit), f"± {bare(one.contribution_error, self.unit)}"]
            cells = [shown(one.column), *moved_by, *[effect] * told]
            if one.error_growth is not None and one.error_growth_error is not None:
                cells += [f"{points(one.error_growth)} points", f"± {100 * one.error_growth_error:.1f}"]
            lines.append(cells)
        rest = len(self.importance) - most
        more = f"\n… and {rest} more" if rest > 0 else ""
        return f"{paragraphs(head + ':')}\n\n{aligned(lines)}{more}"

    def levels(self, one: ColumnImportance, output: int = 0) -> list[Level]:
        """Categories of a column by their mean contribution, the highest first; those of one row only where all are."""
        place = [other.column for other in self.importance].index(one.column)
        found = levels(self.cells[place], self.contributions[:, place, output])
        return [level for level in found if level.n_rows > 1] or found

    def towards(self, one: ColumnImportance) -> tuple[str | None, str | None]:
        """The classes towards which, and away from which, higher values of a numeric column move the answers.

        Of several classes, those that the column moves most among the ones with a clear direction; None where no class
        has one.
        """
        place = [other.column for other in self.importance].index(one.column)
        found = self.contributions[:, place]
        if found.shape[-1] == 1:
            r = one.direction or 0.0
            sides = (1, 0) if r >= CLEAR else (0, 1) if r <= -CLEAR else ()
            return (self.classes[sides[0]], self.classes[sides[1]]) if sides else (None, None)
        ranked = [(rank_correlation(self.cells[place], found[:, c]) or 0.0, c) for c in self._moved_by(place)]
        up, down = (next((self.classes[c] for r, c in ranked if side * r >= CLEAR), None) for side in (1, -1))
        return up, down

    def _moved_by(self, column: int) -> list[int]:
        return np.argsort(-self.sizes[column], kind="stable").tolist()

    def effect(self, one: ColumnImportance) -> str:
        """Which way a column moves the answers, in a few words; "" where that is not known.

        Of two classes: how higher values, or categories, move the probability of the second. Of several: the class
        whose probability rises with higher values, and the one whose probability falls.
        """
        if one.contribution == 0:
            return ""
        if self.contributions.shape[-1] > 1:
            up, down = self.towards(one)
            return ", ".join(filter(None, (up and f"{shown(up, 10)} up", down and f"{shown(down, 10)} down")))
        if one.direction is not None:
            return "varies" if abs(one.direction) < CLEAR else "rising" if one.direction > 0 else "falling"
        found = self.levels(one)
        return f"{shown(found[0].name, 10)} up, {shown(found[-1].name, 10)} down" if len(found) > 1 else ""

    def _region_text(self, regions: RowRegions) -> str:
        lines = [["network", "neurons", "holds", "expected output"]]
        for one in regions.listed:
            output = f"{one.output[0]:+.3f}" if len(one.output) == 1 else _likeliest(one.output, self.classes)
            lines.append([str(one.member + 1), shown(one.word), percent(one.probability), output])
        hold = f"hold {percent(regions.other_probability)} of all"
        others = f"\n{regions.others:,} others {hold}." if regions.others else ""
        head = f"Regions, with the share of {number_of(self.n_located, 'row')} that each network puts in them"
        return f"{paragraphs(head + ':')}\n\n{aligned(lines, left=2)}{others}"


def _likeliest(output: tuple[float, ...], classes: tuple[str, ...]) -> str:
    best = int(np.argmax(output))
    return f"{shown(classes[best], 20)!r} {percent(output[best])}"


def explain_model(
    model: Model | FittedClassifier,
    X: Any,
    y: ArrayLike | None = None,
    *,
    background: Any = None,
    plan: ExplanationPlan | None = None,
    seed: int = 0,
    rows: int = EXPLAINED_ROWS,
    regions: int = 10,
) -> ModelExplanation:
    """Explain a model as a whole, on rows that it did not learn from.

    Give the bound rows, ``X[clf.bound_rows_], y[clf.bound_rows_]``, or new ones. A model file holds no bound rows.

    Parameters
    ----------
    model : Model or fitted classifier
    X : table or array
        Rows in the caller's units.
    y : array, optional
        Their labels; without them no errors are counted.
    background : table or array, optional
        As for `abnet.explain`.
    plan : ExplanationPlan, optional
        Background and orders as a value.
    seed : int
        Of all draws.
    rows : int
        Rows whose contributions are computed, drawn from X.
    regions : int
        Regions to list.

    Returns
    -------
    ModelExplanation

    Examples
    --------
    >>> from abnet.model.predictors.compact import Compact
    >>> model = Model(Compact(np.array([[[2.0, 0.0]]]), np.zeros((1, 1)), np.array([[-1.0, 1.0]])))
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> found = explain_model(model, X, np.where(X[:, 0] > 0, 1, -1), background=X[:10])
    >>> found.ranked()[0].column, found.importance[1].error_growth, found.error
    ('x0', 0.0, 0.0)
    """
    model = model_of(model)
    chosen = ExplanationPlan.of(model, background, seed=seed, pairs=2) if plan is None else plan
    codes = None if y is None else model.labels.encode(np.asarray(y))
    inputs = model.prepare(X)
    return explain_model_inputs(model, inputs, codes, chosen, seed=seed, rows=rows, regions=regions)


@one_blas_thread()
def explain_model_inputs(
    model: Model,
    inputs: Any,
    codes: NDArray[np.intp] | None,
    plan: ExplanationPlan,
    *,
    seed: int = 0,
    rows: int = EXPLAINED_ROWS,
    regions: int = 10,
    progress: Callable[[float], None] | None = None,
) -> ModelExplanation:
    """`explain_model` for rows that are prepared already; codes are places among the classes, -1 for other labels."""
    plan.check_fits(model)
    matrix = as_read(inputs, model.n_inputs)
    if not len(matrix) or (codes is not None and len(codes) != len(matrix)):
        raise ValueError(f"a model is explained on rows, one label each; got {len(matrix)} rows.")
    rng = np.random.default_rng(seed)
    most = max(min(SHUFFLED_ROWS, MOST_EVALUATIONS // len(plan.columns.names)), 200)
    shuffled, explained_rows = (_some(rng, len(matrix), most) for most in (most, rows))
    share = 1.0 if codes is None else 0.5
    found = shapley_values(model, matrix[explained_rows], plan.thinned(ROW_EVALUATIONS), _part(progress, 0.0, share))
    contributions = np.stack([values.contributions for values in found])
    growth, error = None, None
    if codes is not None:
        growth, error = _error_growth(
            model, matrix[shuffled], codes[shuffled], plan, rng, _part(progress, share, 1.0 - share)
        )
    table, located, held = region_table(model.predictor), np.arange(0), None
    if table is not None:
        located = _some(rng, len(matrix), max(MOST_PROBABILITIES // table.H[..., 0].size, 50))
        mass = np.sum([P.sum(axis=0) for _, P in table.blocks(matrix[located])], axis=0) / len(located)
        held = table.listed(mass, regions)
    cells = own_cells(model, matrix[explained_rows][:, : plan.columns.n_features])
    return ModelExplanation(
        _importance(plan.columns.names, contributions, cells, growth), len(explained_rows),
        0 if codes is None else len(shuffled), len(located), len(matrix), error, held,
        why_no_regions(model.predictor),
        model.labels.names, contributions, cells, unit_of(model),
    )  # fmt: skip


def _part(progress: Callable[[float], None] | None, start: float, share: float) -> Callable[[float], None] | None:
    """The progress of a part of the work."""
    return None if progress is None else lambda done: progress(start + share * done)


def _some(rng: np.random.Generator, n: int, most: int) -> NDArray[np.intp]:
    """Numbers of at most so many rows, drawn at random, in their order."""
    return np.arange(n) if n <= most else np.sort(rng.choice(n, most, replace=False))


def _error_growth(
    model: Model,
    rows: Floats,
    codes: NDArray[np.intp],
    plan: ExplanationPlan,
    rng: np.random.Generator,
    progress: Callable[[float], None] | None,
) -> tuple[Floats, float]:
    """How much more each row errs with each column from another row, shape (columns, rows), and the error itself."""
    J, n = len(plan.columns.names), len(rows)
    wrong = (winners(model.predictor.scores(rows)) != codes).astype(np.float64)
    repeats = min(max(MOST_EVALUATIONS // (n * J), 1), REPEATS)
    orders = np.empty((J, repeats, n), np.intp)
    for places in orders.reshape(-1, n):
        order = rng.permutation(n)
        places[order] = np.roll(order, 1)  # round a circle, so that no row keeps its own cell
    growth = np.zeros((J, n))
    game = game_of(model.predictor, plan.columns.input_owners)
    for j, scores in enumerate(game.exchanged(rows, orders)):
        growth[j] = np.mean([winners(one) != codes for one in scores], axis=0) - wrong
        if progress is not None:
            progress((j + 1) / J)
    return growth, float(wrong.mean())


def _importance(
    names: tuple[str, ...], contributions: Floats, cells: tuple[OwnCells, ...], growth: Floats | None
) -> tuple[ColumnImportance, ...]:
    sizes = np.abs(contributions)
    moved = sizes[..., 0] if sizes.shape[-1] == 1 else sizes.sum(axis=-1) / 2

    def error(values: Floats) -> float:
        return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0

    return tuple(
        ColumnImportance(
            name, float(moved[:, j].mean()), error(moved[:, j]),
            rank_correlation(cells[j], contributions[:, j, 0]) if contributions.shape[-1] == 1 else None,
            None if growth is None else float(growth[j].mean()), None if growth is None else error(growth[j]),
        )
        for j, name in enumerate(names)
    )  # fmt: skip
