"""Probabilities over representations against products written out, the backward form and drawn networks."""

from itertools import product

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.special

from abnet.networks import cube, exact, expected_output, forward, psi, representation_probabilities
from abnet.networks.bam import BAM, sgn
from conftest import random_network

SIZES = (3, 2, 3, 2, 1)


def signs(d: int) -> list[tuple[int, ...]]:
    return list(product((-1, 1), repeat=d))


def psi_as_written(bam: BAM, k: int) -> np.ndarray:
    W = bam.weights[k - 1]
    b = bam.biases[k - 1]
    d, below = W.shape
    columns = []
    for s_below in signs(below):
        m = scipy.special.erf((W @ np.array(s_below) + b) / np.sqrt(2 * (below + 1)))
        columns.append([np.prod([(1 + s_i * m_i) / 2 for s_i, m_i in zip(s, m, strict=True)]) for s in signs(d)])
    return np.array(columns).T


@pytest.mark.parametrize("k", [2, 3, 4])
def test_psi_is_the_formula_and_its_columns_sum_to_one(k: int, rng: np.random.Generator) -> None:
    bam = random_network(rng, SIZES)
    np.testing.assert_allclose(psi(bam, k), psi_as_written(bam, k), atol=1e-14)
    np.testing.assert_allclose(psi(bam, k).sum(axis=0), 1)


def test_the_forward_form_is_the_product_of_transitions_and_ends_at_the_output(rng: np.random.Generator) -> None:
    bam = random_network(rng, SIZES)
    X = rng.normal(size=(6, 3))
    P = exact.region_probabilities(bam.weights[0], bam.biases[0], X)
    for layer in range(1, 5):
        if layer > 1:
            P = P @ psi_as_written(bam, layer).T
        found = representation_probabilities(bam, X, layer)
        np.testing.assert_allclose(found, P, atol=1e-13)
        np.testing.assert_allclose(found.sum(axis=1), 1)
    np.testing.assert_allclose(found[:, 1] - found[:, 0], expected_output(bam, X), atol=1e-13)


def test_they_are_the_shares_of_drawn_networks(rng: np.random.Generator) -> None:
    bam = random_network(rng, (2, 2, 2, 1))
    x = rng.normal(size=2)
    draws = 8000
    counts = np.zeros(4)
    for _ in range(draws):
        drawn = bam.perturb(rng)
        s = x
        for W, b in zip(drawn.weights[:2], drawn.biases[:2], strict=True):
            s = sgn(W @ s + b)
        counts[signs(2).index(tuple(s.astype(int)))] += 1
    P = representation_probabilities(bam, x[None, :], 2)[0]
    assert np.abs((counts / draws - P) / np.sqrt(P * (1 - P) / draws)).max() < 4.5


def test_blocks_and_jax_change_nothing(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    bam = random_network(rng, (3, 4, 3, 1)).astype(np.float32)
    X = rng.normal(size=(5, 3))
    whole = representation_probabilities(bam.astype(np.float64), X, 3)
    monkeypatch.setattr(forward, "BLOCK", 16)
    blocks = representation_probabilities(bam.astype(np.float64), X, 3)
    np.testing.assert_allclose(blocks, whole, atol=1e-14)
    compiled = jax.jit(lambda b: representation_probabilities(b, X, 3))(jax.tree.map(jnp.asarray, bam))
    np.testing.assert_allclose(compiled, whole, atol=1e-5)
    added = cube.sum_blocks(lambda start, count: jnp.arange(8.0)[start + jnp.arange(count)].sum(), 8, jnp, block=2)
    assert float(added) == 28


def test_wrong_layers_and_shapes_are_refused(rng: np.random.Generator) -> None:
    bam = random_network(rng, SIZES)
    X = rng.normal(size=(6, 3))
    for layer in (0, 5):
        with pytest.raises(ValueError, match=rf"1 to 4.*\b{layer}\b"):
            representation_probabilities(bam, X, layer)
    with pytest.raises(ValueError, match="2 to 4"):
        psi(bam, 1)
    with pytest.raises(ValueError, match=r"3 numbers.*\(6, 2\)"):
        representation_probabilities(bam, X[:, :2], 1)
    with pytest.raises(ValueError, match=r"2\^14"):
        psi(random_network(rng, (2, 14, 14, 1)), 2)
    torn = BAM((rng.normal(size=(2, 3)), rng.normal(size=(1, 3))), (np.zeros(2), np.zeros(1)))
    with pytest.raises(ValueError, match="layer 2"):
        expected_output(torn, X)
    with pytest.raises(ValueError, match="3 numbers"):
        bam.predict(X[:, :2])
