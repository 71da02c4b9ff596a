"""The header of a text table: names of the columns, rows that repeat it, and whether it looks like a row of data."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

from abnet.tables.cells import to_number
from abnet.tables.notes import Note
from abnet.tables.table_errors import quoted

if TYPE_CHECKING:
    import polars

__all__ = ["UNNAMED", "Header"]

UNNAMED = "(unnamed)"
"""End of the name of a column that has none in the header."""

_BYTE_ORDER_MARK = "\ufeff"
"""Begins a file that was appended to another one."""

_TEXT_ROWS = 1000
"""Rows in which a header cell of text is searched."""
_NUMBER_ROWS = 20
"""Rows that must be numbers below a number in the header."""


@dataclass(frozen=True)
class Header:
    """Column names, and the cells of the header that they come from.

    A column without a name is called ``column 3 (unnamed)``; a repeated name gets a number, as in pandas.

    Examples
    --------
    >>> header = Header.of(["age", "city", "", "age"])
    >>> header.names
    ['age', 'city', 'column 3 (unnamed)', 'age.1']
    >>> [header.is_repeated(row) for row in (["39", "Oslo", "", "7"], ["age", "city", "", "age"])]
    [False, True]
    """

    names: list[str]
    cells: list[str]

    @classmethod
    def of(cls, cells: list[str], first_rows: Sequence[list[str]] = ()) -> "Header":
        """The header from its cells and the first rows.

        If all rows have one cell more than the header, they begin with the name of the row, as R writes them, or
        they end with a separator.

        Examples
        --------
        >>> Header.of(["x", "y"], [["r1", "1", "2"], ["r2", "3", "4"]]).names
        ['column 1 (unnamed)', 'x', 'y']
        """
        if len(first_rows) > 1 and all(len(row) == len(cells) + 1 for row in first_rows):
            last_cells = [row[-1] for row in first_rows]
            if any(cell.strip() for cell in last_cells):
                cells = ["", *cells]
            else:
                cells = [*cells, ""]
        names: list[str] = []
        for place, cell in enumerate(cells, 1):
            names.append(_new_name(cell.strip(), place, names, cells))
        return cls(names, cells)

    @cached_property
    def has_words(self) -> bool:
        """Whether a cell is text; otherwise rows that equal the header may be data."""
        return any(cell.strip() and to_number(cell) is None for cell in self.cells)

    def is_repeated(self, row: list[str]) -> bool:
        """Whether a row is the header once more."""
        return self.has_words and row[0].removeprefix(_BYTE_ORDER_MARK) == self.cells[0] and row[1:] == self.cells[1:]

    def repeats_in(self, frame: "polars.DataFrame") -> "polars.Series | None":
        """Which rows of a frame of text repeat the header; None if no row does."""
        if not self.has_words:
            return None
        first, *others = frame.get_columns()
        repeated = first.is_in([self.cells[0], _BYTE_ORDER_MARK + self.cells[0]])
        for column, cell in zip(others, self.cells[1:], strict=True):
            if not repeated.any():
                return None  # in most frames after the first column
            repeated &= column == cell
        if not repeated.any():
            return None
        return repeated

    def looks_like_data(self, frame: "polars.DataFrame") -> bool:
        """Whether most cells look like those below them in the first rows: one of them, or a number among numbers."""
        n_like_data = 0
        counts_columns = self._counts_columns()
        for cell, column in zip(self.cells, frame.get_columns(), strict=True):
            below = column.head(_TEXT_ROWS).to_list()
            if to_number(cell) is None:
                n_like_data += cell in below
            elif not counts_columns:
                n_like_data += all(to_number(value) is not None for value in below[:_NUMBER_ROWS])
        return 2 * n_like_data > len(self.cells)

    def _counts_columns(self) -> bool:
        """Whether the numbers among the cells follow each other, such as 0, 1, 2 or 2010, 2011."""
        numbers = [to_number(cell) for cell in self.cells if cell.strip()]
        known = [number for number in numbers if number is not None]
        return len(known) > 1 and all(after - before == 1 for before, after in pairwise(known))

    def note_no_header(self) -> Note:
        """The note on a header that looks like data."""
        return Note("no header", facts={"cells": ", ".join(map(quoted, self.cells[:4]))})

    def renamed_notes(self) -> list[Note]:
        """Notes on columns whose name repeats another."""
        notes = []
        for name, cell in zip(self.names, self.cells, strict=True):
            if cell.strip() not in ("", name):
                notes.append(Note("repeated name", (name,), example=cell))
        return notes


def _new_name(cell: str, place: int, names: list[str], cells: list[str]) -> str:
    """A name that differs from the names before it; one with a number also differs from all cells of the header."""
    name = cell or f"column {place} {UNNAMED}"
    number = 0
    while name in names or (number and name in cells):
        number += 1
        name = f"{cell}.{number}"
    return name
