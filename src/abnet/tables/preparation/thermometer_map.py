"""Thermometer codes: signs that say whether a value is above each of several thresholds of a column.

A neuron sees a weighted sum, so a threshold on a single column, which is easy for trees, is hard for it.
"""

import sys
from itertools import pairwise
from math import isfinite
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from abnet.tables.preparation.preparation import Preparation
from abnet.utils.threads import MANY, parallel_map, threads_for

__all__ = ["BLOCK", "ThermometerMap", "check_thresholds", "column_thresholds", "thresholds_of"]


class ThermometerMap(Preparation, frozen=True, tag="thermometer"):
    """Signs ``sgn(x - t)`` for the thresholds t of every column, as `ThermometerCodes` finds them.

    Examples
    --------
    >>> ThermometerMap(((1.5, 3.5), (0.5,))).transform([[3.0, 1.0]])
    array([[ 1., -1.,  1.]], dtype=float32)
    """

    scaling: ClassVar[str] = "thermometer codes"
    thresholds: tuple[tuple[float, ...], ...]

    def __post_init__(self) -> None:
        check_thresholds(self.thresholds)
        if not any(self.thresholds):
            raise ValueError("thermometer codes need a threshold for at least one column")

    @property
    def n_features_in(self) -> int:
        """Number of columns taken."""
        return len(self.thresholds)

    @property
    def n_features_out(self) -> int:
        """Number of features made of a row."""
        return sum(map(len, self.thresholds))

    @property
    def owners(self) -> tuple[int, ...]:
        """The place of each sign's column."""
        return tuple(place for place, found in enumerate(self.thresholds) for _ in found)

    def transform(self, X: Any) -> NDArray[np.float32]:
        """Signs (n, number of thresholds), column after column; a number that is not finite is an error."""
        rows = np.asarray(X, np.float64)
        if rows.ndim != 2 or rows.shape[1] != len(self.thresholds):
            raise ValueError(f"expected {len(self.thresholds)} features, got an array of shape {rows.shape}.")
        if not np.isfinite(rows).all():
            row, column = np.argwhere(~np.isfinite(rows))[0]
            raise ValueError(
                f"Input contains NaN or infinity in row {row}, column {column}: fill in or remove it first."
            )
        signs = []
        for column, thresholds in zip(rows.T, self.thresholds, strict=True):
            above = column[:, None] >= np.array(thresholds)
            signs.append(np.where(above, np.float32(1), np.float32(-1)))
        return np.hstack(signs)

    @classmethod
    def from_codes(cls, codes: Any) -> "ThermometerMap":
        """From fitted `ThermometerCodes`."""
        return cls(tuple(tuple(t.tolist()) for t in codes.thresholds_))


def check_thresholds(found: tuple[tuple[float, ...], ...]) -> None:
    """Raise a ValueError for thresholds that are not finite, or not increasing in every column."""
    for thresholds in found:
        increasing = all(low < high for low, high in pairwise(thresholds))
        if not increasing or not all(map(isfinite, thresholds)):
            raise ValueError("thresholds must be finite, and increasing in every column")


MOST_THRESHOLDS = 32
"""Maximum number of thresholds per feature."""


def thresholds_of(X: NDArray[Any], most: int = MOST_THRESHOLDS) -> tuple[tuple[float, ...], ...]:
    """Thresholds between the distinct values of every feature, by rank; none for one with fewer than three values.

    The sign of a 0-1 feature would only repeat it. Ranks are of distinct values, not of rows: if nine rows in ten have
    the same number, all quantiles of rows coincide.

    Examples
    --------
    >>> [np.round(t, 3).tolist() for t in thresholds_of(np.array([[0.0, 1.0], [1.0, 2.0], [0.0, 5.0]]))]
    [[], [1.455, 3.455]]
    """
    rows = np.asarray(X)
    found: list[NDArray[np.float64]] = []
    for start in range(0, rows.shape[1], _COLUMNS):
        columns = contiguous_columns(rows[:, start : start + _COLUMNS])
        found += parallel_map(lambda column: column_thresholds(column, most), columns, threads_for(len(rows)))
    return tuple(_without_single(thresholds) for thresholds in found)


def _without_single(thresholds: NDArray[np.float64]) -> tuple[float, ...]:
    if len(thresholds) < 2:
        return ()
    return tuple(thresholds.tolist())


_COLUMNS = 32
"""Columns that are copied at a time: a copy of all of them would take as much memory as the rows."""


def contiguous_columns(rows: NDArray[Any]) -> NDArray[Any]:
    """The columns of rows, each contiguous in memory, copied in blocks of rows that fit into the cache.

    Examples
    --------
    >>> contiguous_columns(np.array([[1, 2], [3, 4]]))
    array([[1, 3],
           [2, 4]])
    """
    out = np.empty(rows.shape[::-1], rows.dtype)

    def copy_block(start: int) -> None:
        out[:, start : start + BLOCK] = rows[start : start + BLOCK].T

    parallel_map(copy_block, range(0, len(rows), BLOCK), threads_for(len(rows)))
    return out


