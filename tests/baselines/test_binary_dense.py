import jax
import jax.numpy as jnp
import numpy as np
import pytest

from abnet.baselines.binary_weights import (
    inverse_glorot,
    nearest_signs,
    random_signs,
    uniform_store,
)


def test_store_is_uniform_on_the_interval_with_unit_normalisation() -> None:
    weights, gammas, betas = uniform_store(jax.random.key(0), (50, 40, 1))
    assert [w.shape for w in weights] == [(40, 50), (1, 40)]
    w = np.asarray(weights[0])
    assert np.abs(w).max() <= 1
    assert abs(w.mean()) < 4 * np.sqrt(1 / 3 / w.size)
    assert abs(w.var() - 1 / 3) < 4 * np.sqrt(4 / 45 / w.size)
    assert all((g == 1).all() for g in gammas)
    assert not any(b.any() for b in betas)


def test_nearest_signs_count_zero_as_plus_one() -> None:
    (signs,) = nearest_signs((jnp.array([[-1.0, -1e-9, -0.0, 0.0, 0.7]]),))
    assert signs.tolist() == [[-1, -1, 1, 1, 1]]


def test_random_signs_have_the_stored_weight_as_mean() -> None:
    stored = jnp.array([[-1.0, -0.9, -0.25, 0.0, 0.6, 1.0]])
    draws = jax.jit(jax.vmap(lambda k: random_signs((stored,), k)[0]))(jax.random.split(jax.random.key(1), 20_000))
    assert set(np.unique(draws)) == {-1.0, 1.0}
    w = np.asarray(stored, np.float64)
    deviation = np.sqrt((1 - w**2) / len(draws))
    assert (np.abs(np.mean(draws, axis=0) - w) <= 4 * deviation).all()  # w = ±1 exactly


def test_layers_are_drawn_apart() -> None:
    first, second = random_signs((jnp.zeros((8, 8)), jnp.zeros((8, 8))), jax.random.key(0))
    assert (first != second).any()


@pytest.mark.parametrize(("shape", "c"), [((2, 10), 2.8284271), ((1, 2), 1.4142136)])
def test_inverse_glorot(shape: tuple[int, int], c: float) -> None:
    assert inverse_glorot(shape) == pytest.approx(c)
