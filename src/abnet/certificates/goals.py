r"""Goals that a decision has to meet: an error among answered rows, a recall, a precision, or least costs.

A goal fixes its thresholds, and the order in which they are tested, on held rows of the first part: rows that trained
nothing. The counted rows then say how far down that order the goal is certain (`fixed sequence testing`): with
probability at least 1-δ *all* thresholds that passed meet the goal, since a false statement needs the first bad one to
pass, which has the probability δ. So any of them may be picked, by anything, and their number costs nothing.

References
----------
A. N. Angelopoulos, S. Bates, E. J. Candès, M. I. Jordan, L. Lei (2021), Learn then Test. Y. Geifman, R. El-Yaniv
(2017), Selective classification for deep neural networks.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abnet.bounds.clopper_pearson import binomial_tail
from abnet.certificates.certify import Terms
from abnet.certificates.decision import ARGMAX, Decision, cuts_between, room_of, sureness
from abnet.certificates.evidence import Evidence, observe
from abnet.certificates.held import Held
from abnet.certificates.statement import Statement, state
from abnet.words import percent

__all__ = ["Costs", "Goal", "Grid", "TargetError", "TargetPrecision", "TargetRecall", "meet", "rows_needed"]

Floats = NDArray[np.float64]

THRESHOLDS = 100
"""Thresholds that are tried: their number costs nothing, and a finer grid ends closer to the goal."""


@dataclass(frozen=True)
class Grid:
    """Thresholds in the order in which they are tested, how desirable each is, and the decision that each makes.

    Attributes
    ----------
    decisions : tuple of Decision
    merits : tuple of float
        Of the thresholds that pass, the one with the largest merit is taken.
    costs : float array (K, K) or None
        Truth by answer, where the answers are paid for; there is one decision then.
    """

    decisions: tuple[Decision, ...]
    merits: tuple[float, ...]
    costs: Floats | None = None

    @property
    def thresholds(self) -> tuple[float, ...]:
        """Rising, for `observe`."""
        return tuple(sorted(d.threshold for d in self.decisions if d.threshold is not None))


class Goal(Protocol):
    """What a user asks of the answers."""

    def grid(self, held: Held, classes: Sequence[Any], n_rows: int, terms: Terms) -> Grid:
        """Thresholds from held rows, before the `n_rows` counted rows are seen."""
        ...

    def settle(self, evidence: Evidence, grid: Grid, terms: Terms) -> tuple[Decision | None, list[Statement]]:
        """The decision that the evidence certifies, and what is promised of it; None if nothing could be."""
        ...


def meet(
    goal: Goal,
    held: Held,
    scores: ArrayLike,
    truth: ArrayLike,
    classes: tuple[str, ...],
    terms: Terms,
    *,
    keys: ArrayLike,
    answers: ArrayLike | None = None,
) -> tuple[Decision | None, list[Statement]]:
    """Fix the thresholds on held rows, observe the counted rows, and settle.

    Parameters
    ----------
    goal : Goal
    held : Held
    scores, truth : arrays (n,) or (n, K), and (n,)
        Of the counted rows; K for a label that the model does not know, which costs as much as anything can.
    classes : tuple of str
    terms : Terms
    keys : uint64 array (n,)
        Places of the rows in the order of bets.
    answers : int array (n,), optional
        What the model answers; by default the class with the largest share.

    Examples
    --------
    >>> scores, truth = np.linspace(-1.0, 1.0, 400), (np.arange(400) >= 200).astype(int)
    >>> goal, held = TargetPrecision(0.9, positive="ill"), Held(scores, truth)
    >>> decision, (made,) = meet(goal, held, scores, truth, ("well", "ill"), Terms(), keys=np.arange(400))
    >>> decision.kind, made.value
    ('cut', 0.9)
    """
    values, codes = np.asarray(scores, np.float64), np.asarray(truth)
    grid = goal.grid(held, classes, len(codes), terms)
    costs = None
    if grid.costs is not None:
        known = codes < len(classes)
        paid = grid.costs[np.where(known, codes, 0), grid.decisions[0](values)]
        costs = np.where(known, paid / grid.costs.max(), 1.0)
    seen = observe(
        ARGMAX(values) if answers is None else answers, codes, classes, costs=costs, keys=keys,
        scores=grid.decisions[0].score(values) if grid.thresholds else None, thresholds=grid.thresholds,
    )  # fmt: skip
    return goal.settle(seen, grid, terms)


@dataclass(frozen=True)
class TargetError:
    """Answer only where sure enough: the error among answered rows is at most `error`.

    Examples
    --------
    >>> TargetError(0.02)
    TargetError(error=0.02)
    """

    error: float

    def __str__(self) -> str:
        return f"An error rate of {percent(self.error)} among answered rows"

    def __post_init__(self) -> None:
        _check_rate("error", self.error)

    def grid(self, held: Held, classes: Sequence[Any], n_rows: int, terms: Terms) -> Grid:
        r"""Falling thresholds on the sureness, down to one that answers every row; merit is the share answered.

        The first leaves about twice the rows that certify the goal without an error, :math:`2 \ln(δ/K)/\ln(1-ε)`: room
        for an error or two.
        """
        sure = sureness(held.scores)
        share = terms.delta / terms.n_candidates
        first = min(1.0, 2.0 * math.log(share) / math.log1p(-self.error) / n_rows)
        shares = np.linspace(first, 1.0, THRESHOLDS)
        # With the rows tied with the last: a model that is equally sure of many rows would else begin with none.
        chosen = _below(sure, np.quantile(sure, 1.0 - shares[shares < 1.0], method="lower"))[::-1]
        chosen = np.append(chosen[chosen > 0.0], -1.0)  # below every sureness: all rows are answered
        return Grid(
            tuple(Decision(kind="abstain", threshold=float(t)) for t in chosen),
            tuple(float(np.mean(sure > t)) for t in chosen),
        )

    def settle(self, evidence: Evidence, grid: Grid, terms: Terms) -> tuple[Decision | None, list[Statement]]:
        """The lowest threshold that passed, the error among answered rows, and a lower limit of their share."""
        tests = []
        for decision in grid.decisions:
            answered = _above_counts(evidence, decision)
            right = int(np.einsum("ii->", answered[:-1, :-1]))
            tests.append((int(answered.sum()) - right, int(answered.sum())))
        at, options = _passed(tests, self.error, grid, terms), _options(terms)
        failures, trials = tests[max(at, 0)]
        threshold = float(grid.decisions[max(at, 0)].threshold or 0.0)
        made = [state(
            "error", "answered rows", "limit_of_failures",
            {"failures": failures, "trials": trials, "limit": self.error}, rule={"threshold": threshold},
            rows_needed=None if at >= 0 else rows_needed(failures, trials, evidence.n_rows, self.error, terms),
            **options,
        )]  # fmt: skip
        if at < 0:
            return None, made
        # Which of the thresholds is reported depends on the same rows, so the coverage pays for all of them.
        counted = {"successes": trials, "n": evidence.n_rows}
        paid = {**options, "n_candidates": terms.n_candidates * len(grid.decisions)}
        made.append(state("coverage", "predict", "clopper_pearson_lower", counted, side="at least", **paid))
        return grid.decisions[at], made


@dataclass(frozen=True)
class TargetRecall:
    """Find at least this share of the positive rows; two classes.

    Examples
    --------
    >>> TargetRecall(0.95, positive="ill")
    TargetRecall(recall=0.95, positive='ill')
    """

    recall: float
    positive: Any

    def __str__(self) -> str:
        return f"A recall of {percent(self.recall)} for class {self.positive}"

    def __post_init__(self) -> None:
        _check_rate("recall", self.recall)

    def grid(self, held: Held, classes: Sequence[Any], n_rows: int, terms: Terms) -> Grid:
        """Rising thresholds: recall falls from 1 to below the goal; merit is the precision on the held rows."""
        marks, is_positive, code = _marks(held, classes, self.positive)
        missed = np.linspace(0.0, min(1.0, 2.0 * (1.0 - self.recall)), THRESHOLDS)
        values = np.unique(np.quantile(marks[is_positive], missed, method="lower"))
        # Some thresholds below the scores of all positive held rows: the counted rows may have lower ones.
        below = marks[marks < values[0]]
        if len(below):
            values = np.concatenate([np.quantile(below, (0.0, 0.25, 0.5, 0.75, 0.9), method="lower"), values])
        return _cuts(_below(marks, values), code, lambda t: _share(is_positive[marks > t]))

    def settle(self, evidence: Evidence, grid: Grid, terms: Terms) -> tuple[Decision | None, list[Statement]]:
        """The best threshold among those that passed, and the recall there."""
        tests = []
        for decision in grid.decisions:
            of = int(decision.positive or 0)
            total = int(evidence.counts[of].sum())
            tests.append((total - int(_above_counts(evidence, decision)[of].sum()), total))
        return _settled("recall", self.recall, tests, evidence, grid, terms)


@dataclass(frozen=True)
class TargetPrecision:
    """At least this share of the rows predicted as positive are positive; two classes."""

    precision: float
    positive: Any

    def __str__(self) -> str:
        return f"A precision of {percent(self.precision)} for class {self.positive}"

    def __post_init__(self) -> None:
        _check_rate("precision", self.precision)

    def grid(self, held: Held, classes: Sequence[Any], n_rows: int, terms: Terms) -> Grid:
        """Falling thresholds, from few rows called positive to all; merit is the recall on the held rows."""
        marks, is_positive, code = _marks(held, classes, self.positive)
        share = terms.delta / terms.n_candidates
        first = min(1.0, 2.0 * math.log(share) / math.log(self.precision) / n_rows)
        shares = np.geomspace(first, 1.0, THRESHOLDS)
        # With the rows tied with the last: of many equal scores at the top, all are called positive.
        chosen = _below(marks, np.quantile(marks, 1.0 - shares, method="lower"))[::-1]
        return _cuts(chosen, code, lambda t: float((marks > t)[is_positive].sum() / is_positive.sum()))

    def settle(self, evidence: Evidence, grid: Grid, terms: Terms) -> tuple[Decision | None, list[Statement]]:
        """The best threshold among those that passed, and the precision there."""
        tests = []
        for decision in grid.decisions:
            above = _above_counts(evidence, decision).sum(axis=1)
            tests.append((int(above.sum() - above[int(decision.positive or 0)]), int(above.sum())))
        return _settled("precision", self.precision, tests, evidence, grid, terms)


@dataclass(frozen=True)
class Costs:
    """Answer as cheaply as possible: what every answer costs, by (truth, answer).

    Parameters
    ----------
    costs : mapping from (truth, answer) to a number, or array (K, K)
        Right answers cost nothing unless they are given; every wrong one has to be. An array is truth by answer.

    Examples
    --------
    >>> Costs({("ill", "well"): 10, ("well", "ill"): 1}).table(["ill", "well"])
    array([[ 0., 10.],
           [ 1.,  0.]])
    """

    costs: Mapping[tuple[Any, Any], float] | ArrayLike

    def __str__(self) -> str:
        return "A bound on the expected cost"

    def table(self, classes: Sequence[Any]) -> Floats:
        """Truth by answer, in the order of the classes; ValueError names the pair that is missing or unknown."""
        if not isinstance(self.costs, Mapping):
            return _checked_table(self.costs, len(classes))
        places = {str(label): place for place, label in enumerate(classes)}
        table = np.full((len(places), len(places)), np.nan)
        np.fill_diagonal(table, 0.0)
        seen: set[tuple[int, int]] = set()
        for pair, cost in self.costs.items():
            if not (isinstance(pair, tuple) and len(pair) == 2 and all(str(label) in places for label in pair)):
                raise ValueError(f"costs: {pair!r} is not a pair (truth, answer) of the classes {', '.join(places)}.")
            at = places[str(pair[0])], places[str(pair[1])]
            if at in seen:
                raise ValueError(f"costs: the answer {pair[1]} where {pair[0]} is true is given twice.")
            seen.add(at)
            table[at] = cost
        if np.isnan(table).any():
            truth, answer = np.argwhere(np.isnan(table))[0]
            raise ValueError(f"costs must say what the answer {classes[answer]} costs where {classes[truth]} is true.")
        return _checked_table(table, len(classes))

    def grid(self, held: Held, classes: Sequence[Any], n_rows: int, terms: Terms) -> Grid:
        """One decision: the Bayes cut on calibrated probabilities, unless another is clearly cheaper on the held rows.

        The cheapest of many cuts follows chance, so it has to be cheaper by more than one standard error. Without
        calibrated probabilities the cheapest is taken. Several classes: the largest share of the vote.
        """
        table = self.table(classes)
        if len(classes) != 2:
            return Grid((ARGMAX,), (0.0,), table)
        marks, positive = held.scores, held.codes == 1
        change = np.where(positive, table[1, 0] - table[1, 1], table[0, 0] - table[0, 1])
        cuts = cuts_between(marks)
        # Raising the threshold over one score calls its rows negative instead of positive.
        totals = np.cumsum(np.bincount(np.searchsorted(cuts, marks), weights=change, minlength=len(cuts)))
        best = float(cuts[int(np.argmin(totals))])
        if held.score_at is not None:
            usual = round(float(held.score_at(_bayes_probability(table))), 3)
            if np.abs(marks - usual).min() <= room_of(marks):
                usual = float(cuts[np.searchsorted(cuts, usual)])
            spared = change * ((marks <= usual).astype(np.float64) - (marks <= best))
            best = best if spared.mean() > spared.std() / np.sqrt(len(marks)) else usual
        return Grid((Decision(kind="cut", threshold=best, positive=1),), (0.0,), table)

    def settle(self, evidence: Evidence, grid: Grid, terms: Terms) -> tuple[Decision | None, list[Statement]]:
        """The expected cost of the one decision, by betting on each row's cost."""
        if evidence.costs is None:
            raise ValueError("the cost of each row is needed, in the order of the rows' keys.")
        values = evidence.costs.values
        largest = float(self.table(evidence.classes).max())
        counted = {"n": len(values), "mean": float(values.mean()), "largest": largest}
        decision = grid.decisions[0]
        rule = {} if decision.threshold is None else _rule(decision, evidence.classes)
        made = state("cost", "predict", "cost_bound", counted, values=values, rule=rule, **_options(terms))
        return decision, [made]


