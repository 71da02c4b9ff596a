"""What a model stores about its rows: a fingerprint of the data set, and a few background rows for explanations.

The file also detects duplicated rows.
"""

import hashlib
import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "BACKGROUND_ROWS",
    "CopiesInStream",
    "background_rows",
    "copies",
    "decimals",
    "drawn_rows",
    "fingerprint",
    "row_marks",
    "unlikely_copies",
    "warn_of_copies",
]


def fingerprint(X: Any, y: Any) -> str:
    """SHA-256, in hexadecimal, of the features and labels with their types and shapes.

    Equal data give equal fingerprints on every machine; one changed cell, type, shape or column name changes it.
    Bytes are hashed as they are, so that 70,000 images take a fraction of a second.

    Parameters
    ----------
    X : array, sparse array, or frame of pandas or Polars (n, d)
    y : array-like (n,)
        Labels of any type.

    Examples
    --------
    >>> a = fingerprint(np.zeros((2, 3), np.float32), [0, 1])
    >>> a == fingerprint(np.zeros((2, 3), np.float32), np.array([0, 1]))
    True
    >>> a == fingerprint(np.zeros((3, 2), np.float32), [0, 1])
    False
    """
    digest = hashlib.sha256(b"abnet data 1")
    _add(digest, X)
    _add(digest, y)
    return digest.hexdigest()


def _add(digest: Any, values: Any) -> None:
    pandas, polars, sparse = (sys.modules.get(name) for name in ("pandas", "polars", "scipy.sparse"))
    if pandas is not None and isinstance(values, pandas.DataFrame):
        digest.update(b"frame %d" % values.shape[1])
        for position, name in enumerate(values.columns):
            _add_text(digest, [str(name)])
            _add_array(digest, values.iloc[:, position].to_numpy())
    elif polars is not None and isinstance(values, polars.DataFrame):
        digest.update(b"frame %d" % values.width)
        for column in values.get_columns():
            _add_text(digest, [column.name])
            _add_series(digest, column)
    elif sparse is not None and sparse.issparse(values):
        rows = sparse.csr_array(values, copy=True)
        rows.sum_duplicates()  # one order of the entries, so that equal matrices hash equally
        digest.update(b"sparse %d %d" % rows.shape)
        for part in (rows.data, rows.indices.astype(np.int64), rows.indptr.astype(np.int64)):
            _add_array(digest, part)
    else:
        _add_array(digest, np.asarray(values))


def _add_series(digest: Any, column: Any) -> None:
    """As `_add_array` of the same text, without a Python object per cell."""
    if str(column.dtype) != "String" or column.null_count():
        _add_array(digest, column.to_numpy())
        return
    digest.update(f"text {(len(column),)}".encode())
    digest.update(column.str.len_bytes().to_numpy().astype("<i8").tobytes())
    digest.update((column.str.join("").item() or "").encode())


def _add_array(digest: Any, array: np.ndarray) -> None:
    if array.dtype.kind in "OUST":
        digest.update(f"text {array.shape}".encode())
        _add_text(digest, array.ravel().tolist())
        return
    array = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
    digest.update(f"{array.dtype.str} {array.shape}".encode())
    digest.update(array.reshape(-1).view(np.uint8).data)


def _add_text(digest: Any, values: list[Any]) -> None:
    # Lengths go first, so that ["ab", "c"] and ["a", "bc"] differ.
    encoded = [str(value).encode("utf-8", "surrogatepass") for value in values]
    digest.update(np.array([len(text) for text in encoded], "<i8").tobytes())
    digest.update(b"".join(encoded))


FEWEST_DISTINCT = 10
"""With fewer distinct rows, repetition means nothing: a table of two boolean columns has only four distinct rows."""


REGULAR = 0.9
"""If at least this share of the rows occurs equally often, this is not by chance."""


def row_marks(X: NDArray[Any]) -> NDArray[np.uint64]:
    """A 64-bit hash of every row.

    The bits of each entry are multiplied by an odd number of its column and added modulo 2^64, then mixed.

    Examples
    --------
    >>> marks = row_marks(np.array([[1.0, 2.0], [2.0, 1.0], [1.0, 2.0]]))
    >>> marks[0] == marks[2], marks[0] == marks[1]
    (np.True_, np.False_)
    """
    marks = np.zeros(len(X), np.uint64)
    for part in _column_marks(X):
        marks += part
    return marks


