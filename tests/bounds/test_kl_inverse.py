"""kl and its inverses against mpmath at 60 digits."""

import math

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abnet.bounds import binary_kl, kl_inverse_lower, kl_inverse_upper

powers = st.floats(-300.0, 0.0).map(lambda x: 10.0**x)
probabilities = st.one_of(st.floats(0.0, 1.0), powers, st.floats(-16.0, 0.0).map(lambda x: 1.0 - 10.0**x))
divergences = st.one_of(st.floats(0.0, 60.0), st.floats(-30.0, 6.0).map(lambda x: 10.0**x), powers)
many = settings(max_examples=700, deadline=None, derandomize=True)


def mp_kl(q: float, p: float) -> mpmath.mpf:
    with mpmath.workdps(60):
        a = mpmath.mpf(q)
        b = mpmath.mpf(p)
        if (b == 0 and a > 0) or (b == 1 and a < 1):
            return mpmath.inf
        if a > 0:
            first = a * mpmath.log(a / b)
        else:
            first = mpmath.mpf(0)
        if a < 1:
            second = (1 - a) * (mpmath.log1p(-a) - mpmath.log1p(-b))
        else:
            second = mpmath.mpf(0)
        return first + second


@many
@given(probabilities, probabilities)
def test_kl_is_accurate_to_the_last_digits(q: float, p: float) -> None:
    true = mp_kl(q, p)
    ours = binary_kl(q, p)
    assert ours == true if mpmath.isinf(true) else abs(ours - true) <= 2e-14 * true + 1e-300


@pytest.mark.parametrize("q", [1e-12, 0.3, 0.999999])
def test_kl_keeps_its_digits_for_neighbours(q: float) -> None:
    p = math.nextafter(q, 1.0)
    assert binary_kl(q, p) == pytest.approx(float(mp_kl(q, p)), rel=1e-13)
    assert binary_kl(q, q) == 0.0


@many
@given(probabilities, divergences)
def test_upper_inverse_is_rounded_outward_and_tight(q: float, c: float) -> None:
    p = kl_inverse_upper(q, c)
    assert q <= p <= 1.0
    assert p == 1.0 or mp_kl(q, p) >= c
    inside = math.nextafter(p, 0.0)
    assert inside <= q or mp_kl(q, inside) <= c * (1.0 + 1e-12) + 2e-300


@many
@given(probabilities, divergences)
def test_lower_inverse_is_rounded_outward_and_tight(q: float, c: float) -> None:
    p = kl_inverse_lower(q, c)
    assert 0.0 <= p <= q
    assert p == 0.0 or mp_kl(q, p) >= c
    inside = math.nextafter(p, 1.0)
    assert inside >= q or mp_kl(q, inside) <= c * (1.0 + 1e-12) + 2e-300


@pytest.mark.parametrize(
    ("q", "c", "lower", "upper"),
    [
        (0.0, 0.0, 0.0, 0.0),
        (1.0, 0.0, 1.0, 1.0),
        (0.0, math.inf, 0.0, 1.0),
        (1.0, math.inf, 0.0, 1.0),
        (0.25, math.inf, 0.0, 1.0),
        (0.0, 2.0, 0.0, -math.expm1(-2.0)),
        (1.0, 2.0, math.exp(-2.0), 1.0),
        (0.5, 1e9, 0.0, 1.0),
        (0.0, 1e-310, 0.0, 1e-300 + 1e-310),
    ],
)
def test_inverses_at_the_edges(q: float, c: float, lower: float, upper: float) -> None:
    assert kl_inverse_lower(q, c) == pytest.approx(lower, rel=1e-12, abs=0.0)
    assert kl_inverse_upper(q, c) == pytest.approx(upper, rel=1e-12, abs=0.0)


@pytest.mark.parametrize("function", [kl_inverse_lower, kl_inverse_upper])
@pytest.mark.parametrize(
    ("q", "c", "name"),
    [
        (math.nan, 0.1, "q"),
        (-0.1, 0.1, "q"),
        (1.1, 0.1, "q"),
        (0.1, -1.0, "c"),
        (0.1, math.nan, "c"),
        ("0.1", 0.1, "q"),
    ],
)
def test_inverses_refuse_what_is_no_probability(function: object, q: float, c: float, name: str) -> None:
    assert callable(function)
    with pytest.raises(ValueError, match=f"^{name}"):
        function(q, c)


@pytest.mark.parametrize(("q", "p", "name"), [(2.0, 0.5, "q"), (0.5, math.nan, "p"), (0.5, True, "p")])
def test_kl_refuses_what_is_no_probability(q: float, p: float, name: str) -> None:
    with pytest.raises(ValueError, match=f"^{name}"):
        binary_kl(q, p)
