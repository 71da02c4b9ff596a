"""Thresholds that meet a target of recall, precision or false alarms, with confidence, for two classes.

A row is called positive where its score exceeds a threshold. Each kind of target counts failures among rows given whose
number they are binomial, so that one fixed sequence serves all of them; the kinds differ in which rows count and in the
order of the thresholds, which, like the ranking by which one of the certified thresholds is picked, comes from the
first part.
"""

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abnet.bounds.certificate_file import write_record
from abnet.bounds.wording import InNotebooks
from abnet.checks import Check, apply, count, exactly, level, one_of, optional, real, text
from abnet.decisions.fixed_sequence import error_free_rows, fixed_sequence, rows_needed
from abnet.decisions.monitor import confidence, paragraphs, stated
from abnet.decisions.thresholds import called, cuts_above, cuts_below
from abnet.words import number_of

__all__ = [
    "TargetThreshold",
    "ThresholdGrid",
    "precision_grid",
    "recall_grid",
    "specificity_grid",
    "target_precision",
    "target_recall",
    "target_specificity",
]

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]

# Quantiles of the scores below those of all positive rows, at which a recall is tested first.
_SAFER = (0.0, 0.25, 0.5, 0.75, 0.9)

# What a target promises of a class, and among which rows.
_MEANINGS = {
    "recall": ("of the rows that are {0} are called {0}", "rows that are {0}"),
    "precision": ("of the rows that are called {0} are {0}", "rows that are called {0}"),
    "specificity": ("of the rows that are not {0} are not called {0}", "rows that are not {0}"),
}


@dataclass(frozen=True)
class ThresholdGrid:
    """Thresholds in the order in which they are tested, and how desirable each is; both from the first part.

    Attributes
    ----------
    thresholds : tuple of float
        Rows with a larger score are called positive.
    merits : tuple of float
        Of the certified thresholds the one with the largest merit is returned.
    """

    thresholds: tuple[float, ...]
    merits: tuple[float, ...]

    def __post_init__(self) -> None:
        values = np.array([self.thresholds, self.merits], dtype=np.float64)
        if values.shape[1] == 0 or not np.all(np.isfinite(values)):
            raise ValueError("thresholds and merits must be finite, and there must be at least one of each")


@dataclass(frozen=True)
class TargetThreshold(InNotebooks):
    """A threshold whose recall, precision or specificity is certified to reach a target.

    Attributes
    ----------
    kind : {"recall", "precision", "specificity"}
    target : float
        The rate that was asked for; it holds with probability at least 1-δ over the bound rows.
    threshold : float or None
        Rows with a larger score are called positive; None where nothing could be certified.
    delta : float
        Probability with which the promise may fail.
    n_counted, n_failures : int
        Bound rows that count for this kind at the threshold, and the failures among them; those of the first threshold
        where nothing could be certified.
    n_rows, n_thresholds, n_passed, n_candidates : int
        Bound rows, thresholds fixed in advance, those that passed, and models judged on the same rows.
    rows_needed : int or None
        Where nothing could be certified: an estimate of the bound rows that would do; None if no number would.
    positive_class : str or None
        The name of the positive class, if it has one.
    """

    kind: str
    target: float
    threshold: float | None
    delta: float
    n_counted: int
    n_failures: int
    n_rows: int
    n_thresholds: int
    n_passed: int
    n_candidates: int
    rows_needed: int | None
    positive_class: str | None = None

    def __post_init__(self) -> None:
        apply(_CHECKS, self)
        none = self.threshold is None
        if not self.n_failures <= self.n_counted <= self.n_rows:
            raise ValueError("not a certificate: n_failures <= n_counted <= n_rows does not hold")
        if (self.n_passed == 0) != none or self.n_passed > self.n_thresholds:
            raise ValueError("not a certificate: n_passed does not go with the threshold")
        if none == self._passes():
            raise ValueError("not a certificate: the counts do not pass the test, or pass without a threshold")

    def _passes(self) -> bool:
        allowed = _allowed(self.target)
        return fixed_sequence([self.n_failures], [self.n_counted], allowed, self.delta / self.n_candidates) == 1

    def describe(self) -> str:
        """Say in plain English what is promised."""
        return paragraphs(_promise(self), _premises(self))

    def __str__(self) -> str:
        return self.describe()

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a dictionary of plain numbers and strings, fit for JSON."""
        return asdict(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to a JSON file; `abnet.load_certificate` and `abnet inspect` read it."""
        write_record(path, "target", self.to_dict())

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Self:
        """Read what `to_dict` wrote; anything missing, unknown, of a wrong type or contradictory is a ValueError."""
        return cls(**exactly(cls.__name__, {"positive_class": None, **record}, cls.__dataclass_fields__))


