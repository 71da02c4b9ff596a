"""Targets of recall, precision and specificity: counts by hand, and the promise where the rates are known."""

import json
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import ndtr

from abnet.decisions import (
    TargetThreshold,
    ThresholdGrid,
    precision_grid,
    recall_grid,
    specificity_grid,
    target_precision,
    target_recall,
    target_specificity,
)
from promise import breaks

DELTA, N, SHARE = 0.1, 400, 0.3
Array = NDArray[np.float64]
Certify = Callable[..., TargetThreshold]


def draw(rng: np.random.Generator, n: int = N) -> tuple[Array, NDArray[np.bool_]]:
    """Positive rows score N(1.2, 1), negative ones N(-1.2, 1)."""
    positive = rng.random(n) < SHARE
    return rng.normal(size=n) + np.where(positive, 1.2, -1.2), positive


def rates(t: float) -> dict[str, float]:
    recall, alarms = float(ndtr(1.2 - t)), float(ndtr(-1.2 - t))
    called = SHARE * recall + (1 - SHARE) * alarms
    return {"recall": recall, "precision": SHARE * recall / called, "specificity": 1 - alarms}


def grid_for(kind: str, rng: np.random.Generator, target: float) -> ThresholdGrid:
    rows = draw(rng)
    if kind == "precision":
        return precision_grid(*rows, N, target, DELTA)
    return (recall_grid if kind == "recall" else specificity_grid)(*rows, target)


CERTIFY: dict[str, Certify] = {
    "recall": target_recall,
    "precision": target_precision,
    "specificity": target_specificity,
}


@pytest.mark.parametrize("kind", CERTIFY)
def test_promise_is_kept(rng: np.random.Generator, kind: str) -> None:
    target = 0.85
    grid = grid_for(kind, rng, target)
    found = [CERTIFY[kind](*draw(rng), grid, target, DELTA) for _ in range(400)]
    issued = [c.threshold for c in found if c.threshold is not None]
    assert len(issued) > 300
    assert not breaks(sum(rates(t)[kind] < target for t in issued), 400, DELTA)


def best_on_bound_rows(kind: str, s: Array, y: NDArray[np.bool_], target: float) -> float:
    """The trap: the most useful of all thresholds that reach the target on the bound rows themselves."""
    order = np.argsort(s)
    positive = y[order]
    missed, called = np.cumsum(positive), np.arange(len(s) - 1, -1, -1)
    if kind == "recall":
        return float(s[order][1 - missed / y.sum() >= target].max())
    precise = (y.sum() - missed)[:-1] / called[:-1] >= target
    return float(s[order][:-1][precise].min())


@pytest.mark.parametrize("kind", ["recall", "precision"])
def test_threshold_that_meets_the_target_on_the_bound_rows_is_a_trap(rng: np.random.Generator, kind: str) -> None:
    thresholds = [best_on_bound_rows(kind, *draw(rng), 0.85) for _ in range(400)]
    assert breaks(sum(rates(t)[kind] < 0.85 for t in thresholds), 400, DELTA)


def test_rates_are_close_to_the_target_where_there_are_many_rows(rng: np.random.Generator) -> None:
    rows, prior = draw(rng, 100_000), draw(rng, 20_000)
    recall = target_recall(*rows, recall_grid(*prior, 0.95, n_thresholds=100), 0.95)
    assert recall.threshold is not None
    assert 0.95 <= rates(recall.threshold)["recall"] < 0.955
    precision = target_precision(*rows, precision_grid(*prior, 100_000, 0.95, n_thresholds=100), 0.95)
    assert precision.threshold is not None
    assert 0.95 <= rates(precision.threshold)["precision"] < 0.97


