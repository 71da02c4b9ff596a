"""What a cell of a table says: a missing value, a number, a truth, or text.

Every function works on the distinct values of a column and looks the answers up for all rows, which is fast, and gives
the same answer for the same cell whatever rows stand beside it.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from abnet.data.tables.error import TableError

__all__ = [
    "DOUBTFUL",
    "TRUTH",
    "distinct",
    "is_blank",
    "is_missing",
    "lookup",
    "missing",
    "to_number",
    "to_numbers",
    "to_text",
]

BLANK = frozenset({"", "nan", "-nan", "null", "<na>", "#n/a", "nat"})
"""Marks of a missing value in every column, in any case of letters."""

DOUBTFUL = frozenset({"na", "n/a", "none", "?", "-", "."})
"""Marks of a missing value among numbers and truths; among texts they are words like others (NA is Namibia)."""

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
    text = to_text(value).lower()
    return text in BLANK or text in DOUBTFUL


def to_number(value: Any) -> float | None:
    """The number in a cell, NaN where it is missing, None where it is something else.

    Python's own conversion, correctly rounded and the same for ``7`` and ``7.0``, without its underscores; a truth is
    no number.

    Examples
    --------
    >>> to_number(" 1e3 "), to_number("?"), to_number("1_000"), to_number("1,5")
    (1000.0, nan, None, None)
    """
    try:
        return None if isinstance(value, bool) or (isinstance(value, str) and "_" in value) else float(value)
    except (TypeError, ValueError):
        return np.nan if is_missing(value) else None


def to_numbers(values: list[Any]) -> list[float | None]:
    """`to_number` of every value, much faster where all are numbers as text; the last one, None, is NaN.

    Examples
    --------
    >>> to_numbers(["1", "2.5", None]), to_numbers(["x", None])
    ([1.0, 2.5, nan], [None, nan])
    """
    try:
        if "_" not in "".join(values[:-1]):
            return [*map(float, values[:-1]), np.nan]
    except (TypeError, ValueError):
        pass  # something else is among them: look at each
    return [to_number(value) for value in values]


def distinct(column: pd.Series) -> tuple[NDArray[np.intp], list[Any]]:
    """Every row's place among the distinct values of a column, and these values, None for missing always the last."""
    try:
        codes, values = pd.factorize(column.to_numpy(object))  # a third faster than on pandas' strings
    except TypeError as error:
        raise TableError(
            f"column {str(column.name)!r} holds lists or records; give every part its own column."
        ) from error
    return np.where(codes < 0, len(values), codes), [*values.tolist(), None]


def lookup(column: pd.Series, function: Callable[[Any], Any]) -> np.ndarray:
    """``[function(value) for value in column]``, with one call per distinct value.

    Examples
    --------
    >>> lookup(pd.Series(["a", "bb", "a", None]), lambda value: len(value or ""))
    array([1, 2, 1, 0])
    """
    codes, values = distinct(column)
    return np.array([function(value) for value in values])[codes]


def missing(column: pd.Series) -> NDArray[np.bool_]:
    """Which cells are missing: NaN in a column of numbers, the marks of `is_missing` in a column of text."""
    return column.isna().to_numpy(bool) if pd.api.types.is_numeric_dtype(column.dtype) else lookup(column, is_missing)
