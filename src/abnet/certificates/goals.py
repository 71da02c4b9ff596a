r"""Goals of a decision: an error rate among answered rows, a recall, a precision, or minimal costs.

A goal fixes its candidate thresholds, and the order in which they are tested, on held rows of the first part
(`abnet.certificates.held`). The bound rows then test the thresholds in this order, up to the first failure (fixed
sequence testing): with probability at least 1-δ *all* thresholds that passed meet the goal, because a false statement
requires that the first threshold that does not meet it passes, which has probability at most δ. So any of the passed
thresholds may be selected by any criterion, and their number costs nothing. Where the sequence begins decides how often
it certifies anything (`abnet.certificates.cut_order`).

What else is stated about the selected threshold (the share of rows answered or predicted as positive, precision,
recall, error) was not tested in this sequence. Each such bound is a Clopper-Pearson limit at δ/G, where G is the number
of thresholds that the goal may select, known before the bound rows are seen: only those with a larger merit on the held
rows than all before them (`Grid.n_selectable`). With probability at least 1-δ the limit holds at all G thresholds, and
so at the selected one, however it was selected.

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
from scipy.special import bdtr, bdtrik

from abnet.bounds.clopper_pearson import binomial_tail
from abnet.certificates.cut_order import first_cut
from abnet.certificates.decision import ARGMAX, Decision, cut_below, cuts_between, room_of, sureness
from abnet.certificates.evidence import Evidence, observe
from abnet.certificates.from_evidence import Terms
from abnet.certificates.held import Held
from abnet.certificates.rule_rates import rates_of_rule, rule_of
from abnet.certificates.statement import Statement, state
from abnet.utils.wording import percent

__all__ = ["Costs", "Goal", "Grid", "TargetError", "TargetPrecision", "TargetRecall", "meet", "rows_needed"]

Floats = NDArray[np.float64]

THRESHOLDS = 100
"""Number of candidate thresholds: it costs nothing, and a finer grid gets closer to the goal."""


@dataclass(frozen=True)
class Grid:
    """Candidate decisions in the order in which they are tested, with a merit for each.

    Attributes
    ----------
    decisions : tuple of Decision
    merits : tuple of float
        Among the decisions that pass, the one with the largest merit is selected.
    costs : float array (K, K) or None
        Cost table, true class by answer, for `Costs`; there is only one decision then.
    seen : tuple of int
        Failures, trials and rows on the held rows, for the decision that is tested first.
    """

    decisions: tuple[Decision, ...]
    merits: tuple[float, ...]
    costs: Floats | None = None
    seen: tuple[int, int, int] = (0, 0, 0)

    @property
    def n_selectable(self) -> int:
        """Number of decisions that may be selected, whatever the bound rows are: the running maxima of the merits.

        The decisions that pass are the first ones in the order, and the first of them with the largest merit is
        selected.

        Examples
        --------
        >>> Grid((ARGMAX,) * 5, (0.2, 0.5, 0.4, 0.5, 0.6)).n_selectable
        3
        """
        return len(np.unique(np.maximum.accumulate(self.merits)))

    @property
    def thresholds(self) -> tuple[float, ...]:
        """The thresholds in increasing order, for `observe`."""
        return tuple(sorted(d.threshold for d in self.decisions if d.threshold is not None))


class Goal(Protocol):
    """A goal that the answers have to meet."""

    def grid(self, held: Held, classes: Sequence[Any], n_rows: int, terms: Terms) -> Grid:
        """Candidate decisions from held rows, before the `n_rows` bound rows are seen."""
        ...

    def settle(self, evidence: Evidence, grid: Grid, terms: Terms) -> tuple[Decision | None, list[Statement]]:
        """The certified decision (None if nothing could be certified), and the statements about it."""
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
    """Fix the candidate thresholds on held rows, test them on the bound rows, and return the certified decision.

    Parameters
    ----------
    goal : Goal
    held : Held
    scores, truth : arrays (n,) or (n, K), and (n,)
        Scores and classes of the bound rows; class K stands for a label that the model does not know, which has the
        largest cost.
    classes : tuple of str
    terms : Terms
    keys : uint64 array (n,)
        Positions of the rows in the order for betting bounds.
    answers : int array (n,), optional
        The model's answers; by default the class with the largest score.

    Examples
    --------
    >>> scores, truth = np.linspace(-1.0, 1.0, 400), (np.arange(400) >= 200).astype(int)
    >>> goal, held = TargetPrecision(0.9, positive="ill"), Held(scores, truth)
    >>> decision, (made, *beside) = meet(goal, held, scores, truth, ("well", "ill"), Terms(), keys=np.arange(400))
    >>> decision.kind, made.value
    ('cut', 0.9)
    >>> [s.about for s in beside]
    ['recall of decision ill', 'flagged of decision ill', 'error of decision']
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
    """Goal: abstain on uncertain rows, so that the error rate among answered rows is at most `error`.

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
        """Decreasing thresholds on the confidence, the last answers every row; the merit is the share answered."""
        sure = sureness(held.scores)
        wrong = held.failing
        shares = np.linspace(_least_share(self.error, n_rows, terms), 1.0, THRESHOLDS)
        chosen = cut_below(sure, np.quantile(sure, 1.0 - shares[shares < 1.0], method="lower"))[::-1]
        chosen = np.append(chosen[chosen > 0.0], -1.0)  # below every sureness: all rows are answered
        chosen = chosen[first_cut(sure, wrong, chosen, self.error, n_rows) :]
        return Grid(
            tuple(Decision(kind="abstain", threshold=float(t)) for t in chosen),
            tuple(float(np.mean(sure > t)) for t in chosen),
            seen=_counts_above(sure, wrong, chosen[0]),
        )

    def settle(self, evidence: Evidence, grid: Grid, terms: Terms) -> tuple[Decision | None, list[Statement]]:
        """The lowest threshold that passed, the error rate among answered rows, and a lower limit of their share."""
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
            rows_needed=None if at >= 0 else _rows_for_the_first(grid, failures, trials, evidence, self.error, terms),
            **options,
        )]  # fmt: skip
        if at < 0:
            return None, made
        counted = {"successes": trials, "n": evidence.n_rows}
        paid = _options(terms, grid)
        made.append(
            state(
                "coverage",
                "predict",
                "clopper_pearson_lower",
                counted,
                side="at least",
                rule={"thresholds": grid.n_selectable},
                **paid,
            )
        )
        return grid.decisions[at], made


@dataclass(frozen=True)
class TargetRecall:
    """Goal for two classes: find at least the share `recall` of the positive rows.

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
        """Increasing thresholds: recall falls from 1 to below the goal; the merit is the precision on the held rows."""
        marks, is_positive, code = _marks(held, classes, self.positive)
        missed = np.linspace(0.0, min(1.0, 2.0 * (1.0 - self.recall)), THRESHOLDS)
        values = np.unique(np.quantile(marks[is_positive], missed, method="lower"))
        # Some thresholds are below the scores of all positive held rows, because bound rows may have lower scores.
        below = marks[marks < values[0]]
        if len(below):
            values = np.concatenate([np.quantile(below, (0.0, 0.25, 0.5, 0.75, 0.9), method="lower"), values])
        chosen, found = cut_below(marks, values), marks[is_positive]
        seen = int(np.sum(found <= chosen[0])), len(found), len(marks)
        return _cuts(chosen, code, lambda t: _share(is_positive[marks > t]), seen)

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
    """Goal for two classes: at least this share of the rows predicted as positive are positive."""

    precision: float
    positive: Any

    def __str__(self) -> str:
        return f"A precision of {percent(self.precision)} for class {self.positive}"

    def __post_init__(self) -> None:
        _check_rate("precision", self.precision)

    def grid(self, held: Held, classes: Sequence[Any], n_rows: int, terms: Terms) -> Grid:
        """Decreasing thresholds, down to all rows called positive; the merit is the recall on the held rows."""
        marks, is_positive, code = _marks(held, classes, self.positive)
        shares = np.geomspace(_least_share(_allowed(self.precision), n_rows, terms), 1.0, THRESHOLDS)
        chosen = cut_below(marks, np.quantile(marks, 1.0 - shares, method="lower"))[::-1]
        failing = np.asarray(~is_positive, np.float64)
        chosen = chosen[first_cut(marks, failing, chosen, _allowed(self.precision), n_rows) :]
        return _cuts(
            chosen,
            code,
            lambda t: float((marks > t)[is_positive].sum() / is_positive.sum()),
            _counts_above(marks, failing, chosen[0]),
        )

    def settle(self, evidence: Evidence, grid: Grid, terms: Terms) -> tuple[Decision | None, list[Statement]]:
        """The best threshold among those that passed, and the precision there."""
        tests = []
        for decision in grid.decisions:
            above = _above_counts(evidence, decision).sum(axis=1)
            tests.append((int(above.sum() - above[int(decision.positive or 0)]), int(above.sum())))
        return _settled("precision", self.precision, tests, evidence, grid, terms)


