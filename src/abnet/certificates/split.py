"""Split rows into training rows and bound rows, in the order of a keyed hash of their content.

A certificate needs an order of the rows that does not depend on the data-generating process. Row positions are not such
an order: a file may be sorted by label, and a permutation with a fixed seed selects the same positions in every sample.
Therefore each row gets a hash of its cells and its label, and its position in the order follows from a hash of

- the key: the seed, the number of rows, and the sum of the hashes of all rows,
- the row's own hash,
- the number of equal rows before it.

**The same rows and the same seed give the same order, in any order of the file; another sample gets another key.**
Without a seed, one is drawn (`drawn_seed`) and stored with the model. Passing it as the seed reproduces the order.

There is one exception to the second half: a table with a constant feature and two labels is described by two counts,
and a given seed splits all tables with these counts alike. A promise then holds on average over seeds, so it is exact
if the seed is drawn; with a fixed seed it may fail in more than a share δ of the samples (`warn_of_few_rows`). The
order of the rows could not be added to the key, because files may be sorted.

Equal cells have equal hashes in arrays, sparse matrices and frames of pandas or Polars. Numbers are hashed by their
value in float64 (integers exactly), so rows that differ have different hashes. An array of decimals and its copy in
float32 are different tables. Text is hashed by its UTF-8 bytes, or by its value if it is a number, as in a CSV
file. None, NaN, null and empty text have the same hash. Dates and times are hashed in microseconds. Columns are
identified by position, not by name. Hashes do not depend on the process, the machine or the version of a library.
"""

import hashlib
import math
import numbers
import secrets
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abnet.certificates.fitted_rows import log_chance
from abnet.utils.errors import Parameter, ParameterError
from abnet.utils.groups import number_groups
from abnet.utils.wording import number_of

__all__ = [
    "RandomState",
    "Split",
    "bet_keys",
    "cell_hashes",
    "drawn_seed",
    "row_hashes",
    "row_order",
    "warn_of_few_rows",
    "with_labels",
]

RandomState = int | np.integer | np.random.Generator | np.random.RandomState | None
"""A seed as in scikit-learn; None draws one."""
Hashes = NDArray[np.uint64]
Places = NDArray[np.intp]

_STEP = np.uint64(0x9E3779B97F4A7C15)
_BLOCK = 2**15  # numbers mixed at a time, so that they stay in the cache
_TEXT_ROWS = 2**17  # texts joined at a time
_LONG = 256  # texts of at least this many bytes are hashed separately
_NUMBER = r"^-?[0-9]{1,15}(\.[0-9]+)?$"
_MISSING = np.uint64(0x7FF8000000000000)  # the bits of NaN


@dataclass(frozen=True)
class Split:
    """Indices of the training rows and of the bound rows, each in the keyed order.

    Betting bounds read the bound rows in the order of `counted`.

    Attributes
    ----------
    first : int array
        Indices of the first part: the training rows.
    counted : int array
        Indices of the bound rows.

    Examples
    --------
    >>> X, y = np.arange(20.0).reshape(10, 2), np.arange(10) < 5
    >>> split = Split.of(row_hashes(X, y), 0.7, seed=0)
    >>> len(split.first), len(split.counted)
    (7, 3)
    >>> back = Split.of(row_hashes(X[::-1], y[::-1]), 0.7, seed=0)
    >>> np.array_equal(X[::-1][back.first], X[split.first])
    True
    """

    first: Places
    counted: Places

    @classmethod
    def of(cls, hashes: Hashes, fraction: float, seed: int, groups: ArrayLike | None = None) -> "Split":
        """The first `fraction` of the rows in the keyed order, and the rest; each part has at least one row.

        Parameters
        ----------
        hashes : array (n,)
            From `row_hashes`.
        fraction : float
            Fraction of the rows, or of the groups, in the first part.
        seed : int
        groups : array (n,), optional
            Group of each row: whole groups are on one side, ordered by a hash of their content.
        """
        order = row_order(hashes, seed, groups)
        ends = np.arange(1, len(order) + 1)  # where each unit ends: a row, or a group
        if groups is not None:
            numbers = number_groups(groups, len(order))[order]
            ends = np.append(np.flatnonzero(numbers[1:] != numbers[:-1]) + 1, len(order))
        if len(ends) < 2:
            found = number_of(len(order) and len(ends), "row" if groups is None else "group")
            raise ValueError(f"{found} cannot be split into two parts: at least 2 are needed.")
        size = min(max(round(fraction * len(ends)), 1), len(ends) - 1)
        end = int(ends[size - 1])
        return cls(order[:end], order[end:])


