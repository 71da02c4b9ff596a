"""What the training rows had in every column: how many values, and the range and quartiles of numbers."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from abnet.tables.columns.encoded import Encoded

__all__ = ["NumberRange", "TrainingColumn", "TrainingInputs"]

FAR = 10.0
"""Factor by which positive values may be below the smallest training value before they are far away."""
COLUMNS_AT_ONCE = 32
"""Columns of an array that are copied together."""


class NumberRange(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The smallest, the largest and two further training values of a column of numbers or dates.

    Attributes
    ----------
    low, lower, upper, high : float
        The values of ranks 1, r, n + 1 - r and n, for the `rank` r and n values.
    """

    low: float
    lower: float
    upper: float
    high: float

    def __post_init__(self) -> None:
        if not self.low <= self.lower <= self.upper <= self.high:
            raise ValueError("the range of a column must be four increasing numbers")

    @staticmethod
    def of(values: NDArray[np.floating[Any]]) -> "NumberRange":
        """The range of some numbers, none of them missing.

        Examples
        --------
        >>> NumberRange.of(np.arange(1.0, 9.0))
        NumberRange(low=1.0, lower=2.0, upper=7.0, high=8.0)
        """
        n = len(values)
        rank = rank_of(n)
        ordered = np.partition(values, (rank - 1, n - rank))
        lower = float(ordered[rank - 1])
        upper = float(ordered[n - rank])
        return NumberRange(float(values.min()), lower, upper, float(values.max()))

    @property
    def near(self) -> tuple[float, float]:
        """The range of values that are not far from the training values.

        Values are far if they are beyond the range by more than its width, or if they have the same sign as all
        training values and are ten times as close to 0 as the closest.

        Examples
        --------
        >>> NumberRange(20.0, 50.0, 80.0, 100.0).near, NumberRange(-5.0, 0.0, 0.0, 5.0).near
        ((2.0, 180.0), (-15.0, 15.0))
        """
        width = self.high - self.low
        low = self.low - width
        high = self.high + width
        if self.low > 0:
            low = max(low, self.low / FAR)
        if self.high < 0:
            high = min(high, self.high / FAR)
        return low, high


def rank_of(n: int) -> int:
    """Rank of the lower quartile among n values.

    Examples
    --------
    >>> [rank_of(n) for n in (1, 4, 5, 8)]
    [1, 1, 2, 2]
    """
    return -(-n // 4)


class TrainingColumn(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A column of the training rows.

    Attributes
    ----------
    name : str
    n_missing : int
        Rows without a value, or with a cell that cannot be read.
    numbers : NumberRange or None
        None for a column of another kind, or without a value.
    """

    name: str
    n_missing: int = 0
    numbers: NumberRange | None = None


class TrainingInputs(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The columns of the training rows, in the order in which the model takes them."""

    n_rows: int
    columns: tuple[TrainingColumn, ...]

    def __post_init__(self) -> None:
        if any(not 0 <= column.n_missing <= self.n_rows for column in self.columns):
            raise ValueError("a column cannot have more missing values than there are rows")

    @staticmethod
    def of(names: Iterable[str], columns: "Iterable[Encoded]", n_rows: int) -> "TrainingInputs":
        """From the values of the columns in the training rows."""
        facts = [_column(name, column) for name, column in zip(names, columns, strict=True)]
        return TrainingInputs(n_rows, tuple(facts))

    @staticmethod
    def of_array(names: Iterable[str], X: NDArray[Any]) -> "TrainingInputs":
        """From the columns of an array.

        Examples
        --------
        >>> TrainingInputs.of_array(["a"], np.array([[3.0], [np.nan], [5.0]])).columns[0].n_missing
        1
        """
        if X.dtype not in (np.float32, np.float64):
            X = X.astype(np.float64)
        named = zip(names, _columns_of(X), strict=True)
        columns = [_numeric(name, values, _count_missing(values)) for name, values in named]
        return TrainingInputs(len(X), tuple(columns))


def _columns_of(X: NDArray[np.floating[Any]]) -> Iterator[NDArray[np.floating[Any]]]:
    """The columns, from copies of a few at a time: values that are next to each other are faster to read."""
    for first in range(0, X.shape[1], COLUMNS_AT_ONCE):
        yield from np.ascontiguousarray(X[:, first : first + COLUMNS_AT_ONCE].T)


def _column(name: str, column: "Encoded") -> TrainingColumn:
    if column.numbers is None:
        return TrainingColumn(name, column.n_missing)
    return _numeric(name, column.numbers, column.n_missing)


def _count_missing(values: NDArray[np.floating[Any]]) -> int:
    return int(np.count_nonzero(np.isnan(values)))


def _numeric(name: str, values: NDArray[np.floating[Any]], n_missing: int) -> TrainingColumn:
    finite = np.isfinite(values)
    if not finite.any():
        return TrainingColumn(name, n_missing)
    if not finite.all():
        values = values[finite]
    return TrainingColumn(name, n_missing, NumberRange.of(values))