def _column_marks(X: NDArray[Any]) -> Iterator[NDArray[np.uint64]]:
    """What every column adds to the hashes of the rows."""
    rows = np.ascontiguousarray(X)
    bits = rows.view(np.uint32 if rows.dtype.itemsize == 4 else np.uint64).reshape(len(rows), -1)
    factors = np.random.default_rng(0).integers(0, 2**64, bits.shape[1], np.uint64, endpoint=False) | np.uint64(1)
    for column, factor in zip(bits.T, factors, strict=True):
        # Mixed before they are added: in a sum of plain multiples, differences of two entries could cancel.
        mixed = (column.astype(np.uint64) + factor) * factor
        yield (mixed ^ (mixed >> np.uint64(29))) * factor


_LOOKS = (4, 32)
"""Number of columns that are checked before all columns are."""


def _some_marks(X: NDArray[Any], count: int) -> NDArray[np.uint64]:
    """Hashes of the rows by some columns only: if they differ, the rows differ."""
    return row_marks(X[:, np.unique(np.linspace(0, X.shape[1] - 1, count).astype(np.intp))])


def _mostly_single(marks: NDArray[np.uint64]) -> bool:
    """Whether so many rows occur only once that they cannot be regular copies.

    A hash that is alone in its bucket is unique. Hashes that share a bucket are not compared, which avoids a sort.
    """
    bits = len(marks).bit_length() + 1
    buckets = (marks >> np.uint64(64 - bits)).astype(np.intp)
    return bool(np.count_nonzero(np.bincount(buckets) == 1) > (1 - REGULAR) * len(marks))


def copies(X: NDArray[Any]) -> int:
    """The number of times that nearly every row of X occurs; 1 if there is no such regular number.

    An i.i.d. sample may contain repeated rows, but then some occur once, others twice or three times. If nearly all
    rows occur equally often, this indicates oversampling, augmentation or repeated measurements.

    Examples
    --------
    >>> rows = np.arange(60.0).reshape(20, 3)
    >>> copies(rows), copies(np.repeat(rows, 4, axis=0))
    (1, 4)
    """
    # A declared class may have no rows.
    if not len(X) or any(X.shape[1] > 2 * look and _mostly_single(_some_marks(X, look)) for look in _LOOKS):
        return 1
    return _usual_count(row_marks(X))


def _usual_count(marks: NDArray[np.uint64]) -> int:
    """The number of times that nearly every hash occurs; 1 if there are few hashes, or no such number."""
    often = np.unique(marks, return_counts=True)[1]
    if len(often) < FEWEST_DISTINCT:
        return 1
    rows_by_count = np.bincount(often, weights=often)
    usual = int(np.argmax(rows_by_count))
    return usual if rows_by_count[usual] >= REGULAR * len(marks) else 1


MANY, FEWEST_COPIES = 0.1, 20
"""Share and number of rows that are copies of others from which on there is a warning: in real tables of measurements
up to 9.7% of the rows are."""
BY_CHANCE = 10
"""Rows that agree in all columns but one are rarer than copies by this factor where copies are not chance."""
_DROPPED = 30
"""Columns that are left out, one after the other, to see how often rows agree in the others."""


def unlikely_copies(X: NDArray[Any], codes: NDArray[Any], owners: NDArray[np.intp]) -> int:
    """The number of rows that repeat another row with its label, if these are many and not likely by chance; else 0.

    Rows of a few categories repeat each other by chance. Then rows that differ only in one column are common, too. If
    they are rare among the distinct rows, the repeated rows were copied.

    Parameters
    ----------
    X : array (n, d)
        Prepared rows.
    codes : array (n,)
        Their classes.
    owners : array (d,)
        Which column of the table each feature comes from.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> measured, codes = rng.normal(size=(60, 4)), np.zeros(100, int)
    >>> unlikely_copies(np.vstack([measured, measured[:40]]), codes, np.arange(4))
    40
    >>> unlikely_copies(rng.integers(0, 3, (100, 4)) + 0.0, codes, np.arange(4))
    0
    """
    labels = _label_marks(codes)
    least = max(MANY * len(X), FEWEST_COPIES)
    if any(_repeats(_some_marks(X, look) + labels) < least for look in _LOOKS if X.shape[1] > 2 * look):
        return 0
    marks = row_marks(X) + labels
    first = np.unique(marks, return_index=True)[1]
    found = len(X) - len(first)
    if found < least or len(first) < FEWEST_DISTINCT:
        return 0
    without = _marks_without(X[first], marks[first], owners, _dropped_columns(owners))
    agree = np.mean([_repeats(rest) for rest in without.values()]) / len(first)
    return found if BY_CHANCE * agree <= found / len(X) else 0


