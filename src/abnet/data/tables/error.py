"""What is wrong with a table, in one line, and the words for a place in it."""

from typing import Any

import numpy as np

__all__ = ["CellError", "TableError", "UnknownColumnError", "listed", "refuse_repeated", "row_name"]


class TableError(ValueError):
    """A table that cannot be used: the message says what is wrong, where, and what to do."""


class UnknownColumnError(TableError):
    """A column was asked for by a name that the table does not have."""


class CellError(TableError):
    """One cell of a table cannot be used.

    Attributes
    ----------
    column : str
    position : int
        Of the row in the frame that was given, from 0.
    row : str
        Words for that row.
    problem : str
        What the cell holds, what is wrong with it and what to do.

    Examples
    --------
    >>> print(CellError("x", 4, "data row 5", "'inf' is not a finite number."))
    column 'x', data row 5: 'inf' is not a finite number.
    """

    def __init__(self, column: str, position: int, row: str, problem: str) -> None:
        super().__init__(f"column {column!r}, {row}: {problem}")
        self.column, self.position, self.row, self.problem = column, position, row, problem

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.column, self.position, self.row, self.problem)

    def taken_from(self, rows: Any) -> "CellError":
        """The same error for a frame of which only `rows` (positions) had been given.

        A row that has a name of its own, as in a frame of pandas, keeps it.

        Examples
        --------
        >>> print(CellError("x", 1, "data row 2", "'inf' is not a finite number.").taken_from([7, 9]))
        column 'x', data row 10: 'inf' is not a finite number.
        """
        position = int(rows[self.position])
        named = self.row if self.row != _numbered(self.position) else _numbered(position)
        return CellError(self.column, position, named, self.problem)


def row_name(index: Any, position: int) -> str:
    """Words for a row of a frame: data rows count from 1, the header not included.

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
        return _numbered(index + position)
    label = index[position]
    return _numbered(int(label)) if isinstance(label, (int, np.integer)) else f"row {label!r}"


def _numbered(position: int) -> str:
    return f"data row {position + 1}"


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


def refuse_repeated(names: list[str], where: str = "") -> None:
    """An error if a column name occurs twice.

    Examples
    --------
    >>> refuse_repeated(["a", "b", "a"], "t.csv: ")
    Traceback (most recent call last):
    abnet.data.tables.error.TableError: t.csv: column names must differ, but 'a' repeat; rename them.
    """
    if len(set(names)) < len(names):
        repeated = sorted({name for name in names if names.count(name) > 1})
        raise TableError(f"{where}column names must differ, but {listed(repeated)} repeat; rename them.")