def recall_grid(scores: ArrayLike, positive: ArrayLike, target: float, *, n_thresholds: int = 20) -> ThresholdGrid:
    """Rising thresholds from rows of the first part: recall falls from 1 to below the target; merit is precision there.

    The first few lie below the scores of all positive rows of the first part: should those of the bound rows lie lower,
    as where the model has learned from the former, the sequence still has somewhere to begin.

    Parameters
    ----------
    scores : array-like (n,)
        Scores F(x) of rows of the first part.
    positive : array-like of bool (n,)
        Whether each belongs to the positive class.
    target : float
        Recall to be certified.
    n_thresholds : int
        How many; fewer are returned where scores are tied.

    Examples
    --------
    >>> recall_grid([-0.5, -0.2, 0.1, 0.4], [False, True, False, True], 0.5, n_thresholds=2).merits
    (0.5, 0.6666666666666666)
    """
    s, y = _rows(scores, positive, "positive")
    missed = np.linspace(0.0, min(1.0, 2.0 * _allowed(target)), count("n_thresholds", n_thresholds))
    # Just below the k-th smallest score of a positive row, k - 1 of them are missed.
    values = np.unique(np.quantile(s[y], missed, method="lower"))
    below = s[s < values[0]]
    if len(below):
        values = np.unique(np.concatenate([np.quantile(below, _SAFER, method="lower"), values]))
    thresholds = cuts_below(s, values)
    return ThresholdGrid(tuple(thresholds.tolist()), tuple(float(y[s > t].mean()) for t in thresholds))


def specificity_grid(scores: ArrayLike, positive: ArrayLike, target: float, *, n_thresholds: int = 20) -> ThresholdGrid:
    """Falling thresholds from rows of the first part: specificity falls below the target; merit is recall there.

    Parameters
    ----------
    scores, positive, n_thresholds
        As for :func:`recall_grid`.
    target : float
        Specificity (1 - false-positive rate) to be certified.

    Examples
    --------
    >>> specificity_grid([-0.5, -0.2, 0.1, 0.4], [False, True, False, True], 0.5, n_thresholds=2).thresholds
    (0.2,)
    """
    s, y = _rows(scores, positive, "negative")
    alarms = np.linspace(0.0, min(1.0, 2.0 * _allowed(target)), count("n_thresholds", n_thresholds))
    return _falling(s, y, cuts_above(s, np.quantile(s[~y], 1.0 - alarms, method="higher")))


def precision_grid(
    scores: ArrayLike, positive: ArrayLike, n_rows: int, target: float, delta: float = 0.05, *, n_thresholds: int = 20
) -> ThresholdGrid:
    """Falling thresholds from rows of the first part, from few rows called positive to all; merit is recall there.

    The first leaves about twice the rows that certify the target without a failure, as for abstaining.

    Parameters
    ----------
    scores, positive, n_thresholds
        As for :func:`recall_grid`.
    n_rows : int
        Number of bound rows.
    target, delta : float
        Precision to be certified, and the probability with which that may fail.

    Examples
    --------
    >>> scores = np.linspace(-1.0, 1.0, 201)
    >>> [round(t, 3) for t in precision_grid(scores, scores > 0.0, 1000, 0.9, n_thresholds=3).thresholds]
    [0.875, 0.505, -1.01]
    """
    s, y = _rows(scores, positive, "positive")
    first = min(1.0, 2.0 * error_free_rows(_allowed(target), delta) / count("n_rows", n_rows))
    shares = np.geomspace(first, 1.0, count("n_thresholds", n_thresholds))
    # With the rows that are tied with the last: of many equal scores at the top, all are called positive.
    return _falling(s, y, cuts_below(s, np.quantile(s, 1.0 - shares, method="lower")))