def _label_marks(codes: NDArray[Any]) -> NDArray[np.uint64]:
    """What the label adds to the hash of a row."""
    return codes.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)


def _dropped_columns(owners: NDArray[np.intp]) -> list[int]:
    """The columns that are left out, one after the other."""
    columns = np.unique(owners)
    places = np.unique(np.linspace(0, len(columns) - 1, _DROPPED).astype(np.intp))
    return [int(column) for column in columns[places]]


def _marks_without(
    X: NDArray[Any], marks: NDArray[np.uint64], owners: NDArray[np.intp], columns: Iterable[int]
) -> dict[int, NDArray[np.uint64]]:
    """The hashes of the rows without each of these columns."""
    without = dict.fromkeys(columns, marks)
    for owner, part in zip(owners.tolist(), _column_marks(X), strict=True):
        if owner in without:
            without[owner] = without[owner] - part
    return without


def _repeats(marks: NDArray[np.uint64]) -> int:
    """How many hashes are equal to one before them."""
    return len(marks) - len(np.unique(marks))


def warn_of_copies(
    X: NDArray[Any], codes: NDArray[Any], classes: NDArray[Any], owners: NDArray[np.intp] | None = None
) -> None:
    """Warn if nearly every row of a class occurs equally often, more than once, or if many rows are copies of others.

    Parameters
    ----------
    X : array (n, d)
        Prepared rows.
    codes : array (n,)
        Their classes, 0 to K - 1; for two classes -1 may stand for 0.
    classes : array of K labels
        The user's, for the message.
    owners : array (d,), optional
        Which column of the table each feature comes from; None for features of another library, which may be equal for
        rows that differ.
    """
    places, first = np.maximum(codes, 0), _some_marks(X, _LOOKS[0])
    for code, name in enumerate(classes):
        mine = places == code
        often = 1 if _mostly_single(first[mine]) else copies(X[mine])
        if often > 1:
            warnings.warn(_regular_copies_message(name, often), stacklevel=2)
            return
    if owners is None:
        return
    found = unlikely_copies(X, codes, owners)
    if found:
        warnings.warn(_unlikely_copies_message(f"{found:,}", len(X), found / len(X)), stacklevel=2)


def _unlikely_copies_message(found: str, n_rows: int, share: float) -> str:
    return (
        f"{found} of {n_rows:,} rows ({share:.0%}) are copies of other rows in all columns that the model uses, label "
        "included, while rows that differ in one column only are rare. The certificate assumes that every row is an "
        "independent draw, which is doubtful here. If a file was joined twice or rows were sampled with replacement, "
        "remove the copies; if rows have the same origin, put them into one group."
    )


def _regular_copies_message(name: Any, often: int) -> str:
    return (
        f"Nearly every row of class {name} occurs {often} times: these look like oversampled, augmented or grouped "
        "rows. The certificate assumes that every row is an independent draw, so it does not hold for copies: fit on "
        "the original rows (in Python, sample_weight can emphasise some)."
    )


