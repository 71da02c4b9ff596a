"""Sample weights, scaled so that they average 1."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["scaled", "scaled_weights"]


def scaled_weights(weights: NDArray[Any] | None, first: int) -> NDArray[Any] | None:
    """Sample weights scaled to mean 1 in each of the two parts, so that only their proportions matter.

    The parts are scaled separately, because weights of the bound rows must not influence training on the first part.

    Examples
    --------
    >>> scaled_weights(np.array([1.0, 3.0, 8.0]), 2)
    array([0.5, 1.5, 1. ])
    """
    if weights is None:
        return None
    parts = (weights[:first], weights[first:])
    return np.concatenate([scaled(part) for part in parts])


def scaled(weights: NDArray[Any]) -> NDArray[np.float64]:
    """Scale weights to mean 1 over the rows with a nonzero weight.

    Examples
    --------
    >>> scaled(np.array([1.0, 0.0, 3.0]))
    array([0.5, 0. , 1.5])
    """
    shares = weights / max(weights.max(initial=0.0), np.finfo(np.float64).tiny)
    return np.asarray(shares * (np.count_nonzero(shares) / max(shares.sum(), np.finfo(np.float64).tiny)))
