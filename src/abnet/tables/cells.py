"""What a single cell means: missing, a number, a boolean, or text."""

from typing import Any

import numpy as np

__all__ = [
    "BLANK",
    "DOUBTFUL",
    "GAPS",
    "MISSING",
    "TRUTH",
    "is_blank",
    "is_gap",
    "is_missing",
    "to_number",
    "to_text",
]

BLANK = frozenset({"", "nan", "-nan", "null", "<na>", "#n/a", "nat"})
"""Marks of a missing value in every column, in any case of letters."""

DOUBTFUL = frozenset({"na", "n/a", "none", "?", "-", "."})
"""Marks of a missing value among numbers and booleans only: in a column of text, NA is Namibia."""

MISSING = BLANK | DOUBTFUL

GAPS = frozenset(
    {
        "unknown",
        "missing",
        "n.a.",
        "n.a",
        "n.d.",
        "n.d",
        "nd",
        "n/d",
        "not available",
        "not known",
        "not applicable",
        "unspecified",
        "undefined",
        "no data",
        "nil",
        "--",
        "---",
        "??",
        "???",
        "..",
        "...",
    }
)
"""Words for a missing value among numbers. A note names those that were found."""

TRUTH = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
"""Truth values as text, in any case of letters."""


def to_text(value: Any) -> str:
    """The text of a cell without blanks around it; a whole number has no decimal point, and None is empty.

    Examples
    --------
    >>> to_text(" Oslo "), to_text(3.0), to_text(None), to_text(True)
    ('Oslo', '3', '', 'True')
    """
    if isinstance(value, str):
        return value.strip()
    if value is None:
        return ""
    if isinstance(value, (float, np.floating)) and value.is_integer():
        return str(int(value))
    return str(value)


def is_blank(value: Any) -> bool:
    """Whether a cell of any column is missing: None, or one of the marks `BLANK`."""
    return to_text(value).lower() in BLANK


def is_missing(value: Any) -> bool:
    """Whether a cell among numbers or booleans is missing: one of the marks `BLANK` or `DOUBTFUL`.

    Examples
    --------
    >>> [is_missing(mark) for mark in ("", " NA ", "?", "NaN", "0", "none at all")]
    [True, True, True, True, False, False]
    """
    return to_text(value).lower() in MISSING


def is_gap(value: Any) -> bool:
    """Whether a cell is a word for a missing value that counts as such only in numeric columns."""
    return to_text(value).lower() in GAPS


def to_number(value: Any) -> float | None:
    """The number in a cell; NaN if it is missing, None if it is something else.

    Uses Python's own conversion, which is correctly rounded. A boolean is not a number, and neither is ``1_000``,
    which Python accepts: it is a code, not a way to write a thousand.

    Examples
    --------
    >>> to_number(" 1e3 "), to_number("?"), to_number("n.a."), to_number("1_000"), to_number("1,5")
    (1000.0, nan, nan, None, None)
    """
    if isinstance(value, (bool, np.bool_)):
        return None
    if isinstance(value, str) and "_" in value:
        return None
    try:
        return float(value)
    except OverflowError:  # a whole number of hundreds of digits
        return np.inf
    except (TypeError, ValueError):
        if is_missing(value) or is_gap(value):
            return np.nan
        return None
