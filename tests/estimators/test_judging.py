"""Abstaining: thresholds from validation rows, the promise, and the trap of thresholds from the bound rows."""

import numpy as np
import pytest
from scipy.stats import binom

from abnet.decisions.abstain import Abstention, abstention, score_thresholds
from abnet.decisions.answers import abstention_records, answered, labels_or_none, sureness, threshold_of
from abnet.model.card import Card
from promise import breaks


def world(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Scores F in [-1, 1], and errors: a row of the score s is wrong with probability (1 - |s|)/2."""
    F = rng.uniform(-1.0, 1.0, n)
    return F, rng.random(n) < (1.0 - np.abs(F)) / 2.0


def true_error(threshold: float) -> float:
    """Mean of (1 - s)/2 over s uniform in (t, 1)."""
    t = max(threshold, 0.0)
    return (1.0 - t) / 4.0


DELTA, TARGET, REPETITIONS = 0.1, 0.08, 600


def test_promises() -> None:
    false_error = false_coverage = certified = false_band = 0
    for seed in range(REPETITIONS):
        rng = np.random.default_rng([21, seed])
        (validation, _), (F, wrong) = world(rng, 200), world(rng, 400)
        made, curve = abstention_records(validation, F, wrong, TARGET, DELTA)
        false_band += any(bound < true_error(t) for t, bound in zip(curve.thresholds, curve.error_bounds, strict=True))
        if made.threshold is None:
            continue
        certified += 1
        false_error += true_error(made.threshold) > TARGET
        false_coverage += (made.coverage_bound or 0.0) > 1.0 - max(made.threshold, 0.0)
    assert certified > REPETITIONS / 4
    for failures in (false_error, false_coverage, false_band):
        assert not breaks(failures, REPETITIONS, DELTA)


def test_thresholds_from_the_bound_rows_are_a_trap() -> None:
    """The twin that must fail: any order statistic of the bound rows at which the count looks good.

    Here the score says nothing of the error, which is above the target at every threshold.
    """
    failures = kept = 0
    for seed in range(REPETITIONS):
        rng = np.random.default_rng([22, seed])
        validation, F, wrong = rng.random(200), rng.random(400), rng.random(400) < 1.1 * TARGET
        k, m = np.cumsum(wrong[np.argsort(-F)]), np.arange(1, 401)
        failures += bool(np.any(binom.cdf(k, m, TARGET) <= DELTA))
        kept += abstention_records(validation, F, wrong, TARGET, DELTA)[0].threshold is not None
    assert breaks(failures, REPETITIONS, DELTA)
    assert not breaks(kept, REPETITIONS, DELTA)


def test_the_thresholds_know_nothing_of_the_bound_rows() -> None:
    rng = np.random.default_rng(1)
    (validation, _), (F, wrong) = world(rng, 200), world(rng, 400)
    curves = [abstention_records(validation, scores, wrong, 0.1)[1] for scores in (F, F**2)]
    assert curves[0].thresholds == curves[1].thresholds == score_thresholds(np.abs(validation), 400, 0.1)


def test_candidates_are_paid_for() -> None:
    rng = np.random.default_rng(2)
    (validation, _), (F, wrong) = world(rng, 500), world(rng, 3000)
    (alone, one), (chosen, many) = (abstention_records(validation, F, wrong, 0.08, n_candidates=k) for k in (1, 1000))
    assert alone.threshold is not None
    assert chosen.threshold is None or chosen.threshold > alone.threshold
    assert many.error_bounds[-1] > one.error_bounds[-1]  # at the last threshold both answer every row


def test_several_classes_are_sure_by_their_largest_share() -> None:
    shares = np.array([[0.5, 0.3, 0.2], [0.1, 0.8, 0.1]])
    assert sureness(shares).tolist() == [0.5, 0.8]
    assert labels_or_none(["a", "b"], shares, 0.6).tolist() == [None, "b"]


def test_where_nothing_is_certified_nothing_is_answered() -> None:
    made, _ = abstention_records([0.5] * 10, [0.5] * 10, [True] * 10, 0.05)
    assert made.threshold is None
    assert not answered([0.9, 1.0], made.threshold).any()
    assert labels_or_none([1, 2], [0.9, 1.0], None).tolist() == [None, None]


def test_a_stored_record_gives_its_threshold() -> None:
    made = abstention([0.9] * 200, [False] * 200, [0.5], 0.05)
    assert threshold_of(Card(abstention=made.to_dict())) == 0.5
    with pytest.raises(ValueError, match="without target_error"):
        threshold_of(Card())
    with pytest.raises(ValueError, match="Abstention"):
        threshold_of(Card(abstention={"threshold": 0.1}))
    assert isinstance(made, Abstention)