def drawn_seed(random_state: RandomState) -> int:
    """The seed of a fit: the given integer, one drawn from a generator, or a fresh one for None.

    Examples
    --------
    >>> drawn_seed(7), 0 <= drawn_seed(None) < 2**32
    (7, True)
    """
    if random_state is None:
        return secrets.randbits(32)  # as scikit-learn takes them
    if isinstance(random_state, numbers.Integral):
        if random_state < 0:
            name = Parameter("random_state")
            raise ParameterError("{} must be a whole number of at least 0; got {}.", name, random_state)
        return int(random_state)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**32))
    from sklearn.utils import check_random_state

    return int(check_random_state(random_state).randint(2**31))


def row_order(hashes: Hashes, seed: int = 0, groups: ArrayLike | None = None) -> Places:
    """Indices of all rows in the keyed order; rows of a group are neighbours.

    Temporarily takes up to 40 bytes per row.

    Parameters
    ----------
    hashes : array (n,)
        From `row_hashes`.
    seed : int
    groups : array (n,), optional

    Examples
    --------
    >>> row_order(row_hashes(np.array([[1.0], [2.0], [2.0]])))
    array([0, 2, 1])
    """
    key = _key(hashes, seed)
    if groups is None:
        return np.argsort(_values(hashes, key))
    where = number_groups(groups, len(hashes))
    contents = np.zeros(int(where.max(initial=-1)) + 1, np.uint64)
    np.add.at(contents, where, _mixed(hashes.copy()))
    return np.lexsort((_values(hashes, key), _values(contents, key)[where]))


def bet_keys(order: Places) -> Hashes:
    """Position of each row in an order from `row_order` or `Split`; `observe` takes these as keys.

    Examples
    --------
    >>> bet_keys(np.array([2, 0, 1])).tolist()
    [1, 2, 0]
    """
    keys = np.empty(len(order), np.uint64)
    keys[order] = np.arange(len(order), dtype=np.uint64)
    return keys


def _key(hashes: Hashes, seed: int) -> tuple[np.uint64, np.uint64]:
    total = int(_mixed(hashes.copy()).sum(dtype=np.uint64))
    digest = hashlib.blake2b(f"{seed} {len(hashes)} {total}".encode(), digest_size=16).digest()
    first, second = np.frombuffer(digest, "<u8")
    return first, second


def _values(hashes: Hashes, key: tuple[np.uint64, np.uint64]) -> Hashes:
    """The values that rows are sorted by."""
    values = _mixed(hashes + key[0])
    values += _repeats(hashes) * _STEP
    values += key[1]
    return _mixed(values)


def _repeats(hashes: Hashes) -> Hashes:
    """Number of equal hashes before each hash.

    A copy is sorted first, so that only hashes that occur more than once need further work.
    """
    before = np.zeros(len(hashes), np.uint64)
    in_order = np.sort(hashes)
    twice = in_order[1:][in_order[1:] == in_order[:-1]]
    if not len(twice):
        return before
    twice = twice[np.append(True, twice[1:] != twice[:-1])]
    found = twice[np.minimum(np.searchsorted(twice, hashes), len(twice) - 1)] == hashes
    rows = np.flatnonzero(found)
    together = rows[np.argsort(hashes[rows], kind="stable")]
    same = hashes[together]
    starts = np.flatnonzero(np.append(True, same[1:] != same[:-1]))
    lengths = np.diff(np.append(starts, len(same)))
    before[together] = np.arange(len(same)) - np.repeat(starts, lengths)
    return before


_LOOKED_AT = 10_000
_FEWEST = 20
_FEW_TABLES = 1 / 300


def warn_of_few_rows(hashes: Hashes) -> None:
    """Warn if rows repeat so much that other samples are often the same table, which a given seed splits alike.

    If a table has probability p, a seed chooses among about 1/p splits. The share of samples in which a bound at δ
    fails then varies from seed to seed by about ``sqrt(δ p)``: with p = 1/300, by 1% at δ = 5%.

    Parameters
    ----------
    hashes : array (n,)
        Of the training rows, in the keyed order.
    """
    often = np.unique(hashes[:_LOOKED_AT], return_counts=True)[1]
    # Where most rows occur once, new rows have values that were not seen yet; a bound from very few rows rarely fails.
    if often.sum() < max(2 * len(often), _FEWEST) or log_chance(often) < math.log(_FEW_TABLES):
        return
    warnings.warn(
        f"The training rows hold only {number_of(len(often), 'different row')}, labels included. A given seed splits "
        "other samples with the same counts in the same way, so the stated confidence is an average over seeds. It is "
        "exact if the seed was drawn, which is the default; with a seed that was chosen, the certificate may be false "
        "more often.",
        stacklevel=2,
    )


