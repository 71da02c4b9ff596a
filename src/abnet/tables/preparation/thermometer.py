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

__all__ = ["BLOCK", "ThermometerMap", "check_thresholds", "cuts", "thresholds_of"]


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
        """Signs (n, number of thresholds), column after column; what is not finite is refused by its place."""
        rows = np.asarray(X, np.float64)
        if rows.ndim != 2 or rows.shape[1] != len(self.thresholds):
            raise ValueError(f"expected {len(self.thresholds)} features, got an array of shape {rows.shape}.")
        if not np.isfinite(rows).all():
            row, column = np.argwhere(~np.isfinite(rows))[0]
            raise ValueError(
                f"Input contains NaN or infinity in row {row}, column {column}: fill in or remove it first."
            )
        pairs = zip(rows.T, self.thresholds, strict=True)
        return np.hstack([np.where(column[:, None] >= t, np.float32(1), np.float32(-1)) for column, t in pairs])

    @classmethod
    def from_codes(cls, codes: Any) -> "ThermometerMap":
        """From fitted `ThermometerCodes`."""
        return cls(tuple(tuple(t.tolist()) for t in codes.thresholds_))


def check_thresholds(found: tuple[tuple[float, ...], ...]) -> None:
    """Refuse thresholds that are not finite, or not increasing in every column."""
    if not all(isfinite(t) for one in found for t in one) or any(a >= b for one in found for a, b in pairwise(one)):
        raise ValueError("thresholds must be finite, and increasing in every column")


MOST_THRESHOLDS = 32
"""Maximum number of thresholds per feature."""


def thresholds_of(X: NDArray[Any], most: int = MOST_THRESHOLDS) -> tuple[tuple[float, ...], ...]:
    """Thresholds between the distinct values of every feature, by rank; none for one with fewer than three values.

    The sign of a 0-1 feature would only repeat it. Ranks of distinct values, not of rows: where nine rows in ten hold
    the same number, all quantiles of rows coincide.

    Examples
    --------
    >>> [np.round(t, 3).tolist() for t in thresholds_of(np.array([[0.0, 1.0], [1.0, 2.0], [0.0, 5.0]]))]
    [[], [1.455, 3.455]]
    """
    rows = np.asarray(X)
    found: list[NDArray[np.float64]] = []
    for first in range(0, rows.shape[1], GROUP):
        columns = in_columns(rows[:, first : first + GROUP])
        found += parallel_map(lambda column: cuts(column, most), columns, threads_for(len(rows)))
    return tuple(tuple(t.tolist()) if len(t) > 1 else () for t in found)


GROUP = 32
"""Columns that are put in one piece each at a time: all of them would take as much memory again as the rows."""


def in_columns(rows: NDArray[Any]) -> NDArray[Any]:
    """The columns of rows, each in one piece; column by column, all rows would come from memory once for each.

    Examples
    --------
    >>> in_columns(np.array([[1, 2], [3, 4]]))
    array([[1, 3],
           [2, 4]])
    """
    out = np.empty(rows.shape[::-1], rows.dtype)

    def turn(start: int) -> None:
        out[:, start : start + BLOCK] = rows[start : start + BLOCK].T

    parallel_map(turn, range(0, len(rows), BLOCK), threads_for(len(rows)))
    return out


def cuts(column: NDArray[Any], most: int) -> NDArray[np.float64]:
    """Thresholds between neighbouring distinct values, at most so many, evenly spaced by rank.

    A threshold t lies near the middle, but where no number with few more decimals than those of the column lies, so
    that rounding takes none across it; and where float32 rounds up from, so that ``x >= t`` says the same of every x
    and of x in float32. Values that are one in float32 are one here too, unless all are.

    Parameters
    ----------
    column : array (n,)
    most : int

    Examples
    --------
    >>> cuts(np.array([0.1, 0.2, 0.3, 0.5]), 32).round(6)
    array([0.145455, 0.245455, 0.354545])
    """
    single = _distinct(column.astype(np.float32)) if _fits_float32(column) else column[:0]
    values = (single if len(single) > 1 else _distinct(column)).astype(np.float64)
    below, above = values[:-1], values[1:]
    steps = _steps(values)
    # In grid steps from below: 5/11 of a step after a grid point, and 5/11 is as far as can be from all decimals.
    ahead = steps / 2 - np.where(steps % 2, 1 / 22, 5 / 11)
    share = ahead / steps
    between = below * (1 - share) + above * share  # a difference of large values may overflow
    if len(between) > most:
        ranks = np.round(np.linspace(0, len(between) - 1, most)) if most > 1 else np.array([len(between) // 2])
        below, above, between = (array[ranks.astype(np.intp)] for array in (below, above, between))
    if len(single) > 1:
        return _round_up_from(below, between)
    return np.where(between > below, between, above)  # between neighbouring floats there is nothing


def _fits_float32(column: NDArray[Any]) -> bool:
    return bool(np.abs(column).max(initial=0.0) <= np.finfo(np.float32).max)


_FINEST = 2.0**-16
"""Step of a grid, as a share of the largest value, below which float32 does not show it."""
_PARTS = 10
_OFF = 0.1  # of a step, for numbers on a grid


def _steps(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """How many steps of the grid on which all values lie are between neighbours; 1 everywhere if there is none.

    Examples
    --------
    >>> _steps(np.array([0.1, 0.3, 0.6, 0.8])), _steps(np.sqrt(np.arange(9)))
    (array([2., 3., 2.]), array([1., 1., 1., 1., 1., 1., 1., 1.]))
    """
    gaps = values[1:] / 2 - values[:-1] / 2  # halves: a difference of large values may overflow
    least = gaps.min(initial=np.inf)
    near = gaps < 10 * least
    for parts in range(1, _PARTS + 1):
        step = least / parts
        if not len(gaps) or step < _FINEST * np.abs(values).max():
            break
        for chosen in (near, slice(None)):  # near ones tell the step well enough to count the others
            step = gaps[chosen].sum() / np.rint(gaps[chosen] / step).sum()
        counts = np.rint(gaps / step)
        if np.abs(gaps / step - counts).max() <= _OFF and counts.min() >= 1:
            return counts
    return np.ones(len(gaps))


def _round_up_from(below: NDArray[np.float64], between: NDArray[np.float64]) -> NDArray[np.float64]:
    """The least numbers that float32 rounds to what it makes of `between`, or to the next one above `below`."""
    infinity = np.float32(np.inf)
    up = np.maximum(between.astype(np.float32), np.nextafter(below.astype(np.float32), infinity))
    half = (up.astype(np.float64) + np.nextafter(up, -infinity).astype(np.float64)) / 2
    return np.where(half.astype(np.float32) == up, half, np.nextafter(half, np.inf))


BLOCK = 8192
"""Rows whose codes are counted at a time: what they are compared with should stay in the cache."""


def _distinct(column: NDArray[Any]) -> NDArray[Any]:
    """The distinct numbers of a column, increasing; by Polars where it is at work, which sorts them alone."""
    polars = sys.modules.get("polars")
    if polars is None or len(column) < MANY:
        return np.unique(column)
    return np.asarray(polars.Series(column).unique().sort().to_numpy())
