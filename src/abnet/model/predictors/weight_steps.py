"""Weights as multiples of a power of two: they fit into a few bits, and their sums are integers."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["rounded_to", "steps_of"]


def steps_of(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """The largest power of two of which all weights (…, inputs) of a neuron are multiples; 1 if all are 0.

    Examples
    --------
    >>> steps_of(np.array([[0.75, 2.0], [0.0, 0.0]]))
    array([0.25, 1.  ])
    """
    mantissa, exponent = np.frexp(weights)
    whole = (mantissa * 2.0**53).astype(np.int64)
    lowest = np.ldexp((whole & -whole).astype(np.float64), exponent - 53)
    least = np.where(weights == 0, np.inf, lowest).min(axis=-1, initial=np.inf)
    return np.where(np.isfinite(least), least, 1.0)


def rounded_to(bits: int, weights: Any) -> NDArray[np.float64]:
    """Weights (…, inputs) rounded to multiples of a power of two for each neuron, at most ``2^(bits-1) - 1`` of them.

    Examples
    --------
    >>> rounded_to(4, [[0.1, 0.8, -1.0]])
    array([[ 0.  ,  0.75, -1.  ]])
    """
    exact = np.asarray(weights, np.float64)
    most = 2 ** (bits - 1) - 1
    largest = np.abs(exact).max(axis=-1, keepdims=True)
    with np.errstate(divide="ignore"):
        step = np.where(largest > 0, 2.0 ** np.ceil(np.log2(largest / most)), 1.0)
    return np.asarray(np.round(exact / step) * step + 0.0)
