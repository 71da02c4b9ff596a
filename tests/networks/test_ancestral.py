"""Ancestral paths: unbiased at every depth, and gradients whose bias is known."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from abnet.networks import ancestral, exact
from abnet.networks.ancestral import sign_means
from abnet.networks.bam import BAM
from abnet.networks.cube import corner_probabilities, corners
from abnet.networks.lifting import lift
from conftest import random_network

SIZES = [(3, 4, 1), (3, 4, 3, 1), (3, 3, 2, 3, 3, 1)]
each_depth = pytest.mark.parametrize("sizes", SIZES, ids=lambda sizes: f"depth {len(sizes) - 1}")
DRAWS = 4000


def jax_layers(network: BAM) -> tuple[Any, ...]:
    return tuple(jnp.asarray(V, jnp.float32) for V in network.layers)


def z_scores(values: Any, truth: Any) -> Any:
    """Distance of the mean over the first axis from the truth, in standard errors."""
    values = np.asarray(values, np.float64)
    error = values.std(axis=0) / np.sqrt(len(values)) + 1e-6
    return (values.mean(axis=0) - np.asarray(truth)) / error


@each_depth
def test_paths_are_unbiased(sizes: tuple[int, ...], rng: np.random.Generator) -> None:
    network = random_network(rng, sizes, scale=2.0)
    X = rng.normal(size=(5, 3))
    keys = jax.random.split(jax.random.key(1), DRAWS)
    layers = jax_layers(network)
    lifted = jnp.asarray(lift(X), jnp.float32)
    paths = ancestral.straight_through, ancestral.local_expectation
    for values in jax.jit(jax.vmap(lambda k: [path(layers, lifted, k) for path in paths]))(keys):
        assert np.abs(z_scores(values, exact.expected_output(network, X))).max() < 4.5


def test_mean_over_paths_is_the_mean_of_separate_paths(rng: np.random.Generator) -> None:
    layers = jax_layers(random_network(rng, (3, 4, 3, 1)))
    lifted = jnp.asarray(lift(rng.normal(size=(2, 3))), jnp.float32)
    keys = jax.random.split(jax.random.key(0), 3)
    path = jax.jit(ancestral.local_expectation)
    output = jax.jit(ancestral.output, static_argnums=3)
    separate = np.mean([path(layers, lifted, k) for k in keys], axis=0)
    np.testing.assert_allclose(output(layers, lifted, jax.random.key(0), 3), separate, atol=1e-6)


def gradients(path: Callable[..., Any], network: BAM, lifted: Any) -> list[Any]:
    """Gradients of a weighted sum of outputs, layer by layer, one for each of many keys."""
    weights = jnp.linspace(-1, 1, len(lifted))
    loss = jax.grad(lambda layers, k: jnp.sum(weights * path(layers, lifted, k)))
    return list(jax.jit(jax.vmap(loss, (None, 0)))(jax_layers(network), jax.random.split(jax.random.key(2), DRAWS)))


def true_gradients(network: BAM, lifted: Any) -> Any:
    weights = jnp.linspace(-1, 1, len(lifted))
    return jax.jit(jax.grad(lambda layers: jnp.sum(weights * exact.output(layers, lifted))))(jax_layers(network))


@pytest.mark.parametrize("sizes", SIZES[:2], ids=["one hidden layer", "two hidden layers"])
def test_local_expectation_gradient_is_unbiased_in_the_last_two_layers(
    sizes: tuple[int, ...], rng: np.random.Generator
) -> None:
    network = random_network(rng, sizes, scale=2.0)
    lifted = jnp.asarray(lift(rng.normal(size=(4, 3))), jnp.float32)
    drawn = gradients(ancestral.local_expectation, network, lifted)
    truth = true_gradients(network, lifted)
    for layer in (-1, -2):
        assert np.abs(z_scores(drawn[layer], truth[layer])).max() < 4.5


def test_straight_through_gradient_is_biased(rng: np.random.Generator) -> None:
    network = random_network(rng, (3, 4, 1), scale=2.0)
    lifted = jnp.asarray(lift(rng.normal(size=(4, 3))), jnp.float32)
    drawn = gradients(ancestral.straight_through, network, lifted)
    truth = true_gradients(network, lifted)
    assert np.abs(z_scores(drawn[0], truth[0])).max() > 10


def enumerated(V: Any, m: Any) -> Any:
    """Mean of the output neuron over all signs."""
    return corner_probabilities(m) @ sign_means(V, corners(m.shape[1], np.float64))[:, 0]


def test_normal_mean_is_close_for_many_small_weights_and_not_for_one_large(rng: np.random.Generator) -> None:
    m = rng.uniform(-0.9, 0.9, (6, 12))
    even = rng.choice([-1.0, 1.0], (1, 13))
    np.testing.assert_allclose(ancestral.normal_mean(even, m), enumerated(even, m), atol=5e-3)
    dominant = np.zeros((1, 13))
    dominant[0, 0] = 60.0
    dominant[0, -1] = 30.0
    assert np.abs(ancestral.normal_mean(dominant, m) - enumerated(dominant, m)).max() > 0.1


def test_one_hidden_layer_needs_no_draw(rng: np.random.Generator) -> None:
    layers = jax_layers(random_network(rng, (3, 6, 1)))
    lifted = jnp.asarray(lift(rng.normal(size=(3, 3))), jnp.float32)
    output = jax.jit(ancestral.normal_output, static_argnums=3)
    one, other = (output(layers, lifted, jax.random.key(k), 1) for k in (0, 1))
    np.testing.assert_array_equal(one, other)
    assert np.abs(one - exact.output(layers, lifted)).max() < 0.05


def test_deep_surrogate_averages_the_last_layer_given_the_draws_below(rng: np.random.Generator) -> None:
    """Its mean over many paths is close to the truth."""
    network = random_network(rng, (3, 8, 8, 1), scale=3.0)
    X = rng.normal(size=(6, 3))
    lifted = jnp.asarray(lift(X), jnp.float32)
    truth = np.asarray(exact.expected_output(network, X))
    output = jax.jit(ancestral.normal_output, static_argnums=3)
    surrogate = np.asarray(output(jax_layers(network), lifted, jax.random.key(3), DRAWS))
    assert np.abs(surrogate - truth).max() < 0.05
