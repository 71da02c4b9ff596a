"""Labels of a compact network from float32 arithmetic, wherever its rounding cannot change them.

A label needs the sign of ``F(x)`` alone. Single precision reads the inputs as they are and takes half the time; with a
bound on its error, the few rows whose sign it leaves open are told apart and go to double precision.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.cube import multilinear

__all__ = ["block_rows", "error_bound", "scores"]

BLOCK_ENTRIES = 2**22
"""Inputs read at a time, at the most: a table of another type is rounded to float32 in pieces."""

BLOCK_TABLE = 2**17
"""Corner probabilities computed at a time, at the most: they should stay in the cache."""

UNIT = 2.0**-24
"""Unit roundoff of float32."""


def scores(W: Any, b: Any, H: Any, X: NDArray[np.float32]) -> NDArray[np.float32]:
    """``Σ_s H[s] P_1(x)[s]`` with all arrays in float32; not finite where an input or its square is not."""
    from scipy.special import erf

    with np.errstate(over="ignore", invalid="ignore"):
        norm = np.sqrt(np.vecdot(X, X) + np.float32(1))
        m = erf((X @ W.T + b) / norm[:, None] * np.float32(0.5**0.5))
        F = multilinear(H, m)
    return np.where(np.isfinite(norm), F, np.float32(np.nan))


def block_rows(n_inputs: int, width: int) -> int:
    """Rows to score at a time.

    Examples
    --------
    >>> block_rows(784, 4), block_rows(3, 20)
    (5349, 128)
    """
    return max(min(BLOCK_ENTRIES // n_inputs, BLOCK_TABLE // 2 ** ((width + 1) // 2)), 16)


def error_bound(W: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    """A bound on ``|scores - F|`` over all rows of float32 inputs.

    With ``γ_n = n u/(1 - n u)``, a sum of n products in any order is off by at most ``γ_n Σ|w_j x_j|`` (Higham,
    Accuracy and Stability of Numerical Algorithms, 2nd edition, section 3.1). By Cauchy and Schwarz, and with the
    norm's own rounding, ``t_i = (w_i x + b_i)/sqrt(2(‖x‖² + 1))`` is off by at most about ``1.5 γ ‖(w_i, b_i)‖/√2``;
    here 2 γ, with eight operations to spare. The error function has slope at most 2/√π. F is multilinear with values
    in [-1, 1], so its slope in each mean is at most 1; what its own evaluation rounds is the last term.

    Parameters
    ----------
    W : array (d_1, d_0)
    b : array (d_1,)
    """
    d, n = W.shape
    gamma = _gamma(n + 8)
    with np.errstate(over="ignore"):
        means = np.hypot(np.linalg.norm(W, axis=1), b) * (2 * gamma) * np.sqrt(2 / np.pi) + 4 * UNIT
    return float(means.sum() + 2 * _gamma(2 * 2 ** ((d + 1) // 2) + 4 * d))


def _gamma(n: int) -> Any:
    return n * UNIT / (1 - n * UNIT) if n * UNIT < 0.1 else np.inf
