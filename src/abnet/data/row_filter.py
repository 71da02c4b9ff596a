"""A filter of the rows that a model was fitted on: small enough for a model file, and it tells no row.

A Bloom filter of row fingerprints: every row that was put in is found again; another one is found by mistake about once
in two thousand times. From the filter nobody can read a row, only ask for one that is at hand.
"""

import base64
import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["MOST_ROWS", "count_seen", "row_filter"]

_BITS_PER_ROW, _HASHES = 16, 11
_MOST_BYTES = 48_000  # 64,000 characters in base 64
MOST_ROWS = 8 * _MOST_BYTES // _BITS_PER_ROW
"""Rows that a filter of at most 64 kB can hold; of more than these none is made."""


def row_filter(X: Any, y: NDArray[Any]) -> str | None:
    """The filter of prepared rows with their labels, as text; None for more than 24,000 rows.

    Parameters
    ----------
    X : array (n, d)
        Rows as the network reads them.
    y : array (n,)
        Numbers of their classes, or signs.

    Examples
    --------
    >>> X, y = np.arange(20.0).reshape(10, 2), np.ones(10)
    >>> made = row_filter(X[:5], y[:5])
    >>> count_seen(made, X, y), len(made)
    (5, 16)
    """
    n = len(y)
    if not 0 < n <= MOST_ROWS:
        return None
    bits = np.zeros(-(-_BITS_PER_ROW * n // 8) * 8, dtype=bool)
    bits[_places(X, y, len(bits)).ravel()] = True
    return base64.b64encode(np.packbits(bits).tobytes()).decode("ascii")


def count_seen(text: str, X: Any, y: NDArray[Any]) -> int:
    """How many of the rows a filter holds, but for about one in two thousand that it holds by mistake."""
    try:
        content = np.frombuffer(base64.b64decode(text, validate=True), np.uint8)
    except ValueError as error:
        raise ValueError("the filter of the fitted rows is damaged: it is not text in base 64.") from error
    bits = np.unpackbits(content).astype(bool)
    return int(bits[_places(X, y, len(bits))].all(axis=1).sum()) if len(bits) else 0


def _places(X: Any, y: NDArray[Any], n_bits: int) -> NDArray[np.uint64]:
    """Places of the bits of each row, (n, hashes), by two hashes that are combined (Kirsch and Mitzenmacher 2008)."""
    rows = np.asarray(X.toarray() if hasattr(X, "toarray") else X, "<f4") + np.float32(0.0)  # no negative zeros
    labels = np.asarray(y, "<f8")
    marks = [
        hashlib.blake2b(row.tobytes() + label.tobytes(), digest_size=16).digest()
        for row, label in zip(rows, labels, strict=True)
    ]
    pairs = np.frombuffer(b"".join(marks), "<u8").reshape(-1, 2)
    steps = np.arange(_HASHES, dtype=np.uint64)
    with np.errstate(over="ignore"):
        return np.asarray((pairs[:, :1] + steps * (pairs[:, 1:] | np.uint64(1))) % np.uint64(n_bits))
