"""Aggregations that sample with a JAX key accept networks of NumPy in float64, without a warning of JAX."""

from typing import Any

import jax
import numpy as np
import pytest

from abnet.networks import BAM, Aggregation, Ancestral, SampledPBGNet, Uniform
from abnet.networks.lifting import lift


@pytest.mark.parametrize("aggregation", [Uniform(50), SampledPBGNet(50), Ancestral(50)], ids=lambda a: type(a).__name__)
def test_the_precision_of_a_network_changes_no_draw(aggregation: Aggregation) -> None:
    net = BAM.init(np.random.default_rng(0), (4, 12, 12, 1))
    X = np.random.default_rng(1).normal(size=(8, 4)).astype(np.float32)
    key = jax.random.key(3)

    def computed(precision: Any) -> list[np.ndarray]:
        network = net.astype(precision)
        rows = X.astype(precision)
        losses = aggregation.losses(network.layers, lift(rows), np.ones(8, precision), key)
        return [np.asarray(value) for value in (aggregation(network, rows, key), losses) if value is not None]

    for of_float64, of_float32 in zip(computed(np.float64), computed(np.float32), strict=True):
        np.testing.assert_allclose(of_float64, of_float32, atol=1e-5)
