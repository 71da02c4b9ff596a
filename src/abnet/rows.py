"""Many rows at once: in groups, shared among cores, kept as thermometer codes that a first layer sums up.

A code is one of count + 1 sign vectors, r times +1 and then -1. So its part of a neuron's weighted sum has count + 1
values, which are summed up once; a row looks them up. That is a tenth of the additions of a product with the signs, and
a tenth of the memory.
"""

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "CodedLayer",
    "CodedRows",
    "MANY_CODED",
    "bucket",
    "cores",
    "held_rows",
    "mapped",
    "number_groups",
    "ordered",
    "over_norms",
    "padded",
    "places_in",
    "return_memory",
    "scaled",
    "scaled_weights",
    "threads_for",
]

MOST = 8
"""Threads at the most: beyond, the memory is what limits."""
MANY = 10_000
"""Rows from which on a column is worth a thread."""


def cores() -> int:
    """Cores that this process may use, no more than ``OMP_NUM_THREADS`` if that is set.

    Examples
    --------
    >>> 1 <= cores() <= MOST
    True
    """
    here = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    wanted = os.environ.get("OMP_NUM_THREADS", "")
    return max(min(here, MOST, int(wanted) if wanted.isdecimal() else MOST), 1)


def threads_for(rows: int) -> int:
    """Threads for what is done to a column of so many rows.

    Examples
    --------
    >>> threads_for(MANY - 1), threads_for(MANY) == cores()
    (1, True)
    """
    return cores() if rows >= MANY else 1


def mapped(function: Callable[[Any], Any], items: Iterable[Any], threads: int) -> list[Any]:
    """``function`` of every item, in their order, as is the error that comes first.

    Examples
    --------
    >>> mapped(abs, [-1, 2, -3], 2)
    [1, 2, 3]
    """
    if threads == 1:
        return [function(item) for item in items]
    from concurrent.futures import ThreadPoolExecutor

    with _cores_for_us(), ThreadPoolExecutor(threads) as pool:
        begun = [pool.submit(function, item) for item in items]
        try:
            return [each.result() for each in begun]
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


_guard = threading.Lock()
_limited: list[Any] = []
"""The limit in force, once for each call that is under it."""


@contextmanager
def _cores_for_us() -> Iterator[None]:
    """Meanwhile the library of matrix products has one thread: with all cores for each of ours, they would all wait.

    It is told so once, and gets its threads back when the last call is done; without threadpoolctl it is left alone.
    """
    with _guard:
        if not _limited:
            with suppress(ImportError):
                from threadpoolctl import threadpool_limits

                _limited.append(threadpool_limits(1, user_api="blas"))
        else:
            _limited.append(_limited[0])
    try:
        yield
    finally:
        with _guard:
            if _limited and (limit := _limited.pop()) and not _limited:
                limit.restore_original_limits()


def return_memory() -> None:
    """Let the system have what was freed: the C library of Linux keeps what threads had, for others like them."""
    import ctypes
    import gc

    gc.collect()  # arrays that JAX was given may be in a circle with what it made of them
    with suppress(AttributeError, OSError, TypeError):  # other systems have no such function, or no such library
        ctypes.CDLL(None).malloc_trim(0)


BLOCK = 512
"""Rows whose signs are written at a time: they should stay in the cache."""
MANY_CODED = 512
"""Rows from which on to look sums up pays: of fewer the signs are written out."""


