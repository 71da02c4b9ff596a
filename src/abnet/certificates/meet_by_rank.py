"""`meet_by_rank`: certify a decision whose threshold is a score of the counted rows, so that no rows are set aside."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abnet.certificates.decision import ARGMAX, Decision, cuts_between
from abnet.certificates.evidence import observe
from abnet.certificates.goals.goal import RankCounts, RateGoal, Trials
from abnet.certificates.planning import rows_needed
from abnet.certificates.statements.statement import Statement
from abnet.certificates.terms import Terms
from abnet.certificates.thresholds.candidate_grids import ANSWER_ALL
from abnet.certificates.thresholds.rank_tests import ranks_above, ranks_of_class

__all__ = ["meet_by_rank"]

Floats = NDArray[np.float64]
Rows = NDArray[np.bool_]


def meet_by_rank(
    goal: RateGoal,
    scores: ArrayLike,
    truth: NDArray[np.intp],
    classes: tuple[str, ...],
    terms: Terms,
    *,
    keys: ArrayLike,
    answers: NDArray[np.intp] | None = None,
    beside: Terms | None = None,
) -> tuple[Decision | None, list[Statement]]:
    """Test the ranks of all rows, and certify the best threshold among those that pass.

    Parameters
    ----------
    goal : RateGoal
    scores, truth : arrays (n,)
        Scores and classes of the held-out rows.
    classes : tuple of str
    terms : Terms
    keys : array (n,)
        Positions of the rows in an order by a keyed hash: rows with equal scores are tested in this order.
    answers : int array (n,), optional
        The model's answers.
    beside : Terms, optional
        Of the statements beside the target; by default `terms`.

    Returns
    -------
    decision : Decision or None
        None if nothing could be certified.
    statements : list of Statement

    Examples
    --------
    >>> from abnet import TargetPrecision
    >>> scores, truth = np.linspace(-1.0, 1.0, 400), (np.arange(400) >= 200).astype(int)
    >>> goal = TargetPrecision(0.9, positive="ill")
    >>> decision, (made, *beside) = meet_by_rank(goal, scores, truth, ("well", "ill"), Terms(), keys=np.arange(400))
    >>> decision.threshold, made.value
    (0.0, 0.9)
    """
    compared = goal.decision_above(0.0, classes).score(scores)
    order = np.lexsort((np.asarray(keys), -compared))
    answers_in_order = None
    if answers is not None:
        answers_in_order = answers[order]
    counts = goal.at_ranks(truth[order], answers_in_order, classes)
    passed = _passed(goal, counts, terms.delta / terms.n_candidates)
    thresholds, ranks = _thresholds_and_ranks(compared, answers_all=goal.needs_confidence)
    usable = np.flatnonzero(passed[ranks - 1])
    n_rows = len(compared)
    if len(usable) == 0:
        return None, [_not_shown(goal, counts, thresholds, ranks, classes, terms)]
    best = usable[np.argmax(counts.merits[ranks[usable] - 1])]
    decision = goal.decision_above(float(thresholds[best]), classes)
    rank = int(ranks[best])
    made = goal.statement(decision, _trials_at(counts, rank), classes, terms, None, by_rank=True)
    if answers is None:
        answers = ARGMAX(np.asarray(scores, np.float64))
    evidence = observe(answers, truth, classes, scores=compared, thresholds=(float(thresholds[best]),))
    return decision, [made, *goal.beside(decision, evidence, n_rows, beside or terms, by_rank=True)]


def _passed(goal: RateGoal, counts: RankCounts, delta: float) -> Rows:
    """The ranks that pass."""
    if goal.ranked == "class":
        return ranks_of_class(counts.failures, int(counts.trials[-1]), goal.limit, delta)
    failing = np.diff(counts.failures, prepend=0) > 0
    return ranks_above(failing, goal.limit, delta)


def _thresholds_and_ranks(compared: Floats, *, answers_all: bool) -> tuple[Floats, NDArray[np.intp]]:
    """Thresholds between distinct scores, by the number of rows above them."""
    thresholds = cuts_between(compared)[::-1]
    if answers_all:
        thresholds = np.append(thresholds[:-1], ANSWER_ALL)
    ranks = len(compared) - np.searchsorted(np.sort(compared), thresholds, side="right")
    above_any = ranks > 0
    return thresholds[above_any], ranks[above_any]


def _trials_at(counts: RankCounts, rank: int) -> Trials:
    return Trials(int(counts.failures[rank - 1]), int(counts.trials[rank - 1]))


def _not_shown(
    goal: RateGoal,
    counts: RankCounts,
    thresholds: Floats,
    ranks: NDArray[np.intp],
    classes: tuple[str, ...],
    terms: Terms,
) -> Statement:
    """The statement that nothing could be shown, at the threshold where least was missing."""
    delta = terms.delta / terms.n_candidates
    tails = np.array([goal.tail(_trials_at(counts, int(rank))) for rank in ranks])
    failed = np.flatnonzero(tails > delta)
    place = 0
    trials = _trials_at(counts, 1)  # a single row never shows anything
    if len(failed):
        place = int(failed[np.argmin(tails[failed])])
        trials = _trials_at(counts, int(ranks[place]))
    decision = goal.decision_above(float(thresholds[place]), classes)
    needed = rows_needed(trials.failures, trials.trials, len(counts.failures), goal.limit, delta)
    return goal.statement(decision, trials, classes, terms, needed, by_rank=True)
