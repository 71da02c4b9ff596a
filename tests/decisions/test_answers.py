"""Decisions by the scores of any model: the promise on rows that are divided at random, records, refusals."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtr

import abnet
from abnet.decisions import Abstention, CostCertificate, TargetThreshold, cost_table
from promise import breaks

SHARE, DELTA = 0.3, 0.1


def world(rng: np.random.Generator, n: int = 500) -> tuple[np.ndarray, np.ndarray]:
    """Positive rows score N(1.2, 1), negative ones N(-1.2, 1)."""
    positive = rng.random(n) < SHARE
    return rng.normal(size=n) + np.where(positive, 1.2, -1.2), positive


def truth(threshold: float) -> dict[str, float]:
    recall, alarms = float(ndtr(1.2 - threshold)), float(ndtr(-1.2 - threshold))
    called = SHARE * recall + (1 - SHARE) * alarms
    cost = 5.0 * SHARE * (1 - recall) + (1 - SHARE) * alarms
    return {"recall": recall, "precision": SHARE * recall / called, "cost": cost}


@pytest.mark.parametrize("kind", ["recall", "precision", "costs"])
@pytest.mark.parametrize(("factor", "broken"), [(1, False), (5, True)], ids=["promised", "a larger delta"])
def test_promise(kind: str, factor: int, broken: bool) -> None:
    """δ-mutants must break it; the bound on costs is looser than its δ, and may survive a mutant."""
    issued = false = 0
    for seed in range(400):
        scores, positive = world(np.random.default_rng([31, seed]))
        wanted: dict[str, Any] = {"costs": [[0, 1], [5, 0]]} if kind == "costs" else {f"target_{kind}": 0.85}
        made: Any = abnet.certify_scores(
            scores, positive, positive=True, delta=factor * DELTA, random_state=seed, **wanted
        )  # fmt: skip
        if made.threshold is None:
            continue
        issued += 1
        rates = truth(made.threshold)
        false += rates["cost"] > made.cost_bound if kind == "costs" else rates[kind] < 0.85
    assert issued > 300
    if kind != "costs" or not broken:
        assert breaks(false, 400, DELTA) == broken


def test_costs_of_the_bound_rows_alone_are_a_trap() -> None:
    """The twin: the mean cost itself, without a bound, is below the truth half of the time."""
    false = 0
    for seed in range(400):
        scores, positive = world(np.random.default_rng([33, seed]))
        made: Any = abnet.certify_scores(scores, positive, positive=True, costs=[[0, 1], [5, 0]], random_state=seed)
        false += truth(made.threshold)["cost"] > made.mean_cost
    assert breaks(false, 400, DELTA)


def test_abstaining_with_scores_of_another_model() -> None:
    scores, positive = world(np.random.default_rng(1), 2000)
    made = abnet.certify_scores(np.abs(scores), positive, answers=scores > 0, target_error=0.05)
    assert isinstance(made, Abstention)
    assert made.threshold is not None
    assert made.n_rows == 1400


@pytest.mark.parametrize(
    ("kind", "wanted"),
    [
        (TargetThreshold, {"target_recall": 0.8}), (CostCertificate, {"costs": [[0, 1], [5, 0]]}),
        (Abstention, {"target_error": 0.1}),
    ],
)  # fmt: skip
def test_records_are_read_back_and_checked(kind: type, wanted: dict[str, Any], tmp_path: Path) -> None:
    scores, positive = world(np.random.default_rng(2), 2000)
    sure = np.abs(scores) if kind is Abstention else scores
    made = abnet.certify_scores(sure, positive, positive=True, answers=scores > 0, **wanted)
    assert isinstance(made, kind)
    path = tmp_path / "c.json"
    made.save(path)
    assert abnet.load_certificate(path) == made
    text = path.read_text()
    if kind is CostCertificate:
        path.write_text(text.replace(f'"cost_bound": {made.cost_bound}', '"cost_bound": 1e-6'))  # type: ignore[union-attr]
    else:
        path.write_text(text.replace('"delta": 0.05', '"delta": 1e-30'))
    with pytest.raises(ValueError, match="not a certificate"):
        abnet.load_certificate(path)


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ({}, "give one of target_error, target_recall, target_precision, costs; got none"),
        ({"target_error": 0.1, "costs": np.eye(2)}, "got target_error and costs"),
        ({"target_error": 0.1}, "needs the model's answers"),
        ({"target_recall": 0.9}, "positive must be one of the labels; got None"),
        ({"target_recall": 0.9, "positive": "no"}, "got 'no'"),
        ({"target_recall": 0.9, "positive": True, "aside": 1.0}, "aside"),
    ],
)
def test_wrong_use(wanted: dict[str, Any], message: str) -> None:
    scores, positive = world(np.random.default_rng(1), 50)
    with pytest.raises(ValueError, match=message):
        abnet.certify_scores(scores, positive, **wanted)


def test_costs_by_labels() -> None:
    table = cost_table({("a", "b"): 2, ("b", "a"): 3, ("a", "a"): 1}, ["a", "b"])
    np.testing.assert_array_equal(table, [[1, 2], [3, 0]])
    with pytest.raises(ValueError, match="finite and not negative"):
        cost_table({("a", "b"): -1, ("b", "a"): 3}, ["a", "b"])


def ill_or_well(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    ill = rng.random(600) < 0.4
    return rng.normal(size=600) + 2.0 * ill, np.where(ill, "ill", "well").astype(object)


def test_costs_by_labels_are_those_by_signs(rng: np.random.Generator) -> None:
    scores, y = ill_or_well(rng)
    wanted: Any = {"positive": "ill", "random_state": 0}
    signed = abnet.certify_scores(scores, y, costs=[[0.0, 1.0], [10.0, 0.0]], **wanted)
    assert signed == abnet.certify_scores(scores, y, costs={("ill", "well"): 10, ("well", "ill"): 1}, **wanted)
    generic = {("positive", "negative"): 10, ("negative", "positive"): 1}
    assert signed == abnet.certify_scores(scores, y, costs=generic, **wanted)


def test_a_label_that_the_costs_do_not_name_costs_the_most(rng: np.random.Generator) -> None:
    """It has no part in finding the threshold either, since it costs the same whatever is answered."""
    scores, y = ill_or_well(rng)
    costs = {("ill", "well"): 10, ("well", "ill"): 1}
    before: Any = abnet.certify_scores(scores, y, positive="ill", costs=costs)
    strange = np.append(y, ["perhaps"] * 200), np.append(scores, np.full(200, -9.0))
    after: Any = abnet.certify_scores(strange[1], strange[0], positive="ill", costs=costs)
    assert after.mean_cost > before.mean_cost + 2.0
    negative: Any = abnet.certify_scores(strange[1], strange[0], positive="ill", costs=[[0, 1], [10, 0]])
    assert negative.mean_cost < before.mean_cost  # the generic table says that every other label is negative


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        ({("ill", "well"): 10, ("well", "sick"): 1}, "they name ill, sick, well"),
        ({("sick", "well"): 10, ("well", "sick"): 1}, "they name sick, well"),
        ({("ill", "ill"): 1}, "they name ill"),
        ({("ill", "well"): 10}, "must say what the answer ill costs where well is true"),
    ],
)
def test_costs_of_labels_that_make_no_sense(costs: Any, message: str, rng: np.random.Generator) -> None:
    with pytest.raises(ValueError, match=message):
        abnet.certify_scores(*ill_or_well(rng), positive="ill", costs=costs)


def test_a_cost_is_given_once() -> None:
    with pytest.raises(ValueError, match="given twice"):
        cost_table({(1, 0): 10, ("1", "0"): 1, (0, 1): 1}, [0, 1])


def test_a_negative_score_is_no_certainty() -> None:
    with pytest.raises(ValueError, match="must not be negative for target_error"):
        abnet.certify_scores([-0.9, 0.5, 0.7], [0, 1, 1], answers=[0, 1, 1], target_error=0.1)
