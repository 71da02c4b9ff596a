"""The bound for a frozen posterior against the expected shortfall in mpmath, and its exact coverage."""

from collections.abc import Callable
from functools import cache

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abnet import bounds
from abnet.bounds.clopper_pearson import clopper_pearson_bound

DELTA = 0.1


def mp_shortfall(n: int, p: float, share: float) -> mpmath.mpf:
    """Mean of the lower tail of Bin(n, p) that has the probability `share`, counted value by value."""
    with mpmath.workdps(40):
        success = mpmath.mpf(p)
        left = mpmath.mpf(share)
        total = mpmath.mpf(0)
        for k in range(n + 1):
            weight = min(left, mpmath.binomial(n, k) * success**k * (1 - success) ** (n - k))
            total += k * weight
            left -= weight
        return total / mpmath.mpf(share)


@settings(max_examples=150, deadline=None)
@given(
    st.floats(0.0, 0.999),
    st.one_of(st.integers(1, 60), st.just(400)),
    st.floats(-6.0, -0.01).map(lambda x: 10.0**x),
    st.integers(1, 20),
)
def test_bound_is_where_the_shortfall_passes_the_sum(q: float, n: int, delta: float, candidates: int) -> None:
    bound = bounds.gibbs_bound_frozen(q, n, delta, n_candidates=candidates)
    share = delta / candidates
    assert q <= bound <= 1.0
    assert bound == 1.0 or mp_shortfall(n, bound, share) >= mpmath.mpf(n) * mpmath.mpf(q)
    inner = bound - 1e-7 * (1 - q)
    assert inner <= q or mp_shortfall(n, inner, share) < mpmath.mpf(n) * (mpmath.mpf(q) + mpmath.mpf("1e-9"))


@pytest.mark.parametrize("n", [10, 285, 1230, 10**6, 10**9])
@pytest.mark.parametrize("q", [0.0, 0.002, 0.03, 0.4, 0.9999])
def test_bound_lies_between_clopper_pearson_and_chernoff(n: int, q: float) -> None:
    errors = int(q * n)
    q = errors / n
    chernoff = bounds.kl_inverse_upper(q, np.log(1 / DELTA) / n)
    assert clopper_pearson_bound(errors, n, DELTA) <= bounds.gibbs_bound_frozen(q, n, DELTA) * (1 + 1e-12)
    assert bounds.gibbs_bound_frozen(q, n, DELTA) <= chernoff * (1 + 1e-8)


def test_gain_over_chernoff() -> None:
    """The table of docs/measurements.md."""
    for n, q, gain in [(100, 0.03, 0.123), (300, 0.03, 0.084), (300, 0.1, 0.053), (999, 0.03, 0.055)]:
        chernoff = bounds.kl_inverse_upper(q, np.log(20) / n)
        assert bounds.gibbs_bound_frozen(q, n) / chernoff == pytest.approx(1 - gain, abs=1e-3)


Law = tuple[tuple[float, float], ...]  # values and their probabilities


@cache
def sums(law: Law, n: int) -> list[tuple[float, float]]:
    """Sum of n independent losses, in units of a tenth, and its probabilities."""
    one = np.zeros(11)
    for value, chance in law:
        one[round(10 * value)] += chance
    chances = np.ones(1)
    for _ in range(n):
        chances = np.convolve(chances, one)
    return [(tenths / 10, chance) for tenths, chance in enumerate(chances.tolist()) if chance > 0.0]


def chance_of_failure(bound: Callable[[float, int], float], law: Law, n: int) -> float:
    mean = sum(value * chance for value, chance in law)
    failing = (chance for total, chance in sums(law, n) if bound(total / n, n) < mean * (1 - 1e-9))
    return sum(failing)


def promised(mean: float, n: int) -> float:
    return bounds.gibbs_bound_frozen(mean, n, DELTA)


def counted(mean: float, n: int) -> float:
    """The mutant: losses are rounded to errors, of which Clopper-Pearson would be right."""
    return clopper_pearson_bound(round(mean * n - 0.5), n, DELTA)


def careless(mean: float, n: int) -> float:
    """The mutant: a hinge without Hoeffding's denominator, at three times δ."""
    return bounds.gibbs_bound_frozen(mean, n, 3 * DELTA)


def coin(p: float) -> Law:
    return ((0.0, 1 - p), (1.0, p))


LAWS: list[Law] = [
    *[coin(p) for p in (0.02, 0.1, 0.3, 0.5, 0.8, 0.97)],
    ((0.9, 0.5), (1.0, 0.5)),
    ((0.0, 0.6), (0.5, 0.3), (1.0, 0.1)),
    ((0.1, 0.9), (0.9, 0.1)),
    ((0.0, 0.05), (0.6, 0.95)),
]
SIZES = [1, 3, 12, 40]


@pytest.mark.parametrize("n", SIZES)
def test_promise_is_kept_exactly(n: int) -> None:
    """The probability of every sum is computed, not simulated."""
    assert max(chance_of_failure(promised, law, n) for law in LAWS) <= DELTA


@pytest.mark.parametrize("mutant", [counted, careless])
def test_mutants_break_it(mutant: Callable[[float, int], float]) -> None:
    assert max(chance_of_failure(mutant, law, n) for law in LAWS for n in SIZES) > DELTA


def test_losses_may_have_different_means() -> None:
    """Half of the losses never err, the others nearly always: their sum varies less than a binomial one."""
    n = 40
    p = 0.9
    weights = sums(coin(p), n // 2)
    failing = sum(chance for total, chance in weights if promised(total / n, n) < p / 2)
    assert failing <= DELTA


def test_edges() -> None:
    assert bounds.gibbs_bound_frozen(1.0, 5) == 1.0
    assert bounds.gibbs_bound_frozen(0.0, 1000) == pytest.approx(1 - 0.05 ** (1 / 1000), rel=1e-6)
    assert bounds.gibbs_bound_frozen(0.5, 10, 1e-300) <= 1.0
    assert bounds.gibbs_bound_frozen(0.3, 10**9, 0.05, n_candidates=100) < 0.30006
