"""The error of Stirling's formula, from which binomial weights are computed without the cancellation of logarithms."""

import math
from typing import cast

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

__all__ = ["stirling_error"]


def stirling_error(m: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ``ln m! - ln(sqrt(2πm) (m/e)^m)`` for m >= 1.

    Examples
    --------
    >>> stirling_error(np.array([1.0, 100.0])).round(6)
    array([0.081061, 0.000833])
    """
    square = 1.0 / (m * m)
    series = (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square * (1 / 1680 - square / 1188)))) / m
    small = np.minimum(m, 16.0)
    direct = gammaln(small + 1.0) - (small + 0.5) * np.log(small) + small - 0.5 * math.log(2.0 * math.pi)
    return cast(NDArray[np.float64], np.where(m < 16.0, direct, series))
