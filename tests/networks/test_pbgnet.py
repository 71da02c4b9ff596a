from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.special

from abnet.networks import exact, pbgnet
from conftest import random_network
from networks.as_written import pbgnet_output


@pytest.mark.parametrize("sizes", [(3, 2, 1), (3, 4, 3, 1), (2, 3, 1, 3, 1), (2, 2, 3, 2, 3, 1)], ids=str)
def test_equals_the_formula_as_written(sizes: tuple[int, ...], rng: np.random.Generator) -> None:
    bam, X = random_network(rng, sizes), rng.normal(size=(5, sizes[0]))
    expected: Any = [pbgnet_output(bam.weights, bam.biases, x, np, scipy.special.erf) for x in X]
    np.testing.assert_allclose(pbgnet.expected_output(bam, X), expected, rtol=0, atol=1e-12)
    in_jax = jax.jit(lambda b: pbgnet.expected_output(b, X))
    single = in_jax(jax.tree.map(lambda a: np.asarray(a, np.float32), bam))
    assert single.dtype == jnp.float32
    np.testing.assert_allclose(single, expected, rtol=0, atol=1e-5)


def test_equals_abnet_with_one_hidden_layer_and_differs_with_two(rng: np.random.Generator) -> None:
    X = rng.normal(size=(5, 3))
    one, two = random_network(rng, (3, 4, 1)), random_network(rng, (3, 4, 4, 1))
    np.testing.assert_allclose(pbgnet.expected_output(one, X), exact.expected_output(one, X), atol=1e-14)
    assert np.abs(pbgnet.expected_output(two, X) - exact.expected_output(two, X)).max() > 1e-3


def test_kl_counts_a_layer_once_per_path(rng: np.random.Generator) -> None:
    a, b = random_network(rng, (3, 4, 2, 1)), random_network(rng, (3, 4, 2, 1))
    squares = [((p - q) ** 2).sum() for p, q in zip(a.layers, b.layers, strict=True)]
    assert pbgnet.kl(a, b) == pytest.approx(0.5 * (2 * squares[0] + squares[1] + squares[2]), rel=1e-14)
    assert pbgnet.layer_counts((5, 4, 3, 2, 1)) == (6, 2, 1, 1)
    assert pbgnet.kl(a, a) == 0
