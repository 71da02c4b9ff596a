"""The laws of random networks: their moments and limits, for JAX and for NumPy."""

from typing import Any

import jax
import numpy as np
import pytest

from abnet.networks import BAM, FanInUniform, GlorotNormal, Initialisation
from abnet.networks.initialisation import INITIALISATIONS

SIZES = (300, 200, 1)


@pytest.fixture(params=["jax", "numpy"])
def key(request: pytest.FixtureRequest, seed: int) -> Any:
    if request.param == "jax":
        return jax.random.key(seed)
    return np.random.default_rng(seed)


@pytest.mark.parametrize("gain", [0.5, 1.0, 2.0])
def test_a_gain_scales_the_deviation_of_glorots_normal(gain: float, key: Any) -> None:
    network = BAM.init(key, SIZES, GlorotNormal(gain))
    W = np.asarray(network.weights[0]) / (gain * np.sqrt(2 / 500))
    assert abs(W.mean()) < 4 / np.sqrt(W.size)
    assert abs(W.var() - 1) < 4 * np.sqrt(2 / W.size)
    assert abs((np.abs(W) > 2).mean() - 0.0455) < 0.005  # not truncated
    assert not any(np.any(b) for b in network.biases)


def test_weights_and_biases_are_uniform_by_the_number_of_inputs(key: Any) -> None:
    network = BAM.init(key, SIZES, FanInUniform())
    for W, b, fan_in in zip(network.weights, network.biases, SIZES[:-1], strict=True):
        scaled = np.concatenate([np.ravel(W), np.ravel(b)]) * np.sqrt(fan_in)
        assert np.abs(scaled).max() <= 1 + 1e-6
        assert abs(scaled.mean()) < 4 / np.sqrt(3 * scaled.size)
        assert abs(scaled.var() - 1 / 3) < 4 * np.sqrt(4 / 45 / scaled.size)  # the fourth moment is 1/5
    assert np.abs(np.asarray(network.biases[0])).max() > 0.9 / np.sqrt(300)


def test_the_default_is_glorots_with_a_gain_of_1() -> None:
    named = BAM.init(np.random.default_rng(0), SIZES, INITIALISATIONS["glorot_normal"])
    plain = BAM.init(np.random.default_rng(0), SIZES)
    for mine, theirs in zip(named.layers, plain.layers, strict=True):
        np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("initialisation", INITIALISATIONS.values(), ids=str)
def test_arrays_are_those_of_the_key(initialisation: Initialisation) -> None:
    assert isinstance(BAM.init(jax.random.key(0), (3, 2, 1), initialisation).biases[0], jax.Array)
    drawn = BAM.init(np.random.default_rng(0), (3, 2, 1), initialisation)
    assert {leaf.dtype for leaf in (*drawn.weights, *drawn.biases)} == {np.dtype(np.float32)}
    assert drawn.sizes == (3, 2, 1)
