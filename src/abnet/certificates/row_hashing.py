"""One hash of rows: for the order of a split, the fingerprint of a fit, and the filter of its training rows.

The hash of a row is a mixed sum, over its columns, of the mixed bits of its cells (`cell_bits`), and of its label.
Equal cells have equal hashes in arrays, sparse matrices, and frames of pandas or Polars. Columns are identified by
position, not by name.
"""

# Are 64 bits enough? Rows that differ collide with probability 2^-64 per pair.
#
# - Split: among 10^8 rows, 0.0003 pairs are expected to collide. Such a pair counts as two equal rows, and these are
#   ordered by their places in the file. This concerns one pair and no more.
# - Filter of training rows: it holds at most 24,000 rows, so a new row collides with one of them with probability
#   10^-15, and one among 10^8 new rows with probability 10^-7. The filter's own false positive rate is 1/2000.
# - Sums over all rows (the key of a split, tables that a filter knows, batches of a monitor): another table has the
#   same sum with probability 2^-64, or c 2^-64 if the tables differ only by multiples of c equal rows.
#
# The mixing can be inverted, so anybody can construct rows with equal hashes. In a filter or a fingerprint this only
# gets one's own certificate refused; whoever wants to pass the filter can change a cell, whatever the hash. In a split,
# places in the file would decide on such rows, but only in a table that was built against this function, by somebody
# who could lie in simpler ways. Rows that were drawn without regard to the hash are ordered as by chance.

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.certificates.cell_hashing import STEP, Hashes, cell_bits, mixed, number_bits

__all__ = ["cell_hashes", "fingerprint", "hash_sum", "hashes_with_labels", "row_hashes", "sums_of_cells"]

_BLOCK = 2**15  # numbers mixed at a time, so that they stay in the cache


def row_hashes(X: Any, y: Any = None) -> Hashes:
    """A 64-bit hash of the cells and the label of every row; see `abnet.certificates.cell_hashing` for equal cells.

    Parameters
    ----------
    X : array, sparse matrix, frame of pandas or Polars, mapping of columns, or list of rows (n, d)
    y : array-like (n,), optional
        Labels.

    Examples
    --------
    >>> import polars as pl
    >>> X = np.array([[1.0, 0.1], [2.0, np.nan]])
    >>> a, b = row_hashes(X, ["no", "yes"]), row_hashes(pl.DataFrame({"a": [1, 2], "b": [0.1, None]}), ["no", "yes"])
    >>> np.array_equal(a, b)
    True
    """
    sums = sums_of_cells(X)
    if y is None:
        return mixed(sums)
    return hashes_with_labels(sums, y)


def hashes_with_labels(sums: Hashes, y: Any) -> Hashes:
    """`row_hashes` from the `sums_of_cells` of the rows, which are changed in place, and their labels.

    Examples
    --------
    >>> X, y = np.eye(2), np.array([-1.0, 1.0])
    >>> np.array_equal(hashes_with_labels(sums_of_cells(X), y), row_hashes(X, y))
    True
    """
    labels = cell_bits(_label_column(y))
    if len(labels) != len(sums):
        raise ValueError(f"X has {len(sums)} rows, but there are {len(labels)} labels.")
    sums += mixed(labels + ~STEP)
    return mixed(sums)


def cell_hashes(X: NDArray[Any]) -> Iterator[Hashes]:
    """The hashes of the cells of a matrix of numbers, column by column; `row_hashes` mixes their sum over the columns.

    Examples
    --------
    >>> X = np.array([[1.0, 2.0], [2.0, 1.0]])
    >>> np.array_equal(mixed(sum(cell_hashes(X))), row_hashes(X))
    True
    """
    for column, salt in zip(X.T, _salts(X.shape[1]), strict=True):
        yield mixed(number_bits(column) + salt)


def hash_sum(hashes: Hashes) -> int:
    """A sum of hashes modulo 2^64, which identifies rows whatever their order; sums of disjoint rows can be added.

    Hashes are mixed before they are added, so they may be sums themselves, such as the hashes of groups of rows.

    Examples
    --------
    >>> hashes = row_hashes(np.arange(6.0).reshape(3, 2))
    >>> hash_sum(hashes) == hash_sum(hashes[::-1]) == (hash_sum(hashes[:1]) + hash_sum(hashes[1:])) % 2**64
    True
    """
    return int(mixed(hashes.copy()).sum(dtype=np.uint64))


