"""Columns named by the caller: check that they exist, and read their cells as text (labels, groups, populations)."""

from collections.abc import Collection, Sequence

import numpy as np

from abnet.tables.cells import is_blank, to_number, to_text
from abnet.tables.table import Table
from abnet.tables.table_errors import UnknownColumnError, listed
from abnet.utils.errors import Parameter, ParameterError
from abnet.utils.wording import number_of

__all__ = ["NamedColumnError", "cell_texts", "check_named", "label_text", "without_group"]


class NamedColumnError(ParameterError, UnknownColumnError):
    """A parameter names a column that the table does not have."""


def check_named(parameter: str, names: Sequence[str], columns: Collection[str]) -> None:
    """Raise an error for columns that the table does not have; `parameter` is the parameter that named them.

    Examples
    --------
    >>> check_named("truth", ["mood"], ["age", "city"])
    Traceback (most recent call last):
    abnet.tables.named_columns.NamedColumnError: truth: the table has no column 'mood'; its columns are 'age', 'city'.
    """
    absent = [name for name in names if name not in columns]
    if absent:
        raise NamedColumnError(
            "{}: the table has no column {}; its columns are {}.",
            Parameter(parameter),
            listed(absent),
            listed(list(columns)),
        )


def cell_texts(table: Table, column: str) -> list[str | None]:
    """Cells of a column as text, None where they are missing; equal numbers have equal text.

    Examples
    --------
    >>> from abnet.tables.table import as_table
    >>> cell_texts(as_table({"x": ["1.0", "", "a"]}), "x")
    ['1', None, 'a']
    """
    codes, values = table.cells(column).distinct()
    texts: list[str | None] = []
    for value in values:
        if is_blank(value):
            texts.append(None)
        else:
            texts.append(label_text(to_text(value)))
    return [texts[code] for code in codes.tolist()]


def label_text(text: str) -> str:
    """The text of a label: ``1``, ``1.0`` and ``1.00`` are one label.

    Examples
    --------
    >>> label_text("1.00"), label_text("yes"), label_text("2.5")
    ('1', 'yes', '2.5')
    """
    number = to_number(text)
    if number is None or not np.isfinite(number):
        return text
    return to_text(number)


def without_group(rows: Sequence[str]) -> str:
    """The error message for rows without a group; it names some of them.

    Examples
    --------
    >>> without_group(["row 3", "row 8"])
    '2 rows without a group (row 3, row 8); every row needs one, even a row by itself.'
    """
    named = ", ".join(rows[:5])
    if len(rows) > 5:
        named += ", …"
    return f"{number_of(len(rows), 'row')} without a group ({named}); every row needs one, even a row by itself."
