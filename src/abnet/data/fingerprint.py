"""What a model keeps of its rows: a short name for the whole data set, a filter of them, and a few for explanations.

Copies among the rows are found here too.

The filter is Bloom's: every row that was put in is found again, another one by mistake about once in two thousand
times. It is small enough for a model file, and nobody can read a row from it, only ask for one that is at hand.
"""

import base64
import hashlib
import math
import sys
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "BACKGROUND",
    "BACKGROUND_ROWS",
    "CopiesInStream",
    "FittedRows",
    "MOST_ROWS",
    "background_detail",
    "copies",
    "decimals",
    "drawn_rows",
    "fingerprint",
    "row_filter",
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


_BITS_PER_ROW, _HASHES = 16, 11
_MISTAKEN = 1 / 2000
_MOST_BYTES = 48_000  # 64,000 characters in base 64
MOST_ROWS = 8 * _MOST_BYTES // _BITS_PER_ROW
"""Rows that a filter of at most 64 kB can hold; of more than these none is made."""
_RARE = 1e-3


def row_filter(X: Any, y: NDArray[Any], n_learned: int | None = None) -> dict[str, Any] | None:
    """The filter of prepared rows with their labels, in plain values; None for no row or more than 24,000.

    Parameters
    ----------
    X : array (n, d)
        Rows as the network reads them.
    y : array (n,)
        Numbers of their classes, or signs.
    n_learned : int, optional
        How many of them, from the first, the model learned from; all by default. The others are bound rows of a frozen
        posterior: they may certify it again, but not together with those it learned from.

    Returns
    -------
    dict
        "bits" of the filter in base 64; "rows", their number; "once" and "twice", how many distinct rows occur so
        often; "tables", a name of all rows in any order, and one of those learned from, but for names that another
        sample could well have.

    Examples
    --------
    >>> X, y = np.arange(20.0).reshape(10, 2), np.ones(10)
    >>> made = row_filter(X[:5], y[:5])
    >>> len(made["bits"]), made["rows"], made["once"]
    (16, 5, 5)
    """
    n = len(y) if n_learned is None else n_learned
    if not 0 < n <= MOST_ROWS:
        return None
    everything = _marks(X, y)
    marks = everything[:n]
    bits = np.zeros(-(-_BITS_PER_ROW * n // 8) * 8, dtype=bool)
    bits[_places(marks, len(bits)).ravel()] = True
    often = _counts(marks)
    return {
        "bits": base64.b64encode(np.packbits(bits).tobytes()).decode("ascii"),
        "rows": n,
        "once": int((often == 1).sum()),
        "twice": int((often == 2).sum()),
        "tables": sorted({_name(rows) for rows in (everything, marks) if _log_chance(_counts(rows)) < math.log(_RARE)}),
    }


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
    record : dict
        What `row_filter` made.

    Examples
    --------
    >>> X, y = np.arange(200.0).reshape(100, 2), np.ones(100)
    >>> seen = FittedRows(row_filter(X[:50], y[:50]))
    >>> seen.add(X, y)
    >>> seen.found, seen.n_rows, seen.allowed, seen.reused
    (50, 100, 18, True)
    """

    def __init__(self, record: Any) -> None:
        try:
            content = np.frombuffer(base64.b64decode(record["bits"], validate=True), np.uint8)
            n, once, twice = (int(record[name]) for name in ("rows", "once", "twice"))
            tables = frozenset(map(str, record["tables"]))
        except (KeyError, TypeError, ValueError) as error:
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
    rows = np.asarray(X.toarray() if hasattr(X, "toarray") else X, "<f4") + np.float32(0.0)  # no negative zeros
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
        "rows. The certificate takes every row for an independent draw, and does not hold for copies: fit on the "
        "original rows (in Python, sample_weight can emphasise some)."
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


BACKGROUND = "background"
"""Where the rows for explanations are among the details of a model."""
BACKGROUND_ROWS = 25
"""Their number, at the most."""
BACKGROUND_NUMBERS, FEWEST = 8192, 4
"""Features of all of them together, at the most; of rows so wide that there would be fewer than four, none are kept."""


def background_detail(features: NDArray[Any], *, seed: int = 0) -> dict[str, Any]:
    """Some rows of the first part as an entry for the details of a model; none of very wide rows.

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
    >>> background_detail(np.array([[0.1, 1.0], [0.2, 0.0]], np.float32))
    {'background': {'rows': [[0.1, 1], [0.2, 0]]}}
    >>> len(background_detail(np.zeros((1000, 20)))["background"]["rows"])
    25
    """
    most = min(BACKGROUND_ROWS, BACKGROUND_NUMBERS // max(features.shape[1], 1))
    if most < FEWEST or not len(features):
        return {}
    return {BACKGROUND: {"rows": decimals(drawn_rows(np.asarray(features), most, seed))}}


def drawn_rows(rows: NDArray[Any], most: int, seed: int) -> NDArray[Any]:
    """At most so many rows, drawn at random, in their order."""
    if len(rows) <= most:
        return rows
    return rows[np.sort(np.random.default_rng(seed).choice(len(rows), most, replace=False))]


def decimals(rows: NDArray[Any]) -> list[list[float]]:
    """The shortest decimals that are read as the same float32."""
    return [[int(v) if v == int(v) else float(str(v)) for v in row] for row in np.asarray(rows, np.float32)]
