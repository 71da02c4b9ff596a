"""What one cell of a table says: a missing value, a number, a truth, or text."""

from typing import Any

import numpy as np

__all__ = ["BLANK", "DOUBTFUL", "GAPS", "MISSING", "TRUTH", "is_blank", "is_gap", "is_missing", "to_number", "to_text"]

BLANK = frozenset({"", "nan", "-nan", "null", "<na>", "#n/a", "nat"})
"""Marks of a missing value in every column, in any case of letters."""

DOUBTFUL = frozenset({"na", "n/a", "none", "?", "-", "."})
"""Marks of a missing value among numbers and truths; among texts they are words like others (NA is Namibia)."""

GAPS = frozenset(
    {"unknown", "missing", "n.a.", "n.a", "n.d.", "n.d", "nd", "n/d", "not available", "not known", "not applicable",
     "unspecified", "undefined", "no data", "nil", "--", "---", "??", "???", "..", "..."}
)  # fmt: skip
"""Words for a missing value among numbers, which a remark tells of."""

MISSING = BLANK | DOUBTFUL

TRUTH = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
"""Truth values as text, in any case of letters."""


def to_text(value: Any) -> str:
    """The text of a cell: blanks around it dropped, whole numbers without a decimal point, empty for None.

    Examples
    --------
    >>> to_text(" Oslo "), to_text(3.0), to_text(None), to_text(True)
    ('Oslo', '3', '', 'True')
    """
    if isinstance(value, str):
        return value.strip()
    if value is None:
        return ""
    return str(int(value)) if isinstance(value, (float, np.floating)) and value.is_integer() else str(value)


def is_blank(value: Any) -> bool:
    """Whether a cell of any column is missing: None, or one of the marks `BLANK`."""
    return to_text(value).lower() in BLANK


def is_missing(value: Any) -> bool:
    """Whether a cell among numbers or truths is missing: one of the marks `BLANK` or `DOUBTFUL`.

    Examples
    --------
    >>> [is_missing(mark) for mark in ("", " NA ", "?", "NaN", "0", "none at all")]
    [True, True, True, True, False, False]
    """
    return to_text(value).lower() in MISSING


def is_gap(value: Any) -> bool:
    """Whether a cell is a word for a missing value that only a column of numbers takes for one."""
    return to_text(value).lower() in GAPS


def to_number(value: Any) -> float | None:
    """The number in a cell, NaN where it is missing, None where it is something else.

    Python's own conversion, correctly rounded and the same for ``7`` and ``7.0``, without its underscores; a truth is
    no number.

    Examples
    --------
    >>> to_number(" 1e3 "), to_number("?"), to_number("n.a."), to_number("1_000"), to_number("1,5")
    (1000.0, nan, nan, None, None)
    """
    try:
        return (
            None if isinstance(value, (bool, np.bool_)) or (isinstance(value, str) and "_" in value) else float(value)
        )
    except (TypeError, ValueError):
        return np.nan if is_missing(value) or is_gap(value) else None
    except OverflowError:  # a whole number of hundreds of digits
        return np.inf