# Hashes of rows


def row_hashes(X: Any, y: Any = None) -> Hashes:
    """A 64-bit hash of the cells and the label of every row; the module docstring says which cells count as equal.

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
    hashes = cell_hashes(X)
    if y is not None:
        return with_labels(hashes, y)
    return _mixed(hashes)


def with_labels(hashes: Hashes, y: Any) -> Hashes:
    """The hashes of rows with their labels, from the `cell_hashes` of the rows; these are changed in place.

    Parameters
    ----------
    hashes : array (n,)
    y : array-like (n,)

    Examples
    --------
    >>> X, y = np.eye(2), np.array([-1.0, 1.0])
    >>> np.array_equal(with_labels(cell_hashes(X), y), row_hashes(X, y))
    True
    """
    labels = _cells(y if hasattr(y, "dtype") else np.asarray(y, None if np.ndim(y) else object))
    if len(labels) != len(hashes):
        raise ValueError(f"X has {len(hashes)} rows, but there are {len(labels)} labels.")
    hashes += _mixed(labels + ~_STEP)
    return _mixed(hashes)


def cell_hashes(X: Any) -> Hashes:
    """The sum of the hashes of each row's cells, to which `with_labels` adds the labels once they are known."""
    if hasattr(X, "tocsr"):
        return _sparse_rows(X.tocsr())
    if isinstance(X, Mapping):
        return _columns(list(X.values()))
    if hasattr(X, "get_columns"):
        return _columns(X.get_columns())
    if hasattr(X, "iloc"):
        return _columns([X.iloc[:, place] for place in range(X.shape[1])] if X.ndim == 2 else [X])
    rows = X if isinstance(X, np.ndarray) else _array(X)
    rows = rows.reshape(len(rows), -1)
    if rows.dtype.kind in "biuf":
        return _number_rows(rows)
    return _columns(list(rows.T)) if rows.shape[1] else np.zeros(len(rows), np.uint64)


def _array(X: Any) -> NDArray[Any]:
    """Rows in a list as an array; mixed numbers and text keep their types."""
    try:
        array = np.asarray(X)
    except ValueError:  # rows of several lengths
        array = np.empty(len(X), dtype=object)
        array[:] = X
    return np.asarray(X, dtype=object) if array.dtype.kind == "U" else array


def _salts(count: int) -> Hashes:
    """A number for each column."""
    return _mixed(np.arange(1, count + 1, dtype=np.uint64) * _STEP)


def _columns(columns: list[Any]) -> Hashes:
    total: Hashes | None = None
    for column, salt in zip(columns, _salts(len(columns)), strict=True):
        given = _mixed(_cells(column) + salt)
        total = given if total is None else np.add(total, given, out=total)
    return np.zeros(0, np.uint64) if total is None else total


