"""Binomial tails and lower limits against sums in mpmath, and shares of δ."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abnet import bounds
from abnet.bounds import rounding
from abnet.bounds.clopper_pearson import binomial_tail, clopper_pearson_lower
from abnet.bounds.rounding import exact_sum
from abnet.bounds.shares import shares_by_count
from broken_promise import breaks


def mp_tail(k: int, n: int, p: float) -> mpmath.mpf:
    """P(Bin(n, p) <= k)."""
    with mpmath.workdps(50):
        success = mpmath.mpf(p)
        return mpmath.fsum(mpmath.binomial(n, i) * success**i * (1 - success) ** (n - i) for i in range(k + 1))


def mp_above(k: int, n: int, p: float) -> mpmath.mpf:
    """P(Bin(n, p) >= k)."""
    with mpmath.workdps(50):
        success = mpmath.mpf(p)
        return mpmath.fsum(mpmath.binomial(n, i) * success**i * (1 - success) ** (n - i) for i in range(k, n + 1))


counts = st.integers(1, 120).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
draws = settings(max_examples=150, deadline=None, derandomize=True)


@draws
@given(counts, st.floats(1e-6, 0.999))
def test_tail_is_not_below_the_sum_and_hardly_above(observed: tuple[int, int], rate: float) -> None:
    k, m = observed
    true = mp_tail(k, m, rate)
    assert true <= binomial_tail(k, m, rate) <= min(1.0, float(true) * (1 + 1e-8) + 1e-289)


@draws
@given(counts, st.floats(-12.0, -0.01).map(lambda x: 10.0**x))
def test_lower_limit_leaves_a_tail_of_at_most_delta_and_hardly_less(observed: tuple[int, int], delta: float) -> None:
    k, n = observed
    limit = clopper_pearson_lower(k, n, delta)
    assert 0.0 <= limit <= k / n
    assert k == 0 or mp_above(k, n, limit) <= delta
    if 0.0 < limit < k / n:
        assert mp_above(k, n, limit * (1 + 1e-8)) >= delta * (1 - 1e-6)


def test_limits_mirror_each_other() -> None:
    for k, n in [(0, 5), (3, 7), (7, 7), (40, 1000)]:
        assert clopper_pearson_lower(k, n) == pytest.approx(1.0 - bounds.clopper_pearson_bound(n - k, n), abs=1e-9)
    assert clopper_pearson_lower(9, 9, 0.3) == pytest.approx(0.3 ** (1 / 9), rel=1e-8)
    assert clopper_pearson_lower(5, 100, 0.05, n_candidates=10) == clopper_pearson_lower(5, 100, 0.005)


def pmf(n: int, rate: float) -> np.ndarray:
    return np.array([math.comb(n, k) * rate**k * (1 - rate) ** (n - k) for k in range(n + 1)])


def test_lower_limit_fails_at_most_a_delta_share_of_the_time() -> None:
    limits = np.array([clopper_pearson_lower(k, 40, 0.1) for k in range(41)])
    naive = np.array([clopper_pearson_lower(k, 40, 0.5) for k in range(41)])
    rates = np.linspace(0.01, 0.99, 99)
    assert max(pmf(40, p)[limits > p].sum() for p in rates) <= 0.1
    assert max(pmf(40, p)[naive > p].sum() for p in rates) > 0.2


def test_tail_is_a_p_value_and_the_mid_p_is_none() -> None:
    """Under the hypothesis a p-value is at most δ with probability at most δ; the mid-p is smaller too often."""
    worst = {"exact": 0.0, "mid": 0.0}
    for m in range(5, 80):
        chances = pmf(m, 0.05)
        exact = np.array([binomial_tail(k, m, 0.05) for k in range(m + 1)])
        worst["exact"] = max(worst["exact"], chances[exact <= 0.05].sum())
        worst["mid"] = max(worst["mid"], chances[exact - chances / 2 <= 0.05].sum())
    assert worst["exact"] <= 0.05
    assert worst["mid"] > 0.08


def test_tail_edges() -> None:
    assert binomial_tail(0, 0, 0.05) == binomial_tail(7, 7, 0.5) == binomial_tail(3, 9, 0.0) == 1.0
    assert 0.0 < binomial_tail(0, 9, 1.0) < 1e-280
    assert 0.0 < binomial_tail(0, 10**6, 0.5) < 1e-280


@pytest.mark.parametrize(("k", "m", "name"), [(-1, 3, "k"), (4, 3, "k"), (1, -1, "m"), (1.0, 3, "k")])
def test_tail_names_a_wrong_argument(k: int, m: int, name: str) -> None:
    with pytest.raises(ValueError, match=f"^{name}"):
        binomial_tail(k, m, 0.1)


def test_balanced_error_gains_from_by_count() -> None:
    def balanced(shares: tuple[float, ...]) -> float:
        return (bounds.clopper_pearson_bound(1, 10, shares[0]) + bounds.clopper_pearson_bound(10, 990, shares[1])) / 2

    assert balanced((0.025, 0.025)) == pytest.approx(0.232, abs=5e-4)
    assert balanced(shares_by_count([10, 990])) == pytest.approx(0.210, abs=5e-4)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.lists(st.integers(0, 10**9), max_size=40), st.floats(1e-300, 0.999))
def test_shares_never_exceed_delta(sizes: list[int], delta: float) -> None:
    shares = shares_by_count(sizes, delta)
    with mpmath.workdps(400):
        assert mpmath.fsum(map(mpmath.mpf, shares)) <= mpmath.mpf(delta)
    assert [share == 0.0 for share in shares] == [size == 0 for size in sizes] or delta < 1e-290
    if delta > 1e-100 and any(sizes):
        assert sum(shares) == pytest.approx(delta, rel=1e-12)


def test_inversely_proportional_shares_keep_both_promises_at_once(rng: np.random.Generator) -> None:
    """Counts are random, and the shares follow them."""
    delta = 0.1
    failures = {"shares": 0, "delta each": 0}
    for _ in range(1000):
        n = int(rng.binomial(60, 0.2))
        sizes = (n, 60 - n)
        rates = (0.3, 0.31)
        k = [int(rng.binomial(size, rate)) for size, rate in zip(sizes, rates, strict=True)]
        shares = shares_by_count(sizes, delta)
        for name, levels in (("shares", shares), ("delta each", (2 * delta, 2 * delta))):
            limits = [
                bounds.clopper_pearson_bound(e, m, d) if m else 1.0 for e, m, d in zip(k, sizes, levels, strict=True)
            ]
            failures[name] += any(limit < rate for limit, rate in zip(limits, rates, strict=True))
    assert not breaks(failures["shares"], 1000, delta)
    assert breaks(failures["delta each"], 1000, delta)


@pytest.mark.parametrize("scale", [0, 20, 40, 300, 1070])
def test_exact_sum_is_the_sum_rounded_once(rng: np.random.Generator, scale: int) -> None:
    values = np.ldexp(rng.random(5000), -rng.integers(0, scale + 1, 5000))
    values[:3] = 0.0, 1.0, 2.0**-1074
    assert exact_sum(values) == math.fsum(values)
    assert exact_sum(rng.permutation(values)) == math.fsum(values)


def test_exact_sum_of_more_than_are_added_together(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rounding, "_TOGETHER", 7)
    values = rng.random(100)
    assert exact_sum(values) == math.fsum(values)
    assert exact_sum(np.zeros(0)) == 0.0