def test_counts_are_those_of_the_definition() -> None:
    scores = np.array([-1.0, 0.0, 0.5, 1.0, 2.0, 0.4])
    positive = np.array([False, False, True, True, True, False])
    grid = ThresholdGrid((0.4,), (1.0,))
    counts = {
        kind: (c.n_failures, c.n_counted)
        for kind, certify in CERTIFY.items()
        for c in [certify(scores, positive, grid, 0.1, 0.9)]
    }
    assert counts == {"recall": (0, 3), "precision": (0, 3), "specificity": (0, 3)}
    grid = ThresholdGrid((0.7,), (1.0,))
    assert target_recall(scores, positive, grid, 0.1, 0.9).n_failures == 1
    grid = ThresholdGrid((-0.5,), (1.0,))
    missed = target_precision(scores, positive, grid, 0.9, 0.05)
    assert (missed.n_failures, missed.n_counted, missed.threshold) == (2, 5, None)


def test_largest_merit_among_the_passed_is_returned() -> None:
    scores, positive = np.linspace(-1.0, 1.0, 400), np.arange(400) >= 200
    grid = ThresholdGrid((-0.3, -0.2, -0.1, 0.5), (0.6, 0.9, 0.7, 1.0))
    found = target_recall(scores, positive, grid, 0.95)
    assert (found.threshold, found.n_passed) == (-0.2, 3)


def test_grids_are_ordered_and_ranked_by_the_prior_part(rng: np.random.Generator) -> None:
    s, y = draw(rng)
    recall, precision, specificity = recall_grid(s, y, 0.9), precision_grid(s, y, N, 0.9), specificity_grid(s, y, 0.9)
    assert list(recall.thresholds) == sorted(recall.thresholds)
    assert np.mean(s[y] > recall.thresholds[0]) == 1.0
    assert recall.merits[3] == np.mean(y[s > recall.thresholds[3]])
    assert list(precision.thresholds) == sorted(precision.thresholds, reverse=True)
    assert list(specificity.thresholds) == sorted(specificity.thresholds, reverse=True)
    assert np.mean(s[~y] > specificity.thresholds[0]) == 0.0
    assert list(specificity.merits) == sorted(specificity.merits)


def test_record_survives_json_and_says_what_is_promised() -> None:
    scores, positive = np.linspace(-1.0, 1.0, 400), np.arange(400) >= 200
    found = target_recall(scores, positive, ThresholdGrid((-0.1,), (1.0,)), 0.95)
    assert TargetThreshold.from_dict(json.loads(json.dumps(found.to_dict()))) == found
    assert "at least 95 % of the rows that are positive are called positive" in " ".join(str(found).split())
    named = replace(found, positive_class="ill")
    text = " ".join(str(named).split())
    assert "at least 95 % of the rows that are ill are called ill" in text
    assert "if rows whose score for ill is above -0.1 are called ill" in text
    older = {name: value for name, value in named.to_dict().items() if name != "positive_class"}
    assert TargetThreshold.from_dict(older) == found  # a record of before the class had a name
    none = target_recall(scores[150:230], positive[150:230], ThresholdGrid((-0.1,), (1.0,)), 0.95, n_candidates=2)
    assert none.threshold is None
    assert f"about {none.rows_needed:,} bound rows would do" in " ".join(none.describe().split())
    hopeless = target_precision(scores, positive, ThresholdGrid((-1.5,), (1.0,)), 0.95)
    assert "no number of rows" in " ".join(hopeless.describe().split())
    for change in ({"n_failures": 30}, {"threshold": None}, {"n_passed": 5}, {"kind": "accuracy"}, {"n_counted": 900}):
        with pytest.raises(ValueError, match=r"must|not a certificate"):
            replace(found, **change)


def test_arguments_are_checked() -> None:
    grid = ThresholdGrid((0.0,), (1.0,))
    for scores, positive in (([], []), ([float("nan")], [True]), ([0.1], [1]), ([0.1], [True, False])):
        with pytest.raises(ValueError, match="must"):
            target_recall(scores, positive, grid, 0.9)
    with pytest.raises(ValueError, match="no row of the first part is positive"):
        recall_grid([0.1], [False], 0.9)
    with pytest.raises(ValueError, match="no row of the first part is negative"):
        specificity_grid([0.1], [True], 0.9)
    with pytest.raises(ValueError, match="thresholds and merits"):
        ThresholdGrid((), ())
    with pytest.raises(ValueError, match="target must"):
        target_recall([0.1], [True], grid, 1.0)
