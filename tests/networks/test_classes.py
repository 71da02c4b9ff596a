"""Class probabilities: exact against drawn networks, paths against exact, two classes against the binary code."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from abnet.networks import ancestral, classes, exact
from abnet.networks.bam import BAM
from abnet.networks.codebook import code_words, decode_table, nearest_word
from abnet.networks.independent_signs import normal_means
from abnet.networks.lifting import lift
from conftest import random_network

CASES = [((3, 4, 3), 3), ((3, 4, 3, 4), 5), ((2, 3, 3, 2, 4), 4)]
each_case = pytest.mark.parametrize(("sizes", "K"), CASES, ids=lambda value: str(value))


def exact_probabilities(network: BAM, X: Any, K: int) -> Any:
    return exact.expected_output(network, X, decode_table(code_words(K, network.sizes[-1])))


@each_case
def test_probabilities_are_the_shares_of_drawn_networks(
    sizes: tuple[int, ...], K: int, rng: np.random.Generator
) -> None:
    network = random_network(rng, sizes, scale=2.0)
    X = rng.normal(size=(4, sizes[0]))
    draws = 6000
    words = code_words(K, sizes[-1])
    counts = np.zeros((4, K))
    for _ in range(draws):
        counts[np.arange(4), nearest_word(words, network.perturb(rng).predict(X))] += 1
    truth = exact_probabilities(network, X, K)
    error = np.sqrt(truth * (1 - truth) / draws) + 1e-9
    assert np.abs((counts / draws - truth) / error).max() < 4.5


@each_case
def test_probabilities_are_nonnegative_and_sum_to_one(sizes: tuple[int, ...], K: int, rng: np.random.Generator) -> None:
    P = exact_probabilities(random_network(rng, sizes, scale=3.0), rng.normal(size=(9, sizes[0])), K)
    assert P.min() >= 0
    np.testing.assert_allclose(P.sum(axis=1), 1, atol=1e-12)


def test_two_classes_are_the_binary_network(rng: np.random.Generator) -> None:
    network = random_network(rng, (3, 4, 3, 1), scale=2.0)
    X = rng.normal(size=(6, 3))
    P = exact_probabilities(network, X, 2)
    F = exact.expected_output(network, X)
    np.testing.assert_allclose(P, np.stack([0.5 - F / 2, 0.5 + F / 2], axis=1), atol=1e-12)


@each_case
def test_paths_are_unbiased(sizes: tuple[int, ...], K: int, rng: np.random.Generator) -> None:
    network = random_network(rng, sizes, scale=2.0)
    X = rng.normal(size=(5, sizes[0]))
    layers = tuple(jnp.asarray(V, jnp.float32) for V in network.layers)
    lifted = jnp.asarray(lift(X), jnp.float32)
    table = jnp.asarray(decode_table(code_words(K, sizes[-1])))
    keys = jax.random.split(jax.random.key(1), 4000)
    draw = jax.jit(jax.vmap(lambda k: classes.path_probabilities(layers, lifted, k, 1, table)))
    values = np.asarray(draw(keys), np.float64)
    error = values.std(axis=0) / np.sqrt(len(keys)) + 1e-6
    assert np.abs((values.mean(axis=0) - exact_probabilities(network, X, K)) / error).max() < 4.5


def test_normal_means_are_those_of_single_neurons(rng: np.random.Generator) -> None:
    V = rng.normal(size=(3, 9))
    m = rng.uniform(-1, 1, (5, 8))
    together = normal_means(V, m.T)
    for neuron in range(3):
        np.testing.assert_allclose(together[neuron], ancestral.normal_mean(V[neuron : neuron + 1], m), atol=1e-14)


def test_surrogate_treats_shared_outputs_as_independent(rng: np.random.Generator) -> None:
    """It sums to one, and is near the truth for a wide layer of small weights."""
    network = random_network(rng, (3, 12, 4), scale=1.0)
    X = rng.normal(size=(6, 3))
    K = 4
    layers = tuple(jnp.asarray(V, jnp.float32) for V in network.layers)
    table = jnp.asarray(decode_table(code_words(K, 4)))
    surrogate = jax.jit(classes.normal_probabilities, static_argnums=3)
    P = surrogate(layers, jnp.asarray(lift(X), jnp.float32), jax.random.key(0), 5, table)
    np.testing.assert_allclose(P.sum(axis=1), 1, atol=1e-5)
    assert np.abs(np.asarray(P) - exact_probabilities(network, X, K)).max() < 0.1
