from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from abnet.paper.methods.binary_weights import BinaryParameters, BinaryState, Statistics
from abnet.paper.methods.bnn import BNN, straight_through_sign

Train = Callable[..., Any]
Blobs = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
KEY = jax.random.key(0)
POINTS = jnp.array([-1.5, -1.0, -0.3, 0.0, 1.0, 1.01])


def test_sign_forward_and_straight_through_backward() -> None:
    value, pull = jax.vjp(straight_through_sign, POINTS)
    assert value.tolist() == [-1, -1, -1, 1, 1, 1]
    assert pull(jnp.ones(6))[0].tolist() == [0, 1, 1, 1, 1, 0]


def test_upstream_gradient_passes_unchanged_in_sign_and_size() -> None:
    upstream = jnp.array([3.0, -2.0, 0.5, 7.0, -1.0, 4.0])
    assert jax.vjp(straight_through_sign, POINTS)[1](upstream)[0].tolist() == [0, -2, 0.5, 7, -1, 0]


def test_upper_layers_add_signs() -> None:
    """Pre-activations above layer 1 are integers of the parity of the width, and the output has at most 2^d values."""
    rng = np.random.default_rng(8)
    sizes = (8, 3, 2, 1)
    x_test = rng.normal(size=(200, 8))
    weights = tuple(rng.uniform(-1, 1, shape) for shape in zip(sizes[1:], sizes[:-1], strict=True))
    gammas, betas = ([rng.normal(size=d) for d in sizes[1:]] for _ in range(2))
    running = tuple(Statistics(rng.normal(size=d), rng.uniform(0.5, 2, d)) for d in sizes[1:])
    network = BNN().fold(BinaryState(BinaryParameters(weights, tuple(gammas), tuple(betas)), None, running))
    assert all(W.dtype == np.int8 and set(np.unique(W)) <= {-1, 1} for W in network.weights)
    h = x_test
    for k, (W, units) in enumerate(zip(network.weights, network.units, strict=True)):
        a = h @ W.T.astype(float)
        if k:
            width = W.shape[1]
            assert np.array_equal(a, np.round(a))
            assert np.abs(a).max() <= width
            assert set(np.unique(a % 2)) == {width % 2}
        h = units(a)
    assert 1 < len(np.unique(network.scores(x_test))) <= 4


def test_learns_blobs(train: Train, blobs: Blobs) -> None:
    x, y, x_test, y_test = blobs
    state = train(BNN(), (8, 10, 1), x, y, batch=50, epochs=20, rate=0.01)
    assert np.mean(BNN().fold(state).votes(x_test) != (y_test > 0)) < 0.05
