"""A Bloom filter of the training rows, stored with the model.

Every training row is found again; another row is found by mistake about once in two thousand times. The filter is small
enough for a model file. Rows cannot be read from it; one can only test whether a given row is in it.
"""

import base64
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from abnet.certificates.cell_hashing import STEP, Hashes, mixed
from abnet.certificates.row_hashing import hash_sum, row_hashes
from abnet.certificates.same_table import log_chance_of_same_table
from abnet.utils.coded_rows import dense

__all__ = ["MOST_ROWS", "FittedRows", "RowFilter", "RowsFound", "StreamedTable", "kept_rows", "row_filter"]

_BITS_PER_ROW = 16
_BITS_SET_PER_ROW = 11
_FALSE_POSITIVES = 1 / 2000
"""The rate of a filter with these numbers: (1 - exp(-11/16))^11."""
_MOST_BYTES = 48_000  # 64,000 characters in base 64
MOST_ROWS = 8 * _MOST_BYTES // _BITS_PER_ROW
"""Maximum number of rows in a filter, which takes at most 64 kB; of more rows an evenly spaced sample is kept."""
_RARE = 1e-3
_HALF = 2**9  # half of what is rounded off the bits of a float32


class RowFilter(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The stored form of the filter.

    Attributes
    ----------
    bits : str
        The bits of the filter, in base 64.
    rows : int
        Number of rows in it.
    once, twice : int
        Number of distinct rows that occur once, and twice.
    tables : tuple of str
        Number of rows and sum of their hashes, of all rows and of the training rows. A table is left out if another
        sample could easily be the same table.
    """

    bits: str
    rows: int
    once: int
    twice: int
    tables: tuple[str, ...]


def kept_rows(n: int) -> slice | NDArray[np.intp]:
    """Which of n rows a filter keeps: all, or as many as it holds, evenly spaced.

    Training rows come before bound rows, so the first rows alone would not be a sample of both.

    Examples
    --------
    >>> kept_rows(10), len(kept_rows(100_000))
    (slice(0, 10, None), 24000)
    """
    if n <= MOST_ROWS:
        return slice(0, n)
    return np.linspace(0, n - 1, MOST_ROWS).astype(np.intp)


def row_filter(
    X: Any, y: NDArray[Any], n_learned: int | None = None, *, table: "StreamedTable | None" = None
) -> RowFilter | None:
    """Make the filter of prepared rows with their labels; None if there are no rows. It holds at most 24,000 rows.

    Parameters
    ----------
    X : array (n, d)
        Rows as the network reads them.
    y : array (n,)
        Codes of their classes, or signs.
    n_learned : int, optional
        Number of rows that the model learned from or was chosen with, which come first; all rows by default. The others
        may certify it again, but not together with these.
    table : StreamedTable, optional
        The whole table, if X is only a part of it.

    Examples
    --------
    >>> X, y = np.arange(20.0).reshape(10, 2), np.ones(10)
    >>> made = row_filter(X[:5], y[:5])
    >>> len(made.bits), made.rows, made.once
    (16, 5, 5)
    """
    n = len(y)
    if n_learned is not None:
        n = n_learned
    if not n:
        return None
    if n > MOST_ROWS:
        # A sample is enough to recognise the rows of a fit. Sums over whole tables are for small tables with few
        # distinct rows.
        kept = kept_rows(n)
        X = X[kept]
        y = y[kept]
        n = MOST_ROWS
    all_rows = _rounded_hashes(X, y)
    learned = all_rows[:n]
    bits = np.zeros(-(-_BITS_PER_ROW * n // 8) * 8, dtype=bool)
    bits[_places(learned, len(bits)).ravel()] = True
    counts = _counts(learned)
    tables = set()
    for hashes in (all_rows, learned):
        if log_chance_of_same_table(_counts(hashes)) < math.log(_RARE):
            tables.add(_table_name(len(hashes), hash_sum(hashes)))
    if table is not None and table.name is not None:
        tables.add(table.name)
    return RowFilter(
        bits=base64.b64encode(np.packbits(bits).tobytes()).decode("ascii"),
        rows=n,
        once=int(np.count_nonzero(counts == 1)),
        twice=int(np.count_nonzero(counts == 2)),
        tables=tuple(sorted(tables)),
    )


_MANY_DISTINCT = 1000
"""With more distinct rows, no other sample has the same ones: the chance is at most ``sqrt(2πn) (2π)^(-u/2)`` for n
rows of which u are distinct."""


_BLOCK = 4096
"""Number of rows that are hashed at a time."""


class StreamedTable:
    """The fingerprint of a table that is read in blocks, as it is in `RowFilter.tables`.

    Examples
    --------
    >>> X, y = np.arange(20.0).reshape(10, 2), np.ones(10)
    >>> stream = StreamedTable()
    >>> stream.add(X[:4], y[:4])
    >>> stream.add(X[4:], y[4:])
    >>> stream.name in row_filter(X, y).tables
    True
    """

    def __init__(self) -> None:
        self._n_rows = 0
        self._total = 0
        self._counts: dict[int, int] = {}  # how often each distinct row occurs, until there are many

    def add(self, X: Any, y: NDArray[Any]) -> None:
        """Add a block of prepared rows with their labels."""
        for start in range(0, len(y), _BLOCK):  # codes of a few rows at a time are written out
            self._add_hashes(_rounded_hashes(X[start : start + _BLOCK], y[start : start + _BLOCK]))

    def _add_hashes(self, hashes: Hashes) -> None:
        self._n_rows += len(hashes)
        self._total = (self._total + hash_sum(hashes)) % 2**64
        if len(self._counts) > _MANY_DISTINCT:
            return
        distinct, counts = np.unique(hashes, return_counts=True)
        for row, count in zip(distinct.tolist(), counts.tolist(), strict=True):
            self._counts[row] = self._counts.get(row, 0) + count

    @property
    def name(self) -> str | None:
        """The fingerprint; None if another sample could easily have the same."""
        if len(self._counts) <= _MANY_DISTINCT:
            counts = np.array(list(self._counts.values()), np.intp)
            if log_chance_of_same_table(counts) >= math.log(_RARE):
                return None
        return _table_name(self._n_rows, self._total)


@dataclass(frozen=True)
class RowsFound:
    """How many rows were looked up and found in a filter; counts of disjoint rows are added with ``+``.

    Attributes
    ----------
    n_rows, found : int
    total : int
        Sum of the rows' hashes (`hash_sum`).
    """

    n_rows: int = 0
    found: int = 0
    total: int = 0

    def __add__(self, other: "RowsFound") -> "RowsFound":
        total = (self.total + other.total) % 2**64
        return RowsFound(self.n_rows + other.n_rows, self.found + other.found, total)


class FittedRows:
    """Count, block by block, the rows that are training rows of a model, by its filter.

    In tables with repeated rows, a new row may equal a training row by chance. ``p = 1 - once/n`` estimates the
    probability that a new row equals one of the n training rows (Good-Turing). Among m new rows, at most `allowed`
    should be found by chance: the 99.9% quantile of the binomial distribution of m and p, where p is increased by three
    standard deviations ``sqrt(once p + 2 twice + 2)/n`` (Esty 1983) and by the filter's false positive rate, 1/2000.
    The rows count as `reused` if more are found, or if they are exactly the rows of the fit, or exactly its training
    rows, in any order. The latter test works even if there are so few distinct rows that every new row equals an old
    one; a subset of the training rows cannot be detected then.

    Parameters
    ----------
    stored : RowFilter
        The result of `row_filter`.
    n_classes : int
        For rows without labels (`add_unlabelled`): number of labels that are tried for each. The chance of finding a
        new row is then up to so many times as large, because two equal rows have the same one of K labels with a
        probability of at least 1/K.

    Examples
    --------
    >>> X, y = np.arange(200.0).reshape(100, 2), np.ones(100)
    >>> seen = FittedRows(row_filter(X[:50], y[:50]))
    >>> seen.add(X, y)
    >>> seen.found, seen.n_rows, seen.allowed, seen.reused
    (50, 100, 18, True)
    """

    def __init__(self, stored: RowFilter, n_classes: int = 1) -> None:
        n = stored.rows
        once = stored.once
        twice = stored.twice
        try:
            content = np.frombuffer(base64.b64decode(stored.bits, validate=True), np.uint8)
        except ValueError as error:
            raise ValueError("the filter of the training rows is damaged: its values cannot be read.") from error
        if not len(content) or not 0 <= once + 2 * twice <= n or n < 1:
            raise ValueError("the filter of the training rows is damaged: its counts contradict each other.")
        self._bits = np.unpackbits(content).astype(bool)
        self._tables = frozenset(stored.tables)
        p = 1.0 - once / n
        p = min(1.0, p + 3.0 * math.sqrt(once * p + 2 * twice + 2) / n)
        self._chance = min(1.0, n_classes * (p + (1.0 - p) * _FALSE_POSITIVES))
        self.counts = RowsFound()

    def add(self, X: Any, y: NDArray[Any]) -> None:
        """Look up prepared rows, with labels in the form used for the filter."""
        if not len(y):
            return
        hashes = _rounded_hashes(X, y)
        self.counts += RowsFound(len(y), int(np.count_nonzero(self._finds(hashes))), hash_sum(hashes))

    def add_unlabelled(self, X: Any, labels: Iterable[float]) -> None:
        """Look up prepared rows whose labels are unknown, with each of the labels.

        Examples
        --------
        >>> X, y = np.arange(200.0).reshape(100, 2), np.tile([-1.0, 1.0], 50)
        >>> seen = FittedRows(row_filter(X[:50], y[:50]), n_classes=2)
        >>> seen.add_unlabelled(X, [-1.0, 1.0])
        >>> seen.found, seen.reused
        (50, True)
        """
        n_rows = len(X)
        is_found = np.zeros(n_rows, bool)
        for label in labels:
            is_found |= self._finds(_rounded_hashes(X, np.full(n_rows, label)))
        self.counts += RowsFound(n_rows, int(np.count_nonzero(is_found)))

    def _finds(self, hashes: Hashes) -> NDArray[np.bool_]:
        """Which rows are in the filter."""
        return np.asarray(self._bits[_places(hashes, len(self._bits))].all(axis=1))

    @property
    def n_rows(self) -> int:
        """Number of rows that were looked up."""
        return self.counts.n_rows

    @property
    def found(self) -> int:
        """Number of rows among them that are in the filter."""
        return self.counts.found

    @property
    def allowed(self) -> int:
        """Number of rows that may be found by chance."""
        from scipy.special import bdtrik

        if self._chance >= 1.0 or not self.n_rows:
            return self.n_rows
        quantile = float(bdtrik(1.0 - _RARE, self.n_rows, self._chance))
        return math.ceil(max(0.0, quantile))

    @property
    def reused(self) -> bool:
        """Whether more training rows were found than chance explains."""
        return self.found > self.allowed or _table_name(self.n_rows, self.counts.total) in self._tables


def _rounded_hashes(X: Any, y: NDArray[Any]) -> Hashes:
    """`row_hashes` of prepared rows rounded to four digits.

    If a table was stored in float32 in between, its scaled values differ in the last digits.
    """
    bits = np.ascontiguousarray(dense(X), "<f4").view("<u4")
    rounded = (bits + np.uint32(_HALF)) & ~np.uint32(2 * _HALF - 1)
    return row_hashes(rounded.view("<f4"), np.asarray(y, np.float64))


def _table_name(n_rows: int, total: int) -> str:
    return f"{n_rows} {total:016x}"


def _counts(hashes: Hashes) -> NDArray[np.intp]:
    """How often each distinct row occurs."""
    return np.unique(hashes, return_counts=True)[1]


def _places(hashes: Hashes, n_bits: int) -> NDArray[np.uint64]:
    """Bit positions of each row, (n, bits set per row), from two combined hashes (Kirsch and Mitzenmacher 2008).

    The two are the next two numbers of a splitmix64 generator that starts from the row's hash.
    """
    first = mixed(hashes + STEP)[:, None]
    second = mixed(hashes + STEP + STEP)[:, None] | np.uint64(1)
    places = first + np.arange(_BITS_SET_PER_ROW, dtype=np.uint64) * second
    return np.asarray(places % np.uint64(n_bits))
