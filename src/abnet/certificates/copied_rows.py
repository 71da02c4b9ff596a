"""Warn of rows that are copies of other rows: a certificate assumes that every row is an independent draw."""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.certificates.cell_hashing import STEP, Hashes, mixed
from abnet.certificates.row_hashing import cell_hashes, row_hashes

__all__ = ["CopiesInStream", "regular_copies", "unlikely_copies", "warn_of_copies", "warn_of_regular_copies"]

_FEWEST_DISTINCT = 10
"""With fewer distinct rows, repetition means nothing: a table of two boolean columns has only four distinct rows."""
_REGULAR = 0.9
"""If at least this share of the rows occurs equally often, this is not by chance."""
_FIRST_COLUMNS = (4, 32)
"""Number of columns that are compared before all columns are: rows that differ in these are no copies."""

_MANY = 0.1
_FEWEST_COPIES = 20
"""Share and number of copied rows for a warning: up to 9.7% of the rows of real tables of measurements repeat."""
_BY_CHANCE = 10
"""Repetition is not by chance if rows that agree in all columns but one are rarer than copies by this factor."""
_MOST_LEFT_OUT = 30
"""Columns that are left out, one at a time, to count the rows that agree in the others."""


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
    class_of = np.maximum(codes, 0)
    first_hashes = _hashes_of_some_columns(X, _FIRST_COLUMNS[0])
    for code, name in enumerate(classes):
        rows = class_of == code
        if _mostly_distinct(first_hashes[rows]):
            continue
        n_copies = regular_copies(X[rows])
        if n_copies > 1:
            warnings.warn(_regular_copies_text(name, n_copies), stacklevel=2)
            return
    if owners is None:
        return
    found = unlikely_copies(X, codes, owners)
    if found:
        warnings.warn(_unlikely_copies_text(f"{found:,}", len(X), found / len(X)), stacklevel=2)


def warn_of_regular_copies(hashes: Hashes, labels: Sequence[Any]) -> None:
    """Warn if nearly every row of a class occurs equally often, more than once, for rows of any kind.

    Parameters
    ----------
    hashes : array (n,)
        From `row_hashes`.
    labels : sequence (n,)

    Examples
    --------
    >>> import warnings
    >>> hashes = np.tile(row_hashes(np.arange(40.0).reshape(20, 2)), 2)
    >>> with warnings.catch_warnings(record=True) as found:
    ...     warnings.simplefilter("always")
    ...     warn_of_regular_copies(hashes, ["ill"] * 40)
    >>> str(found[0].message)[:43]
    'Nearly every row of class ill occurs 2 time'
    """
    texts = np.array([str(label) for label in labels], object)
    for name in dict.fromkeys(texts.tolist()):
        n_copies = _usual_count(hashes[texts == name])
        if n_copies > 1:
            warnings.warn(_regular_copies_text(name, n_copies), stacklevel=3)
            return


def regular_copies(X: NDArray[Any]) -> int:
    """The number of times that nearly every row of X occurs; 1 if there is no such regular number.

    An i.i.d. sample may contain repeated rows, but then some occur once, others twice or three times. If nearly all
    rows occur equally often, this indicates oversampling, augmentation or repeated measurements.

    Examples
    --------
    >>> rows = np.arange(60.0).reshape(20, 3)
    >>> regular_copies(rows), regular_copies(np.repeat(rows, 4, axis=0))
    (1, 4)
    """
    if not len(X):  # a declared class may have no rows
        return 1
    for n_columns in _FIRST_COLUMNS:
        if X.shape[1] > 2 * n_columns and _mostly_distinct(_hashes_of_some_columns(X, n_columns)):
            return 1
    return _usual_count(row_hashes(X))


def _hashes_of_some_columns(X: NDArray[Any], n_columns: int, codes: NDArray[Any] | None = None) -> Hashes:
    """Hashes of the rows by some columns only: if they differ, the rows differ."""
    columns = np.unique(np.linspace(0, X.shape[1] - 1, n_columns).astype(np.intp))
    return row_hashes(X[:, columns], codes)


