"""Scikit-learn's two plain scalers as plain values, by NumPy alone: the numbers that they give for float64.

Rows of every type are scaled in float64. Scikit-learn scales float32 in float32, whose rounding may be larger than the
deviation of a column far from zero; the features of a row would then depend on the type of its array.
"""

from math import isfinite
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from abnet.tables.preparation.preparation import ColumnByColumn
from abnet.utils.coded_rows import dense

__all__ = ["MinMaxMap", "StandardMap"]


def _floats(X: Any, d: int) -> NDArray[np.float64]:
    """A writable copy of X in float64; d columns."""
    array = dense(X).astype(np.float64, copy=True)
    if array.ndim != 2 or array.shape[1] != d:
        raise ValueError(f"expected {d} features, got an array of shape {array.shape}.")
    return array


class StandardMap(ColumnByColumn, frozen=True, tag="standard"):
    """``(x - mean) / scale`` as `sklearn.preprocessing.StandardScaler` computes it in float64.

    Examples
    --------
    >>> StandardMap((1.0, 0.0), (2.0, 1.0)).transform([[3.0, 5.0]])
    array([[1., 5.]])
    """

    scaling: ClassVar[str] = "standard scaling"
    mean: tuple[float, ...]
    scale: tuple[float, ...]

    def __post_init__(self) -> None:
        if len(self.mean) != len(self.scale) or not self.scale or not min(self.scale) > 0:
            raise ValueError("a standard scaling needs as many means as scales, and scales above 0")
        if not all(map(isfinite, (*self.mean, *self.scale))):
            raise ValueError("the numbers of a scaling must be finite")

    @property
    def n_features_in(self) -> int:
        """Number of columns taken."""
        return len(self.scale)

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Scaled features."""
        out = _floats(X, len(self.mean))
        out -= np.array(self.mean)
        out /= np.array(self.scale)
        return out

    @classmethod
    def from_scaler(cls, scaler: Any) -> "StandardMap":
        """From a fitted `StandardScaler`; a part switched off subtracts 0 or divides by 1, which changes no bit."""
        n_features = int(scaler.n_features_in_)
        mean = [0.0] * n_features
        if scaler.with_mean:
            mean = scaler.mean_.tolist()
        scale = [1.0] * n_features
        if scaler.with_std:
            scale = scaler.scale_.tolist()
        return cls(tuple(mean), tuple(scale))


class MinMaxMap(ColumnByColumn, frozen=True, tag="minmax"):
    """``x · scale + shift``, cut to `limits` if there are any, as `MinMaxScaler` of scikit-learn computes it in
    float64.

    Examples
    --------
    >>> MinMaxMap((0.5,), (1.0,), (0.0, 1.0)).transform([[-1.0], [7.0]])
    array([[0.5],
           [1. ]])
    """

    scaling: ClassVar[str] = "min-max scaling"
    scale: tuple[float, ...]
    shift: tuple[float, ...]
    limits: tuple[float, float] | None

    def __post_init__(self) -> None:
        if len(self.scale) != len(self.shift) or not self.scale:
            raise ValueError("a scaling to limits needs as many scales as shifts, and at least one")
        if self.limits is not None and not self.limits[0] < self.limits[1]:
            raise ValueError(f"limits must be a lower and an upper one; got {list(self.limits)}")
        if not all(map(isfinite, (*self.scale, *self.shift, *(self.limits or ())))):
            raise ValueError("the numbers of a scaling must be finite")

    @property
    def n_features_in(self) -> int:
        """Number of columns taken."""
        return len(self.scale)

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Scaled features."""
        out = _floats(X, len(self.scale))
        out *= np.array(self.scale)
        out += np.array(self.shift)
        if self.limits is None:
            return out
        return np.clip(out, *self.limits)

    @classmethod
    def from_scaler(cls, scaler: Any) -> "MinMaxMap":
        """From a fitted `MinMaxScaler`."""
        low, high = scaler.feature_range
        limits = None
        if scaler.clip:
            limits = (float(low), float(high))
        return cls(tuple(scaler.scale_.tolist()), tuple(scaler.min_.tolist()), limits)
