"""The bound on the difference of two models: probabilities by enumeration, and its coverage computed exactly."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import gammaln

from abnet.bounds import difference
from abnet.bounds.clopper_pearson import clopper_pearson_bound, clopper_pearson_lower
from abnet.bounds.difference import difference_bound, sign_test

N = 14
DELTA = 0.1


def trinomial(n: int, only_a: float, only_b: float) -> NDArray[np.float64]:
    """Probability of each pair of counts."""
    a, b = np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij")
    rest = np.maximum(n - a - b, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = gammaln(n + 1) - gammaln(a + 1) - gammaln(b + 1) - gammaln(rest + 1)
        for k, chance in ((a, only_a), (b, only_b), (rest, 1 - only_a - only_b)):
            logs = logs + np.where(k > 0, k * np.log(max(chance, 1e-300)), 0.0)
    return np.where(a + b <= n, np.exp(logs), 0.0)


@pytest.mark.parametrize("z", [-1.0, 0.0, 1.6, 3.0])
@pytest.mark.parametrize(("only_a", "only_b"), [(0.1, 0.2), (0.0, 0.3), (0.02, 0.0), (0.45, 0.5), (0.4, 0.6)])
def test_chance_of_the_region_is_its_sum(z: float, only_a: float, only_b: float) -> None:
    n = 60
    a, b = np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij")
    statistic = a - b + z * np.sqrt(a + b + z * z / 4)
    chances = trinomial(n, only_a, only_b)
    for observed in (-20.0, -3.0, 4.0, 15.0):
        expected = chances[statistic <= observed + 1e-9].sum()
        found = difference._Region(n, z, observed).chance(only_a, only_b)
        assert expected * (1 - 1e-12) <= found <= expected + 2e-4  # the tails outside the window count in full


def test_neighbouring_numbers_of_disagreements_may_share_a_chance(monkeypatch: pytest.MonkeyPatch) -> None:
    region = difference._Region(5000, 1.6, -90.0)
    exact = region.chance(0.02, 0.035)
    monkeypatch.setattr(difference, "_BLOCKS", 90)
    assert exact < region.chance(0.02, 0.035) <= exact * 1.5


def test_chance_within_an_interval_is_a_bound() -> None:
    region = difference._Region(60, 1.6, -3.0)
    most = difference._chance_within(region, -0.02, 0.1, 0.2)
    for rate in np.linspace(0.1, 0.2, 21):
        assert region.chance((rate - 0.02) / 2, (rate + 0.02) / 2) <= most


Bound = Callable[[int, int], float]


def largest_failure(bound: Bound, n: int) -> float:
    """Largest probability, over a grid of rates, that the bound is below the true difference."""
    table = np.full((n + 1, n + 1), np.inf)
    for a in range(n + 1):
        for b in range(n + 1 - a):
            table[a, b] = bound(a, b)
    worst = 0.0
    for theta in (0.02, 0.06, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.65, 0.8, 0.95):
        for share in (0.0, 0.05, 0.2, 0.35, 0.5, 0.6, 0.8, 1.0):
            true = theta * (2 * share - 1)
            fails = table < true - 1e-12
            worst = max(worst, float(trinomial(n, theta * share, theta * (1 - share))[fails].sum()))
    return worst


def test_promise_is_kept_exactly() -> None:
    """The worst of 88 pairs of rates, each computed exactly; the bound is not far from using its δ up."""
    assert 0.5 * DELTA < largest_failure(lambda a, b: difference_bound(a, b, N, DELTA), N) <= DELTA


def test_a_nuisance_that_is_taken_as_observed_breaks_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def observed(errors: int, n: int, delta: float) -> float:
        return errors / n

    monkeypatch.setattr(difference, "clopper_pearson_bound", observed)
    monkeypatch.setattr(difference, "clopper_pearson_lower", observed)
    assert largest_failure(lambda a, b: difference_bound(a, b, N, DELTA), N) > DELTA


def test_a_normal_approximation_breaks_it() -> None:
    def wald(a: int, b: int) -> float:
        return (a - b + 1.2816 * math.sqrt(a + b)) / N

    assert largest_failure(wald, N) > DELTA


@pytest.mark.parametrize(
    ("a", "b", "n", "delta", "value"),
    [(30, 60, 1000, 0.05, -0.0140), (30, 60, 1000, 0.1, -0.0174), (6, 16, 200, 0.1, -0.0186)],
)
def test_figures(a: int, b: int, n: int, delta: float, value: float) -> None:
    assert difference_bound(a, b, n, delta) == pytest.approx(value, abs=2e-4)


@pytest.mark.parametrize(
    ("a", "b", "n"), [(0, 0, 50), (3, 0, 50), (5, 9, 80), (0, 40, 40), (40, 0, 40), (120, 180, 20_000)]
)
@pytest.mark.parametrize("delta", [0.05, 1e-6])
def test_bound_is_not_above_two_limits(a: int, b: int, n: int, delta: float) -> None:
    """The bound before: an upper limit minus a lower one, δ/2 each."""
    found = difference_bound(a, b, n, delta)
    assert (a - b) / n <= found
    assert found <= clopper_pearson_bound(a, n, delta / 2) - clopper_pearson_lower(b, n, delta / 2) + 1e-12


def test_bound_and_sign_test_mostly_agree() -> None:
    disagreements = 0
    for a in range(0, 16, 3):
        for b in range(a, a + 16, 2):
            certified = difference_bound(a, b, 500, 0.05) < 0.0
            disagreements += certified != (sign_test(a, b, 0.05) is not None)
    assert disagreements <= 3


def test_candidates_share_delta() -> None:
    assert difference_bound(5, 20, 300, 0.1, n_candidates=4) == difference_bound(5, 20, 300, 0.025)
    assert difference_bound(5, 20, 300, 0.025) > difference_bound(5, 20, 300, 0.1)


@pytest.mark.parametrize(("a", "b", "n", "name"), [(-1, 0, 5, "only_a"), (0, -1, 5, "only_b"), (3, 3, 5, "only_a")])
def test_counts_are_checked(a: int, b: int, n: int, name: str) -> None:
    with pytest.raises(ValueError, match=name):
        difference_bound(a, b, n)
