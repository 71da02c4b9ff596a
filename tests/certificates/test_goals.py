"""Goals as promises: true rates known, failures at most δ, on sorted and shuffled rows."""

import numpy as np
import pytest
from scipy.stats import binomtest

from abnet.certificates.certify import Terms
from abnet.certificates.decision import ARGMAX, Decision, cuts_between
from abnet.certificates.evidence import observe
from abnet.certificates.goals import Costs, Goal, Held, TargetError, TargetPrecision, TargetRecall

CLASSES = ("well", "ill")
SAMPLES = 300


def draw(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Scores and truth of a world in which the score says P(ill) = sigmoid(4 score)."""
    scores = np.clip(rng.normal(0, 0.5, n), -0.999, 0.999)
    return scores, (rng.random(n) < 1 / (1 + np.exp(-4 * scores))).astype(np.intp)


WORLD = draw(np.random.default_rng(99), 400_000)


def certified(goal: Goal, rng: np.random.Generator, *, n: int = 400, delta: float = 0.1, sort: bool = False):  # type: ignore[no-untyped-def]
    held, terms = Held(*draw(rng, 300)), Terms(delta=delta)
    grid = goal.grid(held, CLASSES, n, terms)
    scores, truth = draw(rng, n)
    if sort:
        order = np.argsort(truth, kind="stable")
        scores, truth = scores[order], truth[order]
    keys = np.lexsort((truth, scores)).argsort().astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    marks = grid.decisions[0].score(scores) if grid.thresholds else None
    costs = None
    if isinstance(goal, Costs):
        table = goal.table(CLASSES)
        costs = table[truth, grid.decisions[0](scores)] / table.max()
    seen = observe(
        ARGMAX(scores), truth, CLASSES, scores=marks, thresholds=grid.thresholds if marks is not None else (),
        costs=costs, keys=keys,
    )  # fmt: skip
    return (*goal.settle(seen, grid, terms), (scores, truth))


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
        if decision.kind == "argmax":
            assert statements[0].value is None
            continue
        met += 1
        broken += true_rate(goal, decision)[1]
        assert all(statement.check() == "recomputed" for statement in statements)
    assert met > SAMPLES // 2
    assert binomtest(broken, SAMPLES, 0.1, alternative="greater").pvalue > 1e-3


def test_a_sequence_that_skips_a_failure_is_caught() -> None:
    """The same simulation finds a mutant that takes the best of all thresholds instead of stopping at a failure."""
    goal, rng, broken = TargetRecall(0.9, "ill"), np.random.default_rng(6), 0
    for _ in range(SAMPLES):
        held, terms = Held(*draw(rng, 300)), Terms(delta=0.1)
        grid = goal.grid(held, CLASSES, 400, terms)
        scores, truth = draw(rng, 400)
        good = [d for d in grid.decisions if np.mean(d(scores)[truth == 1] == 1) >= 0.9]
        broken += true_rate(goal, good[-1])[1] if good else 0
    assert binomtest(broken, SAMPLES, 0.1, alternative="greater").pvalue < 1e-3


@pytest.mark.parametrize("sort", [False, True])
def test_certified_costs_hold(sort: bool) -> None:
    goal = Costs({("ill", "well"): 5.0, ("well", "ill"): 1.0})
    table, rng, broken = goal.table(CLASSES), np.random.default_rng(7), 0
    for _ in range(100):
        decision, (statement,), _ = certified(goal, rng, sort=sort)
        scores, truth = WORLD
        assert statement.value is not None
        assert statement.check() == "attainable"
        broken += float(table[truth, decision(scores)].mean()) > statement.value
    assert binomtest(broken, 100, 0.1, alternative="greater").pvalue > 1e-3


def test_costs_move_the_cut_towards_the_dear_error() -> None:
    rng = np.random.default_rng(8)
    dear = Costs({("ill", "well"): 20.0, ("well", "ill"): 1.0})
    held = Held(*draw(rng, 2000))
    (decision,) = dear.grid(held, CLASSES, 400, Terms()).decisions
    assert decision.threshold is not None
    assert decision.threshold < -0.3  # P(ill) = 1/21 is at -.75


def test_few_held_rows_take_the_bayes_cut() -> None:
    rng = np.random.default_rng(9)
    scores, truth = draw(rng, 200)
    p = 1 / (1 + np.exp(-4 * scores))
    held = Held(scores, truth, np.stack([1 - p, p], axis=1))
    (decision,) = Costs({("ill", "well"): 4.0, ("well", "ill"): 1.0}).grid(held, CLASSES, 400, Terms()).decisions
    assert decision.threshold == pytest.approx(-np.log(4) / 4, abs=0.05)


def test_what_is_printed_is_what_was_certified() -> None:
    rng = np.random.default_rng(10)
    for scores in (rng.normal(size=500), rng.random(20) * 1e-7, np.round(rng.random(300), 2), np.array([0.25])):
        for threshold in cuts_between(scores).tolist():
            assert float(repr(threshold)) == threshold
            assert not np.isclose(scores, threshold, rtol=1e-12, atol=0).any()
    assert max(len(repr(t)) for t in cuts_between(np.linspace(0, 1, 11)).tolist()) <= 5


def test_decisions_agree_for_the_other_positive_class() -> None:
    scores = np.array([-0.9, -0.1, 0.1, 0.9])
    assert Decision(kind="cut", threshold=0.5, positive=0)(scores).tolist() == [0, 1, 1, 1]
    assert Decision(kind="abstain", threshold=0.5)(np.array([[0.2, 0.5, 0.3], [0.1, 0.1, 0.8]])).tolist() == [3, 2]


def test_goals_that_cannot_be_are_refused() -> None:
    held = Held(*draw(np.random.default_rng(0), 50))
    with pytest.raises(ValueError, match="between 0 and 1"):
        TargetError(1.5)
    with pytest.raises(ValueError, match="sick"):
        TargetRecall(0.9, "sick").grid(held, CLASSES, 100, Terms())
    with pytest.raises(ValueError, match="ill"):
        Costs({("well", "ill"): 1.0}).table(CLASSES)
    with pytest.raises(ValueError, match="sick"):
        Costs({("well", "ill"): 1.0, ("ill", "sick"): 2.0}).table(CLASSES)


def test_nothing_certified_says_how_many_rows_it_would_take() -> None:
    rng = np.random.default_rng(11)
    decision, (statement, *_), _ = certified(TargetError(0.01), rng, n=60)
    assert decision == ARGMAX
    assert statement.value is None
    assert statement.rows_needed is None or statement.rows_needed > 60
