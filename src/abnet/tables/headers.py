"""The header of a text table, and the lines that repeat it, as where files were put one after the other."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from abnet.tables.cells import to_number
from abnet.words import number_of

if TYPE_CHECKING:
    import polars

__all__ = ["Header"]

_MARK = "\ufeff"  # the byte-order mark of a file that follows another one


@dataclass
class Header:
    """Column names, the cells that they were made of, and how many rows repeated these cells so far.

    A header without any word repeats nothing: such rows may well be rows.

    Examples
    --------
    >>> header = Header(["age", "city"], ["age", "city"])
    >>> [header.repeated(row) for row in (["39", "Oslo"], ["age", "city"], ["age", "Oslo"])]
    [False, True, False]
    """

    names: list[str]
    cells: list[str]
    count: int = 0
    line: int = 0

    def __post_init__(self) -> None:
        self._worded = any(cell.strip() and to_number(cell) is None for cell in self.cells)

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

    def said(self, name: str) -> str:
        """A remark on the rows that were left out, for a person."""
        return f"{name} repeats its header in {number_of(self.count, 'row')}, first in line {self.line}, left out here"
