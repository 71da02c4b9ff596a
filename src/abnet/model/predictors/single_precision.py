"""Votes in single precision, with a bound on its error.

A label only needs to know which score is the largest. Single precision uses the inputs without conversion and takes
half the time. With a bound on its error, the few rows that it cannot decide are recomputed in double precision.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.utils.row_norms import over_norms

__all__ = ["MOST_SLACK", "lead", "single_precision_arguments", "single_precision_error", "single_precision_rows"]

MOST_SLACK = 0.05
"""Single precision is used up to this error bound: above it, too many rows would be computed twice."""

BLOCK_ENTRIES = 2**22
"""Maximum number of inputs read at a time: a table of another type is rounded to float32 in pieces."""

BLOCK_TABLE = 2**17
"""Maximum number of corner probabilities computed at a time, so that they stay in the cache."""

UNIT = 2.0**-24
"""Unit roundoff of float32."""


SMALL_PRODUCT = 2**18
"""Multiplications of a product that is small enough to wake no further thread, and whose rows stay in the cache."""


def single_precision_arguments(W: NDArray[np.float32], b: NDArray[np.float32], X: Any) -> NDArray[np.float32]:
    """`leading_arguments` in float32, few rows at a time: a row is read once for its product and its norm."""
    sums = np.empty((len(X), len(b)), np.float32)
    squares = np.empty(len(X), np.float32)
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
        Maximum number of additions that a product takes part in: d_0, or fewer if sums of blocks are added.
    """
    d, n = W.shape
    off = gamma((terms or n) + 8)
    with np.errstate(over="ignore"):
        means = np.hypot(np.linalg.norm(W, axis=1), b) * (2 * off) * np.sqrt(2 / np.pi) + 4 * UNIT
    return float(means.sum() + 2 * gamma(2 * 2 ** ((d + 1) // 2) + 4 * d))


def gamma(n: int) -> Any:
    """``γ_n = n u/(1 - n u)``, which bounds the relative error of n roundings to float32."""
    if n * UNIT >= 0.1:
        # The bound would say nothing long before its denominator is 0.
        return np.inf
    return n * UNIT / (1 - n * UNIT)


def lead(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Margin of the winner of each row: ``|F|``, or the largest share minus the second largest."""
    if scores.ndim == 1:
        return np.abs(scores)
    top = np.partition(scores, -2, axis=1)
    return np.asarray(top[:, -1] - top[:, -2])
