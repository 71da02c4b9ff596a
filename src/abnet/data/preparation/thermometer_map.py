"""Thermometer codes as a stored map."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet import records

__all__ = ["ThermometerMap"]


@dataclass(frozen=True)
class ThermometerMap:
    """Signs ``sgn(x - t)`` for the thresholds t of every column, as `abnet.data.preparation.thermometer` finds them.

    Examples
    --------
    >>> ThermometerMap(((1.5, 3.5), (0.5,))).transform([[3.0, 1.0]])
    array([[ 1., -1.,  1.]], dtype=float32)
    """

    thresholds: tuple[tuple[float, ...], ...]

    @property
    def n_features_in(self) -> int:
        """Number of columns taken."""
        return len(self.thresholds)

    @property
    def n_features_out(self) -> int:
        """Number of features made of a row."""
        return sum(map(len, self.thresholds))

    def transform(self, X: Any) -> NDArray[np.float32]:
        """Signs (n, number of thresholds), column after column; what is not finite is refused by its place."""
        rows = np.asarray(X, np.float32 if getattr(X, "dtype", None) == np.float32 else np.float64)
        if rows.ndim != 2 or rows.shape[1] != len(self.thresholds):
            raise ValueError(f"expected {len(self.thresholds)} features, got an array of shape {rows.shape}.")
        if not np.isfinite(rows).all():
            row, column = np.argwhere(~np.isfinite(rows))[0]
            raise ValueError(
                f"Input contains NaN or infinity in row {row}, column {column}: fill in or remove it first."
            )
        pairs = zip(rows.T, self.thresholds, strict=True)
        return np.hstack([np.where(column[:, None] >= t, np.float32(1), np.float32(-1)) for column, t in pairs])

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON; floats come back exactly."""
        return {"kind": "thermometer", "thresholds": [list(t) for t in self.thresholds]}

    @classmethod
    def from_dict(cls, record: Any) -> "ThermometerMap":
        """The map stored in a record, after checking it."""
        where = "stored preparation: thermometer"
        thresholds = records.take(where, record, kind=records.text, thresholds=_rising)["thresholds"]
        if not any(thresholds):
            raise ValueError(f"{where} needs a threshold for at least one column.")
        return cls(thresholds)

    @classmethod
    def from_codes(cls, codes: Any) -> "ThermometerMap":
        """From fitted `ThermometerCodes`."""
        return cls(tuple(tuple(t.tolist()) for t in codes.thresholds_))


def _rising(where: str, value: Any) -> tuple[tuple[float, ...], ...]:
    found: tuple[tuple[float, ...], ...] = records.list_of(records.list_of(records.finite))(where, value)
    if any(a >= b for one in found for a, b in pairwise(one)):
        raise records.refusal(where, "be increasing in every column", value)
    return found
