from itertools import product

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from abnet.networks.cube import corner_probabilities, corners, map_blocks, mean_corner_probabilities, multilinear


@pytest.mark.parametrize("d", [1, 2, 5])
def test_corners_are_lexicographic_with_minus_first(d: int) -> None:
    np.testing.assert_array_equal(corners(d), list(product((-1, 1), repeat=d)))


def test_a_range_of_corners_is_a_slice_of_all_in_both_libraries() -> None:
    np.testing.assert_array_equal(corners(6, start=16, count=8), corners(6)[16:24])
    np.testing.assert_array_equal(corners(6, start=jnp.int32(16), count=8), corners(6)[16:24])


@pytest.mark.parametrize("d", [1, 2, 3, 7])
def test_corner_probabilities_are_products_of_coins(d: int, rng: np.random.Generator) -> None:
    m = rng.uniform(-1, 1, (4, d))
    expected = [[np.prod([0.5 + 0.5 * s * mi for s, mi in zip(c, row, strict=True)]) for c in corners(d)] for row in m]
    np.testing.assert_allclose(corner_probabilities(m), expected, rtol=1e-13)
    np.testing.assert_allclose(corner_probabilities(m).sum(1), 1, rtol=1e-13)
    np.testing.assert_allclose(corner_probabilities(jnp.asarray(m, jnp.float32)), expected, rtol=1e-5)


@pytest.mark.parametrize("columns", [(), (3,), (2, 2)])
@pytest.mark.parametrize("d", [1, 2, 5])
def test_multilinear_is_an_expectation(d: int, columns: tuple[int, ...], rng: np.random.Generator) -> None:
    h = rng.normal(size=(2**d, *columns))
    m = rng.uniform(-1, 1, (6, d))
    expected = np.tensordot(corner_probabilities(m), h, axes=1)
    np.testing.assert_allclose(multilinear(h, m), expected, rtol=1e-12, atol=1e-14)
    assert multilinear(h, m).shape == (6, *columns)


@pytest.mark.parametrize("d", [1, 2, 5])
def test_probabilities_in_the_mean_are_the_mean_of_probabilities(d: int, rng: np.random.Generator) -> None:
    m = rng.uniform(-1, 1, size=(4, 3, d))
    expected = corner_probabilities(m.reshape(-1, d)).reshape(4, 3, -1).mean(axis=1)
    np.testing.assert_allclose(mean_corner_probabilities(m), expected, atol=1e-15)
    m[1, 2, 0] = np.nan
    assert np.isnan(mean_corner_probabilities(m)).any(axis=1).tolist() == [False, True, False, False]


def test_multilinear_at_a_corner_reads_the_table(rng: np.random.Generator) -> None:
    h = rng.normal(size=16)
    np.testing.assert_allclose(multilinear(h, corners(4, np.float64)), h, rtol=1e-14)


def test_blocks_give_the_same_values_and_gradients_as_one_block(rng: np.random.Generator) -> None:
    h = jnp.asarray(rng.normal(size=64), jnp.float32)

    def total(h: jax.Array, block: int) -> jax.Array:
        part = lambda at, count: multilinear(h, 0.3 * corners(6, start=at, count=count))  # noqa: E731
        values = map_blocks(part, 64, jnp, block=block)
        return (values * jnp.arange(64, dtype=jnp.float32)).sum()

    value_and_gradient = jax.jit(jax.value_and_grad(total), static_argnums=1)
    for blocks, whole in zip(value_and_gradient(h, 8), value_and_gradient(h, 64), strict=True):
        np.testing.assert_allclose(blocks, whole, rtol=1e-5)


def test_blocks_in_numpy_equal_one_block(rng: np.random.Generator) -> None:
    h = rng.normal(size=64)
    part = lambda at, count: multilinear(h, 0.3 * corners(6, np.float64, start=at, count=count))  # noqa: E731
    blocks = map_blocks(part, 64, np, block=8)
    np.testing.assert_allclose(blocks, multilinear(h, 0.3 * corners(6, np.float64)), rtol=1e-13)