def _falling(s: Array, y: Bools, cuts: Array) -> ThresholdGrid:
    """Thresholds, the largest first; merit is recall."""
    thresholds = cuts[::-1]
    return ThresholdGrid(tuple(thresholds.tolist()), tuple(float(y[s > t].sum() / y.sum()) for t in thresholds))


def target_recall(
    scores: ArrayLike,
    positive: ArrayLike,
    grid: ThresholdGrid,
    target: float,
    delta: float = 0.05,
    *,
    n_candidates: int = 1,
) -> TargetThreshold:
    r"""Certify a threshold at which at least the target share of positive rows is called positive.

    .. math:: \Pr(s > t \mid y = +) \ge ρ

    Given the number of positive rows, those that are missed are binomial. Thresholds are tested in the order of the
    grid (rising, for recall) until one fails; of those that passed, all of which hold at once with probability at
    least 1-δ, the one with the largest merit is returned.

    Parameters
    ----------
    scores : array-like (n,)
        Scores F(x) of the bound rows.
    positive : array-like of bool (n,)
        Whether each belongs to the positive class.
    grid : ThresholdGrid
        Thresholds, order and merits from other rows than these.
    target : float
        Recall ρ in (0, 1).
    delta : float
        Probability with which the promise may fail.
    n_candidates : int
        Number K of models judged on the same rows.

    Examples
    --------
    >>> scores, positive = np.linspace(-1.0, 1.0, 400), np.arange(400) >= 200
    >>> grid = ThresholdGrid((-0.1, 0.0, 0.02, 0.1), (0.8, 0.9, 1.0, 1.0))
    >>> found = target_recall(scores, positive, grid, 0.95)
    >>> found.threshold, found.n_failures, found.n_counted
    (0.02, 4, 200)

    References
    ----------
    A. N. Angelopoulos, S. Bates, E. J. Candès, M. I. Jordan, L. Lei (2021), Learn then Test.
    """
    s, y = _rows(scores, positive)
    counts = [(int(np.sum(s[y] <= t)), int(y.sum())) for t in grid.thresholds]
    return _certified("recall", counts, grid, target, delta, n_candidates, len(s))


def target_precision(
    scores: ArrayLike,
    positive: ArrayLike,
    grid: ThresholdGrid,
    target: float,
    delta: float = 0.05,
    *,
    n_candidates: int = 1,
) -> TargetThreshold:
    r"""Certify a threshold at which at least the target share of the rows called positive is positive.

    .. math:: \Pr(y = + \mid s > t) \ge ρ

    Given the number of rows called positive, the negative ones among them are binomial.

    Parameters
    ----------
    scores, positive, grid, target, delta, n_candidates
        As for :func:`target_recall`, with a grid whose thresholds fall.

    Examples
    --------
    >>> scores, positive = np.linspace(-1.0, 1.0, 400), np.arange(400) >= 200
    >>> grid = ThresholdGrid((0.5, 0.0, -0.02, -0.5), (0.5, 1.0, 1.0, 1.0))
    >>> target_precision(scores, positive, grid, 0.95).threshold
    0.0
    """
    s, y = _rows(scores, positive)
    counts = [(int(np.sum(s[~y] > t)), int(np.sum(s > t))) for t in grid.thresholds]
    return _certified("precision", counts, grid, target, delta, n_candidates, len(s))


def target_specificity(
    scores: ArrayLike,
    positive: ArrayLike,
    grid: ThresholdGrid,
    target: float,
    delta: float = 0.05,
    *,
    n_candidates: int = 1,
) -> TargetThreshold:
    r"""Certify a threshold at which at least the target share of negative rows is called negative.

    .. math:: \Pr(s \le t \mid y = -) \ge ρ, \qquad \text{that is, a false-positive rate of at most } 1 - ρ

    Given the number of negative rows, those called positive are binomial.

    Parameters
    ----------
    scores, positive, grid, target, delta, n_candidates
        As for :func:`target_recall`, with a grid whose thresholds fall.

    Examples
    --------
    >>> scores, positive = np.linspace(-1.0, 1.0, 400), np.arange(400) >= 200
    >>> target_specificity(scores, positive, ThresholdGrid((0.5, -0.5), (0.5, 1.0)), 0.95).threshold
    0.5
    """
    s, y = _rows(scores, positive)
    counts = [(int(np.sum(s[~y] > t)), int(np.sum(~y))) for t in grid.thresholds]
    return _certified("specificity", counts, grid, target, delta, n_candidates, len(s))


