"""Scaling and imputation of numbers."""

from math import isfinite
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["CLIP", "Scaling", "check_scaling", "fit_scaling", "filled_and_scaled"]

CLIP = 1e6
"""Scaled values are clipped here, far beyond the training values, so that every feature is finite in float32."""


def filled_and_scaled(x: NDArray[np.float64], fill: float, mean: float, scale: float) -> NDArray[np.float64]:
    """``(x - mean) / scale`` with `fill` where x is NaN, clipped to ±`CLIP`.

    Examples
    --------
    >>> filled_and_scaled(np.array([3.0, np.nan, 1e9]), fill=2.0, mean=1.0, scale=2.0).tolist()
    [1.0, 0.5, 1000000.0]
    """
    filled = np.where(np.isnan(x), fill, x)
    return np.clip((filled - mean) / scale, -CLIP, CLIP)


def check_scaling(fill: float, mean: float, scale: float | None) -> None:
    """Raise a ValueError for numbers of a stored column that no fit produces."""
    valid = isfinite(fill) and isfinite(mean)
    if scale is not None:
        valid = valid and isfinite(scale) and scale > 0
    if not valid:
        raise ValueError("fill and mean must be finite numbers, and scale a positive one or null")


class Scaling(NamedTuple):
    """What scaling and imputation need to know about numbers.

    Attributes
    ----------
    fill : float
        The median, which replaces missing values.
    mean : float
    scale : float or None
        The standard deviation; None if all numbers are equal.
    indicator : bool
        Whether any number is missing.
    """

    fill: float
    mean: float
    scale: float | None
    indicator: bool

    @property
    def constant(self) -> bool:
        """Whether all numbers are equal, and none is missing."""
        return self.scale is None and not self.indicator


def fit_scaling(x: NDArray[np.float64], far: NDArray[np.bool_]) -> Scaling:
    """Median, mean and deviation of numbers, NaN where missing; mean and deviation without the far ones.

    Examples
    --------
    >>> fit_scaling(np.array([1.0, 3.0, np.nan]), np.zeros(3, bool))
    Scaling(fill=2.0, mean=2.0, scale=0.816496580927726, indicator=True)
    """
    missing = np.isnan(x)
    fill = float(np.median(x[~missing]))
    filled = np.where(missing, fill, x)
    if far.any():
        filled = filled[~far]
    scale = None
    if filled.max() > filled.min():
        scale = float(filled.std()) or None  # the deviation of numbers that hardly differ may round to 0
    return Scaling(fill, float(filled.mean()), scale, bool(missing.any()))
