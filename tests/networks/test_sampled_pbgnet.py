"""Sampled PBGNet: consistent with the sums over all representations, with the likelihood-ratio gradient."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from abnet.networks import pbgnet, sampled_pbgnet
from abnet.networks.ancestral import sign_means
from abnet.networks.lifting import lift
from conftest import random_network


def case(rng: np.random.Generator, sizes: tuple[int, ...]) -> tuple[tuple[Any, ...], Any]:
    layers = tuple(jnp.asarray(V, jnp.float32) for V in random_network(rng, sizes).layers)
    return layers, jnp.asarray(lift(rng.normal(size=(4, sizes[0]))), jnp.float32)


def test_one_hidden_layer_is_unbiased_in_value_and_gradient(rng: np.random.Generator) -> None:
    layers, lifted = case(rng, (3, 4, 1))
    keys = jax.random.split(jax.random.key(0), 3000)

    def value_and_slopes(output: Any) -> Any:
        return jax.value_and_grad(lambda v: (output(v) * jnp.asarray([1.0, -2.0, 0.5, 1.0])).sum())(layers)

    drawn = jax.jit(jax.vmap(lambda k: value_and_slopes(lambda v: sampled_pbgnet.output(v, lifted, k, 10))))(keys)
    truth = jax.jit(lambda: value_and_slopes(lambda v: pbgnet.output(v, lifted)))()
    for sample, target in zip(jax.tree.leaves(drawn), jax.tree.leaves(truth), strict=True):
        values = np.asarray(sample, np.float64)
        error = values.std(axis=0) / np.sqrt(len(values)) + 1e-6
        assert np.abs((values.mean(axis=0) - target) / error).max() < 4.5


def test_many_draws_approach_the_sums_at_depth(rng: np.random.Generator) -> None:
    layers, lifted = case(rng, (3, 4, 3, 1))
    truth = jax.jit(pbgnet.output)(layers, lifted)
    output = jax.jit(sampled_pbgnet.output, static_argnums=3)
    few, many = (np.abs(output(layers, lifted, jax.random.key(5), n) - truth).mean() for n in (20, 20_000))
    assert many < 0.01
    assert many < 0.3 * few


@partial(jax.jit, static_argnums=3)
def slopes(V: Any, F: Any, key: Any, T: int) -> Any:
    """Gradient of the sum of the sampled means with respect to the means below."""
    return jax.grad(lambda f: sampled_pbgnet._sampled_layer(V, f, key, T).sum())(F)


drawn = jax.jit(sampled_pbgnet.draw, static_argnums=2)


@pytest.mark.parametrize("gap", [0.1, 1e-3, 1e-5])
def test_gradient_is_the_formula_on_the_same_draws(rng: np.random.Generator, gap: float) -> None:
    layers, _ = case(rng, (3, 4, 2))
    F = jnp.asarray(np.sign(rng.normal(size=(5, 4))) * (1 - gap * rng.uniform(1, 3, (5, 4))), jnp.float32)
    key = jax.random.key(7)
    T = 50
    slope = slopes(layers[1], F, key, T)
    s = np.asarray(drawn(key, F, T), np.float64)
    m = np.asarray(sign_means(np.asarray(layers[1], np.float64), s)).sum(axis=2, keepdims=True)
    expected = (m * s / (1 + s * np.asarray(F, np.float64)[:, None, :])).mean(axis=1)
    np.testing.assert_allclose(slope, expected, rtol=1e-4, atol=1e-5)


def test_saturated_inputs_have_finite_gradients(rng: np.random.Generator) -> None:
    layers, _ = case(rng, (3, 4, 2))
    F = jnp.asarray([[1.0, -1.0, 1.0, 0.0]], jnp.float32)
    assert np.isfinite(slopes(layers[1], F, jax.random.key(0), 20)).all()


def test_draws_have_their_probabilities_and_are_independent_in_pairs() -> None:
    F = jnp.asarray([[0.6, -0.3, 0.0], [0.6, 0.5, -0.9]], jnp.float32)
    drawn = jax.jit(jax.vmap(lambda k: sampled_pbgnet.draw(k, F, 2)))(jax.random.split(jax.random.key(1), 40_000))
    centred = (np.asarray(drawn, np.float64) - np.asarray(F)[:, None, :]).reshape(len(drawn), -1)
    error = np.sqrt((centred**2).mean(axis=0) / len(centred))
    assert np.abs(centred.mean(axis=0) / error).max() < 4
    # All pairs: two draws of a row, a draw of either row, two coordinates.
    correlation = np.corrcoef(centred.T) - np.eye(centred.shape[1])
    assert np.abs(correlation).max() < 4.5 / np.sqrt(len(centred))


def test_rows_in_blocks_have_draws_of_their_own(rng: np.random.Generator) -> None:
    layers, lifted = case(rng, (3, 4, 1))
    alike = jnp.tile(lifted[:1], (2 * sampled_pbgnet.ROWS, 1))
    F = np.asarray(jax.jit(sampled_pbgnet.output, static_argnums=3)(layers, alike, jax.random.key(2), 30))
    first = F[: sampled_pbgnet.ROWS]
    second = F[sampled_pbgnet.ROWS :]
    assert (first == second).mean() < 0.5
    truth = float(jax.jit(pbgnet.output)(layers, lifted[:1])[0])
    assert abs(F.mean() - truth) < 4.5 * F.std() / np.sqrt(30)