def _certified(
    kind: str,
    counts: list[tuple[int, int]],
    grid: ThresholdGrid,
    target: float,
    delta: float,
    n_candidates: int,
    n_rows: int,
) -> TargetThreshold:
    failures, trials = zip(*counts, strict=True)
    allowed, share = _allowed(target), level("delta", delta) / count("n_candidates", n_candidates)
    passed = fixed_sequence(failures, trials, allowed, share)
    at = int(np.argmax(grid.merits[:passed])) if passed else 0
    return TargetThreshold(
        kind=kind,
        target=target,
        threshold=grid.thresholds[at] if passed else None,
        delta=delta,
        n_counted=trials[at],
        n_failures=failures[at],
        n_rows=n_rows,
        n_thresholds=len(grid.thresholds),
        n_passed=passed,
        n_candidates=n_candidates,
        rows_needed=None if passed else rows_needed(failures[0], trials[0], n_rows, allowed, share),
    )


def _allowed(target: float) -> float:
    """Largest rate of failures that meets the target, rounded down."""
    return float(np.nextafter(1.0 - level("target", target), 0.0))


def _rows(scores: ArrayLike, positive: ArrayLike, needed: str | None = None) -> tuple[Array, Bools]:
    s, y = np.asarray(scores, dtype=np.float64), np.asarray(positive)
    if s.ndim != 1 or len(s) == 0 or not np.all(np.isfinite(s)):
        raise ValueError("scores must be a vector of at least one finite number")
    if y.dtype != np.bool_ or y.shape != s.shape:
        raise ValueError(f"positive must hold one bool for each of the {len(s)} scores")
    if (needed == "positive" and not y.any()) or (needed == "negative" and y.all()):
        raise ValueError(f"no row of the first part is {needed}, so there is nothing to take thresholds from")
    return s, y


def _promise(c: TargetThreshold) -> str:
    name = "positive" if c.positive_class is None else c.positive_class
    what, among = (words.format(name) for words in _MEANINGS[c.kind])
    counted = f"{number_of(c.n_failures, 'failure')} among {c.n_counted:,} {among}"
    seen = f"{counted} in {number_of(c.n_rows, 'bound row')}"
    if c.threshold is not None:
        return (
            f"With {confidence(c.delta)} confidence, at least {stated(c.target)} {what} on new data from the "
            f"same source, if {called(c.threshold, c.positive_class)} ({seen})."
        )
    if c.rows_needed is None:
        needed = "At this rate no number of rows would do."
    else:
        needed = f"At this rate, about {number_of(c.rows_needed, 'bound row')} would do."
    of = "" if c.positive_class is None else f" of {name}"
    return (
        f"A {c.kind}{of} of at least {stated(c.target)} could not be certified with {confidence(c.delta)} "
        f"confidence: {seen} at the safest threshold. {needed}"
    )


def _premises(c: TargetThreshold) -> str:
    chosen = "" if c.n_candidates == 1 else f" The choice among {c.n_candidates:,} candidates is accounted for."
    return (
        f"This assumes that the {number_of(c.n_rows, 'bound row')} and the new data are independent draws from one "
        f"source, and that the model, the {number_of(c.n_thresholds, 'threshold')} and their order were fixed without "
        f"looking at them.{chosen}"
    )


def _number(name: str, value: Any) -> int:
    return count(name, value, least=0)


_CHECKS: dict[str, Check] = {
    "kind": one_of(*_MEANINGS),
    "target": level,
    "threshold": optional(real),
    "delta": level,
    "n_counted": _number,
    "n_failures": _number,
    "n_rows": count,
    "n_thresholds": count,
    "n_passed": _number,
    "n_candidates": count,
    "rows_needed": optional(count),
    "positive_class": optional(text),
}
