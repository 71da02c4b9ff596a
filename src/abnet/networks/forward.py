"""The paper's forward form: probabilities over the representations of every layer, and the transitions between them."""

from typing import Any

from numpy.typing import ArrayLike

from abnet.networks.bam import BAM
from abnet.networks.cube import BLOCK, corner_probabilities, corners, namespace, sum_blocks
from abnet.networks.exact import check_width
from abnet.networks.lifting import lift, lifted_inputs, mean_activation
from abnet.networks.shapes import Float

__all__ = ["psi", "representation_probabilities"]

LARGEST = 2**26
"""Largest number of entries of a transition matrix that `psi` returns: 512 MB in float64."""


def representation_probabilities(bam: BAM, X: ArrayLike, layer: int) -> Float[Any, "n _"]:
    """``P_k(x)``: probabilities of the representations of layer k, over the networks of the aggregation.

    ``P_1(x)[s] = Π_i (1/2 + s_i/2 · m_1(x)_i)``, then ``P_k = Ψ_k P_{k-1}``. The columns of ``Ψ_k`` are computed in
    blocks and not kept. For the last layer, ``F_A(x) = P_L[+1] - P_L[-1]``; `expected_output` computes it faster, by
    the backward recursion.

    Parameters
    ----------
    bam : BAM
        The centre of the aggregation, of NumPy or JAX arrays.
    X : array (n, d_0)
    layer : int
        k, from 1 to the number of layers L.

    Returns
    -------
    array (n, 2**d_k)
        Representations in lexicographic order, -1 first; rows sum to 1.

    Examples
    --------
    >>> import numpy as np
    >>> net = BAM((np.eye(2), np.ones((1, 2))), (np.zeros(2), np.zeros(1)))
    >>> np.round(representation_probabilities(net, np.array([[3.0, 3.0]]), 2), 3)
    array([[0.309, 0.691]])
    """
    _check_layer(bam, layer, first=1)
    check_width(bam.sizes, all_layers=True)
    P = corner_probabilities(mean_activation(bam.layers[0], lifted_inputs(bam, X)))
    for V in bam.layers[1:layer]:
        P = _next(P, V)
    return P


def _next(P: Any, V: Any) -> Any:
    """``Ψ_k P_{k-1}`` for every row, summed over blocks of representations s̄ of the layer below."""
    d = V.shape[1] - 1

    def block(start: Any, count: int) -> Any:
        below = namespace(P).take(P, start + namespace(P).arange(count), axis=1)
        return below @ _columns(V, start, count)

    return sum_blocks(block, 2**d, namespace(P), block=max(BLOCK // 2 ** V.shape[0], 1))


def psi(bam: BAM, k: int) -> Float[Any, "above below"]:
    """``Ψ_k[s, s̄] = Π_i (1/2 + s_i/2 · m_k(s̄)_i)``: probability of s at layer k given s̄ at the layer below.

    Parameters
    ----------
    bam : BAM
    k : int
        From 2 to the number of layers.

    Returns
    -------
    array (2**d_k, 2**d_{k-1})
        Columns sum to 1.

    Examples
    --------
    >>> import numpy as np
    >>> net = BAM((np.eye(2), np.zeros((1, 2))), (np.zeros(2), np.zeros(1)))
    >>> psi(net, 2)
    array([[0.5, 0.5, 0.5, 0.5],
           [0.5, 0.5, 0.5, 0.5]])
    """
    _check_layer(bam, k, first=2)
    d = bam.sizes[k]
    below = bam.sizes[k - 1]
    if 2 ** (d + below) > LARGEST:
        raise ValueError(
            f"psi of layer {k} has 2^{d} x 2^{below} entries, too many for memory: use representation_probabilities "
            "or expected_output, which do not need it."
        )
    return _columns(bam.layers[k - 1], 0, 2**below).T


def _columns(V: Any, start: Any, count: int) -> Any:
    """Some columns of Ψ, a row for each of the `count` representations s̄ from number `start` on."""
    below = corners(V.shape[1] - 1, V.dtype, start=start, count=count)
    return corner_probabilities(mean_activation(V, lift(below)))


def _check_layer(bam: BAM, k: int, *, first: int) -> None:
    if not first <= k <= len(bam.weights):
        raise ValueError(f"the layer must be from {first} to {len(bam.weights)}; got {k}.")
