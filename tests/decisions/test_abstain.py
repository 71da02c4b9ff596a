"""Abstaining: counts by hand, records, and the promise where the error among answered rows is known."""

import json
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import bdtr

from abnet import bounds
from abnet.bounds.clopper_pearson import clopper_pearson_lower
from abnet.decisions import ANSWER_ALL, Abstention, abstention, risk_coverage, score_thresholds
from promise import breaks

N, TARGET, DELTA = 300, 0.05, 0.1
Array = NDArray[np.float64]


def chance(s: Array, slope: float = 0.3) -> Array:
    """Probability of an error at a score: 0.01 for the surest, more for the others."""
    return np.asarray(0.01 + slope * (1 - s) ** 2)


def selective_error(t: float, slope: float = 0.3) -> float:
    """Error among the rows above a threshold, scores being uniform on [0, 1]."""
    t = max(t, 0.0)
    return 0.01 + slope * (1 - t) ** 2 / 3


def draw(rng: np.random.Generator, n: int = N, slope: float = 0.3) -> tuple[Array, NDArray[np.bool_]]:
    s = rng.random(n)
    return s, rng.random(n) < chance(s, slope)


def test_counts_are_those_above_the_threshold() -> None:
    scores, wrong = [0.1, 0.5, 0.5, 0.9], [True, True, False, False]
    curve = risk_coverage(scores, wrong, [0.95, 0.5, 0.49, ANSWER_ALL])
    assert curve.answered == (0, 1, 3, 4)
    assert curve.errors == (0, 0, 1, 2)
    assert curve.error_bounds[0] == 1.0
    assert curve.error_bounds[2] == bounds.clopper_pearson_bound(1, 3, 0.05 / 4)
    assert curve.coverage_bounds[2] == clopper_pearson_lower(3, 4, 0.05 / 4)
    assert json.loads(json.dumps(curve.to_dict()))["answered"] == [0, 1, 3, 4]


def test_thresholds_come_from_validation_rows(rng: np.random.Generator) -> None:
    scores = rng.random(500)
    thresholds = score_thresholds(scores, N, TARGET, DELTA)
    assert len(thresholds) == 20
    assert list(thresholds) == sorted(thresholds, reverse=True)
    assert np.mean(scores > thresholds[0]) == pytest.approx(2 * 45 / N, abs=0.01)  # 0.95^45 < 0.1
    assert thresholds[-1] == ANSWER_ALL
    assert score_thresholds(scores, 50, TARGET, DELTA) == (ANSWER_ALL,)
    above, last = score_thresholds(np.zeros(9), N, TARGET, DELTA)
    assert above == pytest.approx(0.0, abs=1e-8)
    assert last == ANSWER_ALL


def certify(rng: np.random.Generator, slope: float, thresholds: tuple[float, ...]) -> Abstention:
    return abstention(*draw(rng, slope=slope), thresholds, TARGET, DELTA)


@pytest.mark.parametrize("slope", [0.15, 0.3, 0.6])
def test_promise_is_kept(rng: np.random.Generator, slope: float) -> None:
    """Certified often, false seldom; the coverage as well."""
    thresholds = score_thresholds(rng.random(400), N, TARGET, DELTA)
    results = [certify(rng, slope, thresholds) for _ in range(500)]
    issued = [r for r in results if r.threshold is not None]
    assert len(issued) > 50
    assert not breaks(sum(selective_error(r.threshold, slope) > TARGET for r in issued if r.threshold), 500, DELTA)
    covered = [(1 - max(r.threshold, 0.0), r.coverage_bound) for r in issued if r.threshold is not None]
    assert not breaks(sum(true < (bound or 0.0) for true, bound in covered), 500, DELTA)


def from_bound_rows(scores: Array, wrong: NDArray[np.bool_], fixed: bool) -> bool:
    """Whether thresholds at the bound rows' own scores, each placed just below a right answer, certify anything.

    Every row here is wrong with the same probability, a little above the target, whatever its score.
    """
    order = np.argsort(-scores)
    errors, answered = np.cumsum(wrong[order]), np.arange(1, len(scores) + 1)
    favourable = np.flatnonzero(~wrong[order] & (answered >= 45))
    if fixed:
        return abstention(scores, wrong, [0.8, 0.6, 0.4, ANSWER_ALL], TARGET, DELTA).threshold is not None
    return bool(np.any(bdtr(errors[favourable], answered[favourable], TARGET) <= DELTA))


