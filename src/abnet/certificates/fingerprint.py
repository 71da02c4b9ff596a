"""What a model keeps of its rows: a short name for the whole data set, and a few for explanations.

Copies among the rows are found here too.
"""

import hashlib
import sys
import warnings
from collections.abc import Sequence
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
"""Fewer distinct rows say nothing: a table of two yes-or-no columns has four, and each of them often."""


REGULAR = 0.9
"""Share of the rows that occur equally often from which on this is no accident."""


def row_marks(X: NDArray[Any]) -> NDArray[np.uint64]:
    """A number for every row: the same for equal rows, and hardly ever for others.

    The bits of each entry are multiplied by an odd number of its own and added, modulo 2^64, then mixed.

    Examples
    --------
    >>> marks = row_marks(np.array([[1.0, 2.0], [2.0, 1.0], [1.0, 2.0]]))
    >>> marks[0] == marks[2], marks[0] == marks[1]
    (np.True_, np.False_)
    """
    rows = np.ascontiguousarray(X)
    bits = rows.view(np.uint32 if rows.dtype.itemsize == 4 else np.uint64).reshape(len(rows), -1)
    factors = np.random.default_rng(0).integers(0, 2**64, bits.shape[1], np.uint64, endpoint=False) | np.uint64(1)
    marks = np.zeros(len(rows), np.uint64)
    for column, factor in zip(bits.T, factors, strict=True):
        # Mixed before they are added: in a sum of plain multiples, differences of two entries could cancel.
        mixed = (column.astype(np.uint64) + factor) * factor
        marks += (mixed ^ (mixed >> np.uint64(29))) * factor
    return marks


_LOOKS = (4, 32)
"""Columns that are looked at before all of them."""


def _some_marks(X: NDArray[Any], count: int) -> NDArray[np.uint64]:
    """The marks of rows by some columns alone: rows that differ there differ."""
    return row_marks(X[:, np.unique(np.linspace(0, X.shape[1] - 1, count).astype(np.intp))])


def _mostly_single(marks: NDArray[np.uint64]) -> bool:
    """Whether marks show that too many rows occur once for a regular multiplicity.

    A mark that is alone in its bucket is alone; of those that share one nothing is told, which spares a sort.
    """
    bits = len(marks).bit_length() + 1
    buckets = (marks >> np.uint64(64 - bits)).astype(np.intp)
    return bool(np.count_nonzero(np.bincount(buckets) == 1) > (1 - REGULAR) * len(marks))


def copies(X: NDArray[Any]) -> int:
    """How often nearly every row of X occurs, if that is more than once; 1 otherwise.

    An i.i.d. sample may hold any number of repeated rows, but then some occur once, others twice and others thrice. A
    regular multiplicity is the mark of oversampling, augmentation or repeated measurement.

    Examples
    --------
    >>> rows = np.arange(60.0).reshape(20, 3)
    >>> copies(rows), copies(np.repeat(rows, 4, axis=0))
    (1, 4)
    """
    # A class that was declared need not have a row.
    if not len(X) or any(X.shape[1] > 2 * look and _mostly_single(_some_marks(X, look)) for look in _LOOKS):
        return 1
    return _usual_count(row_marks(X))


def _usual_count(marks: NDArray[np.uint64]) -> int:
    """How often nearly every mark occurs; 1 if there are few, or if they occur in many numbers."""
    often = np.unique(marks, return_counts=True)[1]
    if len(often) < FEWEST_DISTINCT:
        return 1
    rows_by_count = np.bincount(often, weights=often)
    usual = int(np.argmax(rows_by_count))
    return usual if rows_by_count[usual] >= REGULAR * len(marks) else 1


def warn_of_copies(X: NDArray[Any], codes: NDArray[Any], classes: NDArray[Any]) -> None:
    """Warn if nearly every row of a class occurs equally often, more than once.

    Parameters
    ----------
    X : array (n, d)
        Prepared rows.
    codes : array (n,)
        Their classes, 0 to K - 1; for two classes -1 may stand for 0.
    classes : array of K labels
        The user's, for the message.
    """
    places, first = np.maximum(codes, 0), _some_marks(X, _LOOKS[0])
    for code, name in enumerate(classes):
        mine = places == code
        often = 1 if _mostly_single(first[mine]) else copies(X[mine])
        if often > 1:
            warnings.warn(_told_of_copies(name, often), stacklevel=2)
            return


def _told_of_copies(name: Any, often: int) -> str:
    return (
        f"Nearly every row of class {name} occurs {often} times: these look like oversampled, augmented or grouped "
        "rows. The certificate assumes that every row is an independent draw, so it does not hold for copies: fit on "
        "the original rows (in Python, sample_weight can emphasise some)."
    )


class CopiesInStream:
    """The same for rows that come in blocks and are not kept: of some distinct rows, drawn by their marks, all copies.

    Examples
    --------
    >>> stream, rows = CopiesInStream(most=100), np.arange(3000.0).reshape(1000, 3)
    >>> for _ in range(4): stream.add(rows, np.zeros(1000, np.intp))
    >>> stream.told(["no"])[:45]
    'Nearly every row of class no occurs 4 times: '
    """

    def __init__(self, most: int = 100_000) -> None:
        self._most, self._limit = most, 2**64 - 1
        self._marks, self._codes = np.empty(0, np.uint64), np.empty(0, np.int64)

    def add(self, X: NDArray[Any], codes: NDArray[Any]) -> None:
        """Take note of prepared rows and their classes."""
        marks = row_marks(X)
        self._marks, self._codes = np.append(self._marks, marks), np.append(self._codes, codes)
        while True:
            kept = self._marks <= np.uint64(self._limit)
            self._marks, self._codes = self._marks[kept], self._codes[kept]
            if len(self._marks) <= self._most or self._limit == 0:
                return
            self._limit //= 2

    def told(self, classes: Sequence[Any]) -> str:
        """What to say of copies; empty if there are none."""
        found = {name: _usual_count(self._marks[self._codes == code]) for code, name in enumerate(classes)}
        return next((_told_of_copies(name, often) for name, often in found.items() if often > 1), "")


BACKGROUND_ROWS = 25
"""Rows for explanations, at the most."""
BACKGROUND_NUMBERS, FEWEST = 8192, 4
"""Features of all of them together, at the most; of rows so wide that there would be fewer than four, none are kept."""


def background_rows(features: NDArray[Any], *, seed: int = 0) -> tuple[tuple[float, ...], ...]:
    """Some rows of the first part for the card of a model, to explain others by; none of very wide rows.

    They are rows of the training table: who has the model file can read their cells back from them.
    `abnet.explanation.without_background` takes them out.

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
    """At most so many rows, drawn at random, in their order."""
    if len(rows) <= most:
        return rows
    return rows[np.sort(np.random.default_rng(seed).choice(len(rows), most, replace=False))]


def decimals(rows: NDArray[Any]) -> list[list[float]]:
    """The shortest decimals that are read as the same float32."""
    return [[int(v) if v == int(v) else float(str(v)) for v in row] for row in np.asarray(rows, np.float32)]
