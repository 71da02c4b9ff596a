"""A layer of neurons that read independent signs: mean outputs, by whichever is cheaper of two exact ways.

The table has the mean output of every neuron for every corner of the cube, and its multilinear extension is the
expectation: 2^d numbers for d signs. The series of `abnet.networks.square_wave` has some dozens of terms of d factors.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.networks.cube import corners, erf, multilinear, namespace
from abnet.networks.lifting import lift, mean_activation
from abnet.networks.shapes import Float
from abnet.networks.square_wave import wave_error, wave_means

__all__ = [
    "WIDEST_TABLE",
    "activation_error",
    "is_narrow",
    "layer_error",
    "layer_means",
    "layer_table",
    "multilinear_error",
    "normal_means",
    "surrogate_means",
]

WIDEST_TABLE = 12
"""Largest number of signs read by way of a table: the series is as fast for 10 in NumPy, and for 13 in training."""

UNIT = 2.0**-53
"""Unit roundoff of float64."""


def is_narrow(V: Float[Any, "units _"]) -> bool:
    """Whether a layer reads so few signs that a table is cheaper than the series."""
    return bool(V.shape[1] - 1 <= WIDEST_TABLE)


def layer_table(V: Float[Any, "units _"]) -> Float[Any, "_ units"]:
    """Mean outputs for every corner s of the cube, ``erf((W s + b)/sqrt(2(d + 1)))``, shape (2**d, units)."""
    return mean_activation(V, lift(corners(V.shape[1] - 1, V.dtype)))


def layer_means(V: Float[Any, "units _"], m: Float[Any, "rows d"]) -> Float[Any, "rows units"]:
    """Mean outputs of a layer above independent signs with means m: ``Σ_s m_k(s) Π_j (1/2 + s_j/2 · m_j)``.

    Parameters
    ----------
    V : array (units, d + 1)
        The layer, its bias as last column.
    m : array (rows, d)
        Means of the signs, in [-1, 1].

    Returns
    -------
    array (rows, units)
        In [-1, 1].

    Examples
    --------
    >>> layer_means(np.array([[1.0, -2.0, 0.5]]), np.array([[0.0, 0.5]])).round(6)
    array([[-0.208069]])
    """
    if is_narrow(V):
        return multilinear(layer_table(V), m)
    # Rounding and the two error terms of the series may leave [-1, 1].
    return namespace(m).clip(wave_means(V, m), -1, 1)


def surrogate_means(V: Float[Any, "units _"], m: Float[Any, "rows d"]) -> Float[Any, "rows units"]:
    """`layer_means` for training: by the table, or by `normal_means`, which is faster than the series."""
    if is_narrow(V):
        return multilinear(layer_table(V), m)
    return normal_means(V, m.T).T


def normal_means(V: Float[Any, "units _"], m: Float[Any, "d rows"]) -> Float[Any, "units rows"]:
    """`layer_means` with ``W s`` approximated as normal, with the rows last: not for certificates.

    ``erf((W m + b)/sqrt(2(d + 1 + v)))`` with the exact variance ``v = Σ_i W_i² (1 - m_i²)``. The approximation is poor
    if one weight dominates.
    """
    W = V[:, :-1]
    b = V[:, -1]
    v = W**2 @ (1 - m**2)
    return erf((W @ m + b[:, None]) * (2 * (V.shape[1] + v)) ** -0.5)


def layer_error(V: NDArray[np.float64], of_means: float) -> float:
    """Proved upper bound on the error of `layer_means` in NumPy in float64, where means err by at most `of_means`.

    Of the table: each entry errs by at most `activation_error`, the extension has slopes of at most 1 in each of the d
    means, and its evaluation rounds ``2^⌈d/2⌉`` sums of products of d factors twice.
    """
    if not is_narrow(V):
        return float(wave_error(V, of_means).max())
    d = V.shape[1] - 1
    return activation_error(V) + d * of_means + multilinear_error(d)


def activation_error(V: NDArray[np.float64]) -> float:
    """Proved upper bound on the error of ``erf(V x̃/√2)`` for any unit vector x̃, in float64.

    With ``γ_n = n u/(1 - n u)``, a sum of n products in any order is off by at most ``γ_n Σ|v_j x_j|`` (Higham,
    Accuracy and Stability of Numerical Algorithms, 2nd edition, section 3.1). By Cauchy and Schwarz, and with the
    rounding of the norm, the argument is off by at most about ``1.5 γ ‖v‖/√2``; here 2 γ, with eight operations to
    spare. The error function has slopes of at most 2/√π, and is itself rounded.
    """
    if V.dtype != np.float64:
        raise ValueError(f"errors are proved for float64, and the layer is of {V.dtype}: use astype(np.float64).")
    norms = np.linalg.norm(V, axis=1)
    return float(norms.max() * 2 * _gamma(V.shape[1] + 8) * np.sqrt(2 / np.pi) + 8 * UNIT)


def multilinear_error(d: int) -> float:
    """Proved upper bound on what `multilinear` rounds, for a table in [-1, 1] of d signs, in float64."""
    return 2 * _gamma(2 * 2 ** ((d + 1) // 2) + 4 * d)


def _gamma(n: int) -> float:
    """``γ_n = n u/(1 - n u)``, which bounds the relative error of n roundings to float64."""
    return n * UNIT / (1 - n * UNIT)
