"""The filter of the rows that a model learned from, which is kept with it.

It is Bloom's: every row that was put in is found again, another one by mistake about once in two thousand times. It is
small enough for a model file, and nobody can read a row from it, only ask for one that is at hand.
"""

import base64
import hashlib
import math
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from abnet.coded_rows import dense

__all__ = ["MOST_ROWS", "FittedRows", "RowFilter", "row_filter"]

_BITS_PER_ROW, _HASHES = 16, 11
_MISTAKEN = 1 / 2000
_MOST_BYTES = 48_000  # 64,000 characters in base 64
MOST_ROWS = 8 * _MOST_BYTES // _BITS_PER_ROW
"""Rows that a filter of at most 64 kB can hold; of more rows the first ones are kept, in the order of the split."""
_RARE = 1e-3
_HALF = 2**9  # half of what is rounded off the bits of a float32


class RowFilter(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The filter as a model keeps it.

    Attributes
    ----------
    bits : str
        In base 64.
    rows : int
        Number of rows in it.
    once, twice : int
        How many distinct rows occur so often.
    tables : tuple of str
        A name of all rows in any order, and one of those learned from, but for names that another sample could well
        have.
    """

    bits: str
    rows: int
    once: int
    twice: int
    tables: tuple[str, ...]


def row_filter(X: Any, y: NDArray[Any], n_learned: int | None = None) -> RowFilter | None:
    """The filter of prepared rows with their labels; None for no row. Of more than 24,000 rows it holds the first.

    Parameters
    ----------
    X : array (n, d)
        Rows as the network reads them.
    y : array (n,)
        Numbers of their classes, or signs.
    n_learned : int, optional
        How many of them, from the first, the model learned from; all by default. The others are bound rows of a frozen
        posterior: they may certify it again, but not together with those it learned from.

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
        # The rows are in an order that says nothing about them, so these are a random part, and the rows of a fit are
        # found by it as well. Names of whole tables are for small ones, whose rows may be few and alike.
        X, y, n = X[:MOST_ROWS], y[:MOST_ROWS], MOST_ROWS
    everything = _marks(X, y)
    marks = everything[:n]
    bits = np.zeros(-(-_BITS_PER_ROW * n // 8) * 8, dtype=bool)
    bits[_places(marks, len(bits)).ravel()] = True
    often = _counts(marks)
    names = {_name(rows) for rows in (everything, marks) if _log_chance(_counts(rows)) < math.log(_RARE)}
    packed = base64.b64encode(np.packbits(bits).tobytes()).decode("ascii")
    return RowFilter(packed, n, int((often == 1).sum()), int((often == 2).sum()), tuple(sorted(names)))


class FittedRows:
    """Counts, block by block, the rows that a model learned from, by its filter.

    Equal rows prove nothing where rows repeat anyway. So only those count that chance does not explain. A share
    ``p = 1 - once/n`` of the n learned rows has an equal among the others (Good's estimate of the probability that a
    new row is like an old one). Of m new rows at most `allowed` should be found: the 99.9% quantile of the binomial
    distribution of m and p, where p is raised by three standard deviations ``sqrt(once p + 2 twice + 2)/n`` (Esty 1983)
    and by the filter's own mistakes, one in 2,000. The rows are `reused` if more are found, or if they are all rows of
    the fit, or all learned ones, each as often as then, in any order. The latter tells even where there are so few
    distinct rows that every new one is like an old one; of a part of the learned rows nothing can be told then.

    Parameters
    ----------
    made : RowFilter
        What `row_filter` made.

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
            raise ValueError("the filter of the fitted rows is damaged: its values cannot be read.") from error
        if not len(content) or not 0 <= once + 2 * twice <= n or n < 1:
            raise ValueError("the filter of the fitted rows is damaged: its counts contradict each other.")
        self._bits, self._tables = np.unpackbits(content).astype(bool), tables
        p = 1.0 - once / n
        p = min(1.0, p + 3.0 * math.sqrt(once * p + 2 * twice + 2) / n)
        self._chance = p + (1.0 - p) * _MISTAKEN
        self._sum = self.n_rows = self.found = 0

    def add(self, X: Any, y: NDArray[Any]) -> None:
        """Look for prepared rows, with labels as they were put into the filter."""
        if not len(y):
            return
        marks = _marks(X, y)
        self.found += int(self._bits[_places(marks, len(self._bits))].all(axis=1).sum())
        self.n_rows += len(y)
        self._sum = (self._sum + _total(marks)) % 2**128

    @property
    def allowed(self) -> int:
        """How many rows chance may well bring about."""
        from scipy.special import bdtrik

        if self._chance >= 1.0 or not self.n_rows:
            return self.n_rows
        return math.ceil(max(0.0, float(bdtrik(1.0 - _RARE, self.n_rows, self._chance))))

    @property
    def reused(self) -> bool:
        """Whether more rows were learned from than chance explains."""
        return self.found > self.allowed or _text(self.n_rows, self._sum) in self._tables


def _marks(X: Any, y: NDArray[Any]) -> NDArray[np.uint64]:
    """Two numbers for each row with its label."""
    rows = np.asarray(dense(X), "<f4") + np.float32(0.0)  # no negative zeros
    # Four digits: a table that was stored in float32 in between has other last digits once it is scaled.
    rows = ((np.ascontiguousarray(rows).view("<u4") + np.uint32(_HALF)) & ~np.uint32(2 * _HALF - 1)).view("<f4")
    labels = np.asarray(y, "<f8")
    marks = [
        hashlib.blake2b(row.tobytes() + label.tobytes(), digest_size=16).digest()
        for row, label in zip(rows, labels, strict=True)
    ]
    return np.frombuffer(b"".join(marks), "<u8").reshape(-1, 2)


def _total(marks: NDArray[np.uint64]) -> int:
    """The sum of the marks: the same for the same rows in any order."""
    return sum((int(high) << 64) + int(low) for low, high in marks.tolist()) % 2**128


def _text(n: int, total: int) -> str:
    return f"{n} {total:032x}"


def _name(marks: NDArray[np.uint64]) -> str:
    return _text(len(marks), _total(marks))


def _counts(marks: NDArray[np.uint64]) -> NDArray[np.intp]:
    """How often each distinct row occurs."""
    return np.unique(marks, axis=0, return_counts=True)[1]


def _log_chance(often: NDArray[np.intp]) -> float:
    """Logarithm of the probability that as many draws from these rows hold each as often as it occurs."""
    n = int(often.sum())
    return math.lgamma(n + 1) + sum(k * math.log(k / n) - math.lgamma(k + 1) for k in often.tolist())


def _places(marks: NDArray[np.uint64], n_bits: int) -> NDArray[np.uint64]:
    """Places of the bits of each row, (n, hashes), by two hashes that are combined (Kirsch and Mitzenmacher 2008)."""
    steps = np.arange(_HASHES, dtype=np.uint64)
    with np.errstate(over="ignore"):
        return np.asarray((marks[:, :1] + steps * (marks[:, 1:] | np.uint64(1))) % np.uint64(n_bits))
