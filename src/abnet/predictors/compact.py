"""Compact networks: the leading hidden layer and one table for everything above it.

A label needs the sign of ``F(x)`` alone. Single precision reads the inputs as they are and takes half the time; with a
bound on its error, the few rows whose sign it leaves open are told apart and go to double precision.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import erf

from abnet.arrays import check_array, check_names, check_table
from abnet.bam import BAM
from abnet.cube import multilinear
from abnet.features import over_norms
from abnet.labels import winners
from abnet.predictors.predictor import (
    ModelInfo,
    Predictor,
    as_matrix,
    check_leading,
    leading_means,
    leading_weights,
    weighted_sums,
)

__all__ = ["CompactABNet", "CompactMAP"]


MOST_SLACK = 0.05
"""Error of single precision up to which it is asked for votes: beyond, too many rows would be computed twice."""


@dataclass(frozen=True, eq=False)
class CompactABNet(Predictor):
    """Compact ABNet: ``F_A(x) = Σ_s H[s] P_1(x)[s]``, at the same cost for every depth.

    Parameters
    ----------
    W : array (d_1, d_0)
    b : array (d_1,)
        The leading hidden layer.
    H : array (2**d_1,)
        Expected output of each of its representations (`abnet.aggregation.region_values`).

    Examples
    --------
    >>> net = BAM((np.eye(2), np.ones((1, 2))), (np.zeros(2), np.zeros(1)))
    >>> CompactABNet.from_network(net).predict([[3.0, 3.0], [-1.0, -2.0]])
    array([ 1, -1])
    """

    W: NDArray[np.float64]
    b: NDArray[np.float64]
    H: NDArray[np.float64]

    @staticmethod
    def from_arrays(arrays: Mapping[str, NDArray[Any]], info: ModelInfo) -> "CompactABNet":
        """The predictor whose `arrays` these are; ValueError if they are not fit to be."""
        check_names(arrays, ("W", "b", "H"))
        width = check_leading(arrays)
        check_table(arrays, "H", (2**width,))
        return CompactABNet(arrays["W"], arrays["b"], arrays["H"], info=info)

    @staticmethod
    def from_network(network: BAM, info: ModelInfo | None = None) -> "CompactABNet":
        """Collapse all layers after the first into one table, in float64."""
        from abnet.aggregation import region_values

        exact = network.astype(np.float64)
        table = np.ascontiguousarray(region_values(exact))
        return CompactABNet(*leading_weights(exact), table, info=info or ModelInfo())

    @property
    def n_inputs(self) -> int:
        """Number of inputs."""
        return int(self.W.shape[1])

    def score_rows(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """``Σ_s H[s] P_1(x)[s]``."""
        return np.asarray(multilinear(self.H, leading_means(self.W, self.b, X)))

    def votes(self, X: Any, *, threads: int = 1) -> NDArray[np.intp]:
        """The codes by the signs of `score_prepared`, from single precision where that is sure of them."""
        matrix, slack = as_matrix(X, self.n_inputs), single_precision_error(self.W, self.b)
        if hasattr(matrix, "tocsr") or slack > MOST_SLACK:
            return super().votes(matrix, threads=threads)
        scores = self.single_precision_scores(matrix)
        if not np.isfinite(scores).all():
            return super().votes(matrix, threads=threads)
        votes, unsure = winners(scores), np.abs(scores) <= slack
        votes[unsure] = super().votes(matrix[unsure])
        return votes

    def single_precision_scores(self, X: NDArray[Any]) -> NDArray[np.float64]:
        """`score_rows` with all arrays in float32, within `single_precision_error`; NaN where float32 overflows."""
        W, b, H = (array.astype(np.float32) for array in (self.W, self.b, self.H))
        arguments = _single_precision_arguments(W, b, X)
        scores, rows = np.empty(len(X)), max(BLOCK_TABLE // 2 ** ((len(b) + 1) // 2), 16)
        for start in range(0, len(X), rows):
            scores[start : start + rows] = multilinear(H, erf(arguments[start : start + rows]))
        return scores

    def arrays(self) -> dict[str, NDArray[Any]]:
        """``W``, ``b``, ``H``."""
        return {"W": self.W, "b": self.b, "H": self.H}


@dataclass(frozen=True, eq=False)
class CompactMAP(Predictor):
    """The compact MAP network: the leading hidden layer and one bit per representation.

    Parameters
    ----------
    W : array (d_1, d_0)
    b : array (d_1,)
    bits : uint8 array (⌈2**d_1 / 8⌉,)
        The network's output for each representation, packed.
    """

    W: NDArray[np.float64]
    b: NDArray[np.float64]
    bits: NDArray[np.uint8]

    @staticmethod
    def from_arrays(arrays: Mapping[str, NDArray[Any]], info: ModelInfo) -> "CompactMAP":
        """The predictor whose `arrays` these are; ValueError if they are not fit to be."""
        check_names(arrays, ("W", "b", "bits"))
        width = check_leading(arrays)
        check_array(arrays, "bits", ((2**width + 7) // 8,), np.uint8)
        return CompactMAP(arrays["W"], arrays["b"], arrays["bits"], info=info)

    @staticmethod
    def from_network(network: BAM, info: ModelInfo | None = None) -> "CompactMAP":
        """Tabulate all layers after the first."""
        from abnet.aggregation.exact import check_width
        from abnet.cube import corners

        check_width(network.sizes)
        exact = network.astype(np.float64)
        above = BAM(exact.weights[1:], exact.biases[1:]).predict(corners(network.sizes[1], np.float64))
        return CompactMAP(*leading_weights(exact), np.packbits(above > 0), info=info or ModelInfo())

    @property
    def n_inputs(self) -> int:
        """Number of inputs."""
        return int(self.W.shape[1])

    def score_rows(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """``F_B(x)`` in {-1, +1}."""
        powers = 2 ** np.arange(len(self.b) - 1, -1, -1)
        table = np.unpackbits(self.bits, count=2 ** len(self.b))
        z = weighted_sums(self.W, self.b, X)
        signs = table[(z >= 0) @ powers] * 2.0 - 1.0
        return np.where(np.isfinite(z).all(axis=1), signs, np.nan)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """``W``, ``b``, ``bits``."""
        return {"W": self.W, "b": self.b, "bits": self.bits}


BLOCK_ENTRIES = 2**22
"""Inputs read at a time, at the most: a table of another type is rounded to float32 in pieces."""

BLOCK_TABLE = 2**17
"""Corner probabilities computed at a time, at the most: they should stay in the cache."""

UNIT = 2.0**-24
"""Unit roundoff of float32."""


SMALL_PRODUCT = 2**18
"""Multiplications of a product that is small enough to wake no further thread, and whose rows stay in the cache."""


def _single_precision_arguments(W: NDArray[np.float32], b: NDArray[np.float32], X: Any) -> NDArray[np.float32]:
    """`leading_arguments` in float32, few rows at a time: a row is read once for its product and its norm."""
    sums, squares = np.empty((len(X), len(b)), np.float32), np.empty(len(X), np.float32)
    step = min(max(SMALL_PRODUCT // W.size, 16), 4096)
    with np.errstate(over="ignore", invalid="ignore"):
        for start in range(0, len(X), step):
            block = np.asarray(X[start : start + step], np.float32)
            np.matmul(block, W.T, out=sums[start : start + step])
            np.vecdot(block, block, out=squares[start : start + step])
        return over_norms(sums + b, squares)


def single_precision_rows(n_inputs: int, width: int) -> int:
    """Rows to score at a time.

    Examples
    --------
    >>> single_precision_rows(784, 4), single_precision_rows(3, 20)
    (5349, 128)
    """
    return max(min(BLOCK_ENTRIES // n_inputs, BLOCK_TABLE // 2 ** ((width + 1) // 2)), 16)


def single_precision_error(W: NDArray[np.float64], b: NDArray[np.float64], *, terms: int | None = None) -> float:
    """A bound on the error of ``Σ_s H[s] P_1(x)[s]`` computed in float32, over all rows of float32 inputs.

    With ``γ_n = n u/(1 - n u)``, a sum of n products in any order is off by at most ``γ_n Σ|w_j x_j|`` (Higham,
    Accuracy and Stability of Numerical Algorithms, 2nd edition, section 3.1). By Cauchy and Schwarz, and with the
    norm's own rounding, ``t_i = (w_i x + b_i)/sqrt(2(‖x‖² + 1))`` is off by at most about ``1.5 γ ‖(w_i, b_i)‖/√2``;
    here 2 γ, with eight operations to spare. The error function has slope at most 2/√π. F is multilinear with values
    in [-1, 1], so its slope in each mean is at most 1; what its own evaluation rounds is the last term.

    Parameters
    ----------
    W : array (d_1, d_0)
    b : array (d_1,)
    terms : int, optional
        How often a product is added to others, at the most: d_0, but fewer where sums of blocks are added up.
    """
    d, n = W.shape
    off = gamma((terms or n) + 8)
    with np.errstate(over="ignore"):
        means = np.hypot(np.linalg.norm(W, axis=1), b) * (2 * off) * np.sqrt(2 / np.pi) + 4 * UNIT
    return float(means.sum() + 2 * gamma(2 * 2 ** ((d + 1) // 2) + 4 * d))


def gamma(n: int) -> Any:
    """``γ_n = n u/(1 - n u)``, which bounds the relative error of n roundings to float32."""
    return n * UNIT / (1 - n * UNIT) if n * UNIT < 0.1 else np.inf