def fingerprint(X: Any, y: Any) -> str:
    """SHA-256, in hexadecimal, of the hashes of all rows in their order: it identifies rows with their labels.

    Parameters
    ----------
    X, y
        As for `row_hashes`.

    Examples
    --------
    >>> a = fingerprint(np.zeros((2, 3)), [0, 1])
    >>> a == fingerprint(np.zeros((2, 3), np.float32), np.array([0, 1]))
    True
    >>> a == fingerprint(np.zeros((2, 3)), [1, 0])
    False
    """
    return hashlib.sha256(row_hashes(X, y).astype("<u8").tobytes()).hexdigest()


def _label_column(y: Any) -> Any:
    if hasattr(y, "dtype"):
        return y
    if np.ndim(y):
        return np.asarray(y)
    return np.asarray(y, object)


def sums_of_cells(X: Any) -> Hashes:
    """The sum over the columns of the hashes of the cells, to which labels can be added once they are known."""
    if hasattr(X, "tocsr"):
        return _sums_of_sparse(X.tocsr())
    if isinstance(X, Mapping):
        return _sums_of_columns(list(X.values()))
    if hasattr(X, "get_columns"):  # a frame of Polars
        return _sums_of_columns(X.get_columns())
    if hasattr(X, "iloc"):  # a frame or a series of pandas
        columns = [X]
        if X.ndim == 2:
            columns = [X.iloc[:, place] for place in range(X.shape[1])]
        return _sums_of_columns(columns)
    rows = X
    if not isinstance(X, np.ndarray):
        rows = _array_of(X)
    rows = rows.reshape(len(rows), -1)
    if rows.dtype.kind in "biuf":
        return _sums_of_numbers(rows)
    if not rows.shape[1]:
        return np.zeros(len(rows), np.uint64)
    return _sums_of_columns(list(rows.T))


def _array_of(X: Any) -> NDArray[Any]:
    """Rows in a list as an array; mixed numbers and text keep their types."""
    try:
        array = np.asarray(X)
    except ValueError:  # rows of several lengths
        array = np.empty(len(X), dtype=object)
        array[:] = X
    if array.dtype.kind == "U":
        return np.asarray(X, dtype=object)
    return array


def _salts(count: int) -> Hashes:
    """A number for each column, so that equal cells of two columns have different hashes."""
    return mixed(np.arange(1, count + 1, dtype=np.uint64) * STEP)


def _sums_of_columns(columns: list[Any]) -> Hashes:
    if not columns:
        return np.zeros(0, np.uint64)
    salts = _salts(len(columns))
    total = mixed(cell_bits(columns[0]) + salts[0])
    for column, salt in zip(columns[1:], salts[1:], strict=True):
        total += mixed(cell_bits(column) + salt)
    return total


def _sums_of_numbers(rows: NDArray[Any]) -> Hashes:
    """As `_sums_of_columns`, for a matrix of numbers, in blocks of rows."""
    n, d = rows.shape
    sums = np.zeros(n, np.uint64)
    salts = _salts(d)
    block = max(_BLOCK // max(d, 1), 1)
    for start in range(0, n, block):
        bits = number_bits(rows[start : start + block])
        bits += salts
        np.add.reduce(mixed(bits), axis=1, out=sums[start : start + block])
    return sums


def _sums_of_sparse(rows: Any) -> Hashes:
    """As `_sums_of_numbers` of the dense matrix: the sum for all zeros, plus the changes by the stored entries."""
    rows = rows.copy()
    rows.sum_duplicates()
    salts = _salts(rows.shape[1])
    zeros = mixed(salts.copy())
    changes = mixed(number_bits(rows.data) + salts[rows.indices]) - zeros[rows.indices]
    before = np.append(np.uint64(0), np.cumsum(changes, dtype=np.uint64))
    ends = before[rows.indptr[1:]]
    starts = before[rows.indptr[:-1]]
    return np.asarray(ends - starts + zeros.sum(dtype=np.uint64))