@dataclass(frozen=True)
class Costs:
    """Goal: minimise the expected cost, given the cost of every answer for every true class.

    Parameters
    ----------
    costs : mapping from (truth, answer) to a number, or array (K, K)
        Every wrong answer needs a cost; right answers cost 0 by default. An array has one row per true class and one
        column per answer.

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
        """The costs as an array, true class by answer; a ValueError names a missing or unknown pair."""
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
                raise ValueError(f"costs: the cost of answering {pair[1]} when {pair[0]} is true is given twice.")
            seen.add(at)
            table[at] = cost
        if np.isnan(table).any():
            truth, answer = np.argwhere(np.isnan(table))[0]
            raise ValueError(f"costs: the cost of answering {classes[answer]} when {classes[truth]} is true is needed.")
        return _checked_table(table, len(classes))

    def grid(self, held: Held, classes: Sequence[Any], n_rows: int, terms: Terms) -> Grid:
        """One decision: the Bayes cut on calibrated probabilities, unless another is clearly cheaper on the held rows.

        The cheapest of many cuts is partly chosen by chance, so it must be cheaper by more than one standard error.
        Without calibrated probabilities the cheapest cut is used. For several classes the decision is the vote.
        """
        table = self.table(classes)
        if len(classes) != 2:
            return Grid((ARGMAX,), (0.0,), table)
        marks, positive = held.scores, held.codes == 1
        change = np.where(positive, table[1, 0] - table[1, 1], table[0, 0] - table[0, 1])
        cuts = cuts_between(marks)
        # Raising the threshold above a score changes the answer to its rows from positive to negative.
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
        """Bound on the expected cost of the decision, by betting on the cost of each row."""
        if evidence.costs is None:
            raise ValueError("the cost of each row is needed, in the order of the rows' keys.")
        values = evidence.costs.values
        largest = float(self.table(evidence.classes).max())
        counted = {"n": len(values), "mean": float(values.mean()), "largest": largest}
        decision = grid.decisions[0]
        rule = {} if decision.threshold is None else rule_of(decision, evidence.classes)
        made = state("cost", "predict", "cost_bound", counted, values=values, rule=rule, **_options(terms))
        return decision, [made, *_beside(decision, evidence, grid, terms)]


def _checked_table(costs: ArrayLike, n_classes: int) -> Floats:
    table = np.asarray(costs, np.float64)
    if table.shape != (n_classes, n_classes):
        raise ValueError(f"costs must be a table of {n_classes} classes; got the shape {table.shape}.")
    if not np.isfinite(table).all() or table.min() < 0.0 or table.max() == 0.0:
        raise ValueError("costs must be finite, not negative, and not all 0.")
    return table


def _bayes_probability(table: Floats) -> float:
    """The probability of the second class above which answering it is cheaper.

    Examples
    --------
    >>> _bayes_probability(np.array([[0.0, 1.0], [4.0, 0.0]]))
    0.2
    """
    alarm, miss = table[0, 1] - table[0, 0], table[1, 0] - table[1, 1]
    return float(alarm / (alarm + miss)) if alarm + miss > 0.0 else 0.5  # else the rows decide


def _check_rate(name: str, rate: float) -> None:
    if not 0.0 < rate < 1.0:
        raise ValueError(f"{name} must lie strictly between 0 and 1; got {rate}.")


def _options(terms: Terms, grid: Grid | None = None) -> dict[str, Any]:
    """δ and the number of candidates: models, or models times the thresholds that may be selected."""
    n = 1 if grid is None else grid.n_selectable
    return {"delta": terms.delta, "n_candidates": terms.n_candidates * n}


def _allowed(rate: float) -> float:
    """The largest rate of failures that a recall or a precision allows."""
    return float(np.nextafter(1.0 - rate, 0.0))


def _least_share(limit: float, n_rows: int, terms: Terms) -> float:
    """Share of the rows above the strictest threshold that could be certified, if it made no error."""
    return min(1.0, math.log(terms.delta / terms.n_candidates) / math.log1p(-limit) / n_rows)


def _counts_above(marks: Floats, failing: Floats, threshold: float) -> tuple[int, int, int]:
    """Failures and rows above a threshold, and the number of all rows."""
    above = marks > threshold
    return math.ceil(failing[above].sum()), int(above.sum()), len(marks)


def _beside(decision: Decision, evidence: Evidence, grid: Grid, terms: Terms, goal: str = "") -> list[Statement]:
    """What a cut costs, besides the goal; nothing for the plain vote."""
    if decision.kind != "cut":
        return []
    above = _above_counts(evidence, decision).sum(axis=1)
    return rates_of_rule(
        decision,
        above,
        evidence.class_rows,
        evidence.classes,
        goal=goal,
        n_thresholds=grid.n_selectable,
        **_options(terms),
    )


def _marks(held: Held, classes: Sequence[Any], positive: Any) -> tuple[Floats, NDArray[np.bool_], int]:
    """Scores towards the positive class, where it is true, and its code."""
    names = [str(label) for label in classes]
    if len(names) != 2 or str(positive) not in names:
        raise ValueError(f"the positive class must be one of two classes; got {positive!r}, of {', '.join(names)}.")
    code = names.index(str(positive))
    is_positive = held.codes == code
    if not is_positive.any():
        raise ValueError(f"none of the rows that fix the thresholds is {positive}: pass more rows.")
    return (held.scores if code == 1 else -held.scores), is_positive, code


def _cuts(thresholds: Floats, code: int, merit: Any, seen: tuple[int, int, int]) -> Grid:
    return Grid(
        tuple(Decision(kind="cut", threshold=float(t), positive=code) for t in thresholds),
        tuple(merit(float(t)) for t in thresholds),
        seen=seen,
    )


def _share(flags: NDArray[np.bool_]) -> float:
    return float(flags.mean()) if len(flags) else 0.0


def _above_counts(evidence: Evidence, decision: Decision) -> NDArray[np.int64]:
    """Counts, true class by answer, of the rows above a decision's threshold."""
    place = evidence.thresholds.index(float(decision.threshold or 0.0))
    return np.asarray(evidence.counts[:, :, place + 1 :].sum(axis=2))


