"""A masked network is the network without the units that are off: output, gradients and divergence."""

from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from abnet.networks import BAM, expected_output, kl, masked_output, widened

NARROW = [(1,), (3,), (2, 3), (3, 1, 2)]


def network(hidden: tuple[int, ...], seed: int = 0) -> BAM:
    rng = np.random.default_rng(seed)
    sizes = (3, *hidden, 1)
    weights = tuple(rng.normal(size=(d, below)) for below, d in pairwise(sizes))
    return BAM(weights, tuple(rng.normal(size=d) for d in sizes[1:]))


@pytest.fixture
def X() -> np.ndarray:
    return np.random.default_rng(1).normal(size=(7, 3))


@pytest.mark.parametrize("hidden", NARROW)
def test_a_masked_network_computes_what_the_smaller_one_does(hidden: tuple[int, ...], X: np.ndarray) -> None:
    wide, masks = widened(network(hidden), tuple(d + 2 for d in hidden))
    np.testing.assert_allclose(masked_output(wide, X, masks), expected_output(network(hidden), X), atol=1e-13)


def test_what_the_weights_of_an_absent_unit_are_does_not_matter(X: np.ndarray) -> None:
    wide, masks = widened(network((2, 2)), (3, 3))
    W_1, W_2, W_3 = (W.copy() for W in wide.weights)
    W_1[2] = 5.0
    W_2[2] = -3.0
    W_2[:, 2] = 7.0
    W_3[:, 2] = 2.0
    changed = BAM((W_1, W_2, W_3), wide.biases)
    np.testing.assert_allclose(masked_output(changed, X, masks), masked_output(wide, X, masks), atol=1e-13)


def test_masks_of_ones_change_nothing_and_other_units_can_be_switched_off(X: np.ndarray) -> None:
    net = network((3, 2))
    np.testing.assert_allclose(masked_output(net, X, (np.ones(3), np.ones(2))), expected_output(net, X), atol=1e-13)
    without_second = BAM(
        (net.weights[0][[0, 2]], net.weights[1][:, [0, 2]], net.weights[2]), (net.biases[0][[0, 2]], *net.biases[1:])
    )
    masked = masked_output(net, X, (np.array([1.0, 0.0, 1.0]), np.ones(2)))
    np.testing.assert_allclose(masked, expected_output(without_second, X), atol=1e-13)


def test_gradients_leave_added_weights_alone_and_the_divergence_does_not_count_them(X: np.ndarray) -> None:
    small = network((2, 3))
    prior = network((2, 3), seed=5)
    wide, masks = widened(small, (4, 4))
    wide_prior, _ = widened(prior, (4, 4))
    assert kl(wide, wide_prior) == pytest.approx(kl(small, prior), rel=1e-12)
    gradient = jax.grad(lambda net: masked_output(net, jnp.asarray(X, "float32"), masks).sum())(
        jax.tree.map(lambda leaf: jnp.asarray(leaf, "float32"), wide)
    )
    own = jax.grad(lambda net: expected_output(net, jnp.asarray(X, "float32")).sum())(
        jax.tree.map(lambda leaf: jnp.asarray(leaf, "float32"), small)
    )
    expected, _ = widened(jax.tree.map(np.asarray, own), (4, 4))
    for got, wanted in zip(jax.tree.leaves(gradient), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(got, wanted, atol=1e-5)


def test_architectures_are_computed_side_by_side(X: np.ndarray) -> None:
    small = [network((1, 4)), network((4, 2)), network((3, 3))]
    stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *[widened(net, (4, 4)) for net in small])
    together = jax.vmap(lambda net, masks: masked_output(net, X, masks))(*stacked)
    for one, net in zip(together, small, strict=True):
        np.testing.assert_allclose(one, expected_output(net, X), atol=1e-5)


def test_wrong_widths_and_masks_are_refused(X: np.ndarray) -> None:
    with pytest.raises(ValueError, match="at least"):
        widened(network((3,)), (2,))
    with pytest.raises(ValueError, match="at least"):
        widened(network((3,)), (3, 3))
    with pytest.raises(ValueError, match="one entry"):
        masked_output(network((3,)), X, (np.ones(2),))
