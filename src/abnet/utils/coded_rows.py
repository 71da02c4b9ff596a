"""Prepared rows with thermometer codes stored as counts: written out, the signs would take ten times the memory."""

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["CodedRows", "Inputs", "dense", "without_codes"]

BLOCK = 512
"""Number of rows whose signs are written at a time, so that they stay in the cache."""


@dataclass(frozen=True, eq=False)
class CodedRows:
    """Features with their thermometer codes, stored as counts; `toarray` writes the signs out.

    Attributes
    ----------
    features : float32 array (n, d)
    reached : integer array (features with codes, n)
        How many of its feature's thresholds each value reaches.
    counts : tuple of int (d,)
        How many thresholds each feature has; 0 for one without codes.

    Examples
    --------
    >>> rows = CodedRows(np.array([[0.2, 7.0]], np.float32), np.array([[1]]), (2, 0))
    >>> rows.toarray()
    array([[ 0.2,  7. ,  1. , -1. ]], dtype=float32)
    """

    features: NDArray[np.float32]
    reached: NDArray[Any]
    counts: tuple[int, ...]

    @property
    def shape(self) -> tuple[int, int]:
        """Rows, and features with all signs."""
        return len(self.features), len(self.counts) + sum(self.counts)

    @property
    def ndim(self) -> int:
        """Two."""
        return 2

    @property
    def dtype(self) -> np.dtype[np.float32]:
        """float32."""
        return np.dtype(np.float32)

    def __len__(self) -> int:
        return len(self.features)

    def __getitem__(self, rows: Any) -> "CodedRows":
        """Some rows, by a slice, a mask or their places."""
        return CodedRows(self.features[rows], self.reached[:, rows], self.counts)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if dtype is None:
            dtype = np.float32
        return self.toarray().astype(dtype, copy=False)

    def toarray(self) -> NDArray[np.float32]:
        """All numbers: the features, then the signs of feature after feature."""
        out = np.empty(self.shape, np.float32)
        for start in range(0, len(self), BLOCK):
            self[start : start + BLOCK]._write(out[start : start + BLOCK])
        return out

    def _write(self, out: NDArray[np.float32]) -> None:
        first = len(self.counts)
        out[:, :first] = self.features
        coded = [place for place, count in enumerate(self.counts) if count]
        for place, reached in zip(coded, self.reached, strict=True):
            count = self.counts[place]
            out[:, first : first + count] = _signs_by_count(count)[reached]
            # NaN is not below any threshold, so it was counted as reaching all of them; it must not look like a number.
            out[np.isnan(self.features[:, place]), first] = np.nan
            first += count


Inputs = NDArray[np.float32] | NDArray[np.float64] | CodedRows
"""Prepared rows, as networks take them."""


def dense(rows: Any) -> NDArray[Any]:
    """Rows as an array, also those of a sparse matrix and coded rows."""
    if hasattr(rows, "toarray"):
        rows = rows.toarray()
    return np.asarray(rows)


@cache
def _signs_by_count(count: int) -> NDArray[np.float32]:
    """Row r: r signs +1, then count - r signs -1."""
    reached = np.arange(count + 1)[:, None]
    return np.where(np.arange(count) < reached, 1, -1).astype(np.float32)


def without_codes(rows: Inputs) -> NDArray[Any]:
    """The features of rows, without thermometer codes."""
    if isinstance(rows, CodedRows):
        return rows.features
    return rows
