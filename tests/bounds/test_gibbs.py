"""Bounds on the Gibbs risk, the vote and one network against mpmath."""

import math

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abnet import bounds
from abnet.bounds.trained import trained_gibbs_bound, trained_vote_bound

few = settings(max_examples=300, deadline=None, derandomize=True)
risks = st.one_of(st.sampled_from([0.0, 1.0]), st.floats(0.0, 1.0))
kls = st.one_of(st.just(0.0), st.floats(-3.0, 9.0).map(lambda x: 10.0**x))
sizes = st.one_of(st.integers(1, 60), st.sampled_from([997]))
deltas = st.one_of(st.floats(-12.0, -0.001).map(lambda x: 10.0**x), st.just(0.05))


def mp_xi(n: int) -> mpmath.mpf:
    powers = (mpmath.binomial(n, k) * mpmath.mpf(k) ** k * mpmath.mpf(n - k) ** (n - k) for k in range(1, n))
    return 2 + mpmath.fsum(powers) / mpmath.mpf(n) ** n


XI = {n: mp_xi(n) for n in [*range(1, 61), 997, 1230]}


def covers(bound: float, q: float, nats: mpmath.mpf, n: int) -> bool:
    """Whether ``bound`` is not below k⁺(q, nats/n), and hardly above it."""
    with mpmath.workdps(60):
        c = max(mpmath.mpf(0), nats / n)
        a = mpmath.mpf(q)
        b = mpmath.mpf(bound)
        inner = mpmath.mpf(max(q, bound - 1e-9))
        return bool((bound == 1.0 or kl(a, b) >= c) and (inner == q or kl(a, inner) <= c * (1 + mpmath.mpf("1e-8"))))


def kl(a: mpmath.mpf, b: mpmath.mpf) -> mpmath.mpf:
    if a > 0:
        first = a * mpmath.log(a / b)
    else:
        first = mpmath.mpf(0)
    return first + ((1 - a) * (mpmath.log1p(-a) - mpmath.log1p(-b)) if a < 1 else mpmath.mpf(0))


@few
@given(risks, kls, sizes, deltas, st.integers(1, 1000))
def test_gibbs_bound_is_not_below_the_theorem(q: float, nats: float, n: int, delta: float, k: int) -> None:
    bound = bounds.gibbs_bound(q, nats, n, delta, n_candidates=k)
    assert covers(bound, q, nats + mpmath.log(k * XI[n] / mpmath.mpf(delta)), n)


@few
@given(risks, st.floats(-1e4, 1e4), sizes, deltas, st.integers(1, 1000))
def test_single_network_bound_is_not_below_the_theorem(q: float, ratio: float, n: int, delta: float, k: int) -> None:
    bound = bounds.single_network_bound(q, ratio, n, delta, n_candidates=k)
    assert covers(bound, q, ratio + mpmath.log(k * XI[n] / mpmath.mpf(delta)), n)


def test_gains_of_the_frozen_form() -> None:
    assert bounds.gibbs_bound(0.03, 0.0, 1230) == pytest.approx(0.0515, abs=5e-5)
    assert bounds.gibbs_bound_frozen(0.03, 1230) == pytest.approx(0.0413, abs=5e-5)
    assert bounds.gibbs_bound(0.03, 0.0, 26_250) == pytest.approx(0.0345, abs=5e-5)
    assert bounds.gibbs_bound_frozen(0.03, 26_250) == pytest.approx(0.0322, abs=5e-5)


def test_vote_bounds_are_multiples_of_inverses() -> None:
    log = math.log(float(XI[1230]) / 0.05)
    assert bounds.twice_gibbs_bound(0.03, 7.0, 1230) == pytest.approx(
        2 * bounds.kl_inverse_upper(0.03, (7.0 + log) / 1230)
    )
    assert bounds.tandem_bound(0.004, 7.0, 1230) == pytest.approx(
        4 * bounds.kl_inverse_upper(0.004, (14.0 + log) / 1230)
    )


@pytest.mark.parametrize(("risk", "tandem", "winner"), [(0.05, 0.05, "twice"), (0.2, 0.041, "tandem")])
def test_vote_bound_takes_the_smaller_at_half_delta(risk: float, tandem: float, winner: str) -> None:
    both = {
        "twice": bounds.twice_gibbs_bound(risk, 5.0, 10_000, 0.05),
        "tandem": bounds.tandem_bound(tandem, 5.0, 10_000, 0.05),
    }
    assert min(both, key=lambda name: both[name]) == winner
    assert bounds.vote_bound(risk, tandem, 5.0, 10_000, 0.1) == both[winner]


def test_sampling_costs_what_the_theory_page_says() -> None:
    for mean, cost in [(0.03, 0.0008), (0.10, 0.0013)]:
        sampled = trained_gibbs_bound(mean, 26_250, 50.0, n_paths=20)
        assert sampled - bounds.gibbs_bound(mean, 50.0, 26_250) == pytest.approx(cost, abs=5e-5)


def test_sampled_bounds_share_delta_out() -> None:
    inner = bounds.sampled_risk_bound(0.03, 24_600, 0.005)
    assert inner == bounds.gibbs_bound_frozen(0.03, 24_600, 0.005)
    pairs = bounds.sampled_risk_bound(0.002, 12_300, 0.005)
    assert trained_gibbs_bound(0.03, 1230, 9.0, n_paths=20) == bounds.gibbs_bound(inner, 9.0, 1230, 0.045)
    second_order = trained_vote_bound(1.0, 0.002, 1230, 9.0, 0.1, n_paths=20)  # with this risk the first order is 1
    assert second_order == bounds.tandem_bound(pairs, 9.0, 1230, 0.045)


def test_single_network_bound_counts_a_negative_right_side_as_nothing() -> None:
    assert bounds.single_network_bound(0.25, -50.0, 20) == 0.25
    assert bounds.single_network_bound(0.25, 3.0, 200) == bounds.gibbs_bound(0.25, 3.0, 200)
