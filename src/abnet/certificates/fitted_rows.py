"""A Bloom filter of the training rows, stored with the model.

Every training row is found again; another row is found by mistake about once in two thousand times. The filter is small
enough for a model file. Rows cannot be read from it; one can only test whether a given row is in it.
"""

import base64
import hashlib
import math
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from abnet.utils.coded_rows import dense

__all__ = [
    "MOST_ROWS",
    "FittedRows",
    "RowFilter",
    "Sighted",
    "StreamedTable",
    "kept_rows",
    "log_chance",
    "row_filter",
]

_BITS_PER_ROW, _HASHES = 16, 11
_MISTAKEN = 1 / 2000
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
        Fingerprints, independent of the order, of all rows and of the training rows; a fingerprint is left out if
        another sample could easily have the same one.
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
    return slice(0, n) if n <= MOST_ROWS else np.linspace(0, n - 1, MOST_ROWS).astype(np.intp)


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
    n = len(y) if n_learned is None else n_learned
    if not n:
        return None
    if n > MOST_ROWS:
        # A sample is enough to recognise the rows of a fit. Fingerprints of whole tables are for small tables with few
        # distinct rows.
        kept = kept_rows(n)
        X, y, n = X[kept], y[kept], MOST_ROWS
    everything = _marks(X, y)
    marks = everything[:n]
    bits = np.zeros(-(-_BITS_PER_ROW * n // 8) * 8, dtype=bool)
    bits[_places(marks, len(bits)).ravel()] = True
    often = _counts(marks)
    names = {_name(rows) for rows in (everything, marks) if log_chance(_counts(rows)) < math.log(_RARE)}
    if table is not None and table.name is not None:
        names.add(table.name)
    packed = base64.b64encode(np.packbits(bits).tobytes()).decode("ascii")
    return RowFilter(packed, n, int((often == 1).sum()), int((often == 2).sum()), tuple(sorted(names)))


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
        self._distinct: dict[bytes, int] | None = {}

    def add(self, X: Any, y: NDArray[Any]) -> None:
        """Add a block of prepared rows with their labels."""
        for start in range(0, len(y), _BLOCK):  # codes of a few rows at a time are written out
            self._add_marks(_marks(X[start : start + _BLOCK], y[start : start + _BLOCK]))

    def _add_marks(self, marks: NDArray[np.uint64]) -> None:
        self._n_rows += len(marks)
        self._total = (self._total + _total(marks)) % 2**128
        if self._distinct is None:
            return
        rows, counts = np.unique(marks, axis=0, return_counts=True)
        for row, count in zip(rows, counts.tolist(), strict=True):
            key = row.tobytes()
            self._distinct[key] = self._distinct.get(key, 0) + count
        if len(self._distinct) > _MANY_DISTINCT:
            self._distinct = None

    @property
    def name(self) -> str | None:
        """The fingerprint; None if another sample could easily have the same."""
        if self._distinct is not None:
            counts = np.array(list(self._distinct.values()), np.intp)
            if log_chance(counts) >= math.log(_RARE):
                return None
        return _text(self._n_rows, self._total)


@dataclass(frozen=True)
class Sighted:
    """How many rows were looked up and found in a filter; counts of disjoint rows are added with ``+``.

    Attributes
    ----------
    n_rows, found : int
    total : int
        Sum of the rows' hashes, which does not depend on their order.
    """

    n_rows: int = 0
    found: int = 0
    total: int = 0

    def __add__(self, other: "Sighted") -> "Sighted":
        total = (self.total + other.total) % 2**128
        return Sighted(self.n_rows + other.n_rows, self.found + other.found, total)


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
    made : RowFilter
        The result of `row_filter`.

    Examples
    --------
    >>> X, y = np.arange(200.0).reshape(100, 2), np.ones(100)
    >>> seen = FittedRows(row_filter(X[:50], y[:50]))
    >>> seen.add(X, y)
    >>> seen.found, seen.n_rows, seen.allowed, seen.reused
    (50, 100, 18, True)
    """

    def __init__(self, made: RowFilter) -> None:
        n, once, twice, tables = made.rows, made.once, made.twice, frozenset(made.tables)
        try:
            content = np.frombuffer(base64.b64decode(made.bits, validate=True), np.uint8)
        except ValueError as error:
            raise ValueError("the filter of the training rows is damaged: its values cannot be read.") from error
        if not len(content) or not 0 <= once + 2 * twice <= n or n < 1:
            raise ValueError("the filter of the training rows is damaged: its counts contradict each other.")
        self._bits, self._tables = np.unpackbits(content).astype(bool), tables
        p = 1.0 - once / n
        p = min(1.0, p + 3.0 * math.sqrt(once * p + 2 * twice + 2) / n)
        self._chance = p + (1.0 - p) * _MISTAKEN
        self.sighted = Sighted()

    def add(self, X: Any, y: NDArray[Any]) -> None:
        """Look up prepared rows, with labels in the form used for the filter."""
        if not len(y):
            return
        marks = _marks(X, y)
        found = int(self._bits[_places(marks, len(self._bits))].all(axis=1).sum())
        self.sighted += Sighted(len(y), found, _total(marks))

    @property
    def n_rows(self) -> int:
        """Number of rows that were looked up."""
        return self.sighted.n_rows

    @property
    def found(self) -> int:
        """Number of rows among them that are in the filter."""
        return self.sighted.found

    @property
    def allowed(self) -> int:
        """Number of rows that may be found by chance."""
        from scipy.special import bdtrik

        if self._chance >= 1.0 or not self.n_rows:
            return self.n_rows
        return math.ceil(max(0.0, float(bdtrik(1.0 - _RARE, self.n_rows, self._chance))))

    @property
    def reused(self) -> bool:
        """Whether more training rows were found than chance explains."""
        return self.found > self.allowed or _text(self.n_rows, self.sighted.total) in self._tables


def _marks(X: Any, y: NDArray[Any]) -> NDArray[np.uint64]:
    """Two hashes of each row with its label."""
    rows = np.asarray(dense(X), "<f4") + np.float32(0.0)  # no negative zeros
    # Four digits: if a table was stored in float32 in between, its scaled values differ in the last digits.
    rows = ((np.ascontiguousarray(rows).view("<u4") + np.uint32(_HALF)) & ~np.uint32(2 * _HALF - 1)).view("<f4")
    labels = np.asarray(y, "<f8")
    marks = [
        hashlib.blake2b(row.tobytes() + label.tobytes(), digest_size=16).digest()
        for row, label in zip(rows, labels, strict=True)
    ]
    return np.frombuffer(b"".join(marks), "<u8").reshape(-1, 2)


def _total(marks: NDArray[np.uint64]) -> int:
    """The sum of the hashes, which does not depend on the order of the rows."""
    return sum((int(high) << 64) + int(low) for low, high in marks.tolist()) % 2**128


def _text(n: int, total: int) -> str:
    return f"{n} {total:032x}"


def _name(marks: NDArray[np.uint64]) -> str:
    return _text(len(marks), _total(marks))


def _counts(marks: NDArray[np.uint64]) -> NDArray[np.intp]:
    """How often each distinct row occurs."""
    return np.unique(marks, axis=0, return_counts=True)[1]


def log_chance(often: NDArray[np.intp]) -> float:
    """Logarithm of the probability that n draws with replacement contain each row exactly as often as these rows do."""
    n = int(often.sum())
    return math.lgamma(n + 1) + sum(k * math.log(k / n) - math.lgamma(k + 1) for k in often.tolist())


def _places(marks: NDArray[np.uint64], n_bits: int) -> NDArray[np.uint64]:
    """Bit positions of each row, (n, hashes), from two combined hashes (Kirsch and Mitzenmacher 2008)."""
    steps = np.arange(_HASHES, dtype=np.uint64)
    with np.errstate(over="ignore"):
        return np.asarray((marks[:, :1] + steps * (marks[:, 1:] | np.uint64(1))) % np.uint64(n_bits))
