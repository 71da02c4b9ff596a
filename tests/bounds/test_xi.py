"""ξ(n) against the sum as it is written, in mpmath."""

import mpmath
import pytest

from abnet.bounds import gibbs, xi


def mp_xi(n: int) -> mpmath.mpf:
    with mpmath.workdps(30):
        total = mpmath.mpf(2)
        for k in range(1, n):
            share = mpmath.mpf(k) / n
            total += mpmath.binomial(n, k) * share**k * (1 - share) ** (n - k)
        return total


@pytest.mark.parametrize("n", [1, 2, 3, 4, 15, 16, 17, 31, 33, 100, 1001])
def test_xi_lies_just_above_the_sum(n: int) -> None:
    true = mp_xi(n)
    assert true < xi(n) < true * (1 + mpmath.mpf("1.1e-9"))


def test_xi_has_the_known_values() -> None:
    assert xi(100) == pytest.approx(13.210, abs=5e-4)
    assert xi(10_000) == pytest.approx(126.0, abs=0.05)


@pytest.mark.parametrize("n", [2, 10, 1000, 10**6, 10**9, 10**15])
def test_xi_lies_between_its_asymptote_and_two_root_n(n: int) -> None:
    asymptote = float(mpmath.sqrt(mpmath.pi * n / 2)) + 2 / 3
    assert asymptote < xi(n) < min(2.0 * n**0.5, asymptote * (1 + 1e-6) + 0.1)


@pytest.mark.parametrize("n", [700, 701, 4000])
def test_integral_over_the_middle_lies_above_the_sum(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    exact = xi(n)
    monkeypatch.setattr(gibbs, "_TERMS", 256)
    replaced = gibbs._xi.__wrapped__(n)
    assert exact < replaced < exact + 0.04


def test_xi_grows_with_n_also_where_the_integral_sets_in() -> None:
    sizes = [*range(1, 40), 2**19 - 1, 2**19, 2**19 + 1, 2**19 + 2, 2**20]
    values = [xi(n) for n in sizes]
    assert values == sorted(values)


@pytest.mark.parametrize("n", [0, -3, 2.0, "5", True])
def test_xi_refuses_what_is_no_count(n: int) -> None:
    with pytest.raises(ValueError, match=r"^n"):
        xi(n)
