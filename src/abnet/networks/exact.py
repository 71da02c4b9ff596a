"""ABNet: the exact expected output of an aggregation, by dynamic programming over binary representations.

Every function takes a network either as a `BAM` or, if it is called in a training step, as its layers
``V_k = (W_k, b_k)`` with the bias as last column. Inputs and signs are lifted to unit vectors, so that all layers have
the same formula.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from numpy.typing import ArrayLike

from abnet.networks.aggregation import WIDEST_BY_LIBRARY, WIDEST_IN_SEQUENCE, Aggregation, check_outputs, linear_loss
from abnet.networks.bam import BAM
from abnet.networks.cube import BLOCK, corner_probabilities, corners, map_blocks, multilinear, namespace
from abnet.networks.gaussian_kl import gaussian_kl
from abnet.networks.independent_signs import (
    WIDEST_TABLE,
    activation_error,
    is_narrow,
    layer_error,
    layer_means,
    multilinear_error,
    surrogate_means,
)
from abnet.networks.lifting import lift, lifted_inputs, mean_activation
from abnet.networks.shapes import Answers, Float, Key, Lifted, Losses, Matrices, Table

__all__ = [
    "MAX_WIDTH",
    "Exact",
    "check_width",
    "expected_output",
    "kl",
    "has_wide_top",
    "output",
    "output_error",
    "region_probabilities",
    "region_values",
    "regions",
]

Means = Callable[[Any, Any], Any]
"""From a layer and the means of the independent signs that it reads to its means."""
MAX_WIDTH = 20
"""Widest layer with a table of all representations: one pair of such layers costs 2^41 operations."""
SERIES_NUMBERS = 512
"""Numbers that the series works on for a row, of which some dozens are kept for every sign in the backward pass."""


def check_width(sizes: tuple[int, ...], *, all_layers: bool = False) -> None:
    """Raise a ValueError for a network that is too wide for exact computation.

    The neurons of a layer share the signs that they read, so the layers need tables of all representations. Only the
    last hidden layer below a single output neuron needs none, and may have any width.

    Parameters
    ----------
    sizes : tuple of int
        ``(d_0, …, d_L)``.
    all_layers : bool
        Whether the last hidden layer needs a table even so.
    """
    with_tables = sizes[1:-1]
    if sizes[-1] == 1 and not all_layers:
        with_tables = sizes[1:-2]
    for layer, d in enumerate(with_tables, start=1):
        if d > MAX_WIDTH:
            raise ValueError(
                f"Hidden layer {layer} has {d} units: the exact output needs a table of its 2^{d} representations (at "
                f"most 2^{MAX_WIDTH} are allowed; only the last hidden layer below one output may have any width). Use "
                "narrower layers, or sampling: aggregation='ancestral' (certified) or 'uniform' (the paper's, an "
                "estimate)."
            )


def regions(layers: Matrices, table: Table = None, *, means: Means = layer_means) -> Float[Any, "_ *K"]:
    """`region_values` of a network given as its layers; `means` averages a wide last hidden layer."""
    check_outputs(layers, table)
    if len(layers) == 1:
        # Without a hidden layer, the only representations are the two signs of the output neuron.
        if table is None:
            return namespace(layers[0]).asarray([-1, 1], layers[0].dtype)
        return table
    *below, last = layers[1:]
    if has_wide_top(layers, table):
        # The neurons of the last hidden layer are independent, given the signs of the layer below.
        *below, V = below
        h = _for_all_signs(V, lambda m: means(last, m)[:, 0], SERIES_NUMBERS)
    elif table is None:
        h = _for_all_signs(last, lambda m: m[:, 0], 1)
    else:
        h = _folded(table, last)
    for V in reversed(below):
        h = _folded(h, V)
    return h


def has_wide_top(layers: Matrices, table: Table = None) -> bool:
    """Whether the last hidden layer of at least two is averaged by the series, and not by a table."""
    return table is None and len(layers) > 2 and not is_narrow(layers[-1])


def _folded(h: Any, V: Any) -> Any:
    """``h_{k-1}`` from ``h_k``, through the layer V between them."""
    return _for_all_signs(V, lambda m: multilinear(h, m), 2 ** ((V.shape[0] + 1) // 2))


def _for_all_signs(V: Any, value: Callable[[Any], Any], columns: int) -> Any:
    """Values of all representations below a layer, from the means of its neurons.

    Parameters
    ----------
    V : array (d_k, d + 1)
    value : callable
        Maps means (rows, d_k) to values (rows, ...).
    columns : int
        Numbers that `value` works on for each row; its result has as many or fewer.
    """
    d = V.shape[1] - 1

    def block(start: Any, count: int) -> Any:
        return value(mean_activation(V, lift(corners(d, V.dtype, start=start, count=count))))

    return map_blocks(block, 2**d, namespace(V), block=BLOCK // max(columns, 32))


def output(
    layers: Matrices, lifted: Float[Any, "rows _"], table: Table = None, *, means: Means = layer_means
) -> Float[Any, "rows *K"]:
    """`expected_output` of a network given as its layers, on lifted inputs; `means` averages a wide last layer."""
    check_outputs(layers, table)
    m = mean_activation(layers[0], lifted)
    if table is None and len(layers) == 2 and not is_narrow(layers[1]):
        return means(layers[1], m)[:, 0]
    return multilinear(regions(layers, table, means=means), m)


def output_error(layers: Matrices) -> float:
    """Proved upper bound on the error of `output` in NumPy in float64, for inputs as they are and one output neuron."""
    *below, last = layers
    if not below:
        return activation_error(last)
    if not is_narrow(last):
        *below, V = below
        error = layer_error(last, activation_error(V))
    else:
        error = activation_error(last)
    for V in reversed(below):
        error += len(V) * activation_error(V) + multilinear_error(len(V))
    return error


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
    # The table of the leading layer is what is asked for, even if it is the last hidden layer, too.
    check_width(bam.sizes, all_layers=table is not None or len(bam.weights) == 2)
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
    check_width(bam.sizes, all_layers=table is not None)
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
    >>> import numpy as np
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
    """ABNet: ``F_A(x)`` itself, for a last hidden layer of any width above layers of at most `MAX_WIDTH` neurons."""

    certified: ClassVar[bool] = True

    def in_sequence(self, sizes: tuple[int, ...]) -> bool:
        """Whether all layers are narrow."""
        return max(sizes[1:]) <= WIDEST_IN_SEQUENCE

    def by_library(self, sizes: tuple[int, ...]) -> bool:
        """Whether there is no large table."""
        widest = max(sizes[1:-1], default=0)
        return widest <= WIDEST_BY_LIBRARY or (len(sizes) == 3 and widest > WIDEST_TABLE)

    def output_error(self, layers: Matrices) -> float:
        """`output_error`."""
        return output_error(layers)

    def output(self, layers: Matrices, lifted: Lifted, key: Key = None, table: Table = None) -> Answers:
        """`expected_output`."""
        return output(layers, lifted, table)

    def surrogate(self, layers: Matrices, lifted: Lifted, key: Key = None, table: Table = None) -> Answers:
        """`output`, with a wide last hidden layer averaged by its normal approximation."""
        return output(layers, lifted, table, means=surrogate_means)

    def losses(
        self, layers: Matrices, lifted: Lifted, targets: Answers, key: Key = None, table: Table = None
    ) -> Losses:
        """The linear loss of the expected output."""
        return linear_loss(output(layers, lifted, table), targets)

    def kl(self, layers: Matrices, prior: Matrices, log_sigma: Sequence[Any]) -> Float[Any, ""]:
        """Every layer once."""
        return gaussian_kl(layers, prior, log_sigma)
