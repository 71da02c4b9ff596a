"""Stochastic ABNet: equal to the paper's forward pass on the same draws, exact on all of them, finite at any width."""

from typing import Any

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest
from scipy.special import erf, log_ndtr, logsumexp

from abnet.networks import exact, uniform
from abnet.networks.bam import BAM
from abnet.networks.lifting import lift
from conftest import random_network


def layer_normalised(network: BAM, X: Any, draws: tuple[Any, ...]) -> Any:
    """The paper's pass, forwards: the probabilities of each layer are divided by their sum; sums over logs."""
    z = (X @ network.weights[0].T + network.biases[0]) / np.sqrt((X**2).sum(axis=1, keepdims=True) + 1)
    log_p = log_ndtr(z[:, None, :] * draws[0][None]).sum(axis=2)
    log_p -= logsumexp(log_p, axis=1, keepdims=True)
    for W, b, below, s in zip(network.weights[1:-1], network.biases[1:-1], draws[:-1], draws[1:], strict=True):
        z = (below @ W.T + b) / np.sqrt(below.shape[1] + 1)
        log_psi = log_ndtr(z[:, None, :] * s[None]).sum(axis=2)
        log_p = logsumexp(log_p[:, :, None] + log_psi[None], axis=1)
        log_p -= logsumexp(log_p, axis=1, keepdims=True)
    z = (draws[-1] @ network.weights[-1].T + network.biases[-1]) / np.sqrt(2 * (draws[-1].shape[1] + 1))
    return np.exp(log_p) @ erf(z)[:, 0]


def wide(rng: np.random.Generator, scale: float) -> tuple[BAM, Any]:
    return random_network(rng, (5, 100, 100, 100, 1), scale), rng.normal(size=(7, 5))


@pytest.mark.parametrize("scale", [0.3, 3.0, 30.0])
def test_backward_vectors_equal_the_forward_pass_at_width_100(scale: float, rng: np.random.Generator) -> None:
    network, X = wide(rng, scale)
    draws = uniform.draw(rng, network.sizes, 60, np.float64)
    z = lift(X) @ network.layers[0].T
    ours = uniform.read(z, draws[0], *uniform.regions(network.layers, draws))
    np.testing.assert_allclose(ours, layer_normalised(network, X, draws), atol=1e-10)


def test_float32_stays_close_at_width_100(rng: np.random.Generator) -> None:
    network, X = wide(rng, 3.0)
    draws = uniform.draw(rng, network.sizes, 60, np.float64)
    layers = tuple(jnp.asarray(V, jnp.float32) for V in network.layers)
    signs = tuple(jnp.asarray(s, jnp.float32) for s in draws)
    z = jnp.asarray(lift(X), jnp.float32) @ layers[0].T
    single = jax.jit(lambda *a: uniform.read(a[0], a[1][0], *uniform.regions(a[2], a[1])))(z, signs, layers)
    np.testing.assert_allclose(single, layer_normalised(network, X, draws), atol=2e-3)


@pytest.mark.parametrize("sizes", [(3, 4, 1), (3, 4, 3, 1), (3, 2, 4, 3, 1)])
def test_all_representations_give_the_exact_output(sizes: tuple[int, ...], rng: np.random.Generator) -> None:
    network = random_network(rng, sizes)
    X = rng.normal(size=(6, 3))
    sampled = uniform.output(network.layers, lift(X), rng, 16)
    np.testing.assert_allclose(sampled, exact.expected_output(network, X), atol=1e-12)


def test_gradient_on_all_representations_is_exact(rng: np.random.Generator) -> None:
    layers = tuple(jnp.asarray(V, jnp.float32) for V in random_network(rng, (3, 4, 3, 1)).layers)
    lifted = jnp.asarray(lift(rng.normal(size=(4, 3))), jnp.float32)
    ours = jax.jit(jax.grad(lambda v: uniform.output(v, lifted, jax.random.key(0), 16).sum()))(layers)
    truth = jax.jit(jax.grad(lambda v: exact.output(v, lifted).sum()))(layers)
    for a, b in zip(ours, truth, strict=True):
        np.testing.assert_allclose(a, b, atol=2e-5)


def test_error_falls_as_draws_grow_to_all(rng: np.random.Generator) -> None:
    network = random_network(rng, (3, 6, 6, 1))
    X = rng.normal(size=(8, 3))
    truth = exact.expected_output(network, X)

    def error(n: int) -> float:
        tries = [uniform.output(network.layers, lift(X), np.random.default_rng(k), n) for k in range(60)]
        return float(np.sqrt(np.mean((np.array(tries) - truth) ** 2)))

    errors = [error(n) for n in (4, 16, 63, 64)]
    assert errors[0] > 1.3 * errors[1] > 1.3 * 1.3 * errors[2]
    assert errors[3] < 1e-12


def test_draws_are_signs_fresh_for_each_key() -> None:
    one, other = (uniform.representations(jax.random.key(k), 100, 50, jnp.float32) for k in (0, 1))
    assert set(np.unique(one)) == {-1.0, 1.0}
    assert abs(float(one.mean())) < 5 / np.sqrt(one.size)
    assert (one != other).any()


def test_far_tails_have_finite_gradients_in_float32() -> None:
    z = jnp.asarray([[-50.0, -20.0, -5.0, 0.0, 5.0, 20.0, 50.0]], jnp.float32)
    s = jnp.ones((1, 7), jnp.float32)
    slope = np.asarray(jax.jit(jax.grad(lambda t: uniform.log_transition(t, s)[0, 0]))(z))[0]
    with mpmath.workdps(30):
        truth = [float(mpmath.npdf(t) / mpmath.ncdf(t)) for t in map(mpmath.mpf, np.asarray(z)[0].tolist())]
    np.testing.assert_allclose(slope, truth, rtol=2e-3, atol=1e-4)


def test_gradients_stay_finite_at_width_100(rng: np.random.Generator) -> None:
    network, X = wide(rng, 30.0)
    layers = tuple(jnp.asarray(V, jnp.float32) for V in network.layers)
    lifted = jnp.asarray(lift(X), jnp.float32)
    slopes = jax.jit(jax.grad(lambda v: uniform.output(v, lifted, jax.random.key(0), 30).sum()))(layers)
    assert all(bool(jnp.isfinite(slope).all()) for slope in slopes)
