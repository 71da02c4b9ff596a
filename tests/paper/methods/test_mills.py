import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest

from abnet.paper.methods.losses import inverse_mills_ratio, normal_density

POINTS = [-1e6, -3000.0, -40.0, -12.0, -8.000001, -8.0, -7.999999, -5.0, -1.0, 0.0, 0.3, 2.0, 9.0]


def exact_ratio(t: float) -> float:
    with mpmath.workdps(40):
        t = mpmath.mpf(t)
        return float(mpmath.npdf(t) / (mpmath.erfc(-t / mpmath.sqrt(2)) / 2))


@pytest.mark.usefixtures("x64")
def test_float64_agrees_with_mpmath_on_both_sides_of_the_switch() -> None:
    expected = [exact_ratio(t) for t in POINTS]
    np.testing.assert_allclose(jax.jit(inverse_mills_ratio)(jnp.array(POINTS)), expected, rtol=1e-13)


def test_float32_agrees_with_mpmath() -> None:
    points = np.array(POINTS, np.float32)
    expected = [exact_ratio(float(t)) for t in points]
    np.testing.assert_allclose(jax.jit(inverse_mills_ratio)(jnp.array(points)), expected, rtol=2e-5)


def test_extreme_arguments_stay_finite_in_float32() -> None:
    ratios = jax.jit(inverse_mills_ratio)(jnp.array([-1e30, -1e20, 1e20, 1e30]))
    np.testing.assert_allclose(ratios, [1e30, 1e20, 0, 0], rtol=1e-6)


def test_density_agrees_with_mpmath() -> None:
    points = [-3.0, 0.0, 1.7]
    np.testing.assert_allclose(normal_density(jnp.array(points)), [float(mpmath.npdf(t)) for t in points], rtol=1e-6)
