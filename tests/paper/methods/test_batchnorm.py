import jax
import jax.numpy as jnp
import numpy as np
import pytest

from abnet.paper.methods.binary_weights import (
    Statistics,
    batch_statistics,
    normalise,
    running_average,
    unit_statistics,
)

rng = np.random.default_rng(5)
A = rng.normal(3, 2, (6, 3))


def in_training(a: jax.Array, real: jax.Array, epsilon: float = 1e-4) -> jax.Array:
    gamma = jnp.array([1.0, -2.0, 0.5])
    beta = jnp.array([0.0, 1.0, -1.0])
    return normalise(a, batch_statistics(a, real), gamma, beta, epsilon=epsilon)


@pytest.mark.usefixtures("x64")
def test_statistics_are_those_of_the_real_rows() -> None:
    real = np.array([1.0, 0, 1, 1, 0, 1])
    mean, variance = batch_statistics(jnp.array(A), jnp.array(real))
    np.testing.assert_allclose(mean, A[real > 0].mean(0), rtol=1e-12)
    np.testing.assert_allclose(variance, A[real > 0].var(0), rtol=1e-12)


def test_statistics_without_real_rows_are_finite() -> None:
    assert all(np.isfinite(s).all() for s in batch_statistics(jnp.array(A), jnp.zeros(6)))


@pytest.mark.usefixtures("x64")
def test_shift_and_positive_scale_of_the_batch_change_nothing_up_to_epsilon() -> None:
    real = jnp.ones(6)
    reference = in_training(jnp.array(A), real)
    np.testing.assert_allclose(in_training(jnp.array(A + 100), real), reference, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(in_training(jnp.array(3 * A), real), reference, atol=2e-4)
    np.testing.assert_allclose(
        in_training(jnp.array(3 * A), real, 0.0), in_training(jnp.array(A), real, 0.0), rtol=1e-9
    )


@pytest.mark.usefixtures("x64")
def test_a_bias_before_the_normalisation_has_no_gradient() -> None:
    upstream = jnp.array(rng.normal(size=(6, 3)))
    gradient = jax.grad(lambda b: jnp.sum(upstream * in_training(jnp.array(A) + b[None, :], jnp.ones(6))))(jnp.zeros(3))
    np.testing.assert_allclose(gradient, 0, atol=1e-13)


def test_running_statistics_start_at_the_unit_and_move_by_their_rate() -> None:
    running = running_average(unit_statistics(1), Statistics(jnp.array([10.0]), jnp.array([3.0])), rate=0.15)
    np.testing.assert_allclose(running, [[1.5], [0.85 + 0.45]], rtol=1e-6)
