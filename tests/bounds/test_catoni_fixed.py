"""Catoni's bound at a fixed C against mpmath, and its promise for a posterior that is trained on the examples."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from abnet.bounds import gibbs_bound
from abnet.bounds.catoni import catoni_fixed_bound, choose_C
from broken_promise import breaks


def mp_bound(risk: float, kl: float, n: int, C: float, delta: float) -> mpmath.mpf:
    with mpmath.workdps(50):
        exponent = C * mpmath.mpf(risk) + (kl - mpmath.log(mpmath.mpf(delta))) / n
        return min(mpmath.mpf(1), (1 - mpmath.exp(-exponent)) / (1 - mpmath.exp(-mpmath.mpf(C))))


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.floats(0, 1), st.floats(0, 1e4), st.integers(1, 10**7), st.floats(1e-9, 0.999), st.floats(-15, 5))
def test_bound_is_not_below_the_theorem(risk: float, kl: float, n: int, delta: float, log_c: float) -> None:
    C = math.exp(log_c)
    true = mp_bound(risk, kl, n, C, delta)
    bound = catoni_fixed_bound(risk, kl, n, C, delta)
    assert true <= bound <= max(risk, float(true) * (1 + 1e-13))


@pytest.mark.parametrize(("risk", "kl", "n"), [(0.03, 2.0, 100), (0.2, 10.0, 1000), (1e-3, 0.0, 10**5)])
def test_chosen_c_is_the_best_one(risk: float, kl: float, n: int) -> None:
    best = minimize_scalar(lambda x: float(mp_bound(risk, kl, n, math.exp(x), 0.05)), bounds=(-9, 4), method="bounded")
    C = choose_C(risk, kl, n)
    assert math.log(C) == pytest.approx(best.x, abs=1e-3)
    assert catoni_fixed_bound(risk, kl, n, C) == pytest.approx(best.fun, rel=1e-8)


@pytest.mark.parametrize(("risk", "kl", "n"), [(0.0, 0.0, 1), (1.0, 5.0, 10), (0.3, 1e9, 50), (0.5, 0.0, 10**15)])
def test_chosen_c_is_usable_at_extremes(risk: float, kl: float, n: int) -> None:
    assert 0.0 < choose_C(risk, kl, n) <= 40.0
    assert catoni_fixed_bound(risk, kl, n, choose_C(risk, kl, n)) >= risk


@pytest.mark.parametrize(("n", "all_c", "fixed", "twice"), [(100, 0.146, 0.117, 0.135), (1000, 0.0581, 0.0503, 0.0555)])
def test_figures(n: int, all_c: float, fixed: float, twice: float) -> None:
    C = choose_C(0.03, 2.0, n)
    places = 5e-5
    if n == 100:
        places = 5e-4
    assert gibbs_bound(0.03, 2.0, n) == pytest.approx(all_c, abs=places)
    assert catoni_fixed_bound(0.03, 2.0, n, C) == pytest.approx(fixed, abs=places)
    assert catoni_fixed_bound(0.03, 2.0, n, 2 * C) == pytest.approx(twice, abs=2 * places)
    assert max(catoni_fixed_bound(0.03, 2.0, n, factor * C) for factor in (0.5, 2.0)) < gibbs_bound(0.03, 2.0, n)


# Many coins that know nothing of each other; the posterior prefers those that erred least on the examples.
COINS = 256
N = 50
DELTA = 0.1
SHARPNESS = 60.0
RISKS = np.linspace(0.45, 0.5, COINS)


def posteriors(rng: np.random.Generator, repetitions: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Empirical risk, divergence from the uniform prior, and true risk of each repetition's posterior."""
    observed = rng.binomial(N, RISKS, size=(repetitions, COINS)) / N
    q = np.exp(-SHARPNESS * (observed - observed.min(axis=1, keepdims=True)))
    q /= q.sum(axis=1, keepdims=True)
    kl = np.sum(q * np.log(np.maximum(q, 1e-300) * COINS), axis=1)
    return (q * observed).sum(axis=1), np.maximum(kl, 0.0), q @ RISKS


@pytest.mark.parametrize(
    ("kl_factor", "delta", "broken"),
    [(1.0, DELTA, False), (0.0, DELTA, True), (0.5, DELTA**0.1, True)],
    ids=["bound", "without kl", "with half of kl and a tenth of the logarithm"],
)
def test_promise_for_a_trained_posterior(
    rng: np.random.Generator, kl_factor: float, delta: float, broken: bool
) -> None:
    C = choose_C(0.3, 4.0, N, DELTA)
    seen, kl, true = posteriors(rng, 2000)
    limits = [catoni_fixed_bound(r, kl_factor * k, N, C, delta) for r, k in zip(seen, kl, strict=True)]
    assert breaks(int(np.sum(limits < true)), 2000, DELTA) == broken


def test_promise_is_exact_by_enumeration_and_not_far_too_weak() -> None:
    """One coin: the failures at the worst risk come near δ for the C that suits it."""
    worst = 0.0
    for risk in np.linspace(0.05, 0.5, 46):
        C = choose_C(max(risk - 0.12, 0.0), 0.0, N, DELTA)
        pmf = np.array([math.comb(N, k) * risk**k * (1 - risk) ** (N - k) for k in range(N + 1)])
        limits = np.array([catoni_fixed_bound(k / N, 0.0, N, C, DELTA) for k in range(N + 1)])
        worst = max(worst, pmf[limits < risk].sum())
    assert 0.01 < worst <= DELTA


@pytest.mark.parametrize("C", [0.0, -1.0, math.inf, math.nan])
def test_c_is_checked(C: float) -> None:
    with pytest.raises(ValueError, match=r"^C"):
        catoni_fixed_bound(0.1, 1.0, 100, C)
