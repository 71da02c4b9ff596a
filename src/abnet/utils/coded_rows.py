"""Prepared rows with thermometer codes stored as counts, and a layer that looks up their contributions.

A code of n signs has n + 1 values, so its contribution to a neuron's sum is one of n + 1 numbers. Written out, the
signs would take ten times the memory.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["CodedLayer", "CodedRows", "Inputs", "MANY_CODED", "dense", "over_norms"]

BLOCK = 512
"""Number of rows whose signs are written at a time, so that they stay in the cache."""


MANY_CODED = 512
"""From this many rows on, looking up sums is faster; for fewer rows the signs are written out."""


@dataclass(frozen=True, eq=False)
class CodedRows:
    """Features with their thermometer codes, stored as counts; `toarray` writes the signs out.

    Attributes
    ----------
    features : float32 array (n, d)
    reached : integer array (features with codes, n)
        How many of its thresholds each value reaches.
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
        """Some rows: a slice, a mask or their places."""
        return CodedRows(self.features[rows], self.reached[:, rows], self.counts)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return self.toarray().astype(np.float32 if dtype is None else dtype, copy=False)

    def toarray(self) -> NDArray[np.float32]:
        """All numbers: the features, then the signs of feature after feature."""
        out = np.empty(self.shape, np.float32)
        for start in range(0, len(self), BLOCK):
            self[start : start + BLOCK]._write(out[start : start + BLOCK])
        return out

    def _write(self, out: NDArray[np.float32]) -> None:
        at = len(self.counts)
        out[:, :at] = self.features
        columns = (pair for pair in zip(self.features.T, self.counts, strict=True) if pair[1])
        for (column, count), reached in zip(columns, self.reached, strict=True):
            out[:, at : at + count] = _steps(count)[reached]
            # A missing number reaches every threshold in that order; it must not look like one.
            out[np.isnan(column), at] = np.nan
            at += count


Inputs = NDArray[np.float32] | NDArray[np.float64] | CodedRows
"""Prepared rows, as networks take them."""


def dense(rows: Any) -> NDArray[Any]:
    """Rows as an array, also those of a sparse matrix and coded ones."""
    return np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows)


@cache
def _steps(count: int) -> NDArray[np.float32]:
    """Row r: r signs +1, then count - r signs -1."""
    return np.where(np.arange(count) < np.arange(count + 1)[:, None], 1, -1).astype(np.float32)


class CodedLayer:
    """``W x + b`` of coded rows, by looking up what each code adds.

    Parameters
    ----------
    W : array (outputs, inputs)
    b : array (outputs,)
    counts : tuple of int
        As of the rows.
    dtype : float64 or float32
        Of the sums. The tables are computed in float64 and rounded once.

    Examples
    --------
    >>> rows = CodedRows(np.array([[0.2, 7.0]], np.float32), np.array([[1]]), (2, 0))
    >>> CodedLayer(np.array([[1.0, 1.0, 5.0, 3.0]]), np.array([0.5]), (2, 0)).sums(rows).round(3)
    array([[9.7]])
    """

    def __init__(self, W: NDArray[Any], b: NDArray[Any], counts: tuple[int, ...], dtype: Any = np.float64) -> None:
        d = len(counts)
        self._plain, self._b = np.ascontiguousarray(W[:, :d].T, dtype), np.asarray(b, dtype)
        ends = np.cumsum([d, *(count for count in counts if count)])
        coded = np.split(np.asarray(W, np.float64), ends, axis=1)[1:-1]
        self._tables = [_sums_of_signs(part).astype(dtype) for part in coded]
        self._signs, self._dtype = sum(counts), dtype

    def sums(self, rows: CodedRows) -> NDArray[Any]:
        """``W x + b`` of every row, (n, outputs)."""
        total = rows.features.astype(self._dtype, copy=False) @ self._plain + self._b
        looked_up = np.empty_like(total)
        for table, reached in zip(self._tables, rows.reached, strict=True):
            total += np.take(table, reached, axis=0, out=looked_up, mode="clip")
        return total

    def arguments(self, rows: CodedRows) -> NDArray[Any]:
        """``(W x + b)/sqrt(2(‖x‖² + 1))``, as `leading_arguments` of the written-out rows."""
        x = rows.features.astype(self._dtype, copy=False)
        with np.errstate(over="ignore", invalid="ignore"):
            return over_norms(self.sums(rows), np.vecdot(x, x) + x.dtype.type(self._signs))


def over_norms(sums: NDArray[Any], squares: NDArray[Any]) -> NDArray[Any]:
    """Weighted sums (rows, d_1) over ``sqrt(2(‖x‖² + 1))``, given the rows' ``‖x‖²``; NaN where that is not finite."""
    with np.errstate(over="ignore", invalid="ignore"):
        doubled = 2 * (squares + 1)
        # Divided by infinity a finite sum would be zero, and hide that the row is too large.
        doubled = np.where(np.isfinite(doubled), doubled, squares.dtype.type(np.nan))
        return np.asarray(sums / np.sqrt(doubled)[:, None])


def _sums_of_signs(W: NDArray[np.float64]) -> NDArray[np.float64]:
    """Row r: the sum of the first r columns of W (outputs, count) less that of the others, for r = 0 to count.

    Examples
    --------
    >>> _sums_of_signs(np.array([[5.0, 3.0]])).tolist()
    [[-8.0], [2.0], [8.0]]
    """
    nothing = np.zeros((1, len(W)))
    first = np.concatenate([nothing, np.cumsum(W.T, axis=0)])
    others = np.concatenate([nothing, np.cumsum(W.T[::-1], axis=0)])[::-1]
    return np.ascontiguousarray(first - others)
