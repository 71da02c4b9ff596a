"""Networks of several widths in arrays of one shape, so that they train side by side under `jax.vmap`.

A mask switches units off. A unit that is off has no sign: the layer above reads the other units only, and its norm
counts only these. So a masked network computes what the network without these units computes.
"""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from abnet.networks.bam import BAM
from abnet.networks.cube import corners, multilinear, namespace
from abnet.networks.exact import check_width
from abnet.networks.lifting import lift, lifted_inputs, mean_activation
from abnet.networks.shapes import Float

__all__ = ["masked_output", "widened"]

Masks: TypeAlias = tuple[Any, ...]
"""An array (d_k,) for each hidden layer: 1 for a unit that is there, 0 for one that is not."""


def widened(bam: BAM, widths: tuple[int, ...]) -> tuple[BAM, Masks]:
    """The same network in larger arrays, and its masks.

    Weights of the added units are 0. In a network and its prior they add nothing to the divergence, and gradients of
    `masked_output` leave them 0.

    Parameters
    ----------
    bam : BAM
    widths : tuple of int
        New widths of the hidden layers, none smaller than the network's.

    Examples
    --------
    >>> small = BAM((np.ones((1, 2)), np.ones((1, 1))), (np.zeros(1), np.zeros(1)))
    >>> wide, masks = widened(small, (3,))
    >>> wide.sizes, masks
    ((2, 3, 1), (array([1., 0., 0.]),))
    """
    hidden = bam.sizes[1:-1]
    if len(widths) != len(hidden) or any(new < old for new, old in zip(widths, hidden, strict=True)):
        raise ValueError(f"widths must be at least those of the network, {hidden}; got {widths}.")
    xp = namespace(bam.weights[0])
    rows = (*widths, bam.sizes[-1])
    columns = (bam.sizes[0], *widths)
    weights = []
    biases = []
    for W, b, d, d_below in zip(bam.weights, bam.biases, rows, columns, strict=True):
        weights.append(xp.pad(W, ((0, d - W.shape[0]), (0, d_below - W.shape[1]))))
        biases.append(xp.pad(b, (0, d - len(b))))
    masks = [xp.asarray(np.arange(new) < old, bam.weights[0].dtype) for new, old in zip(widths, hidden, strict=True)]
    return BAM(tuple(weights), tuple(biases)), tuple(masks)


def masked_output(bam: BAM, X: ArrayLike, masks: Masks) -> Float[Any, "n"]:
    """`abnet.networks.expected_output` of the network without the units that the masks switch off.

    `jax.vmap` over networks and masks computes several architectures at once.

    Parameters
    ----------
    bam : BAM
        With one output neuron.
    X : array (n, d_0)
    masks : tuple of arrays (d_k,)
        One for each hidden layer.

    Examples
    --------
    >>> from abnet.networks import expected_output
    >>> rng = np.random.default_rng(0)
    >>> small = BAM.init(rng, (2, 2, 1)).astype(np.float64)
    >>> X = rng.normal(size=(4, 2))
    >>> wide, masks = widened(small, (5,))
    >>> bool(np.allclose(masked_output(wide, X, masks), expected_output(small, X)))
    True
    """
    check_width(bam.sizes, all_layers=True)
    layers = bam.layers
    if layers[-1].shape[0] != 1:
        raise ValueError(f"masked_output needs one output neuron; the network has {layers[-1].shape[0]}.")
    shapes = [np.shape(mask) for mask in masks]
    if shapes != [(d,) for d in bam.sizes[1:-1]]:
        raise ValueError(f"masks must have one entry for each hidden unit, {bam.sizes[1:-1]}; got the shapes {shapes}.")
    first = mean_activation(layers[0], lifted_inputs(bam, X))
    if not masks:
        return first[:, 0]
    # A mean of 0 averages over both signs of a unit that is off, and the table does not depend on its sign.
    return multilinear(_region_values(layers, masks), first * masks[0][None, :])


def _region_values(layers: Any, masks: Masks) -> Any:
    """`abnet.networks.region_values`, where the signs of units that are off are 0."""
    h = None
    for k in range(len(layers) - 1, 0, -1):
        V = layers[k]
        below = corners(V.shape[1] - 1, V.dtype) * masks[k - 1][None, :]
        m = mean_activation(V, lift(below))
        if h is None:
            h = m[:, 0]
        else:
            h = multilinear(h, m * masks[k][None, :])
    return h