class _HashSample:
    """The rows whose hash lies below a limit, which is halved whenever these are too many.

    Equal hashes are in the sample together or not at all.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._limit = 2**64 - 1
        self.hashes = np.empty(0, np.uint64)
        self.values = np.empty(0, np.uint64)

    def add(self, hashes: NDArray[np.uint64], values: NDArray[np.uint64]) -> None:
        """Add rows with a value each."""
        below = hashes <= np.uint64(self._limit)
        self.hashes = np.append(self.hashes, hashes[below])
        self.values = np.append(self.values, values[below])
        while len(self.hashes) > self._most and self._limit > 0:
            self._limit //= 2
            below = self.hashes <= np.uint64(self._limit)
            self.hashes = self.hashes[below]
            self.values = self.values[below]


class CopiesInStream:
    """The checks of `warn_of_copies` for rows that come in blocks, on samples of the rows by their hashes.

    Parameters
    ----------
    owners : array (d,) or None
        As for `warn_of_copies`.
    most : int
        Maximum number of rows in the sample of rows.

    Examples
    --------
    >>> stream, rows = CopiesInStream(most=100), np.arange(3000.0).reshape(1000, 3)
    >>> for _ in range(4): stream.add(rows, np.zeros(1000, np.intp))
    >>> stream.message(["no"])[:45]
    'Nearly every row of class no occurs 4 times: '
    """

    def __init__(self, owners: NDArray[np.intp] | None = None, most: int = 100_000) -> None:
        self._n_rows = 0
        self._rows = _HashSample(most)
        self._without: dict[int, _HashSample] = {}
        self._owners = owners
        if owners is not None:
            self._without = {column: _HashSample(_MOST_WITHOUT) for column in _dropped_columns(owners)}

    def add(self, X: NDArray[Any], codes: NDArray[Any]) -> None:
        """Add a block of prepared rows and their classes."""
        self._n_rows += len(X)
        marks = row_marks(X)
        self._rows.add(marks, codes.astype(np.uint64))
        if self._owners is None:
            return
        marks = marks + _label_marks(codes)
        for column, rest in _marks_without(X, marks, self._owners, self._without).items():
            self._without[column].add(rest, marks)

    def message(self, classes: Sequence[Any]) -> str:
        """The warning about copies; empty if there are none."""
        marks = self._rows.hashes
        codes = self._rows.values
        for code, name in enumerate(classes):
            often = _usual_count(marks[codes == np.uint64(code)])
            if often > 1:
                return _regular_copies_message(name, often)
        share = self._share_of_unlikely_copies()
        if not share:
            return ""
        return _unlikely_copies_message(f"About {round(share * self._n_rows):,}", self._n_rows, share)

    def _share_of_unlikely_copies(self) -> float:
        """The share of the rows that repeat another row, if it is large and not likely by chance; else 0."""
        if self._owners is None or not self._n_rows:
            return 0.0
        marks = self._rows.hashes + _label_marks(self._rows.values)
        n_distinct = len(np.unique(marks))
        if n_distinct < FEWEST_DISTINCT:
            return 0.0
        share = _repeats(marks) / len(marks)
        if share < MANY or share * self._n_rows < FEWEST_COPIES:
            return 0.0
        agreeing = np.mean([_share_that_agrees(sample) for sample in self._without.values()])
        if BY_CHANCE * agreeing > share:
            return 0.0
        return share


_MOST_WITHOUT = 10_000
"""Maximum number of rows in the sample of rows that agree in all columns but one."""


def _share_that_agrees(sample: _HashSample) -> float:
    """The share of the distinct rows that agree with one before them in all columns but one."""
    distinct, first = np.unique(sample.values, return_index=True)
    if not len(distinct):
        return 0.0
    return _repeats(sample.hashes[first]) / len(distinct)


BACKGROUND_ROWS = 25
"""Maximum number of background rows for explanations."""
BACKGROUND_NUMBERS, FEWEST = 8192, 4
"""Maximum number of features of all background rows together; if fewer than four rows would fit, none are kept."""


def background_rows(features: NDArray[Any], *, seed: int = 0) -> tuple[tuple[float, ...], ...]:
    """A few rows of the first part that the model's card keeps as background for explanations; none of very wide rows.

    They are rows of the training table: anyone with the model file can recover their cells.
    `abnet.explanation.without_background` removes them.

    Parameters
    ----------
    features : array (n, d)
        Prepared rows before their codes.
    seed : int
        Of the draw.

    Examples
    --------
    >>> background_rows(np.array([[0.1, 1.0], [0.2, 0.0]], np.float32))
    ((0.1, 1), (0.2, 0))
    >>> len(background_rows(np.zeros((1000, 20))))
    25
    """
    most = min(BACKGROUND_ROWS, BACKGROUND_NUMBERS // max(features.shape[1], 1))
    if most < FEWEST or not len(features):
        return ()
    return tuple(map(tuple, decimals(drawn_rows(np.asarray(features), most, seed))))


def drawn_rows(rows: NDArray[Any], most: int, seed: int) -> NDArray[Any]:
    """At most `most` rows, drawn at random, in their original order."""
    if len(rows) <= most:
        return rows
    return rows[np.sort(np.random.default_rng(seed).choice(len(rows), most, replace=False))]


def decimals(rows: NDArray[Any]) -> list[list[float]]:
    """The shortest decimals that read back as the same float32."""
    return [[int(v) if v == int(v) else float(str(v)) for v in row] for row in np.asarray(rows, np.float32)]
