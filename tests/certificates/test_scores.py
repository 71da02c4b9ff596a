"""Decisions by the scores of any model: the promise, records, refusals."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtr

import abnet
from abnet import Certificate, Costs, TargetError, TargetPrecision, TargetRecall
from abnet.certificates.statements.answered_error import AnsweredErrorTest
from abnet.certificates.statements.cost_bound import CostBound
from abnet.certificates.statements.coverage import Coverage
from abnet.certificates.statements.goal_statement import GoalStatement
from broken_promise import breaks

SHARE = 0.3
DELTA = 0.1
GOALS: dict[str, Any] = {
    "recall": TargetRecall(0.85, True), "precision": TargetPrecision(0.85, True), "cost": Costs([[0, 1], [5, 0]]),
}  # fmt: skip


def world(rng: np.random.Generator, n: int = 500) -> tuple[np.ndarray, np.ndarray]:
    """Positive rows score N(1.2, 1), negative ones N(-1.2, 1)."""
    positive = rng.random(n) < SHARE
    return rng.normal(size=n) + np.where(positive, 1.2, -1.2), positive


def truth(threshold: float) -> dict[str, float]:
    recall = float(ndtr(1.2 - threshold))
    alarms = float(ndtr(-1.2 - threshold))
    called = SHARE * recall + (1 - SHARE) * alarms
    cost = 5.0 * SHARE * (1 - recall) + (1 - SHARE) * alarms
    return {"recall": recall, "precision": SHARE * recall / called, "cost": cost}


def test_the_answers_of_another_model_say_where_to_begin() -> None:
    """Scores that only say how sure a model is do not say which rows it answers wrongly."""
    certified = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        sure = rng.random(600)
        truth = rng.integers(2, size=600)
        answers = np.where(rng.random(600) < 0.5 * (1.0 - sure), 1 - truth, truth)
        made = abnet.certify_scores(sure, truth, TargetError(0.2), answers=answers, random_state=seed)
        certified += made.find(AnsweredErrorTest).value is not None  # type: ignore[union-attr]
    assert certified >= 19


def test_a_score_that_is_no_number_is_named() -> None:
    with pytest.raises(ValueError, match="row 1"):
        abnet.certify_scores([1.0, np.nan, 2.0], ["a", "b", "a"], TargetRecall(0.5, positive="a"))


def test_costs_of_any_label_need_two_labels() -> None:
    labels = np.array(["a", "b"] * 30)
    scores = np.arange(60.0)
    stars = abnet.certify_scores(scores, labels, Costs({("*", "*"): 1.0}), positive="a", random_state=0)
    pairs = Costs({("a", "b"): 1.0, ("b", "a"): 1.0})
    assert stars == abnet.certify_scores(scores, labels, pairs, positive="a", random_state=0)
    labels[0] = "c"
    with pytest.raises(ValueError, match="two labels"):
        abnet.certify_scores(scores, labels, Costs({("*", "*"): 1.0, ("a", "*"): 2.0}), positive="a")


@pytest.mark.parametrize("kind", GOALS)
@pytest.mark.parametrize(("factor", "broken"), [(1, False), (5, True)], ids=["promised", "a larger delta"])
def test_promise(kind: str, factor: int, broken: bool) -> None:
    """δ-mutants must break it; the bound on costs is looser than its δ, and may survive a mutant."""
    issued = false = 0
    for seed in range(400):
        scores, positive = world(np.random.default_rng([31, seed]))
        made = abnet.certify_scores(
            scores, positive, GOALS[kind], positive=True, delta=factor * DELTA, random_state=seed
        ).each(GoalStatement)[0]  # fmt: skip
        if made.value is None:
            continue
        issued += 1
        rate = truth(made.rule.threshold)[kind]  # type: ignore[attr-defined]
        false += rate > made.value if kind == "cost" else rate < 0.85
    assert issued > 300
    if kind != "cost" or not broken:
        assert breaks(false, 400, DELTA) == broken


def test_abstaining_with_scores_of_another_model() -> None:
    scores, positive = world(np.random.default_rng(1), 2000)
    made = abnet.certify_scores(np.abs(scores), positive, TargetError(0.05), answers=scores > 0)
    error, coverage = made.statements
    assert (type(error), type(coverage), error.value) == (AnsweredErrorTest, Coverage, 0.05)
    assert made.facts.n_rows == 2000


@pytest.mark.parametrize("kind", [*GOALS, "error"])
def test_records_are_read_back_and_checked(kind: str, tmp_path: Path) -> None:
    scores, positive = world(np.random.default_rng(2), 2000)
    goal = GOALS.get(kind, TargetError(0.1))
    sure = scores
    if kind == "error":
        sure = np.abs(scores)
    made = abnet.certify_scores(sure, positive, goal, positive=True, answers=scores > 0)
    path = tmp_path / "c.json"
    made.save(path)
    assert abnet.load_certificate(path) == made
    content = json.loads(path.read_text())
    statement = content["certificate"]["statements"][0]
    if kind == "cost":
        statement["value"] = 1e-6
    else:
        statement["delta"] = 1e-300
    path.write_text(json.dumps(content))
    with pytest.raises(ValueError, match=r"c\.json"):
        abnet.load_certificate(path)


@pytest.mark.parametrize(
    ("goal", "options", "message"),
    [
        (TargetError(0.1), {}, "answers"),
        (TargetError(0.1), {"answers": np.ones(50, bool)}, "negative"),
        (TargetRecall(0.9, "no"), {}, "'no'"),
        (GOALS["cost"], {}, "None"),
        (GOALS["cost"], {"positive": True, "aside": 1.0}, "aside"),
        (GOALS["recall"], {"aside": 0.3}, "aside"),
    ],
)
def test_wrong_use(goal: Any, options: dict[str, Any], message: str) -> None:
    scores, positive = world(np.random.default_rng(1), 50)
    with pytest.raises(ValueError, match=message):
        abnet.certify_scores(scores, positive, goal, **options)


def ill_or_well(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    ill = rng.random(600) < 0.4
    return rng.normal(size=600) + 2.0 * ill, np.where(ill, "ill", "well").astype(object)


def cost_of(made: Certificate) -> float:
    (cost,) = made.each(CostBound)
    return cost.mean


def test_costs_by_labels_are_those_by_places(rng: np.random.Generator) -> None:
    scores, y = ill_or_well(rng)
    wanted: Any = {"positive": "ill", "random_state": 0}
    placed = abnet.certify_scores(scores, y, Costs([[0.0, 1.0], [10.0, 0.0]]), **wanted)
    named = abnet.certify_scores(scores, y, Costs({("ill", "well"): 10, ("well", "ill"): 1}), **wanted)
    assert placed.statements == named.statements


def test_a_label_that_the_costs_do_not_name_costs_the_most(rng: np.random.Generator) -> None:
    """It has no part in finding the threshold either, since it costs the same whatever is answered."""
    scores, y = ill_or_well(rng)
    costs = Costs({("ill", "well"): 10, ("well", "ill"): 1})
    before = cost_of(abnet.certify_scores(scores, y, costs, positive="ill"))
    y = np.append(y, ["perhaps"] * 200)
    scores = np.append(scores, np.full(200, -9.0))
    assert cost_of(abnet.certify_scores(scores, y, costs, positive="ill")) > before + 0.2
    negative = abnet.certify_scores(scores, y, Costs([[0, 1], [10, 0]]), positive="ill")
    assert cost_of(negative) < before  # by places, every other label is negative


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        ({("ill", "well"): 10, ("well", "sick"): 1}, "ill, sick, well"),
        ({("sick", "well"): 10, ("well", "sick"): 1}, "sick, well"),
        ({("ill", "ill"): 1}, "ill"),
        ({("ill", "well"): 10}, r"\bill\b.*\bwell\b"),
    ],
)
def test_costs_of_labels_that_make_no_sense(costs: Any, message: str, rng: np.random.Generator) -> None:
    scores, y = ill_or_well(rng)
    with pytest.raises(ValueError, match=message):
        abnet.certify_scores(scores, y, Costs(costs), positive="ill")


def test_a_cost_is_given_once() -> None:
    with pytest.raises(ValueError, match="twice"):
        Costs({(1, 0): 10, ("1", "0"): 1, (0, 1): 1}).table([0, 1])
