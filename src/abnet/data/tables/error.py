"""What is wrong with a table, in one line, and the words for a place in it."""

from typing import Any

import numpy as np

__all__ = ["TableError", "UnknownColumnError", "listed", "row_name"]


class TableError(ValueError):
    """A table that cannot be used: the message says what is wrong, where, and what to do."""


class UnknownColumnError(TableError):
    """A column was asked for by a name that the table does not have."""


def row_name(index: Any, position: int) -> str:
    """Words for a row of a frame: data rows count from 1, the header not included.

    A frame read from a file keeps its row numbers through splits and chunks, so that the number is that of the file.

    Examples
    --------
    >>> import pandas as pd
    >>> row_name(pd.RangeIndex(100, 200), 5), row_name(pd.Index(["a", "b"]), 1)
    ('data row 106', "row 'b'")
    """
    label = index[position]
    return f"data row {int(label) + 1}" if isinstance(label, (int, np.integer)) else f"row {label!r}"


def listed(names: Any, *, most: int = 10) -> str:
    """Quoted names, at most `most` of them.

    Examples
    --------
    >>> listed(["a", "b", "c"], most=2)
    "'a', 'b' and 1 more"
    """
    names = list(names)
    shown = ", ".join(repr(str(name)) for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
