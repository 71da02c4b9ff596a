"""The header of a text table, and the lines that repeat it, as where files were put one after the other."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from abnet.tables.cells import to_number
from abnet.tables.notes import Note

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

    def notes(self, name: str) -> list[Note]:
        """Notes on rows that repeated the header and were left out, and on a header that looks like data."""
        found = []
        if self.count:
            found.append(Note("repeated header", (), self.count, facts={"file": name, "line": self.line}))
        numbers = [number for cell in self.cells if cell.strip() and (number := to_number(cell)) is not None]
        counts = (
            numbers == [float(place) for place in range(int(numbers[0]), int(numbers[0]) + len(numbers))]
            if (numbers and numbers[0] in (0, 1))
            else False
        )
        if 2 * len(numbers) > len(self.cells) and not counts:
            found.append(Note("no header", example=", ".join(self.cells[:4])))
        return found