def _passed(tests: Sequence[tuple[int, int]], limit: float, grid: Grid, terms: Terms) -> int:
    """Index of the best threshold among those that pass before the first failure; -1 if the first one fails."""
    share, count = terms.delta / terms.n_candidates, 0
    for failures, trials in tests:
        if binomial_tail(failures, trials, limit) > share:
            break
        count += 1
    return int(np.argmax(grid.merits[:count])) if count else -1


def _settled(
    quantity: str, rate: float, tests: Sequence[tuple[int, int]], evidence: Evidence, grid: Grid, terms: Terms
) -> tuple[Decision | None, list[Statement]]:
    allowed = _allowed(rate)
    at = _passed(tests, allowed, grid, terms)
    failures, trials = tests[max(at, 0)]
    decision = grid.decisions[max(at, 0)]
    made = state(
        quantity, "class", "rate_of_successes", {"failures": failures, "trials": trials, "rate": rate}, side="at least",
        name=evidence.classes[int(decision.positive or 0)], rule=rule_of(decision, evidence.classes),
        rows_needed=None if at >= 0 else _rows_for_the_first(grid, failures, trials, evidence, allowed, terms),
        **_options(terms),
    )  # fmt: skip
    if at < 0:
        return None, [made]
    return decision, [made, *_beside(decision, evidence, grid, terms, quantity)]


