"""Goals as promises: true rates known, failures at most δ, on sorted and shuffled rows."""

import numpy as np
import pytest
from scipy.stats import binom, binomtest

from abnet.bounds.counted import cost_bound
from abnet.certificates.decision import Decision, cuts_between
from abnet.certificates.goals import Costs, Goal, TargetError, TargetPrecision, TargetRecall
from abnet.certificates.held import Held
from abnet.certificates.meet_goal import meet
from abnet.certificates.split import bet_keys, row_hashes, row_order
from abnet.certificates.statements.cost_bound import CostBound
from abnet.certificates.terms import Terms

CLASSES = ("well", "ill")
SAMPLES = 300


def draw(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Scores and truth of a world in which the score says P(ill) = sigmoid(4 score)."""
    scores = np.clip(rng.normal(0, 0.5, n), -0.999, 0.999)
    return scores, (rng.random(n) < 1 / (1 + np.exp(-4 * scores))).astype(np.intp)


WORLD = draw(np.random.default_rng(99), 400_000)


def certified(goal: Goal, rng: np.random.Generator, *, n: int = 400, delta: float = 0.1, sort: bool = False):  # type: ignore[no-untyped-def]
    scores, truth = draw(rng, n)
    if sort:
        order = np.argsort(truth, kind="stable")
        scores, truth = scores[order], truth[order]
    keys = bet_keys(row_order(row_hashes(scores[:, None], truth)))
    held = Held(*draw(rng, 300))
    return (*meet(goal, held, scores, truth, CLASSES, Terms(delta=delta), keys=keys), (scores, truth))


def true_rate(goal: Goal, decision: Decision) -> tuple[float, bool]:
    """The true rate of a decision in the world, and whether it breaks the goal."""
    scores, truth = WORLD
    answers = decision(scores)
    if isinstance(goal, TargetError):
        rate = float(np.mean(answers[answers < 2] != truth[answers < 2]))
        return rate, rate > goal.error
    if isinstance(goal, TargetRecall):
        rate = float(np.mean(answers[truth == 1] == 1))
        return rate, rate < goal.recall
    assert isinstance(goal, TargetPrecision)
    rate = float(np.mean(truth[answers == 1] == 1))
    return rate, rate < goal.precision


@pytest.mark.parametrize("sort", [False, True])
@pytest.mark.parametrize("goal", [TargetError(0.1), TargetRecall(0.9, "ill"), TargetPrecision(0.85, "ill")])
def test_a_goal_that_is_certified_holds(goal: Goal, sort: bool) -> None:
    rng = np.random.default_rng(5)
    broken = met = 0
    for _ in range(SAMPLES):
        decision, statements, _ = certified(goal, rng, sort=sort)
        if decision is None:
            assert statements[0].value is None
            continue
        met += 1
        broken += true_rate(goal, decision)[1]
        assert all(statement.check() == "recomputed" for statement in statements)
        assert statements[0].rule.threshold == decision.threshold
    assert met > SAMPLES // 2
    assert binomtest(broken, SAMPLES, 0.1, alternative="greater").pvalue > 1e-3


def test_a_sequence_that_skips_a_failure_is_caught() -> None:
    """The same simulation finds a mutant that takes the best of all thresholds instead of stopping at a failure."""
    goal, rng, broken = TargetRecall(0.9, "ill"), np.random.default_rng(6), 0
    for _ in range(SAMPLES):
        held, terms = Held(*draw(rng, 300)), Terms(delta=0.1)
        candidates = goal.candidates(held, CLASSES, 400, terms)
        scores, truth = draw(rng, 400)
        good = [d for d in candidates.decisions if np.mean(d(scores)[truth == 1] == 1) >= 0.9]
        broken += true_rate(goal, good[-1])[1] if good else 0
    assert binomtest(broken, SAMPLES, 0.1, alternative="greater").pvalue < 1e-3


@pytest.mark.parametrize("sort", [False, True])
def test_certified_costs_hold(sort: bool) -> None:
    goal = Costs({("ill", "well"): 5.0, ("well", "ill"): 1.0})
    table, rng, broken = goal.table(CLASSES), np.random.default_rng(7), 0
    for _ in range(100):
        decision, (statement, *_), _ = certified(goal, rng, sort=sort)
        scores, truth = WORLD
        assert statement.value is not None
        assert statement.check() == "attainable"
        broken += float(table[truth, decision(scores)].mean()) > statement.value
    assert binomtest(broken, 100, 0.1, alternative="greater").pvalue > 1e-3


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
    costs, chances = np.array([0.0, 1.0, 10.0, 0.5]), np.array([0.6, 0.1, 0.05, 0.25])
    expected, rng, broken = float(costs @ chances), np.random.default_rng(4), 0
    for _ in range(200):
        paid = costs[rng.choice(4, size=200, p=chances)]
        largest = 5.0 if mutant == "largest" else 10.0
        paid = np.minimum(paid, largest) if mutant == "largest" else np.sort(paid)
        broken += cost_bound(paid / largest, largest, 0.1) < expected
    assert binomtest(broken, 200, 0.1, alternative="greater").pvalue < 1e-3


@pytest.mark.parametrize("goal", [TargetRecall(0.9, "ill"), TargetPrecision(0.85, "ill")])
def test_the_best_threshold_on_the_counted_rows_themselves_is_a_trap(goal: Goal) -> None:
    rng, broken = np.random.default_rng(12), 0
    for _ in range(SAMPLES):
        scores, truth = draw(rng, 400)
        cuts = [Decision(kind="cut", threshold=float(t), positive=1) for t in cuts_between(scores)[:-5:4]]
        answers = np.array([cut(scores) for cut in cuts])
        if isinstance(goal, TargetRecall):
            good = [c for c, said in zip(cuts, answers, strict=True) if np.mean(said[truth == 1]) >= 0.9]
            broken += true_rate(goal, good[-1])[1]
        else:
            good = [c for c, said in zip(cuts, answers, strict=True) if np.mean(truth[said == 1]) >= 0.85]
            broken += true_rate(goal, good[0])[1]
    assert binomtest(broken, SAMPLES, 0.1, alternative="greater").pvalue < 1e-3


def test_the_coverage_holds_too() -> None:
    rng, broken, samples = np.random.default_rng(13), 0, 100
    for _ in range(samples):
        decision, statements, _ = certified(TargetError(0.1), rng)
        if decision is not None:
            true = float(np.mean(decision(WORLD[0]) < 2))
            broken += true < (statements[1].value or 0.0)
    assert binomtest(broken, samples, 0.1, alternative="greater").pvalue > 1e-3


def test_unknown_labels_cost_as_much_as_anything_can() -> None:
    scores, truth = draw(np.random.default_rng(14), 400)
    goal, keys = Costs([[0.0, 1.0], [5.0, 0.0]]), np.arange(400)
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
    with pytest.raises(ValueError, match="between 0 and 1"):
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
    target, naive, kept = 0.08, 0, 0
    for seed in range(300):
        rng = np.random.default_rng([22, seed])
        held, F, wrong = Held(rng.random(200), np.ones(200, int)), rng.random(400), rng.random(400) < 1.1 * target
        k, m = np.cumsum(wrong[np.argsort(-F)]), np.arange(1, 401)
        naive += bool(np.any(binom.cdf(k, m, target) <= 0.1))
        decision, _ = meet(
            TargetError(target), held, F, np.where(wrong, 0, 1), CLASSES, Terms(delta=0.1), keys=np.arange(400)
        )
        kept += decision is not None
    assert binomtest(naive, 300, 0.1, alternative="greater").pvalue < 1e-3
    assert binomtest(kept, 300, 0.1, alternative="greater").pvalue > 1e-3


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