@dataclass(frozen=True, eq=False)
class CodedRows:
    """Features side by side with their thermometer codes, as an array that is written out only when asked for.

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


def number_groups(groups: ArrayLike, n: int) -> NDArray[np.int64]:
    """Each row's group as a number: 0 for the group that appears first, and so on.

    Examples
    --------
    >>> number_groups(["b", "a", "b"], 3)
    array([0, 1, 0])
    """
    column = np.asarray(groups)
    if column.shape != (n,):
        raise ValueError(f"groups must name one group for each of the {n} rows, got the shape {column.shape}")
    values = column.tolist() if column.dtype.kind in "OU" else []
    missing = [row for row, name in enumerate(values) if _is_none(name)] or np.flatnonzero(column != column).tolist()
    if missing:
        named = ", ".join(map(str, missing[:5])) + (", …" if len(missing) > 5 else "")
        raise ValueError(
            f"groups must name a group for every row; {len(missing)} of {n} have none (row {named}, counted from 0). "
            "Rows without a name are not one group: give each its own name if it stands alone, or leave them out"
        )
    column = np.array([str(name) for name in values]) if column.dtype.kind == "O" else column
    _, first, where = np.unique(column, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return np.asarray(rank[where])


def _is_none(name: Any) -> bool:
    """Whether a cell names nothing: None, NaN, a missing value of pandas, which is not even comparable, or blank."""
    if isinstance(name, str):
        return not name.strip()
    try:
        return name is None or bool(name != name)
    except TypeError:
        return True


def scaled_weights(weights: NDArray[Any] | None, first: int) -> NDArray[Any] | None:
    """Sample weights scaled to mean 1 in either part, so that only their proportions count.

    Each part by itself: the weights of the bound rows must not reach what is learned from the first `first` rows.

    Examples
    --------
    >>> scaled_weights(np.array([1.0, 3.0, 8.0]), 2)
    array([0.5, 1.5, 1. ])
    """
    if weights is None:
        return None
    parts = (weights[:first], weights[first:])
    return np.concatenate([scaled(part) for part in parts])


def held_rows(groups: NDArray[Any], fraction: float) -> int:
    """How many rows the last groups have, a `fraction` of all groups; rows of a group lie together.

    Examples
    --------
    >>> held_rows(np.array([4, 4, 4, 1, 7, 7]), 0.4)
    2
    """
    where = number_groups(groups, len(groups))
    count = int(where.max(initial=-1)) + 1
    return int(np.sum(where >= count - round(fraction * count)))


def scaled(weights: NDArray[Any]) -> NDArray[np.float64]:
    """Weights with mean 1 over the rows that have any, the rows that are `counted`.

    Examples
    --------
    >>> scaled(np.array([1.0, 0.0, 3.0]))
    array([0.5, 0. , 1.5])
    """
    shares = weights / max(weights.max(initial=0.0), np.finfo(np.float64).tiny)
    return np.asarray(shares * (np.count_nonzero(shares) / max(shares.sum(), np.finfo(np.float64).tiny)))


def bucket(n: int, *, least: int = 256) -> int:
    """The number that n rows (or columns) are padded to: `least`, or the next of 1, 1.25, 1.5, 1.75 powers of two.

    Examples
    --------
    >>> [bucket(n) for n in (10, 300, 455, 456, 52_500)]
    [256, 320, 512, 512, 57344]
    """
    if n <= least:
        return least
    quarter = 2 ** (int(n - 1).bit_length() - 3)
    return -(-n // quarter) * quarter


def padded(array: NDArray[Any], total: int) -> NDArray[np.float32]:
    """The rows with rows of zeros below them, `total` in all, in float32.

    Examples
    --------
    >>> padded(np.ones((1, 2)), 2).tolist()
    [[1.0, 1.0], [0.0, 0.0]]
    """
    if len(array) == total and array.dtype == np.float32:
        return array
    rows = np.zeros((total, *array.shape[1:]), np.float32)
    rows[: len(array)] = array
    return rows


def places_in(order: NDArray[np.intp]) -> NDArray[np.intp]:
    """Where each row stands in an order of all of them.

    Examples
    --------
    >>> places_in(np.array([2, 0, 1]))
    array([1, 2, 0])
    """
    places = np.empty_like(order)
    places[order] = np.arange(len(order))
    return places


def ordered(rows: NDArray[Any], order: NDArray[np.intp] | None) -> NDArray[Any]:
    """Rows in an order; as they are without one.

    Examples
    --------
    >>> ordered(np.array([[1], [2], [3]]), np.array([2, 0, 1])).tolist()
    [[3], [1], [2]]
    """
    if order is None:
        return rows
    out, threads = np.empty((len(order), *rows.shape[1:]), rows.dtype), threads_for(len(order))
    pairs = zip(np.array_split(order, threads), np.array_split(out, threads), strict=True)
    mapped(lambda pair: np.take(rows, pair[0], axis=0, out=pair[1], mode="clip"), pairs, threads)
    return out
