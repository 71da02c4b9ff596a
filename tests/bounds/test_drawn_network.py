"""The one-sided ξ⁺ and the bound made of it against the definitions in mpmath; the promise by enumeration."""

import math

import mpmath
import numpy as np
import pytest

from abnet import bounds
from abnet.bounds import drawn_network
from abnet.bounds.drawn_network import drawn_network_bound, xi_plus
from broken_promise import breaks

DELTA = 0.1


def mp_xi_plus(n: int, p: float) -> mpmath.mpf:
    with mpmath.workdps(30):
        terms = [
            mpmath.binomial(n, k) * (mpmath.mpf(k) / n) ** k * (1 - mpmath.mpf(k) / n) ** (n - k) for k in range(n + 1)
        ]
        last = int(mpmath.floor(n * mpmath.mpf(p) * (1 + mpmath.mpf("1e-15"))))  # 100 x 0.15 is to be 15
        return min(1 + mpmath.fsum(terms[: last + 1]), mpmath.fsum(terms))


def mp_kl(q: mpmath.mpf, p: mpmath.mpf) -> mpmath.mpf:
    return (q * mpmath.log(q / p) if q else mpmath.mpf(0)) + ((1 - q) * mpmath.log((1 - q) / (1 - p)) if q < 1 else 0)


@pytest.mark.parametrize("n", [1, 2, 7, 100, 333])
@pytest.mark.parametrize("p", [0.0, 0.013, 0.15, 0.5, 0.77, 1.0])
def test_xi_plus_lies_just_above_the_sum(n: int, p: float) -> None:
    true = mp_xi_plus(n, p)
    assert true < xi_plus(n, p) < true * (1 + mpmath.mpf("1.1e-9"))


def test_xi_plus_bounds_the_one_sided_moment() -> None:
    """E exp(n kl⁺) over all k, at many p: what the proof needs."""
    for n in (1, 5, 30):
        for p in np.linspace(0.01, 0.99, 50):
            k = np.arange(n + 1)
            pmf = np.array([math.comb(n, i) * p**i * (1 - p) ** (n - i) for i in k])
            divergence = np.array([bounds.binary_kl(i / n, p) if i / n < p else 0.0 for i in k])
            assert pmf @ np.exp(n * divergence) <= xi_plus(n, p)


@pytest.mark.parametrize("n", [4000, 4001])
def test_integral_lies_above_the_sum(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for p in (0.03, 0.3, 0.5, 0.501, 0.9):
        exact = xi_plus(n, p)
        with monkeypatch.context() as patch:
            patch.setattr(drawn_network, "_TERMS", 100)
            assert exact < xi_plus(n, p) < exact * 1.02 + 0.5


@pytest.mark.parametrize(("errors", "n", "ratio"), [(0, 10, 0.0), (3, 100, 3.0), (20, 60, -1.5), (40, 60, 2.0)])
def test_bound_is_the_largest_solution(errors: int, n: int, ratio: float) -> None:
    bound = drawn_network_bound(errors, n, ratio)
    with mpmath.workdps(30):
        seen = mpmath.mpf(errors) / n

        def solves(p: mpmath.mpf) -> bool:
            nats = ratio + mpmath.log(mp_xi_plus(n, p) / mpmath.mpf("0.05"))
            return bool(n * mp_kl(seen, p) <= nats)

        beyond = [bound + (1 - bound) * mpmath.mpf(i) / 60 + mpmath.mpf("1e-12") for i in range(60)]
        assert not any(solves(p) for p in beyond if p < 1)
        assert solves(mpmath.mpf(bound) - mpmath.mpf("1e-9"))


def test_bound_is_never_above_the_two_sided_one() -> None:
    for errors, n in [(0, 1), (1, 1), (5, 40), (30, 40), (1000, 20_000), (20_000, 20_000)]:
        for ratio in (-50.0, 0.0, 4.0, 1e6):
            one = drawn_network_bound(errors, n, ratio)
            two = bounds.single_network_bound(errors / n, ratio, n)
            assert errors / n <= one <= two * (1 + 1e-12)


def test_figure_of_100_examples() -> None:
    assert bounds.single_network_bound(0.03, 3.0, 100) == pytest.approx(0.156, abs=5e-4)
    assert drawn_network_bound(3, 100, 3.0) == pytest.approx(0.145, abs=5e-4)


def test_large_samples_take_no_time() -> None:
    assert drawn_network_bound(10**7, 10**8, 10.0) < bounds.single_network_bound(0.1, 10.0, 10**8)
    assert drawn_network_bound(5, 10**15, 0.0) < 1e-13
    assert drawn_network_bound(0, 10**9, math.inf) == 1.0


N = 40


def test_one_network_fails_at_most_a_delta_share_of_the_time() -> None:
    limits = np.array([drawn_network_bound(k, N, 0.0, DELTA) for k in range(N + 1)])
    mutant = np.array([drawn_network_bound(k, N, -math.log(8 / DELTA), DELTA) for k in range(N + 1)])

    def worst(values: np.ndarray) -> float:
        rates = np.linspace(0.01, 0.99, 99)
        pmf = np.array([[math.comb(N, k) * p**k * (1 - p) ** (N - k) for k in range(N + 1)] for p in rates])
        return float(np.max(np.sum(pmf * (values < rates[:, None]), axis=1)))

    assert worst(limits) <= DELTA
    assert worst(mutant) > 2 * DELTA


@pytest.mark.parametrize(("factor", "broken"), [(1.0, False), (0.0, True)], ids=["bound", "without the ratio"])
def test_promise_for_one_draw_from_a_trained_posterior(rng: np.random.Generator, factor: float, broken: bool) -> None:
    """Many coins of error 1/2, a posterior that prefers those that look best, and one draw from it."""
    coins = 512
    repetitions = 800
    failures = 0
    for _ in range(repetitions):
        errors = rng.binomial(N, 0.5, size=coins)
        q = np.exp(-3.0 * (errors - errors.min()))
        q /= q.sum()
        h = rng.choice(coins, p=q)
        failures += drawn_network_bound(int(errors[h]), N, factor * math.log(coins * q[h]), DELTA) < 0.5
    assert breaks(failures, repetitions, DELTA) == broken


@pytest.mark.parametrize(
    ("errors", "n", "ratio", "name"),
    [(-1, 5, 0.0, "errors"), (6, 5, 0.0, "errors"), (1, 0, 0.0, "n"), (1, 5, math.nan, "log_density_ratio")],
)
def test_arguments_are_checked(errors: int, n: int, ratio: float, name: str) -> None:
    with pytest.raises(ValueError, match=f"^{name}"):
        drawn_network_bound(errors, n, ratio)
