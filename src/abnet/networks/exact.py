"""ABNet: the exact expected output of an aggregation, by dynamic programming over binary representations.

Every function takes a network either as a `BAM` or, if it is called in a training step, as its layers
``V_k = (W_k, b_k)`` with the bias as last column. Inputs and signs are lifted to unit vectors, so that all layers have
the same formula.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abnet.networks.bam import BAM, check_inputs
from abnet.networks.cube import BLOCK, corner_probabilities, corners, erf, map_blocks, multilinear, namespace
from abnet.networks.gaussian_kl import gaussian_kl
from abnet.networks.protocol import WIDEST_IN_SEQUENCE, Aggregation, check_outputs, linear_loss
from abnet.networks.shapes import Answers, Float, Key, Lifted, Losses, Matrices, Table

__all__ = [
    "MAX_WIDTH",
    "Exact",
    "check_width",
    "expected_output",
    "kl",
    "lift",
    "lift_into",
    "lifted_inputs",
    "mean_activation",
    "output",
    "region_probabilities",
    "region_values",
    "regions",
]

MAX_WIDTH = 20
"""Widest layer computed exactly: one pair of such layers costs 2^41 operations."""


def lift(x: Float[Any, "rows d"]) -> Float[Any, "rows d+1"]:
    """Rows as unit vectors with a constant input: ``x̃ = (x, 1)/sqrt(‖x‖² + 1)``.

    Parameters
    ----------
    x : array (rows, d)

    Examples
    --------
    >>> import numpy as np
    >>> lift(np.array([[0.0, 0.0], [2.0, 2.0]]))
    array([[0.        , 0.        , 1.        ],
           [0.66666667, 0.66666667, 0.33333333]])
    """
    if x.ndim != 2:
        raise ValueError(f"x must be an array of rows, (rows, d); got the shape {x.shape}.")
    if isinstance(x, np.ndarray):
        return lift_into(np.empty((len(x), x.shape[1] + 1), x.dtype), x)
    xp = namespace(x)
    x1 = _below_overflow(x, xp)
    return x1 / xp.sqrt(xp.sum(x1**2, axis=1, keepdims=True))


def _below_overflow(x: Any, xp: Any) -> Any:
    """``(x, 1)`` divided by its largest entry: squares of entries above 1e19 overflow float32."""
    largest = xp.maximum(xp.max(xp.abs(x), axis=1, keepdims=True, initial=0), x.dtype.type(1))
    return xp.concatenate([x / largest, 1 / largest], axis=1)


_LIFTED_ROWS = 64


def lift_into(out: NDArray[Any], x: NDArray[Any]) -> NDArray[Any]:
    """`lift` written to a NumPy array (rows, d + 1), block by block.

    Blocks keep intermediate results in the cache: allocating large temporaries takes longer than the arithmetic.
    """
    buffer = np.empty((_LIFTED_ROWS, x.shape[1] + 1), x.dtype)
    for first in range(0, len(x), _LIFTED_ROWS):
        rows = x[first : first + _LIFTED_ROWS]
        lifted = out[first : first + _LIFTED_ROWS]
        spare = buffer[: len(rows)]
        sizes = np.abs(rows, out=spare[:, :-1])
        largest = np.maximum(sizes.max(axis=1, keepdims=True, initial=0), x.dtype.type(1))
        np.divide(rows, largest, out=lifted[:, :-1])
        np.divide(1, largest, out=lifted[:, -1:])
        squares = np.square(lifted, out=spare)
        lifted /= np.sqrt(squares.sum(axis=1, keepdims=True))
    return out


def lifted_inputs(bam: BAM, X: ArrayLike) -> Float[Any, "n _"]:
    """Lift plain inputs of a network, in its array library and precision; wrong shapes raise a ValueError.

    Parameters
    ----------
    bam : BAM
    X : array (n, d_0)
    """
    rows: Any = X
    if not hasattr(X, "dtype"):
        rows = np.asarray(X)
    check_inputs(bam, rows)
    return lift(namespace(bam.weights[0]).asarray(rows, dtype=bam.weights[0].dtype))


def mean_activation(V: Float[Any, "d_k d"], lifted: Float[Any, "rows d"]) -> Float[Any, "rows d_k"]:
    """Means of a layer of neurons with Gaussian weights on fixed inputs: ``m(x̃) = erf(V x̃ / √2)``.

    With the lifted input this is ``erf((W x + b)/sqrt(2(‖x‖² + 1)))`` at layer 1 and
    ``erf((W s + b)/sqrt(2(d + 1)))`` above.

    Parameters
    ----------
    V : array (d_k, d_{k-1} + 1)
    lifted : array (rows, d_{k-1} + 1)

    Returns
    -------
    array (rows, d_k)
    """
    if not V.ndim == lifted.ndim == 2 or V.shape[1] != lifted.shape[1]:
        raise ValueError(f"a layer of shape {V.shape} does not match lifted rows of shape {lifted.shape}.")
    return erf((lifted @ V.T) * V.dtype.type(0.5**0.5))


def check_width(sizes: tuple[int, ...]) -> None:
    """Raise a ValueError for a network that is too wide for exact computation."""
    for layer, d in enumerate(sizes[1:-1], start=1):
        if d > MAX_WIDTH:
            raise ValueError(
                f"Hidden layer {layer} has {d} units: the exact output needs a table of 2^{d} representations "
                f"(at most 2^{MAX_WIDTH} are allowed). Use narrower layers, or sampling: aggregation='ancestral' "
                "(certified) or 'uniform' (the paper's, an estimate)."
            )


def regions(layers: Matrices, table: Table = None) -> Float[Any, "_ *K"]:
    """`region_values` of a network given as its layers."""
    check_outputs(layers, table)
    h = table
    for V in reversed(layers[1:]):
        h = _expect(h, V)
    if h is None:
        # Without a hidden layer, the only representations are the two signs of the output neuron.
        return namespace(layers[0]).asarray([-1, 1], layers[0].dtype)
    return h


def _expect(h: Any, V: Any) -> Any:
    """``h_{k-1}`` from ``h_k``; with h None the layer is the single output neuron, whose table is its sign."""
    d = V.shape[1] - 1

    def block(start: Any, count: int) -> Any:
        m = mean_activation(V, lift(corners(d, V.dtype, start=start, count=count)))
        if h is None:
            return m[:, 0]
        return multilinear(h, m)

    # Columns of the corner probabilities in `multilinear`, or of the corners.
    columns = max(2 ** ((V.shape[0] + 1) // 2), 32)
    return map_blocks(block, 2**d, namespace(V), block=BLOCK // columns)


def output(layers: Matrices, lifted: Float[Any, "rows _"], table: Table = None) -> Float[Any, "rows *K"]:
    """`expected_output` of a network given as its layers, on lifted inputs."""
    return multilinear(regions(layers, table), mean_activation(layers[0], lifted))


def region_values(bam: BAM, table: Table = None) -> Float[Any, "_ *K"]:
    """Expected output of every representation of the leading hidden layer, ``H[s] = E[F_B' | s_1 = s]``.

    Backwards from the output: ``h_{L-1}(s) = m_L(s)``, then ``h_{k-1}(s̄) = Σ_s h_k(s) Π_i (1/2 + s_i/2 · m_k(s̄)_i)``.
    Depends on the weights only. Differentiable; memory O(2^d + block · 2^{d/2}) in both directions.

    Parameters
    ----------
    bam : BAM
        JAX arrays give a JAX table; NumPy arrays (see `BAM.astype`) a NumPy table, in float64 when the weights are.
    table : array (2**d_L, K), optional
        Values of the outputs instead of their signs, for instance the class probabilities of each output.

    Returns
    -------
    array (2**d_1,), or (2**d_1, K) with a table
        In [-1, 1] without a table.
    """
    check_width(bam.sizes)
    return regions(bam.layers, table)


def expected_output(bam: BAM, X: ArrayLike, table: Table = None) -> Float[Any, "n *K"]:
    """The exact output of the aggregation, ``F_A(x) = E_{B' ~ N(B, I)} F_{B'}(x) = Σ_s H[s] P_1(x)[s]``.

    Parameters
    ----------
    bam : BAM
        The centre of the aggregation. With JAX arrays it computes in JAX (jit, grad and vmap work), with NumPy arrays
        in NumPy.
    X : array (n, d_0)
    table : array (2**d_L, K), optional
        Values of the outputs, as for `region_values`; with `abnet.networks.codebook.decode_table` the result is the
        probability of each class.

    Returns
    -------
    array (n,), or (n, K) with a table
        Without a table in [-1, 1]; its sign is the vote.

    Examples
    --------
    >>> import numpy as np
    >>> net = BAM((np.eye(2), np.ones((1, 2))), (np.zeros(2), np.zeros(1)))
    >>> np.round(expected_output(net, np.array([[3.0, 3.0], [0.0, 0.0]])), 3)
    array([0.382, 0.   ])
    """
    check_width(bam.sizes)
    return output(bam.layers, lifted_inputs(bam, X), table)


def region_probabilities(W: Float[Any, "d _"], b: Float[Any, "d"], X: ArrayLike) -> Float[Any, "n 2**d"]:
    """``P_1(x)[s] = Π_i (1/2 + s_i/2 · m_1(x)_i)``: probabilities of the leading layer's representations.

    Parameters
    ----------
    W : array (d_1, d_0)
    b : array (d_1,)
    X : array (n, d_0)

    Returns
    -------
    array (n, 2**d_1)
        Representations in lexicographic order, -1 first.

    Examples
    --------
    >>> region_probabilities(np.zeros((1, 2)), np.zeros(1), np.array([[1.0, 2.0]]))
    array([[0.5, 0.5]])
    """
    layer = BAM((W,), (b,))
    return corner_probabilities(mean_activation(layer.layers[0], lifted_inputs(layer, X)))


def kl(bam: BAM, prior: BAM) -> Float[Any, ""]:
    """``KL(A(B) ‖ A(P)) = 1/2 Σ_k (‖W_k - W_k^p‖² + ‖b_k - b_k^p‖²)``."""
    return gaussian_kl(bam.layers, prior.layers)


@dataclass(frozen=True)
class Exact(Aggregation):
    """ABNet: ``F_A(x)`` itself, over all representations of every layer."""

    certified: ClassVar[bool] = True

    def in_sequence(self, sizes: tuple[int, ...]) -> bool:
        """Whether all layers are narrow."""
        return max(sizes[1:]) <= WIDEST_IN_SEQUENCE

    def output(self, layers: Matrices, lifted: Lifted, key: Key = None, table: Table = None) -> Answers:
        """`expected_output`."""
        return output(layers, lifted, table)

    def losses(
        self, layers: Matrices, lifted: Lifted, targets: Answers, key: Key = None, table: Table = None
    ) -> Losses:
        """The linear loss of the expected output."""
        return linear_loss(output(layers, lifted, table), targets)

    def kl(self, layers: Matrices, prior: Matrices, log_sigma: Sequence[Any]) -> Float[Any, ""]:
        """Every layer once."""
        return gaussian_kl(layers, prior, log_sigma)
