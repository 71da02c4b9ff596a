"""What errors cost: a certificate for the expected cost per row."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from decimal import ROUND_CEILING, Decimal, localcontext
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abnet.bounds.betting import bet_order, betting_bound, least_betting_bound
from abnet.bounds.certificate_file import write_record
from abnet.bounds.rounding import round_up
from abnet.bounds.wording import InNotebooks
from abnet.checks import Check, apply, count, exactly, finite, level, nonnegative, optional, real, text
from abnet.decisions.monitor import confidence, paragraphs
from abnet.decisions.thresholds import called, cuts_between, room_of
from abnet.words import number_of

__all__ = ["CostCertificate", "bayes_cut", "certify_costs", "cheapest_threshold", "cost_table", "row_costs"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class CostCertificate(InNotebooks):
    """A bound on the expected cost of a new row.

    Attributes
    ----------
    cost_bound : float
        It holds with probability at least 1-δ over the bound rows.
    mean_cost : float
        Mean cost of the bound rows.
    largest_cost : float
        The largest cost that a row can have, known in advance.
    n_rows, delta, n_candidates
        Bound rows, the probability of failure, and the models judged on the same rows.
    threshold : float or None
        Where rows with a larger score are called positive; None for the answers of ``predict``.
    positive_class : str or None
        The class that these rows are said to belong to, where it has a name.
    """

    cost_bound: float
    mean_cost: float
    largest_cost: float
    n_rows: int
    delta: float
    n_candidates: int = 1
    threshold: float | None = None
    positive_class: str | None = None

    def __post_init__(self) -> None:
        apply(_CHECKS, self)
        least = self.largest_cost * least_betting_bound(self.n_rows, self.delta, self.n_candidates)
        if self.cost_bound < least * (1.0 - 1e-9):
            raise ValueError("not a certificate: no costs at all on so many rows could give this cost_bound")
        # A mean of equal costs may round to a neighbour of the largest one.
        if not self.mean_cost <= self.cost_bound <= round_up(self.largest_cost):
            raise ValueError("not a certificate: mean_cost <= cost_bound <= largest_cost does not hold")

    def describe(self) -> str:
        """Say in plain English what is promised."""
        chosen = (
            "" if self.n_candidates == 1 else f" The choice among {self.n_candidates:,} candidates is accounted for."
        )
        return paragraphs(
            f"With {confidence(self.delta)} confidence, the expected cost of a new row from the same source is at most "
            f"{_figure(self.cost_bound)}{_rule(self)} (mean {self.mean_cost:.4g} on "
            f"{number_of(self.n_rows, 'bound row')}; the largest possible cost is {self.largest_cost:.6g}).",
            f"This assumes that the {number_of(self.n_rows, 'bound row')} and the new data are independent draws from "
            f"one source, and that the model, its threshold and the costs were fixed without looking at them.{chosen}",
        )

    def __str__(self) -> str:
        return self.describe()

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a dictionary of plain numbers, fit for JSON."""
        return asdict(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to a JSON file; `abnet.load_certificate` and `abnet inspect` read it."""
        write_record(path, "costs", self.to_dict())

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Self:
        """Read what `to_dict` wrote; anything missing, unknown, of a wrong type or out of range is a ValueError."""
        return cls(**exactly(cls.__name__, {"positive_class": None, **record}, cls.__dataclass_fields__))


def _figure(bound: float) -> str:
    """A bound with four digits, rounded up.

    Examples
    --------
    >>> _figure(0.66643401), _figure(12.0)
    ('0.6665', '12')
    """
    with localcontext() as context:
        context.prec, context.rounding = 4, ROUND_CEILING
        text = f"{+Decimal(bound):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _rule(c: CostCertificate) -> str:
    return "" if c.threshold is None else f", if {called(c.threshold, c.positive_class)}"


def row_costs(truth: ArrayLike, predicted: ArrayLike, costs: ArrayLike) -> Array:
    """Cost of each row, ``costs[truth, predicted]``.

    Parameters
    ----------
    truth, predicted : array-like of int (n,)
        Class numbers 0 ... c-1.
    costs : array-like (c, c)
        Cost of predicting the column's class where the row's class is true; finite, not negative.

    Examples
    --------
    >>> row_costs([0, 1, 1], [0, 0, 1], [[0.0, 1.0], [10.0, 0.0]])
    array([ 0., 10.,  0.])
    """
    table, rows = _table(costs), np.asarray(truth)
    columns = np.asarray(predicted)
    for name, values in (("truth", rows), ("predicted", columns)):
        if values.dtype.kind not in "iu" or values.ndim != 1 or len(values) == 0:
            raise ValueError(f"{name} must be a vector of at least one class number")
        if values.min() < 0 or values.max() >= len(table):
            raise ValueError(f"{name} must hold class numbers from 0 to {len(table) - 1}")
    if rows.shape != columns.shape:
        raise ValueError(f"truth has {len(rows)} rows and predicted {len(columns)}")
    return np.asarray(table[rows, columns])


def certify_costs(
    row_costs: ArrayLike,
    largest_cost: float,
    delta: float = 0.05,
    *,
    n_candidates: int = 1,
    threshold: float | None = None,
    positive_class: str | None = None,
    order: ArrayLike | None = None,
) -> CostCertificate:
    r"""Bound the expected cost of a row by betting on ``cost / largest cost``.

    .. math:: \mathbf E[c] \le c_{\max} \cdot \mathrm{betting}(c_i / c_{\max}; δ/K)

    With probability at least 1-δ over n independent rows, for a model, a threshold and costs that were fixed before
    they were seen.

    Parameters
    ----------
    row_costs : array-like (n,)
        Cost of each bound row, from 0 to ``largest_cost``.
    largest_cost : float
        The largest entry of the table of costs, not the largest one that was met.
    delta : float
        Probability with which the bound may fail.
    n_candidates : int
        Number K of models judged on the same rows.
    threshold, positive_class : float and str, optional
        That of the answers, and what is answered above it, for the record; from the first part.
    order : int array (n,), optional
        The order in which the rows are bet on, by what they hold (`abnet.certificates.row_order`), never by their
        places in a file; by default one is drawn, another every time.

    Examples
    --------
    >>> costs = np.array([0.0, 0.0, 1.0, 0.0, 0.0] * 60)
    >>> certificate = certify_costs(costs, largest_cost=10.0, order=np.random.default_rng(0).permutation(300))
    >>> certificate.mean_cost, round(certificate.cost_bound, 2)
    (0.2, 0.32)

    References
    ----------
    I. Waudby-Smith, A. Ramdas (2024), Estimating means of bounded random variables by betting.
    """
    largest = _positive(largest_cost)
    values = np.asarray(row_costs, dtype=np.float64)
    if values.ndim != 1 or len(values) == 0:
        raise ValueError(f"row_costs must be a vector of at least one cost, got the shape {values.shape}")
    if not np.all((values >= 0.0) & (values <= largest)):
        raise ValueError(f"row_costs must lie between 0 and largest_cost = {largest}")
    share = betting_bound(values[bet_order(order, len(values))] / largest, delta, n_candidates=n_candidates)
    mean = float(values.mean())
    bound = max(mean, round_up(share * largest) if share < 1.0 else largest)
    return CostCertificate(
        bound, mean, largest, len(values), level("delta", delta), n_candidates, threshold, positive_class
    )


def bayes_cut(costs: ArrayLike) -> float:
    """The probability above which the positive class is the cheaper answer; above 1 or below 0 where one always is.

    Examples
    --------
    >>> bayes_cut([[0.0, 1.0], [4.0, 0.0]])
    0.2
    """
    table = _table(costs)
    alarm, miss = table[0, 1] - table[0, 0], table[1, 0] - table[1, 1]
    if alarm + miss <= 0.0:  # wrong answers are no dearer than right ones: the rows decide
        return 0.5
    return float(alarm / (alarm + miss))


def cheapest_threshold(
    scores: ArrayLike, positive: ArrayLike, costs: ArrayLike, *, usual: float | None = None
) -> float:
    """The threshold with the smallest mean cost on held rows of the first part; never on bound rows.

    Parameters
    ----------
    scores : array-like (n,)
        Rows with a score above the threshold are called positive.
    positive : array-like of bool (n,)
    costs : array-like (2, 2)
        As for :func:`row_costs`, negative class first.
    usual : float, optional
        The threshold by which the model's probabilities decide. It is taken, to three decimals, unless another one is
        cheaper by more than one standard error: the cheapest of many follows chance.

    Returns
    -------
    float
        About halfway between two scores; a little below all of them where it is cheapest to call every row positive,
        and a little above where it is cheapest to call none.

    Examples
    --------
    >>> cheapest_threshold([-2.0, -1.0, 1.0, 2.0], [False, True, False, True], [[0.0, 1.0], [10.0, 0.0]])
    -1.5
    """
    s, y, table = np.asarray(scores, dtype=np.float64), np.asarray(positive, dtype=np.bool_), _table(costs)
    if len(table) != 2:
        raise ValueError("costs must be a table of two classes")
    thresholds = cuts_between(s)
    # Raising the threshold over one score calls its rows negative instead of positive.
    change = np.where(y, table[1, 0] - table[1, 1], table[0, 0] - table[0, 1])
    totals = np.cumsum(np.bincount(np.searchsorted(thresholds, s), weights=change, minlength=len(thresholds)))
    best = float(thresholds[int(np.argmin(totals))])
    if usual is None:
        return best
    near = round(float(usual), 3)
    if np.abs(s - near).min() <= room_of(s):
        near = float(thresholds[np.searchsorted(thresholds, near)])
    spared = change * ((s <= near).astype(float) - (s <= best))
    return best if spared.mean() > spared.std() / np.sqrt(len(s)) else near


def cost_table(costs: Any, classes: Sequence[Any]) -> Array:
    """A table of costs, truth by answer, in the order of the classes.

    Parameters
    ----------
    costs : array-like (c, c), or mapping from (truth, answer) to a cost
        A right answer costs nothing unless it is given; every wrong one has to be. Labels may be given as text.
    classes : sequence of c labels

    Examples
    --------
    >>> cost_table({("ill", "well"): 10, ("well", "ill"): 1}, ["ill", "well"])
    array([[ 0., 10.],
           [ 1.,  0.]])
    """
    if not isinstance(costs, Mapping):
        table = _table(costs)
        if len(table) != len(classes):
            raise ValueError(f"costs must be a table of {len(classes)} classes, got the shape {table.shape}")
        return table
    places = {str(label): place for place, label in enumerate(classes)}
    table = np.full((len(classes), len(classes)), np.nan)
    np.fill_diagonal(table, 0.0)
    given: set[tuple[int, int]] = set()
    for pair, cost in costs.items():
        known = isinstance(pair, tuple) and len(pair) == 2 and all(str(label) in places for label in pair)
        if not known:
            raise ValueError(f"costs: {pair!r} is no pair of the labels {', '.join(places)}, truth and answer")
        at = places[str(pair[0])], places[str(pair[1])]
        if at in given:
            raise ValueError(f"costs: the answer {pair[1]} where {pair[0]} is true is given twice")
        given.add(at)
        table[at] = cost
    if np.isnan(table).any():
        truth, answer = np.argwhere(np.isnan(table))[0]
        raise ValueError(f"costs must say what the answer {classes[answer]} costs where {classes[truth]} is true")
    return _table(table)


def _table(costs: ArrayLike) -> Array:
    table = np.asarray(costs, dtype=np.float64)
    if table.ndim != 2 or table.shape[0] != table.shape[1] or len(table) < 2:
        raise ValueError(f"costs must be a square table of at least two classes, got the shape {table.shape}")
    if not np.all(np.isfinite(table)) or table.min() < 0.0:
        raise ValueError("costs must be finite and not negative")
    return table


def _positive(largest_cost: float) -> float:
    largest = finite("largest_cost", largest_cost)
    if largest == 0.0:
        raise ValueError("largest_cost must be positive")
    return largest


_CHECKS: dict[str, Check] = {
    "cost_bound": finite,
    "mean_cost": nonnegative,
    "largest_cost": finite,
    "n_rows": count,
    "delta": level,
    "n_candidates": count,
    "threshold": optional(real),
    "positive_class": optional(text),
}
