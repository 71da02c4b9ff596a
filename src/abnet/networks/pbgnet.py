"""PBGNet (Letarte, Germain, Guedj, Laviolette 2019): neurons of a layer read independent draws of the layer below.

So every neuron reads independent signs, and its mean output can be computed at any width.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar

from numpy.typing import ArrayLike

from abnet.networks.aggregation import (
    WIDEST_BY_LIBRARY,
    WIDEST_IN_SEQUENCE,
    Aggregation,
    check_outputs,
    linear_loss,
    refuse_table,
)
from abnet.networks.bam import BAM
from abnet.networks.exact import Means
from abnet.networks.gaussian_kl import gaussian_kl
from abnet.networks.independent_signs import (
    WIDEST_TABLE,
    activation_error,
    layer_error,
    layer_means,
    surrogate_means,
)
from abnet.networks.lifting import lifted_inputs, mean_activation
from abnet.networks.shapes import Answers, Float, Key, Lifted, Losses, Matrices, Table

__all__ = ["PBGNet", "expected_output", "kl", "layer_counts", "output", "output_error", "path_kl"]


def output(layers: Matrices, lifted: Float[Any, "rows _"], *, means: Means = layer_means) -> Float[Any, "rows"]:
    """PBGNet's output of a network given as its layers, on lifted inputs; `means` averages each layer."""
    check_outputs(layers, None)
    F = mean_activation(layers[0], lifted)
    for V in layers[1:]:
        F = means(V, F)
    return F[:, 0]


def output_error(layers: Matrices) -> float:
    """Proved upper bound on the error of `output` in NumPy in float64, for inputs as they are."""
    error = activation_error(layers[0])
    for V in layers[1:]:
        error = layer_error(V, error)
    return error


def expected_output(bam: BAM, X: ArrayLike) -> Float[Any, "n"]:
    """PBGNet's output: ``F^1 = m_1(x)``, ``F^k = Σ_s̄ m_k(s̄) Π_i (1/2 + s̄_i/2 · F^{k-1}_i)``.

    Equal to ABNet's output with one hidden layer, different with more: the neurons of a layer do not share one draw.

    Parameters
    ----------
    bam : BAM
    X : array (n, d_0)

    Returns
    -------
    array (n,)
        In [-1, 1].
    """
    return output(bam.layers, lifted_inputs(bam, X))


def layer_counts(sizes: tuple[int, ...]) -> tuple[int, ...]:
    """Number of paths from each layer to the output, ``Π_{j>k} d_j``: the layer's factor in PBGNet's KL.

    Examples
    --------
    >>> layer_counts((784, 4, 3, 1))
    (3, 1, 1)
    """
    return tuple(prod(sizes[k + 1 :]) for k in range(1, len(sizes)))


def kl(bam: BAM, prior: BAM) -> Float[Any, ""]:
    """``1/2 Σ_k (Π_{j>k} d_j) (‖W_k - W_k^p‖² + ‖b_k - b_k^p‖²)``."""
    return path_kl(bam.layers, prior.layers)


def path_kl(layers: Matrices, prior: Matrices, log_sigma: Sequence[Any] | None = None) -> Float[Any, ""]:
    """`gaussian_kl` with each layer counted once per path to the output: a draw is a tree with copies of the layers."""
    sizes = (layers[0].shape[1] - 1, *(V.shape[0] for V in layers))
    return gaussian_kl(layers, prior, log_sigma, layer_counts(sizes))


@dataclass(frozen=True)
class PBGNet(Aggregation):
    """PBGNet, exact at any width and depth."""

    certified: ClassVar[bool] = True

    def in_sequence(self, sizes: tuple[int, ...]) -> bool:
        """Whether all layers are narrow."""
        return max(sizes[1:]) <= WIDEST_IN_SEQUENCE

    def by_library(self, sizes: tuple[int, ...]) -> bool:
        """Whether there is no large table."""
        hidden = sizes[1:-1]
        return max(hidden, default=0) <= WIDEST_BY_LIBRARY or min(hidden) > WIDEST_TABLE

    def output_error(self, layers: Matrices) -> float:
        """`output_error`."""
        return output_error(layers)

    def output(self, layers: Matrices, lifted: Lifted, key: Key = None, table: Table = None) -> Answers:
        """`expected_output`."""
        refuse_table(table, "PBGNet")
        return output(layers, lifted)

    def surrogate(self, layers: Matrices, lifted: Lifted, key: Key = None, table: Table = None) -> Answers:
        """`output`, with wide layers averaged by their normal approximation."""
        refuse_table(table, "PBGNet")
        return output(layers, lifted, means=surrogate_means)

    def losses(
        self, layers: Matrices, lifted: Lifted, targets: Answers, key: Key = None, table: Table = None
    ) -> Losses:
        """The linear loss of the expected output."""
        return linear_loss(self.output(layers, lifted, key, table), targets)

    def kl(self, layers: Matrices, prior: Matrices, log_sigma: Sequence[Any]) -> Float[Any, ""]:
        """Every layer once per path."""
        return path_kl(layers, prior, log_sigma)
