"""Equal local levels: the chance that all limits hold, against polynomials in mpmath, and the promise at any choice."""

import math

import mpmath
import numpy as np
import pytest
from scipy.special import betaincinv

from abnet.bounds import local_level as module
from abnet.bounds.clopper_pearson import clopper_pearson_bound, clopper_pearson_lower
from abnet.bounds.local_level import chance_of_all, chosen_rate_lower, chosen_rate_upper, local_level
from broken_promise import breaks

DELTA = 0.1


def mp_chance(n: int, share: float) -> float:
    """The iterated integral over ordered numbers, each from its limit up, as polynomials."""
    with mpmath.workdps(60):
        polynomial = [mpmath.mpf(1)]
        for k in range(1, n + 1):
            limit = mpmath.findroot(
                lambda p, k=k: mpmath.betainc(k, n - k + 1, 0, p, regularized=True) - share,
                float(betaincinv(k, n - k + 1, share)),
            )
            integral = [mpmath.mpf(0), *(c / (i + 1) for i, c in enumerate(polynomial))]
            integral[0] = -sum(c * limit**i for i, c in enumerate(integral))
            polynomial = integral
        return float(mpmath.factorial(n) * sum(polynomial))


@pytest.mark.parametrize("n", [1, 2, 5, 12, 25])
@pytest.mark.parametrize("share", [0.3, 0.02, 1e-4])
def test_chance_is_the_integral(n: int, share: float) -> None:
    exact = mp_chance(n, share)
    assert exact - 2e-7 <= chance_of_all(n, share) <= exact


def test_level_uses_delta_up_and_is_never_below_an_equal_division() -> None:
    for n in (5, 60, 700):
        found = local_level(n, 10**6, 0.05)
        assert 0.98 * 0.05 <= 1.0 - chance_of_all(n, found) <= 0.05
    assert local_level(300, 3, 0.05) == 0.05 / 3
    assert local_level(module.LARGEST_SAMPLE + 1, 50, 0.05) == 0.001
    assert local_level(300, 1, 0.05) == 0.05
    # 29 thresholds cost less than 100 divided.
    assert local_level(258, 100, 0.05) == pytest.approx(0.00175, abs=2e-5)


@pytest.mark.parametrize("adjusted", [True, False])
def test_promise_holds_at_the_worst_choice(rng: np.random.Generator, adjusted: bool) -> None:
    """The threshold is chosen where the limit is the most above the true share. The mutant pays for no choice."""
    n = 80
    repetitions = 2000
    share = DELTA
    if adjusted:
        share = local_level(n, 10**6, DELTA)
    limits = np.array([clopper_pearson_lower(k, n, share) for k in range(1, n + 1)])
    failures = int((np.sort(rng.random((repetitions, n)), axis=1) < limits).any(axis=1).sum())
    assert breaks(failures, repetitions, DELTA) == (not adjusted)
    assert failures > 0.7 * DELTA * repetitions


def test_promise_holds_at_a_few_thresholds(rng: np.random.Generator) -> None:
    """Of forty fixed thresholds the one is reported whose limit is the most above the truth; scores have ties."""
    n = 60
    repetitions = 1000
    cuts = np.linspace(0.025, 0.975, 40)
    failures = 0
    for _ in range(repetitions):
        scores = np.round(rng.random(n), 2)
        counts = (scores[:, None] < cuts).sum(axis=0)
        true = np.ceil(100 * cuts - 0.5 + 1e-9) / 100  # the share of rounded scores below the cut, at most
        limits = np.array([_limit(int(k), n) for k in counts])
        failures += bool((limits > true + 0.005).any())
    assert not breaks(failures, repetitions, DELTA)


_LIMITS: dict[tuple[int, int], float] = {}


def _limit(k: int, n: int) -> float:
    if (k, n) not in _LIMITS:
        _LIMITS[k, n] = chosen_rate_lower(k, n, 40, DELTA)
    return _LIMITS[k, n]


def test_limits_mirror_each_other() -> None:
    for k in (0, 30, 59, 60):
        assert chosen_rate_upper(k, 60, 50) == pytest.approx(1.0 - chosen_rate_lower(60 - k, 60, 50), abs=1e-9)
    assert chosen_rate_lower(50, 60, 1) == clopper_pearson_lower(50, 60)
    assert chosen_rate_upper(50, 60, 2) == clopper_pearson_bound(50, 60, 0.025)
    assert chosen_rate_lower(50, 60, 50, 0.1, n_candidates=4) == chosen_rate_lower(50, 60, 50, 0.025)


def test_gain_in_coverage() -> None:
    """The table of docs/measurements.md: 92% of n rows are answered, 100 thresholds."""
    for n, gain in ((100, 0.021), (258, 0.0088), (1000, 0.0027)):
        k = math.floor(0.92 * n)
        assert chosen_rate_lower(k, n, 100) - clopper_pearson_lower(k, n, 0.0005) == pytest.approx(gain, abs=5e-4)
