"""Scikit-learn's two plain scalers as plain values: the same numbers, bit for bit, by NumPy alone."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet import checks

__all__ = ["MinMaxMap", "StandardMap"]


def _floats(X: Any, d: int) -> NDArray[Any]:
    """A writable copy of X in float32 if it is that, else float64; d columns."""
    array = np.asarray(X)
    array = array.astype(array.dtype if array.dtype in (np.float32, np.float64) else np.float64, copy=True)
    if array.ndim != 2 or array.shape[1] != d:
        raise ValueError(f"expected {d} features, got an array of shape {array.shape}.")
    return array


class _ColumnByColumn:
    """A map that makes one feature of each column."""

    scale: tuple[float, ...]

    @property
    def n_features_in(self) -> int:
        """Number of columns taken."""
        return len(self.scale)

    @property
    def n_features_out(self) -> int:
        """Number of features made of a row."""
        return len(self.scale)


@dataclass(frozen=True)
class StandardMap(_ColumnByColumn):
    """``(x - mean) / scale`` as `sklearn.preprocessing.StandardScaler` computes it.

    Examples
    --------
    >>> StandardMap((1.0, 0.0), (2.0, 1.0)).transform([[3.0, 5.0]])
    array([[1., 5.]])
    """

    mean: tuple[float, ...]
    scale: tuple[float, ...]

    def transform(self, X: Any) -> NDArray[Any]:
        """Scaled features, in the floating-point type of X."""
        out = _floats(X, len(self.mean))
        out -= np.array(self.mean, out.dtype)
        out /= np.array(self.scale, out.dtype)
        return out

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON; floats come back exactly."""
        return {"kind": "standard", "mean": list(self.mean), "scale": list(self.scale)}

    @classmethod
    def from_dict(cls, record: Any) -> "StandardMap":
        """The map stored in a record, after checking it."""
        numbers = checks.list_of(checks.finite)
        fields = checks.take("stored preparation: standard", record, kind=checks.text, mean=numbers, scale=numbers)
        if len(fields["mean"]) != len(fields["scale"]) or not fields["scale"] or min(fields["scale"]) <= 0:
            raise ValueError("stored preparation: standard needs as many means as scales, and scales above 0.")
        return cls(fields["mean"], fields["scale"])

    @classmethod
    def from_scaler(cls, scaler: Any) -> "StandardMap":
        """From a fitted `StandardScaler`; a part switched off subtracts 0 or divides by 1, which changes no bit."""
        d = int(scaler.n_features_in_)
        mean = scaler.mean_.tolist() if scaler.with_mean else [0.0] * d
        return cls(tuple(mean), tuple(scaler.scale_.tolist() if scaler.with_std else [1.0] * d))


@dataclass(frozen=True)
class MinMaxMap(_ColumnByColumn):
    """``x · scale + shift``, cut to `limits` if there are any, as `sklearn.preprocessing.MinMaxScaler` computes it.

    Examples
    --------
    >>> MinMaxMap((0.5,), (1.0,), (0.0, 1.0)).transform([[-1.0], [7.0]])
    array([[0.5],
           [1. ]])
    """

    scale: tuple[float, ...]
    shift: tuple[float, ...]
    limits: tuple[float, float] | None

    def transform(self, X: Any) -> NDArray[Any]:
        """Scaled features, in the floating-point type of X."""
        out = _floats(X, len(self.scale))
        out *= np.array(self.scale)  # in float64 whatever the type of X, then rounded: the scaler does so
        out += np.array(self.shift)
        return out if self.limits is None else np.clip(out, *np.array(self.limits, out.dtype))

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON; floats come back exactly."""
        limits = list(self.limits) if self.limits is not None else []
        return {"kind": "minmax", "scale": list(self.scale), "shift": list(self.shift), "limits": limits}

    @classmethod
    def from_dict(cls, record: Any) -> "MinMaxMap":
        """The map stored in a record, after checking it."""
        where, numbers = "stored preparation: minmax", checks.list_of(checks.finite)
        fields = checks.take(where, record, kind=checks.text, scale=numbers, shift=numbers, limits=numbers)
        scale, shift, limits = fields["scale"], fields["shift"], fields["limits"]
        if len(scale) != len(shift) or not scale:
            raise ValueError(f"{where} needs as many scales as shifts, and at least one.")
        if limits and (len(limits) != 2 or limits[0] >= limits[1]):
            raise ValueError(f"{where}.limits must be a lower and an upper one; got {limits}.")
        return cls(scale, shift, (limits[0], limits[1]) if limits else None)

    @classmethod
    def from_scaler(cls, scaler: Any) -> "MinMaxMap":
        """From a fitted `MinMaxScaler`."""
        low, high = scaler.feature_range
        limits = (float(low), float(high)) if scaler.clip else None
        return cls(tuple(scaler.scale_.tolist()), tuple(scaler.min_.tolist()), limits)