def _mostly_distinct(hashes: Hashes) -> bool:
    """Whether so many rows occur only once that they cannot be regular copies.

    A hash that is alone in its bucket is unique. Hashes that share a bucket are not compared, which avoids a sort.
    """
    bits = len(hashes).bit_length() + 1
    buckets = (hashes >> np.uint64(64 - bits)).astype(np.intp)
    n_alone = np.count_nonzero(np.bincount(buckets) == 1)
    return bool(n_alone > (1 - _REGULAR) * len(hashes))


def _usual_count(hashes: Hashes) -> int:
    """The number of times that nearly every hash occurs; 1 if there are few hashes, or no such number."""
    counts = np.unique(hashes, return_counts=True)[1]
    if len(counts) < _FEWEST_DISTINCT:
        return 1
    rows_by_count = np.bincount(counts, weights=counts)
    usual = int(np.argmax(rows_by_count))
    if rows_by_count[usual] < _REGULAR * len(hashes):
        return 1
    return usual


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
    fewest = max(_MANY * len(X), _FEWEST_COPIES)
    for n_columns in _FIRST_COLUMNS:
        wide = X.shape[1] > 2 * n_columns
        if wide and _n_repeats(_hashes_of_some_columns(X, n_columns, codes)) < fewest:
            return 0
    _, first_rows = np.unique(row_hashes(X, codes), return_index=True)
    n_copies = len(X) - len(first_rows)
    if n_copies < fewest or len(first_rows) < _FEWEST_DISTINCT:
        return 0
    share_agreeing = _share_agreeing(X[first_rows], codes[first_rows], owners)
    if n_copies / len(X) < _BY_CHANCE * share_agreeing:
        return 0
    return n_copies


def _share_agreeing(X: NDArray[Any], codes: NDArray[Any], owners: NDArray[np.intp]) -> float:
    """The share of distinct rows that equal another row in all columns but one, averaged over the columns."""
    _, hashes_without = _hashes_without_columns(X, codes, owners)
    n_agreeing = [_n_repeats(hashes) for hashes in hashes_without.values()]
    return float(np.mean(n_agreeing)) / len(X)


def _hashes_without_columns(
    X: NDArray[Any], codes: NDArray[Any], owners: NDArray[np.intp]
) -> tuple[Hashes, dict[int, Hashes]]:
    """Hashes of the rows with their labels, and the same without each of some columns."""
    columns = np.unique(owners)
    left_out = columns[np.unique(np.linspace(0, len(columns) - 1, _MOST_LEFT_OUT).astype(np.intp))]
    total = codes.astype(np.uint64) * STEP
    cells_of = {column: np.zeros(len(X), np.uint64) for column in left_out.tolist()}
    for owner, hashes in zip(owners.tolist(), cell_hashes(X), strict=True):
        total += hashes
        if owner in cells_of:
            cells_of[owner] += hashes
    return total, {column: total - cells for column, cells in cells_of.items()}


def _n_repeats(hashes: Hashes) -> int:
    """How many hashes equal one before them."""
    return len(hashes) - len(np.unique(hashes))


def _regular_copies_text(name: Any, n_copies: int) -> str:
    return (
        f"Nearly every row of class {name} occurs {n_copies} times: these look like oversampled, augmented or grouped "
        "rows. The certificate assumes that every row is an independent draw, so it does not hold for copies: use the "
        "original rows (in training, sample_weight can emphasise some), or name the groups."
    )


def _unlikely_copies_text(found: str, n_rows: int, share: float) -> str:
    return (
        f"{found} of {n_rows:,} rows ({share:.0%}) are copies of other rows in all columns that the model uses, label "
        "included, while rows that differ in one column only are rare. The certificate assumes that every row is an "
        "independent draw, which is doubtful here. If a file was joined twice or rows were sampled with replacement, "
        "remove the copies; if rows have the same origin, put them into one group."
    )


