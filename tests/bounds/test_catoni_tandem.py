"""The μ-tandem bound at fixed parameters: its formula in mpmath, its gain, and its promise where the vote is known."""

import math
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abnet.bounds import catoni_tandem
from abnet.bounds.catoni import catoni_fixed_bound, choose_C
from abnet.bounds.catoni_tandem import catoni_tandem_bound, choose_tilts
from abnet.bounds.trained import trained_vote_bound
from broken_promise import breaks

DELTA = 0.1


@settings(max_examples=200, deadline=None)
@given(
    st.floats(0.0, 0.6),
    st.floats(0.0, 1.0),
    st.floats(0.0, 50.0),
    st.integers(1, 5000),
    st.tuples(st.floats(0.01, 5.0), st.floats(0.0, 0.5)),
    st.floats(0.0, 0.4),
)
def test_bound_is_the_theorem(
    risk: float, share: float, kl: float, n: int, tilts: tuple[float, float], floor: float
) -> None:
    tandem = risk * (risk + share * (1 - risk))
    found = catoni_tandem_bound(risk, tandem, kl, n, tilts, 0.05, floor=floor, n_candidates=3)
    with mpmath.workdps(40):
        r, e, s, t, f = map(mpmath.mpf, (risk, tandem, *tilts, floor))
        a = 1 - mpmath.exp(-s)
        b = mpmath.exp(t) - 1
        B = 1 - mpmath.exp(-s * e + 2 * t * (r - e) - (2 * mpmath.mpf(kl) + mpmath.log(3 / mpmath.mpf(0.05))) / n)
        nu = b / (a + 2 * b)
        least = max(mpmath.mpf(0), f - nu) ** 2
        # Of the mean of a square.
        true = max(mpmath.mpf(0), B / (a + 2 * b) + nu**2 - least) / ((mpmath.mpf(0.5) - nu) ** 2 - least)
        assert min(mpmath.mpf(1), true) <= found <= true + mpmath.mpf("1e-6")


def test_without_a_second_parameter_it_is_the_tandem_bound() -> None:
    expected = 4 * catoni_fixed_bound(0.004, 6.0, 1000, 0.8, 0.05)
    assert catoni_tandem_bound(0.03, 0.004, 3.0, 1000, (0.8, 0.0)) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("shape", "n", "kl", "gain"),
    [
        ((2.0, 30.0), 1000, 2.0, 0.07),
        ((1.0, 8.0), 30_000, 100.0, 0.06),
        ((4.0, 12.0), 30_000, 100.0, 0.09),
        ((0.05, 1.0), 1000, 2.0, 0.0),
    ],
)
def test_gain_over_the_tandem_bound(shape: tuple[float, float], n: int, kl: float, gain: float) -> None:
    """The table of docs/measurements.md, with the moments of a beta distribution; a confident network gains nothing."""
    alpha, beta = shape
    risk = alpha / (alpha + beta)
    tandem = risk * (alpha + 1) / (alpha + beta + 1)
    plain = 4 * catoni_fixed_bound(tandem, 2 * kl, n, choose_C(tandem, 2 * kl, n, 0.025), 0.025)
    found = catoni_tandem_bound(risk, tandem, kl, n, choose_tilts(risk, tandem, kl, n, 0.025), 0.025)
    assert found <= plain * (1 - gain + 1e-4)


def test_parameters_are_those_of_the_smallest_bound(rng: np.random.Generator) -> None:
    chosen = choose_tilts(0.1, 0.02, 4.0, 1000)
    best = catoni_tandem_bound(0.1, 0.02, 4.0, 1000, chosen)
    for s, mu in zip(rng.uniform(0.05, 4.0, 200), rng.uniform(0.0, 0.3, 200), strict=True):
        assert best <= catoni_tandem_bound(0.1, 0.02, 4.0, 1000, (s, s * mu / (1 - 2 * mu))) * (1 + 1e-3)


# One network takes the whole posterior: both of a pair err where it errs, and its errors are a coin.
ERROR = 0.1
N = 600
TILTS = (0.3, 0.02)


def combined(errors: int, *, kl: float = 0.0, delta: float = DELTA) -> float:
    """The bound on ``e - 2νr``, from which the bound on the vote follows for certain."""
    share = errors / N
    return catoni_tandem._combination(share, share, kl, N, TILTS, delta, 1)[2]


def true_combination() -> float:
    a = -np.expm1(-TILTS[0])
    b = np.expm1(TILTS[1])
    return float(ERROR - 2 * ERROR * b / (a + 2 * b))


@pytest.mark.parametrize(("delta", "kept"), [(DELTA, True), (0.99, False)], ids=["promised", "no price"])
def test_promise_is_kept_exactly(delta: float, kept: bool) -> None:
    chances = [math.comb(N, k) * ERROR**k * (1 - ERROR) ** (N - k) for k in range(N + 1)]
    failing = sum(chances[k] for k in range(N + 1) if combined(k, delta=delta) < true_combination())
    assert (failing <= DELTA) == kept


@pytest.mark.parametrize("paid", [True, False])
def test_promise_is_kept_for_the_best_of_a_hundred(rng: np.random.Generator, paid: bool) -> None:
    """The posterior is the one of a hundred networks, all equally likely before, that errs least on the rows."""
    kl = 0.0
    if paid:
        kl = math.log(100)
    least = rng.binomial(N, ERROR, size=(400, 100)).min(axis=1)
    failures = sum(combined(int(errors), kl=kl) < true_combination() for errors in least)
    assert breaks(failures, 400, DELTA) == (not paid)


def test_vote_is_covered_where_cantelli_is_an_equality(rng: np.random.Generator) -> None:
    """Half of the posterior errs where the vote does, and a share of 5% elsewhere."""
    tilts = choose_tilts(0.095, 0.027, 0.0, 20_000, DELTA)
    for _ in range(20):
        p = np.where(rng.random(20_000) < ERROR, 0.5, 0.05)
        found = catoni_tandem_bound(float(p.mean()), float((p**2).mean()), 0.0, 20_000, tilts, DELTA)
        assert ERROR <= found < 1.2 * ERROR


@pytest.mark.parametrize("true", [True, False])
def test_floor_is_a_floor(rng: np.random.Generator, true: bool) -> None:
    """No loss is below .2, and where the vote errs the loss is 1/2: the first order with the floor is an equality."""
    n = 5_000
    floor = 0.3
    if true:
        floor = 0.2
    failures = 0
    for _ in range(400):
        p = np.where(rng.random(n) < ERROR, 0.5, 0.2)
        made = trained_vote_bound(float(p.mean()), float((p**2).mean()), n, 0.0, DELTA, floor=floor)
        failures += made < ERROR
    assert breaks(failures, 400, DELTA) == (not true)


@pytest.mark.parametrize("floor", [0.01, 0.1, 0.2])
def test_floor_never_loosens_a_bound(floor: float) -> None:
    """Losses that respect the floor; with and without expected values."""
    nothing: dict[str, Any] = {}
    expected: dict[str, Any] = {"expected_risk": 0.35, "expected_kl": 2.0, "expected_tandem": 0.15}
    for options in (nothing, expected):
        plain = trained_vote_bound(0.35, 0.15, 2000, 2.0, 0.05, **options)
        assert trained_vote_bound(0.35, 0.15, 2000, 2.0, 0.05, floor=floor, **options) <= plain


def test_floor_is_checked() -> None:
    with pytest.raises(ValueError, match="floor"):
        trained_vote_bound(0.1, 0.02, 100, 0.0, floor=0.5)