@pytest.mark.parametrize(("fixed", "broken"), [(True, False), (False, True)], ids=["in advance", "from bound rows"])
def test_thresholds_from_bound_rows_are_a_trap(rng: np.random.Generator, fixed: bool, broken: bool) -> None:
    def failed() -> bool:
        return from_bound_rows(rng.random(N), rng.random(N) < TARGET + 1e-3, fixed)

    assert breaks(sum(failed() for _ in range(400)), 400, DELTA) == broken


@pytest.mark.parametrize(("factor", "broken"), [(1, False), (8, True)], ids=["shared", "eight times delta"])
def test_band_holds_at_all_thresholds_at_once(rng: np.random.Generator, factor: int, broken: bool) -> None:
    thresholds = (0.9, 0.7, 0.5, 0.3, 0.1)
    true_error = np.array([selective_error(t) for t in thresholds])
    true_coverage = np.array([1 - max(t, 0.0) for t in thresholds])
    failures = {"error": 0, "coverage": 0}
    for _ in range(400):
        curve = risk_coverage(*draw(rng), thresholds, min(DELTA * factor, 0.999))
        failures["error"] += bool(np.any(np.array(curve.error_bounds) < true_error))
        failures["coverage"] += bool(np.any(np.array(curve.coverage_bounds) > true_coverage))
    assert breaks(failures["error"], 400, DELTA) == broken
    assert breaks(failures["coverage"], 400, DELTA) == broken


def example() -> Abstention:
    return abstention(np.linspace(1.0, 0.0, 400), np.arange(400) > 380, [0.5, 0.25, ANSWER_ALL], target=0.05)


def test_record_survives_json() -> None:
    for record in (example(), abstention([0.5] * 20, [False] * 20, [0.1], 0.05)):
        assert Abstention.from_dict(json.loads(json.dumps(record.to_dict()))) == record


@pytest.mark.parametrize(
    "change",
    [
        {"coverage_bound": 0.9},
        {"error_bound": 0.01},
        {"threshold": None},
        {"n_errors": 40},
        {"n_answered": 500},
        {"n_passed": 0},
        {"n_passed": 9},
        {"target": 0.001, "error_bound": 0.001},
        {"rows_needed": 5},
        {"delta": 0.0},
        {"threshold": "0.25"},
    ],
    ids=str,
)
def test_contradictory_records_are_refused(change: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"must|not a certificate"):
        replace(example(), **change)  # type: ignore[arg-type]


def test_fields_must_be_exactly_there() -> None:
    record = example().to_dict()
    with pytest.raises(ValueError, match="unknown fields"):
        Abstention.from_dict({**record, "more": 1})
    del record["target"]
    with pytest.raises(ValueError, match="missing fields"):
        Abstention.from_dict(record)


def test_text_says_what_is_promised() -> None:
    text = " ".join(str(example()).split())
    assert "With 95 % confidence, at most 5 % of the answers are wrong" in text
    assert "(0 errors among 300 answered of 400 bound rows)" in text
    assert "at least 70 % of new rows are answered" in text
    few = abstention([0.5] * 20, [False] * 20, [0.1], 0.05)
    assert few.threshold is few.error_bound is few.coverage_bound is None
    assert few.rows_needed == 59
    assert "about 59 bound rows would do" in " ".join(few.describe().split())
    bad = abstention([0.5] * 20, [True] * 20, [0.1], 0.05, n_candidates=2)
    assert bad.rows_needed is None
    assert "no number of rows" in " ".join(str(bad).split())


@pytest.mark.parametrize(
    ("scores", "wrong", "thresholds"),
    [
        ([0.1, -0.1], [True, False], [0.5]),
        ([0.1, float("nan")], [True, False], [0.5]),
        ([0.1, 0.2], [True], [0.5]),
        ([0.1, 0.2], [1, 0], [0.5]),
        ([0.1, 0.2], [True, False], []),
        ([0.1, 0.2], [True, False], [0.1, 0.5]),
        ([0.1, 0.2], [True, False], [float("inf")]),
        ([], [], [0.5]),
    ],
)
def test_arrays_are_checked(scores: list[float], wrong: list[bool], thresholds: list[float]) -> None:
    with pytest.raises(ValueError, match="must"):
        abstention(scores, wrong, thresholds, 0.05)
