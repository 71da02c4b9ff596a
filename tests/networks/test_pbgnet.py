from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.special

from abnet.networks import exact, independent_signs, pbgnet, square_wave
from abnet.networks.lifting import lift, mean_activation
from conftest import random_network
from networks.as_written import pbgnet_output


@pytest.mark.parametrize("sizes", [(3, 2, 1), (3, 4, 3, 1), (2, 3, 1, 3, 1), (2, 2, 3, 2, 3, 1)], ids=str)
def test_equals_the_formula_as_written(sizes: tuple[int, ...], rng: np.random.Generator) -> None:
    bam = random_network(rng, sizes)
    X = rng.normal(size=(5, sizes[0]))
    expected: Any = [pbgnet_output(bam.weights, bam.biases, x, np, scipy.special.erf) for x in X]
    np.testing.assert_allclose(pbgnet.expected_output(bam, X), expected, rtol=0, atol=1e-12)
    in_jax = jax.jit(lambda b: pbgnet.expected_output(b, X))
    single = in_jax(jax.tree.map(lambda a: np.asarray(a, np.float32), bam))
    assert single.dtype == jnp.float32
    np.testing.assert_allclose(single, expected, rtol=0, atol=1e-5)


def test_equals_abnet_with_one_hidden_layer_and_differs_with_two(rng: np.random.Generator) -> None:
    X = rng.normal(size=(5, 3))
    one = random_network(rng, (3, 4, 1))
    two = random_network(rng, (3, 4, 4, 1))
    np.testing.assert_allclose(pbgnet.expected_output(one, X), exact.expected_output(one, X), atol=1e-14)
    assert np.abs(pbgnet.expected_output(two, X) - exact.expected_output(two, X)).max() > 1e-3


def test_kl_counts_a_layer_once_per_path(rng: np.random.Generator) -> None:
    a = random_network(rng, (3, 4, 2, 1))
    b = random_network(rng, (3, 4, 2, 1))
    squares = [((p - q) ** 2).sum() for p, q in zip(a.layers, b.layers, strict=True)]
    assert pbgnet.kl(a, b) == pytest.approx(0.5 * (2 * squares[0] + squares[1] + squares[2]), rel=1e-14)
    assert pbgnet.layer_counts((5, 4, 3, 2, 1)) == (6, 2, 1, 1)
    assert pbgnet.kl(a, a) == 0


@pytest.mark.parametrize("sizes", [(3, 6, 1), (3, 4, 5, 1), (2, 3, 5, 3, 1)], ids=str)
def test_series_equal_the_formula_as_written_within_the_proved_error(
    sizes: tuple[int, ...], rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a smaller T the errors of all layers can be seen."""
    monkeypatch.setattr(independent_signs, "WIDEST_TABLE", 0)
    bam = random_network(rng, sizes)
    X = rng.normal(size=(5, sizes[0]))
    expected: Any = [pbgnet_output(bam.weights, bam.biases, x, np, scipy.special.erf) for x in X]
    error = np.abs(pbgnet.expected_output(bam, X) - expected).max()
    assert error < 1e-13
    assert error <= pbgnet.output_error(bam.layers) < 1e-11
    monkeypatch.setitem(square_wave.REACH, "float64", 2.0)
    error = np.abs(pbgnet.expected_output(bam, X) - expected).max()
    assert 1e-6 < error <= pbgnet.output_error(bam.layers)


def test_a_wide_network_is_the_mean_over_independent_draws_of_the_layers_below(rng: np.random.Generator) -> None:
    """Every neuron of layer 2 reads signs of its own, and so does the output."""
    bam = random_network(rng, (3, 40, 20, 1))
    X = rng.normal(size=(3, 3))
    draws = 2000
    F = pbgnet.expected_output(bam, X)
    m = mean_activation(bam.layers[0], lift(X))
    for row, expected in zip(m, F, strict=True):
        first = np.where(rng.uniform(-1, 1, (draws, 20, 40)) < row, 1.0, -1.0)
        V, V_out = bam.layers[1:]
        z = np.einsum("tij,ij->ti", first, V[:, :-1]) + V[:, -1]
        second = np.where(rng.uniform(-1, 1, z.shape) < scipy.special.erf(z / np.sqrt(2 * 41)), 1.0, -1.0)
        outputs = scipy.special.erf((second @ V_out[0, :-1] + V_out[0, -1]) / np.sqrt(2 * 21))
        assert abs(outputs.mean() - expected) < 4.5 * outputs.std() / np.sqrt(draws)


def test_gradients_of_wide_layers_are_those_of_tables(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    bam = jax.tree.map(lambda a: jnp.asarray(a, jnp.float32), random_network(rng, (3, 13, 3, 1)))
    X = rng.normal(size=(5, 3))

    def gradient() -> Any:
        return jax.jit(jax.grad(lambda b: (pbgnet.expected_output(b, X) ** 2).sum()))(bam)

    by_series = gradient()
    monkeypatch.setattr(independent_signs, "WIDEST_TABLE", 13)
    for found, expected in zip(jax.tree.leaves(by_series), jax.tree.leaves(gradient()), strict=True):
        np.testing.assert_allclose(found, expected, rtol=0, atol=2e-5)