def _rows_for_the_first(
    grid: Grid, failures: int, trials: int, evidence: Evidence, limit: float, terms: Terms
) -> int | None:
    """`rows_needed` for the threshold that is tested first, at the rate among held rows and bound rows together."""
    held_failures, held_trials, held_rows = grid.seen
    rows = evidence.n_rows + held_rows
    return rows_needed(failures + held_failures, trials + held_trials, rows, limit, terms)


LIKELY = 0.8
"""Probability with which the rows that `rows_needed` names certify the limit, if the rates are as observed."""


def rows_needed(failures: int, trials: int, n: int, limit: float, terms: Terms) -> int | None:
    """Estimate of the number of rows that would probably certify a limit; None if no number would.

    At the observed rates, `LIKELY` samples of this size pass the test. For planning only, without a guarantee.

    Examples
    --------
    >>> rows_needed(0, 30, 100, 0.05, Terms()), rows_needed(6, 60, 100, 0.05, Terms())
    (197, None)
    >>> rows_needed(1, 60, 100, 0.05, Terms())
    347
    """
    rate, share = failures / trials if trials else 0.0, terms.delta / terms.n_candidates
    if rate >= limit:
        return None

    def passes(size: int) -> bool:
        most = math.floor(bdtrik(share, size, limit))
        if bdtr(most, size, limit) > share:
            most -= 1
        # `most` failures still pass the test.
        return bool(most >= 0 and bdtr(most, size, rate) >= LIKELY)

    size = math.ceil(math.log(share) / math.log1p(-limit))
    while not passes(size):
        size *= 2
        if size > 10**9:
            return None
    # The number of failures is an integer, so passing is not quite monotone in n: any n that passes is good enough.
    low = size // 2
    while size - low > 1:
        middle = (low + size) // 2
        low, size = (low, middle) if passes(middle) else (middle, size)
    return math.ceil(size * n / max(trials, 1))