def column_thresholds(column: NDArray[Any], most: int) -> NDArray[np.float64]:
    """Thresholds between neighbouring distinct values, at most `most`, evenly spaced by rank.

    A threshold t lies near the middle. It avoids numbers with a few more decimals than the column has, so that no
    rounded number crosses it. It is also a point from which float32 rounds up, so that ``x >= t`` is the same for every
    x and for x in float32. Values that are equal in float32 count as one value, unless all of them are equal.

    Parameters
    ----------
    column : array (n,)
    most : int

    Examples
    --------
    >>> column_thresholds(np.array([0.1, 0.2, 0.3, 0.5]), 32).round(6)
    array([0.145455, 0.245455, 0.354545])
    """
    distinct: NDArray[Any] = _distinct_in_float32(column)
    differ_in_float32 = len(distinct) > 1
    if not differ_in_float32:
        distinct = _distinct(column)
    values = distinct.astype(np.float64)
    below = values[:-1]
    above = values[1:]
    steps = _steps(values)
    # 5/11 of a grid step after a grid point: no number with few decimals is near 5/11 = 0.4545...
    ahead = steps / 2 - np.where(steps % 2, 1 / 22, 5 / 11)
    share = ahead / steps
    between = below * (1 - share) + above * share  # a difference of large values may overflow
    if len(between) > most:
        ranks = _even_ranks(len(between), most)
        below = below[ranks]
        above = above[ranks]
        between = between[ranks]
    if differ_in_float32:
        return _round_up_from(below, between)
    return np.where(between > below, between, above)  # nothing lies between neighbouring floats


def _even_ranks(n: int, most: int) -> NDArray[np.intp]:
    """Evenly spaced ranks among n; the middle one if there is only one."""
    if most == 1:
        return np.array([n // 2])
    return np.round(np.linspace(0, n - 1, most)).astype(np.intp)


def _distinct_in_float32(column: NDArray[Any]) -> NDArray[np.float32]:
    """The distinct numbers of a column in float32; none if a number is too large for it."""
    if np.abs(column).max(initial=0.0) > np.finfo(np.float32).max:
        return np.empty(0, np.float32)
    return _distinct(column.astype(np.float32))


_FINEST = 2.0**-16
"""The smallest step of a grid, as a share of the largest value, that float32 can represent."""
_MOST_PARTS = 10
"""Steps of the grid in the smallest gap, at most."""
_TOLERANCE = 0.1
"""Distance of numbers from the grid, in steps, at most."""


def _steps(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """How many grid steps lie between neighbouring values if all values lie on a grid; otherwise 1 everywhere.

    Examples
    --------
    >>> _steps(np.array([0.1, 0.3, 0.6, 0.8])), _steps(np.sqrt(np.arange(9)))
    (array([2., 3., 2.]), array([1., 1., 1., 1., 1., 1., 1., 1.]))
    """
    gaps = values[1:] / 2 - values[:-1] / 2  # halves: a difference of large values may overflow
    if not len(gaps):
        return gaps
    smallest = gaps.min()
    short = gaps[gaps < 10 * smallest]
    for parts in range(1, _MOST_PARTS + 1):
        step = smallest / parts
        if step < _FINEST * np.abs(values).max():
            break
        # Estimate the step from short gaps first: this is accurate enough to count the steps of the others.
        step = short.sum() / np.rint(short / step).sum()
        step = gaps.sum() / np.rint(gaps / step).sum()
        counts = np.rint(gaps / step)
        if np.abs(gaps / step - counts).max() <= _TOLERANCE and counts.min() >= 1:
            return counts
    return np.ones(len(gaps))


def _round_up_from(below: NDArray[np.float64], between: NDArray[np.float64]) -> NDArray[np.float64]:
    """The smallest numbers that float32 rounds to the same as `between`, or to the next float32 above `below`."""
    infinity = np.float32(np.inf)
    up = np.maximum(between.astype(np.float32), np.nextafter(below.astype(np.float32), infinity))
    half = (up.astype(np.float64) + np.nextafter(up, -infinity).astype(np.float64)) / 2
    return np.where(half.astype(np.float32) == up, half, np.nextafter(half, np.inf))


BLOCK = 8192
"""Rows whose codes are counted at a time, so that the thresholds stay in the cache."""


def _distinct(column: NDArray[Any]) -> NDArray[Any]:
    """The distinct numbers of a column, increasing; by Polars if it is imported, which sorts only distinct ones."""
    polars = sys.modules.get("polars")
    if polars is None or len(column) < MANY:
        return np.unique(column)
    return np.asarray(polars.Series(column).unique().sort().to_numpy())