def _checked_table(costs: ArrayLike, n_classes: int) -> Floats:
    table = np.asarray(costs, np.float64)
    if table.shape != (n_classes, n_classes):
        raise ValueError(f"costs must be a table of {n_classes} classes; got the shape {table.shape}.")
    if not np.isfinite(table).all() or table.min() < 0.0 or table.max() == 0.0:
        raise ValueError("costs must be finite, not negative, and not all 0.")
    return table


def _bayes_probability(table: Floats) -> float:
    """The probability of the second class above which it is the cheaper answer.

    Examples
    --------
    >>> _bayes_probability(np.array([[0.0, 1.0], [4.0, 0.0]]))
    0.2
    """
    alarm, miss = table[0, 1] - table[0, 0], table[1, 0] - table[1, 1]
    return float(alarm / (alarm + miss)) if alarm + miss > 0.0 else 0.5  # else the rows decide


def _rule(decision: Decision, classes: Sequence[str]) -> dict[str, float | str]:
    """What a statement records of the decision that it is about."""
    rule: dict[str, float | str] = {"threshold": float(decision.threshold or 0.0)}
    return rule if decision.positive is None else {**rule, "called": classes[decision.positive]}


def _check_rate(name: str, rate: float) -> None:
    if not 0.0 < rate < 1.0:
        raise ValueError(f"{name} must lie strictly between 0 and 1; got {rate}.")


