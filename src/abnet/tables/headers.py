"""The header of a text table: separator, names, lines that repeat it, and whether it looks like a row of data."""

import csv
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import TYPE_CHECKING

from abnet.tables.cells import to_number
from abnet.tables.notes import Note
from abnet.tables.table_errors import quoted

if TYPE_CHECKING:
    import polars

__all__ = ["UNNAMED", "Header", "separator_of"]

UNNAMED = "(unnamed)"
"""End of the name of a column that has none in the header."""
_MARK = "\ufeff"  # the byte-order mark of a file that follows another one


_LOOKED_AT = 20  # lines that show how cells are separated


def separator_of(start: str) -> str:
    """Detect the separator of a text table from its first lines: the first of ``, ; tab | space`` with equal rows.

    If none does, it is the first one in the header outside quotes, except for spaces.

    Examples
    --------
    >>> separator_of("a,b;c\\n1,2;3\\n"), separator_of("size, cm;weight\\n1,5;2\\n3;4\\n"), separator_of("a|b")
    (',', ';', '|')
    >>> separator_of("name\\nMary Ann\\n"), separator_of("first name\\nMary\\n"), separator_of('"x" "y"\\n1 2 3')
    (',', ',', ' ')
    """
    lines = [line for line in start.split("\n") if line.strip()][:_LOOKED_AT]
    for mark in ",;\t| ":
        rows = csv.reader(lines, delimiter=mark, skipinitialspace=True)
        try:
            widths = [len(row) for row in islice(rows, _LOOKED_AT)]
        except csv.Error:
            continue
        more = widths[1:] or widths
        if widths[0] > 1 and len(set(more)) == 1 and more[0] in (widths[0], widths[0] + 1):
            return mark
    bare = "".join(lines[0].split('"')[::2])
    return next((mark for mark in ",;\t|" if mark in bare), ",")


@dataclass
class Header:
    """Column names, the cells of the header, and counts of the rows below it.

    `count` rows repeated the header, the first in `line`; there were `n_rows` other rows. Rows of another length raise
    an error, or are stored in `ragged`, by index, with the problem.

    If the header has no words, equal rows are not treated as repeated headers: they may be data. A column without a
    name is called ``column 3 (unnamed)``; a repeated name gets a number, as in pandas.

    Examples
    --------
    >>> header = Header.of(["age", "city", "", "age"])
    >>> header.names
    ['age', 'city', 'column 3 (unnamed)', 'age.1']
    >>> [header.repeated(row) for row in (["39", "Oslo", "", "7"], ["age", "city", "", "age"])]
    [False, True]
    """

    names: list[str]
    cells: list[str]
    count: int = 0
    line: int = 0
    like_data: int = 0
    n_rows: int = 0
    ragged: dict[int, str] | None = None

    def __post_init__(self) -> None:
        self._worded = any(cell.strip() and to_number(cell) is None for cell in self.cells)

    @classmethod
    def of(cls, written: list[str], first: Sequence[list[str]] = ()) -> "Header":
        """The header from its cells, and the first rows.

        Where all rows have one cell more than the header, they begin with the name of the row, as R writes them, or
        they end with a separator.

        Examples
        --------
        >>> Header.of(["x", "y"], [["r1", "1", "2"], ["r2", "3", "4"]]).names
        ['column 1 (unnamed)', 'x', 'y']
        """
        if len(first) > 1 and all(len(row) == len(written) + 1 for row in first):
            written = ["", *written] if any(row[-1].strip() for row in first) else [*written, ""]
        names: list[str] = []
        for place, cell in enumerate(written, 1):
            name, again = cell.strip() or f"column {place} {UNNAMED}", 0
            while name in names or (again and name in written):
                again += 1
                name = f"{cell.strip()}.{again}"
            names.append(name)
        return cls(names, written)

    def look(self, frame: "polars.DataFrame") -> None:
        """Count the header's cells that look like those below them: one of them, or a number among numbers."""
        numbers = [to_number(cell) for cell in self.cells]
        counted = [
            number for cell, number in zip(self.cells, numbers, strict=True) if cell.strip() and number is not None
        ]
        counting = len(counted) > 1 and all(b - a == 1 for a, b in pairwise(counted))  # 0, 1, 2 or 2010, 2011
        for cell, number, column in zip(self.cells, numbers, frame.get_columns(), strict=True):
            below = column.head(1000).to_list()
            if number is None:
                self.like_data += bool(cell.strip()) and cell in below
            elif not counting:
                self.like_data += all(to_number(value) is not None for value in below[:20])

    def repeated(self, row: list[str]) -> bool:
        """Whether a row is the header once more."""
        return self._worded and row[0].removeprefix(_MARK) == self.cells[0] and row[1:] == self.cells[1:]

    def without(self, frame: "polars.DataFrame", line: Callable[[], int]) -> "polars.DataFrame":
        """A frame of text without the rows that repeat the header; `line` finds the line of the first of them."""
        if not self._worded:
            return frame
        same = frame.to_series(0).is_in([self.cells[0], _MARK + self.cells[0]])
        for column, cell in zip(frame.get_columns()[1:], self.cells[1:], strict=True):
            if not same.any():
                return frame  # most frames are spared the work
            same &= column == cell
        if not same.any():
            return frame
        self.leave_out(int(same.sum()), line)
        return frame.filter(~same)

    def leave_out(self, rows: int, line: Callable[[], int]) -> None:
        """Count rows that are left out, and keep the line of the first."""
        self.line = self.line or line()
        self.count += rows

    def notes(self, name: str) -> list[Note]:
        """Notes on rows that repeated the header and were left out, and on a header that looks like data."""
        found = []
        if self.count:
            found.append(Note("repeated header", (), self.count, facts={"file": name, "line": self.line}))
        elif 2 * self.like_data > len(self.cells):
            found.append(Note("no header", facts={"cells": ", ".join(map(quoted, self.cells[:4]))}))
        renamed = {
            name: cell for name, cell in zip(self.names, self.cells, strict=True) if cell.strip() not in ("", name)
        }
        found += [Note("repeated name", (name,), example=cell) for name, cell in renamed.items()]
        return found
