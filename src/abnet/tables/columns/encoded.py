"""The features of a fitted column for the rows of a table, computed block by block."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from abnet.tables.column_cells import Distinct

__all__ = ["BLOCK", "Encoded", "Features"]

Features = NDArray[np.float32]

BLOCK = 4096
"""Rows processed at a time, so that intermediate results stay in the cache."""


class Encoded(NamedTuple):
    """The features of a column, computed on demand: written out they are larger than what they are computed from.

    Attributes
    ----------
    n_rows : int
    width : int
        Number of features.
    block : callable
        From a slice of rows to their features, (rows, width).
    n_missing : int
        Rows without a value that can be read.
    numbers : float64 array (n_rows,), optional
        The values of a column of numbers or dates, NaN where missing.
    """

    n_rows: int
    width: int
    block: Callable[[slice], NDArray[Any]]
    n_missing: int = 0
    numbers: NDArray[np.float64] | None = None

    @staticmethod
    def looked_up(lookup: Features, distinct: Distinct, missing: Sequence[bool]) -> "Encoded":
        """Features that are looked up by the value of each row.

        Parameters
        ----------
        lookup : float32 array (distinct values, width)
        distinct : Distinct
        missing : sequence of bool
            Which of the distinct values are missing or cannot be read.
        """
        codes = distinct.codes
        n_missing = sum(count for count, is_missing in zip(distinct.counts(), missing, strict=True) if is_missing)

        def block(rows: slice) -> Features:
            return np.take(lookup, codes[rows], axis=0)

        return Encoded(len(codes), lookup.shape[1], block, n_missing)

    @staticmethod
    def of_numbers(x: NDArray[np.float64]) -> "Encoded":
        """Numbers that are their own feature."""

        def block(rows: slice) -> NDArray[np.float64]:
            return x[rows, None]

        return Encoded(len(x), 1, block, int(np.count_nonzero(np.isnan(x))), x)

    def toarray(self) -> Features:
        """The features of all rows, (n_rows, width)."""
        out = np.empty((self.n_rows, self.width), np.float32)
        for start in range(0, self.n_rows, BLOCK):
            rows = slice(start, start + BLOCK)
            out[rows] = self.block(rows)
        return out