class _HashSample:
    """The rows whose hash lies below a limit, which is halved whenever these are too many.

    Rows with equal hashes are in the sample together or not at all.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._limit = 2**64 - 1
        self.hashes = np.empty(0, np.uint64)
        self.values = np.empty(0, np.uint64)

    def add(self, hashes: Hashes, values: NDArray[np.uint64]) -> None:
        """Add rows with a value each."""
        is_below = hashes <= np.uint64(self._limit)
        self.hashes = np.append(self.hashes, hashes[is_below])
        self.values = np.append(self.values, values[is_below])
        while len(self.hashes) > self._most and self._limit > 0:
            self._limit //= 2
            is_below = self.hashes <= np.uint64(self._limit)
            self.hashes = self.hashes[is_below]
            self.values = self.values[is_below]


class CopiesInStream:
    """The checks of `warn_of_copies` for rows that come in blocks, on samples of the rows by their hashes.

    Parameters
    ----------
    owners : array (d,) or None
        As for `warn_of_copies`.
    most : int
        Maximum number of rows in the sample.

    Examples
    --------
    >>> stream = CopiesInStream(most=100)
    >>> rows = np.arange(3000.0).reshape(1000, 3)
    >>> for _ in range(4):
    ...     stream.add(rows, np.zeros(1000, np.intp))
    >>> stream.warning(["no"])[:45]
    'Nearly every row of class no occurs 4 times: '
    """

    def __init__(self, owners: NDArray[np.intp] | None = None, most: int = 100_000) -> None:
        self._owners = owners
        self._n_rows = 0
        self._rows = _HashSample(most)  # with their classes
        self._labelled_rows = _HashSample(most)
        self._without_column: dict[int, _HashSample] = {}  # by the hashes of the other columns

    def add(self, X: NDArray[Any], codes: NDArray[Any]) -> None:
        """Add a block of prepared rows and their classes."""
        self._n_rows += len(X)
        self._rows.add(row_hashes(X), codes.astype(np.uint64))
        if self._owners is None:
            return
        total, hashes_without = _hashes_without_columns(X, codes, self._owners)
        hashes = mixed(total.copy())
        self._labelled_rows.add(hashes, hashes)
        for column, others in hashes_without.items():
            sample = self._without_column.setdefault(column, _HashSample(_MOST_AGREEING))
            sample.add(mixed(others), hashes)

    def warning(self, classes: Sequence[Any]) -> str:
        """The text of a warning about copies; empty if there are none."""
        for code, name in enumerate(classes):
            n_copies = _usual_count(self._rows.hashes[self._rows.values == code])
            if n_copies > 1:
                return _regular_copies_text(name, n_copies)
        share = self._share_of_unlikely_copies()
        if not share:
            return ""
        return _unlikely_copies_text(f"About {round(share * self._n_rows):,}", self._n_rows, share)

    def _share_of_unlikely_copies(self) -> float:
        """The share of the rows that repeat another row, if these are many and not likely by chance; else 0."""
        hashes = self._labelled_rows.hashes
        n_copies = _n_repeats(hashes)
        if len(hashes) - n_copies < _FEWEST_DISTINCT:
            return 0.0
        share = n_copies / len(hashes)
        if share * self._n_rows < max(_MANY * self._n_rows, _FEWEST_COPIES):
            return 0.0
        shares_agreeing = [_share_agreeing_in_sample(sample) for sample in self._without_column.values()]
        if share < _BY_CHANCE * float(np.mean(shares_agreeing)):
            return 0.0
        return share


_MOST_AGREEING = 10_000
"""Maximum number of rows in the sample of rows without a column."""


def _share_agreeing_in_sample(sample: _HashSample) -> float:
    """The share of distinct rows that equal one before them in all columns but one."""
    distinct, first_rows = np.unique(sample.values, return_index=True)
    if not len(distinct):
        return 0.0
    return _n_repeats(sample.hashes[first_rows]) / len(distinct)
