"""Gaps between groups and the error of a copied model: sums of limits, and both promises with known rates."""

import numpy as np
import pytest

from abnet.bounds.clopper_pearson import clopper_pearson_bound, clopper_pearson_lower
from abnet.bounds.copied_model import copy_error_bound
from abnet.bounds.gaps import gap_bound, joint_limits
from broken_promise import breaks

DELTA = 0.2


def test_gap_is_the_largest_difference_of_limits() -> None:
    limits = joint_limits([5, 30, 2], [100, 200, 40], 0.06)
    shares = [0.06 / n / (1 / 100 + 1 / 200 + 1 / 40) for n in (100, 200, 40)]
    for (low, high), k, n, share in zip(limits, (5, 30, 2), (100, 200, 40), shares, strict=True):
        assert low == pytest.approx(clopper_pearson_lower(k, n, share / 2), rel=1e-9)
        assert high == pytest.approx(clopper_pearson_bound(k, n, share / 2), rel=1e-9)
    expected = max(limits[i][1] - limits[j][0] for i in range(3) for j in range(3) if i != j)
    assert gap_bound([5, 30, 2], [100, 200, 40], 0.06) == pytest.approx(expected, rel=1e-12)
    assert gap_bound([3], [50]) == 0.0
    assert gap_bound([3, 0], [50, 0]) > 0.9


def test_limits_hold_jointly(rng: np.random.Generator) -> None:
    rates = np.array([0.1, 0.3, 0.05])
    sizes = [80, 40, 120]
    failures = 0
    for _ in range(400):
        limits = joint_limits(rng.binomial(sizes, rates).tolist(), sizes, DELTA)
        failures += any(not low <= rate <= high for (low, high), rate in zip(limits, rates, strict=True))
    assert not breaks(failures, 400, DELTA)


@pytest.mark.parametrize("certified", [True, False])
def test_gap_promise(rng: np.random.Generator, certified: bool) -> None:
    """Two groups; the mutant reports the observed gap."""
    rates = np.array([0.3, 0.55])
    sizes = [60, 60]
    failures = 0
    for _ in range(400):
        counts = rng.binomial(sizes, rates)
        gap = float(np.ptp(counts / 60))
        if certified:
            gap = gap_bound(counts.tolist(), sizes, DELTA)
        failures += gap < 0.25
    assert breaks(failures, 400, DELTA) == (not certified)


def test_copy_is_a_sum_of_two_limits() -> None:
    assert copy_error_bound(12, 400, 0, 20_000) == pytest.approx(
        clopper_pearson_bound(12, 400, 0.05 * 50 / 51) + clopper_pearson_bound(0, 20_000, 0.05 / 51), rel=1e-9
    )
    assert copy_error_bound(12, 400, 0, 20_000) < clopper_pearson_bound(12, 400) + 1e-3
    assert copy_error_bound(1, 10, 9, 10) == 1.0
    assert copy_error_bound(5, 100, 2, 300, 0.05, n_candidates=5) == copy_error_bound(5, 100, 2, 300, 0.01)


@pytest.mark.parametrize("counts_copy", [True, False])
def test_copy_promise(rng: np.random.Generator, counts_copy: bool) -> None:
    """The copy is wrong wherever it differs from a model that errs on 5%; the mutant certifies the model alone."""
    failures = 0
    for _ in range(400):
        errors = int(rng.binomial(300, 0.05))
        differing = int(rng.binomial(500, 0.04))
        if counts_copy:
            bound = copy_error_bound(errors, 300, differing, 500, DELTA)
        else:
            bound = clopper_pearson_bound(errors, 300, DELTA)
        failures += bound < 0.09
    assert breaks(failures, 400, DELTA) == (not counts_copy)
