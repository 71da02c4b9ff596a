"""Goals as promises: true rates known, failures at most δ, on sorted and shuffled rows."""

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import binom, norm

from abnet.bounds.counted import cost_bound
from abnet.certificates.decision import Decision, cuts_between
from abnet.certificates.goals import Costs, Goal, TargetError, TargetPrecision, TargetRecall
from abnet.certificates.held import Held
from abnet.certificates.keyed_order import bet_keys, row_order
from abnet.certificates.meet_goal import meet
from abnet.certificates.row_hashing import row_hashes
from abnet.certificates.statements.cost_bound import CostBound
from abnet.certificates.terms import Terms
from broken_promise import breaks

CLASSES = ("well", "ill")
DELTA = 0.1
SAMPLES = 200
LIMIT = 0.999
"""Scores lie between -LIMIT and LIMIT; those of a wider normal distribution are moved there."""


def draw(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Scores and truth of a world in which the score says P(ill) = sigmoid(4 score)."""
    scores = np.clip(rng.normal(0, 0.5, n), -LIMIT, LIMIT)
    return scores, (rng.random(n) < expit(4 * scores)).astype(np.intp)


# Probability of each cell of a fine grid of scores, and how many of its rows are ill. The cells at the ends hold the
# scores that were moved there.
EDGES = np.linspace(-LIMIT, LIMIT, 20_001)
CENTRES = (EDGES[:-1] + EDGES[1:]) / 2
SCORES = np.concatenate([[-LIMIT], CENTRES, [LIMIT]])
CHANCES = np.diff(norm.cdf(np.concatenate([[-np.inf], EDGES, [np.inf]]), scale=0.5))
ILL = CHANCES * expit(4 * SCORES)
WELL = CHANCES - ILL


def certified(goal: Goal, rng: np.random.Generator, *, n: int = 400, sort: bool = False):  # type: ignore[no-untyped-def]
    scores, truth = draw(rng, n)
    if sort:
        order = np.argsort(truth, kind="stable")
        scores = scores[order]
        truth = truth[order]
    keys = bet_keys(row_order(row_hashes(scores[:, None], truth)))
    held = Held(*draw(rng, 300))
    return (*meet(goal, held, scores, truth, CLASSES, Terms(delta=DELTA), keys=keys), (scores, truth))


def is_broken(goal: Goal, decision: Decision) -> bool:
    """Whether the true rate of a decision is worse than the goal."""
    answers = decision(SCORES)
    if isinstance(goal, TargetError):
        wrong = WELL[answers == 1].sum() + ILL[answers == 0].sum()
        return bool(wrong / CHANCES[answers < 2].sum() > goal.error)
    if isinstance(goal, TargetRecall):
        return bool(ILL[answers == 1].sum() / ILL.sum() < goal.recall)
    assert isinstance(goal, TargetPrecision)
    return bool(ILL[answers == 1].sum() / CHANCES[answers == 1].sum() < goal.precision)


def test_the_grid_is_the_world() -> None:
    scores, truth = draw(np.random.default_rng(99), 400_000)
    for threshold in (-0.5, 0.0, 0.3):
        assert CHANCES[threshold < SCORES].sum() == pytest.approx(np.mean(scores > threshold), abs=4e-3)
        assert ILL[threshold < SCORES].sum() == pytest.approx(np.mean((scores > threshold) & (truth == 1)), abs=4e-3)


@pytest.mark.parametrize("sort", [False, True])
@pytest.mark.parametrize("goal", [TargetError(0.1), TargetRecall(0.9, "ill"), TargetPrecision(0.85, "ill")])
def test_a_goal_that_is_certified_holds(goal: Goal, sort: bool) -> None:
    rng = np.random.default_rng(5)
    broken = 0
    met = 0
    for _ in range(SAMPLES):
        decision, statements, _ = certified(goal, rng, sort=sort)
        if decision is None:
            assert statements[0].value is None
            continue
        met += 1
        broken += is_broken(goal, decision)
        assert all(statement.check() == "recomputed" for statement in statements)
        assert statements[0].rule.threshold == decision.threshold
    assert met > SAMPLES // 2
    assert not breaks(broken, SAMPLES, DELTA)


def test_a_sequence_that_skips_a_failure_is_caught() -> None:
    """The same simulation finds a mutant that takes the best of all thresholds instead of stopping at a failure."""
    goal = TargetRecall(0.9, "ill")
    rng = np.random.default_rng(6)
    broken = 0
    for _ in range(SAMPLES):
        candidates = goal.candidates(Held(*draw(rng, 300)), CLASSES, 400, Terms(delta=DELTA))
        scores, truth = draw(rng, 400)
        good = [d for d in candidates.decisions if np.mean(d(scores)[truth == 1] == 1) >= 0.9]
        broken += bool(good) and is_broken(goal, good[-1])
    assert breaks(broken, SAMPLES, DELTA)


@pytest.mark.parametrize("sort", [False, True])
def test_certified_costs_hold(sort: bool) -> None:
    goal = Costs({("ill", "well"): 5.0, ("well", "ill"): 1.0})
    table = goal.table(CLASSES)
    rng = np.random.default_rng(7)
    broken = 0
    for _ in range(SAMPLES):
        decision, (statement, *_), _ = certified(goal, rng, sort=sort)
        assert statement.value is not None
        assert statement.check() == "attainable"
        answers = decision(SCORES)
        broken += WELL @ table[0, answers] + ILL @ table[1, answers] > statement.value
    assert not breaks(broken, SAMPLES, DELTA)


def test_costs_move_the_cut_towards_the_dear_error() -> None:
    rng = np.random.default_rng(8)
    dear = Costs({("ill", "well"): 20.0, ("well", "ill"): 1.0})
    held = Held(*draw(rng, 2000))
    (decision,) = dear.candidates(held, CLASSES, 400, Terms()).decisions
    assert decision.threshold is not None
    assert decision.threshold < -0.3  # P(ill) = 1/21 is at -.75


def score_at(p: float) -> float:
    return float(np.log(p / (1 - p)) / 4)


def test_the_bayes_cut_is_taken_unless_another_is_clearly_cheaper() -> None:
    scores, truth = draw(np.random.default_rng(9), 200)
    goal = Costs({("ill", "well"): 4.0, ("well", "ill"): 1.0})
    (decision,) = goal.candidates(Held(scores, truth, score_at), CLASSES, 400, Terms()).decisions
    assert decision.threshold == pytest.approx(-np.log(4) / 4, abs=5e-4)
    (wrong,) = goal.candidates(Held(scores, truth, lambda p: 0.9), CLASSES, 400, Terms()).decisions
    assert wrong.threshold is not None
    assert wrong.threshold < 0.3


def test_the_cheapest_cut_is_the_cheapest_by_exhaustion() -> None:
    rng = np.random.default_rng(3)
    scores, truth = draw(rng, 300)
    goal = Costs({("ill", "well"): 3.0, ("well", "ill"): 1.0})
    (decision,) = goal.candidates(Held(scores, truth), CLASSES, 400, Terms()).decisions
    table = goal.table(CLASSES)
    totals = [table[truth, (scores > t).astype(int)].sum() for t in cuts_between(scores)]
    assert table[truth, decision(scores)].sum() == min(totals)


@pytest.mark.parametrize("mutant", ["largest", "order"])
def test_costs_that_are_cut_off_or_bet_on_in_order_are_caught(mutant: str) -> None:
    """Clipped at half of the largest, as if no larger one could be; or bet on as a sorted file gives them."""
    costs = np.array([0.0, 1.0, 10.0, 0.5])
    chances = np.array([0.6, 0.1, 0.05, 0.25])
    rng = np.random.default_rng(4)
    broken = 0
    for _ in range(SAMPLES):
        paid = costs[rng.choice(4, size=200, p=chances)]
        if mutant == "largest":
            largest = 5.0
            paid = np.minimum(paid, largest)
        else:
            largest = 10.0
            paid = np.sort(paid)
        broken += cost_bound(paid / largest, largest, DELTA) < costs @ chances
    assert breaks(int(broken), SAMPLES, DELTA)


@pytest.mark.parametrize("goal", [TargetRecall(0.9, "ill"), TargetPrecision(0.85, "ill")])
def test_the_best_threshold_on_the_counted_rows_themselves_is_a_trap(goal: Goal) -> None:
    rng = np.random.default_rng(12)
    broken = 0
    for _ in range(SAMPLES):
        scores, truth = draw(rng, 400)
        thresholds = cuts_between(scores)[:-5:4]
        flagged = scores > thresholds[:, None]
        if isinstance(goal, TargetRecall):
            good = np.mean(flagged[:, truth == 1], axis=1) >= 0.9
            best = thresholds[good][-1]
        else:
            good = (flagged & (truth == 1)).sum(axis=1) / flagged.sum(axis=1) >= 0.85
            best = thresholds[good][0]
        broken += is_broken(goal, Decision(kind="cut", threshold=float(best), positive=1))
    assert breaks(broken, SAMPLES, DELTA)


def test_the_coverage_holds_too() -> None:
    rng = np.random.default_rng(13)
    broken = 0
    for _ in range(SAMPLES):
        decision, statements, _ = certified(TargetError(0.1), rng)
        if decision is not None:
            broken += CHANCES[decision(SCORES) < 2].sum() < (statements[1].value or 0.0)
    assert not breaks(int(broken), SAMPLES, DELTA)


def test_unknown_labels_cost_as_much_as_anything_can() -> None:
    scores, truth = draw(np.random.default_rng(14), 400)
    goal = Costs([[0.0, 1.0], [5.0, 0.0]])
    keys = np.arange(400)
    _, (before, *_) = meet(goal, Held(scores, truth), scores, truth, CLASSES, Terms(), keys=keys)
    strange = np.where(np.arange(400) < 100, 2, truth)
    _, (after, *_) = meet(goal, Held(scores, truth), scores, strange, CLASSES, Terms(), keys=keys)
    assert (after.value or 0.0) > (before.value or 0.0) + 1.0
    assert isinstance(after, CostBound)
    assert after.largest == 5.0


def test_what_is_printed_is_what_was_certified() -> None:
    rng = np.random.default_rng(10)
    for scores in (rng.normal(size=500), rng.random(20) * 1e-7, np.round(rng.random(300), 2), np.array([0.25])):
        for threshold in cuts_between(scores).tolist():
            assert float(repr(threshold)) == threshold
            assert not np.isclose(scores, threshold, rtol=1e-12, atol=0).any()
    assert max(len(repr(t)) for t in cuts_between(np.linspace(0, 1, 11)).tolist()) <= 6


def test_decisions_agree_for_the_other_positive_class() -> None:
    scores = np.array([-0.9, -0.1, 0.1, 0.9])
    assert Decision(kind="cut", threshold=0.5, positive=0)(scores).tolist() == [0, 1, 1, 1]
    assert Decision(kind="abstain", threshold=0.5)(np.array([[0.2, 0.5, 0.3], [0.1, 0.1, 0.8]])).tolist() == [3, 2]


def test_goals_that_cannot_be_are_refused() -> None:
    held = Held(*draw(np.random.default_rng(0), 50))
    with pytest.raises(ValueError, match=r"1\.5"):
        TargetError(1.5)
    with pytest.raises(ValueError, match="sick"):
        TargetRecall(0.9, "sick").candidates(held, CLASSES, 100, Terms())
    with pytest.raises(ValueError, match="ill"):
        Costs({("well", "ill"): 1.0}).table(CLASSES)
    with pytest.raises(ValueError, match="sick"):
        Costs({("well", "ill"): 1.0, ("ill", "sick"): 2.0}).table(CLASSES)


def test_nothing_certified_says_how_many_rows_it_would_take() -> None:
    rng = np.random.default_rng(11)
    decision, (statement, *_), _ = certified(TargetError(0.01), rng, n=60)
    assert decision is None
    assert statement.value is None
    assert statement.rows_needed is None or statement.rows_needed > 60


def test_abstention_thresholds_from_the_counted_rows_are_a_trap() -> None:
    """Here the score says nothing of the error, which is above the target at every threshold.

    The twin takes any order statistic of the counted rows at which the count looks good.
    """
    target = 0.08
    naive = 0
    certified = 0
    n_above = np.arange(1, 401)
    for seed in range(SAMPLES):
        rng = np.random.default_rng([22, seed])
        held = Held(rng.random(200), np.ones(200, int))
        scores = rng.random(400)
        wrong = rng.random(400) < 1.1 * target
        errors_above = np.cumsum(wrong[np.argsort(-scores)])
        naive += bool(np.any(binom.cdf(errors_above, n_above, target) <= DELTA))
        truth = np.where(wrong, 0, 1)
        decision, _ = meet(TargetError(target), held, scores, truth, CLASSES, Terms(delta=DELTA), keys=np.arange(400))
        certified += decision is not None
    assert breaks(naive, SAMPLES, DELTA)
    assert not breaks(certified, SAMPLES, DELTA)


def test_candidates_are_paid_for() -> None:
    scores, truth = draw(np.random.default_rng(2), 3000)
    held = Held(*draw(np.random.default_rng(3), 500))
    found = [
        meet(TargetError(0.1), held, scores, truth, CLASSES, Terms(n_candidates=k), keys=np.arange(3000))[0]
        for k in (1, 1000)
    ]
    assert found[0] is not None
    assert found[0].threshold is not None
    assert found[1] is None or (found[1].threshold or 0.0) > found[0].threshold
