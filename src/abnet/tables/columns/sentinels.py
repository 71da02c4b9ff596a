"""Detect numbers that stand for a missing value, such as -999."""

import numpy as np
from numpy.typing import NDArray

from abnet.tables.notes import Note

__all__ = ["sentinel_note"]

_NINES = (9.0, 99.0, 999.0, 9999.0, 99999.0, 999999.0)
_NEGATIVE_NINES = tuple(-nines for nines in _NINES)
_SENTINELS = (-1.0, *_NEGATIVE_NINES, *_NINES[1:])
"""Numbers that stand for a missing value if they are far from all others."""

_FAR = 5
"""A sentinel is further from the others than this many times their range."""

_MOST_CODES = 20
"""A column with more different numbers does not hold codes."""

_LARGEST_SHARE = 0.75
"""9, 99 or 999 may stand for a missing value if the other numbers do not exceed this share of it."""

_LEAST_ROWS = 6
"""A code for missing above the others has at least this many rows."""


def sentinel_note(name: str, x: NDArray[np.float64]) -> Note | None:
    """A note on a number such as -999 that occurs repeatedly, far from all other values.

    Examples
    --------
    >>> sentinel_note("depth", np.array([3.0, 5.5, -999.0, 4.1, -999.0])).example
    '-999'
    >>> sentinel_note("depth", np.array([3.0, 5.5, 9.0, 99.0, -1.0])) is None
    True
    >>> print(sentinel_note("q1", np.array([1.0, 2.0, 6.0, 4.0, -9.0, 3.0, 5.0, -9.0])))
    column 'q1' has the value -9 in 2 training rows, while the others go from 1 to 6; if it marks missing values, \
leave these cells empty, or use categorical='q1'
    """
    known = x[~np.isnan(x)]
    for value in (known.min(), known.max()):
        note = _note_on_extreme(name, float(value), known)
        if note is not None:
            return note
    return None


def _note_on_extreme(name: str, value: float, known: NDArray[np.float64]) -> Note | None:
    """A note on the smallest or largest number of a column, if it may stand for a missing value."""
    if value not in _SENTINELS and value not in _NINES:
        return None
    others = known[known != value]
    n_rows = len(known) - len(others)
    if n_rows < 2 or not len(others):
        return None
    if value in _SENTINELS and _is_far(value, others):
        return Note("sentinel", (name,), n_rows, f"{value:g}")
    if _may_be_code(value, others, n_rows):
        measured = others[others >= 0]
        span = f"{measured.min():g} to {measured.max():g}"
        return Note("code for missing", (name,), n_rows, f"{value:g}", {"span": span})
    return None


def _is_far(value: float, others: NDArray[np.float64]) -> bool:
    lowest = float(others.min())
    highest = float(others.max())
    width = max(highest - lowest, float(np.abs(others).max()) / 100)
    distance = min(abs(value - lowest), abs(value - highest))
    return distance > _FAR * width


def _may_be_code(value: float, others: NDArray[np.float64], n_rows: int) -> bool:
    """Whether a number may stand for a missing one among a few whole numbers from zero on, though it is not far off.

    Below zero this is -9, perhaps with other codes such as -8. Above the others it is 9, if it is more frequent than
    the largest of them: in counts, large numbers are rare.
    """
    different, frequencies = np.unique(others, return_counts=True)
    if len(different) > _MOST_CODES or np.any(different != np.rint(different)):
        return False
    negative = different[different < 0]
    if value < 0:
        return value in _NEGATIVE_NINES and _are_other_codes(negative, len(different))
    if value not in _NINES or len(negative):
        return False
    is_separate = different[-1] <= _LARGEST_SHARE * value
    return bool(is_separate and n_rows >= _LEAST_ROWS and n_rows > frequencies[-1])


def _are_other_codes(negative: NDArray[np.float64], n_different: int) -> bool:
    """Whether the other negative numbers of a column, if any, may be codes as well."""
    if not len(negative):
        return True
    return len(negative) < min(3, n_different) and bool(negative[-1] <= -7)
