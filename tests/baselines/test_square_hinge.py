import jax
import jax.numpy as jnp
import numpy as np

from abnet.baselines.losses import square_hinge


def test_zero_score_costs_one() -> None:
    assert float(square_hinge(jnp.zeros(4), jnp.array([1.0, -1.0, 1.0, -1.0]), jnp.ones(4))) == 1


def test_value_and_gradient_follow_the_formula() -> None:
    f, y = np.array([1.0, 2.5, 0.4, -0.5, 0.5], np.float32), np.array([1.0, 1.0, 1.0, 1.0, -1.0], np.float32)
    value, gradient = jax.value_and_grad(square_hinge)(jnp.array(f), jnp.array(y), jnp.ones(5))
    inside = y * f < 1
    np.testing.assert_allclose(value, np.mean(inside * (1 - y * f) ** 2), rtol=1e-6)
    np.testing.assert_allclose(gradient, inside * -2 * y * (1 - y * f) / 5, rtol=1e-6)
    assert not gradient[:2].any()


def test_an_integer_weight_repeats_a_row_and_a_zero_removes_it() -> None:
    f, y = jnp.array([0.3, -2.0, 0.1]), jnp.array([1.0, 1.0, -1.0])
    weighted = square_hinge(f, y, jnp.array([3.0, 0.0, 1.0]))
    repeated = square_hinge(f[jnp.array([0, 0, 0, 2])], y[jnp.array([0, 0, 0, 2])], jnp.ones(4))
    np.testing.assert_allclose(weighted, repeated, rtol=1e-6)


def test_no_weight_at_all_costs_nothing() -> None:
    value, gradient = jax.value_and_grad(square_hinge)(jnp.ones(2), -jnp.ones(2), jnp.zeros(2))
    assert value == 0
    assert not gradient.any()