def _options(terms: Terms) -> dict[str, Any]:
    return {"delta": terms.delta, "n_candidates": terms.n_candidates}


def _marks(held: Held, classes: Sequence[Any], positive: Any) -> tuple[Floats, NDArray[np.bool_], int]:
    """Scores towards the positive class, where it is true, and its code."""
    names = [str(label) for label in classes]
    if len(names) != 2 or str(positive) not in names:
        raise ValueError(f"the positive class must be one of two classes; got {positive!r}, of {', '.join(names)}.")
    code = names.index(str(positive))
    is_positive = held.codes == code
    if not is_positive.any():
        raise ValueError(f"none of the rows that thresholds are taken from is {positive}: give more rows.")
    return (held.scores if code == 1 else -held.scores), is_positive, code


def _cuts(thresholds: Floats, code: int, merit: Any) -> Grid:
    return Grid(
        tuple(Decision(kind="cut", threshold=float(t), positive=code) for t in thresholds),
        tuple(merit(float(t)) for t in thresholds),
    )


def _share(flags: NDArray[np.bool_]) -> float:
    return float(flags.mean()) if len(flags) else 0.0


def _below(scores: ArrayLike, values: ArrayLike) -> Floats:
    """For each of some scores, the threshold next below it, rising and without repetition."""
    cuts = cuts_between(scores)
    return np.asarray(cuts[np.unique(np.searchsorted(cuts, values) - 1)])


