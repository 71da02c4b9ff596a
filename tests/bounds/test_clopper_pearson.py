"""The test-set bound against binomial tails in mpmath."""

import math

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abnet import bounds


def mp_tail(k: int, n: int, p: float) -> mpmath.mpf:
    with mpmath.workdps(50):
        success = mpmath.mpf(p)
        return mpmath.fsum(mpmath.binomial(n, i) * success**i * (1 - success) ** (n - i) for i in range(k + 1))


counts = st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, min(n, 40)), st.just(n)))


@settings(max_examples=400, deadline=None, derandomize=True)
@given(counts, st.floats(-15.0, -0.001).map(lambda x: 10.0**x))
def test_bound_leaves_a_tail_of_at_most_delta_and_hardly_less(observed: tuple[int, int], delta: float) -> None:
    k, n = observed
    bound = bounds.clopper_pearson_bound(k, n, delta)
    assert k / n <= bound <= 1.0
    assert bound == 1.0 or mp_tail(k, n, bound) <= delta
    assert bound in (1.0, k / n) or mp_tail(k, n, bound - 1e-10) >= delta * (1 - 1e-6)


@pytest.mark.parametrize(("k", "n"), [(0, 1), (3, 1_000_000), (200, 10_000_000)])
@pytest.mark.parametrize("delta", [0.05, 1e-9])
def test_bound_holds_for_large_samples(k: int, n: int, delta: float) -> None:
    bound = bounds.clopper_pearson_bound(k, n, delta)
    assert delta * (1 - 1e-6) <= mp_tail(k, n, bound) <= delta


def test_bound_without_errors_has_a_closed_form() -> None:
    assert bounds.clopper_pearson_bound(0, 1000) == pytest.approx(-math.expm1(math.log(0.05) / 1000), rel=1e-9)


def test_bound_is_one_when_all_are_wrong() -> None:
    assert bounds.clopper_pearson_bound(7, 7) == 1.0


def test_candidates_share_delta() -> None:
    assert bounds.clopper_pearson_bound(5, 100, 0.05, n_candidates=10) == bounds.clopper_pearson_bound(5, 100, 0.005)


@pytest.mark.parametrize(
    ("arguments", "name"),
    [((-1, 10), "errors"), ((11, 10), "errors"), ((0, 0), "n"), ((1, 10, 0.0), "delta"), ((1, 10, 1.0), "delta")],
)
def test_bound_names_a_wrong_argument(arguments: tuple[int, ...], name: str) -> None:
    with pytest.raises(ValueError, match=f"^{name}"):
        bounds.clopper_pearson_bound(*arguments)