def _number_rows(rows: NDArray[Any]) -> Hashes:
    """As `_columns`, for a matrix of numbers, in blocks."""
    n, d = rows.shape
    out, salts, step = np.zeros(n, np.uint64), _salts(d), max(_BLOCK // max(d, 1), 1)
    for start in range(0, n, step):
        bits = _number_bits(rows[start : start + step])
        bits += salts
        np.add.reduce(_mixed(bits), axis=1, out=out[start : start + step])
    return out


def _sparse_rows(rows: Any) -> Hashes:
    """As `_number_rows` of the dense matrix: the sum for all zeros, plus the changes by the stored entries."""
    rows = rows.copy()
    rows.sum_duplicates()
    salts = _salts(rows.shape[1])
    zeros = _mixed(salts.copy())
    changes = _mixed(_number_bits(rows.data) + salts[rows.indices]) - zeros[rows.indices]
    before = np.append(np.uint64(0), np.cumsum(changes, dtype=np.uint64))
    return np.asarray(before[rows.indptr[1:]] - before[rows.indptr[:-1]] + zeros.sum(dtype=np.uint64))


def _mixed(x: Hashes) -> Hashes:
    """Mix the bits of each number (the last steps of splitmix64), in place."""
    x ^= x >> np.uint64(30)
    x *= np.uint64(0xBF58476D1CE4E5B9)
    x ^= x >> np.uint64(27)
    x *= np.uint64(0x94D049BB133111EB)
    x ^= x >> np.uint64(31)
    return x


# Hashes of cells


def _cells(column: Any) -> Hashes:
    """Bits of every cell of a column."""
    if type(column).__module__.partition(".")[0] == "polars":
        return _polars_cells(column)
    name = str(getattr(column, "dtype", ""))
    if hasattr(column, "to_numpy") and name.startswith(("Int", "UInt", "Float", "boolean")):
        column = column.to_numpy(dtype=np.float64, na_value=np.nan)
    values = np.asarray(column)
    if values.dtype.kind == "M":
        times = values.astype("datetime64[us]")
        return np.where(np.isnat(times), _MISSING, _number_bits(times.astype(np.int64)))
    if values.dtype.kind in "biuf":
        return _number_bits(values)
    return _objects(values.tolist())


def _polars_cells(column: Any) -> Hashes:
    import polars as pl

    kind = column.dtype
    if kind == pl.String:
        return _texts(column)
    if kind in (pl.Categorical, pl.Enum):
        return _texts(column.cast(pl.String))
    if kind in (pl.Date, pl.Datetime):
        column = column.cast(pl.Datetime("us")).to_physical()
    elif kind.is_temporal():
        column = column.to_physical()
    elif not (kind.is_numeric() or kind in (pl.Boolean, pl.Null)):
        return _objects(column.to_list())
    if column.null_count() or kind.is_decimal():
        bits = _number_bits(column.cast(pl.Float64).to_numpy())
        return np.where(column.is_null().to_numpy(), _MISSING, bits)
    return _number_bits(column.to_numpy())


def _number_bits(values: NDArray[Any]) -> Hashes:
    """Bits of numbers as float64; integers from 2^53 on have their own."""
    numbers = values.astype(np.float64)
    numbers += 0.0  # no negative zeros
    bits = numbers.view(np.uint64)
    if values.dtype.kind == "f":
        bits[np.isnan(numbers)] = _MISSING
    elif values.dtype.itemsize == 8:
        large = np.abs(numbers) >= 2.0**53
        bits[large] = values[large].astype(np.uint64)
    return bits


def _objects(values: list[Any]) -> Hashes:
    """Cells of any kind: all text, or each by itself."""
    import polars as pl

    try:
        return _texts(pl.Series(values, dtype=pl.String, strict=True))
    except (TypeError, ValueError, pl.exceptions.PolarsError):
        pass
    plain = [_plain(value) for value in values]
    text = np.array([isinstance(value, str) for value in plain], np.bool_)
    bits = np.empty(len(plain), np.uint64)
    bits[text] = _texts(pl.Series([value for value in plain if isinstance(value, str)], dtype=pl.String))
    bits[~text] = _number_bits(np.array([value for value in plain if not isinstance(value, str)], np.float64))
    return bits


def _plain(value: Any) -> str | float:
    """A cell as a text or as a number, NaN where there is none."""
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return float("nan")
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return str(value)


def _texts(column: Any) -> Hashes:
    """Bits of texts in a series of Polars, of those that write a number the bits of the number."""
    bits = np.empty(len(column), np.uint64)
    for at in range(0, len(column), _TEXT_ROWS):
        some, out = column.slice(at, _TEXT_ROWS), bits[at : at + _TEXT_ROWS]
        written = some.str.contains(_NUMBER).fill_null(False)
        number = written.to_numpy()
        if number.any():
            out[number] = _number_bits(some.filter(written).cast(float).to_numpy())
        if not number.all():
            out[~number] = _some_texts(some.filter(~written))
    return bits


def _some_texts(column: Any) -> Hashes:
    """Eight bytes of every text at a time; Polars' own hash is another one in every version."""
    content = (column.str.join("").item() or "").encode()
    lengths = column.str.len_bytes().fill_null(0).to_numpy().astype(np.int64)
    ends = np.cumsum(lengths)
    starts = ends - lengths
    padded = np.frombuffer(content + bytes(8), np.uint8)
    words = np.ndarray(len(content) + 1, "<u8", padded, strides=(1,))  # the eight bytes from each place on
    hashes = _mixed(lengths.astype(np.uint64) + _STEP)
    long = np.flatnonzero(lengths >= _LONG)
    rows = np.flatnonzero((lengths > 0) & (lengths < _LONG))
    at = 0
    while len(rows):
        left = lengths[rows] - at
        taken = words[starts[rows] + at].astype(np.uint64)
        unused = np.maximum(8 - left, 0).astype(np.uint64) * np.uint64(8)
        hashes[rows] = _mixed(hashes[rows] ^ ((taken << unused) >> unused))
        rows, at = rows[left > 8], at + 8
    for row in long.tolist():
        digest = hashlib.blake2b(content[starts[row] : ends[row]], digest_size=8).digest()
        hashes[row] = np.frombuffer(digest, "<u8")[0]
    hashes[lengths == 0] = _MISSING
    return hashes
