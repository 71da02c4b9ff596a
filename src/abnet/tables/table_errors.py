"""Errors about tables, and how their messages name rows, columns and cells."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from abnet.tables.cells import to_text

__all__ = ["TableError", "UnknownColumnError", "check_unique_names", "listed", "quoted", "row_name"]

_LONGEST = 60
"""Characters of the longest cell that a message quotes in full."""


class TableError(ValueError):
    """A table cannot be used; the message says what is wrong, where, and what to do."""


class UnknownColumnError(TableError):
    """The table has no column with this name."""


def row_name(index: Any, position: int) -> str:
    """Name of a row for messages; data rows count from 1, without the header.

    Parameters
    ----------
    index : sequence of labels, or int
        Of a frame of pandas; or the number of rows that came before a frame without labels, such as a batch of a file.
    position : int

    Examples
    --------
    >>> row_name(100, 5), row_name(range(100, 200), 5), row_name(["a", "b"], 1)
    ('data row 106', 'data row 106', "row 'b'")
    """
    if isinstance(index, int):
        return f"data row {index + position + 1}"
    label = index[position]
    if isinstance(label, (int, np.integer)):
        return f"data row {int(label) + 1}"
    return f"row {label!r}"


def listed(names: Iterable[Any], *, most: int = 10) -> str:
    """Quoted names, at most `most` of them.

    Examples
    --------
    >>> listed(["a", "b", "c"], most=2)
    "'a', 'b' and 1 more"
    """
    names = list(names)
    shown = ", ".join(map(quoted, names[:most]))
    if len(names) > most:
        return f"{shown} and {len(names) - most} more"
    return shown


def quoted(value: Any) -> str:
    """The text of a cell in quotes for a message; long texts are shortened.

    Examples
    --------
    >>> quoted(" Oslo "), quoted(3.0), quoted("z" * 200_000)
    ("'Oslo'", "'3'", "'zzzzzzzzzzzzzzzzzzzzzzzzzzzzzz…' (200,000 characters)")
    """
    text = to_text(value)
    if len(text) <= _LONGEST:
        return repr(text)
    beginning = text[: _LONGEST // 2] + "…"
    return f"{beginning!r} ({len(text):,} characters)"


def check_unique_names(names: Sequence[str], where: str = "") -> None:
    """Raise a TableError if a column name occurs twice.

    Examples
    --------
    >>> check_unique_names(["a", "b", "a"], "t.csv: ")
    Traceback (most recent call last):
    abnet.tables.table_errors.TableError: t.csv: column names must differ, but 'a' repeats; rename one.
    """
    repeated = sorted(name for name, count in Counter(names).items() if count > 1)
    if len(repeated) == 1:
        raise TableError(f"{where}column names must differ, but {quoted(repeated[0])} repeats; rename one.")
    if repeated:
        raise TableError(f"{where}column names must differ, but {listed(repeated)} repeat; rename them.")