def _above_counts(evidence: Evidence, decision: Decision) -> NDArray[np.int64]:
    """Truth by answer of the rows above a decision's threshold."""
    place = evidence.thresholds.index(float(decision.threshold or 0.0))
    return np.asarray(evidence.counts[:, :, place + 1 :].sum(axis=2))


def _passed(tests: Sequence[tuple[int, int]], limit: float, grid: Grid, terms: Terms) -> int:
    """The place of the best threshold among the leading ones that pass; -1 if not even the first does."""
    share, count = terms.delta / terms.n_candidates, 0
    for failures, trials in tests:
        if binomial_tail(failures, trials, limit) > share:
            break
        count += 1
    return int(np.argmax(grid.merits[:count])) if count else -1


def _settled(
    quantity: str, rate: float, tests: Sequence[tuple[int, int]], evidence: Evidence, grid: Grid, terms: Terms
) -> tuple[Decision | None, list[Statement]]:
    allowed = float(np.nextafter(1.0 - rate, 0.0))
    at = _passed(tests, allowed, grid, terms)
    failures, trials = tests[max(at, 0)]
    decision = grid.decisions[max(at, 0)]
    made = state(
        quantity, "class", "rate_of_successes", {"failures": failures, "trials": trials, "rate": rate}, side="at least",
        name=evidence.classes[int(decision.positive or 0)], rule=_rule(decision, evidence.classes),
        rows_needed=None if at >= 0 else rows_needed(failures, trials, evidence.n_rows, allowed, terms),
        **_options(terms),
    )  # fmt: skip
    return (decision if at >= 0 else None), [made]


def rows_needed(failures: int, trials: int, n: int, limit: float, terms: Terms) -> int | None:
    """Estimate of the rows that would certify a limit at rates like those that were seen; None if none would.

    For planning, no promise.

    Examples
    --------
    >>> rows_needed(0, 30, 100, 0.05, Terms()), rows_needed(6, 60, 100, 0.05, Terms())
    (197, None)
    """
    rate, share = failures / trials if trials else 0.0, terms.delta / terms.n_candidates
    if rate >= limit:
        return None

    def passes(size: int) -> bool:
        return binomial_tail(min(size, math.ceil(rate * size)), size, limit) <= share

    size = math.ceil(math.log(share) / math.log1p(-limit))
    while not passes(size):
        size *= 2
        if size > 10**12:
            return None
    # Whole failures make the test jump, so that passing is not quite monotone: any number that passes will do.
    low = size // 2
    while size - low > 1:
        middle = (low + size) // 2
        low, size = (low, middle) if passes(middle) else (middle, size)
    return math.ceil(size * n / max(trials, 1))
