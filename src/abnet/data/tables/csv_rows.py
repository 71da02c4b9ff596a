"""CSV row by row, by the rules of Python's own reader: slow, exact, and with the line of every error."""

import csv
import re
from collections.abc import Iterator

from abnet.data.tables.csv_source import ByteSource
from abnet.data.tables.error import TableError

__all__ = ["RowReader"]

_LINE = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")

_LONGEST = 1 << 26
"""Bytes of one row from which on a quote must have been left open: 64 MB."""


class RowReader:
    """Rows of a block of whole lines, and of what follows where the last row goes on.

    Parameters
    ----------
    source : ByteSource
    block : bytes
    separator : str
    blanks : bool
        Whether blanks after a separator belong to the cell.
    """

    def __init__(self, source: ByteSource, block: bytes, separator: str, *, blanks: bool) -> None:
        csv.field_size_limit(2**31 - 1)  # of the process: a long cell is no mistake
        self._source, self._block, self._at = source, block, 0
        self._inside, self._length = False, 0
        self._rows = csv.reader(self._lines(), delimiter=separator, strict=True, skipinitialspace=not blanks)

    def rest(self) -> bytes:
        """What has not been read of the block."""
        return self._block[self._at :]

    def rows(self) -> Iterator[list[str]]:
        """The rows, blank lines left out."""
        while True:
            self._inside, self._length = False, 0
            try:
                row = next(self._rows)
            except StopIteration:
                return
            except csv.Error as error:
                where = f"{self._source.name}, line {self._source.lines}"
                raise TableError(f"{where}: broken CSV ({error}); check the quotes there.") from error
            if row:
                yield row

    def _lines(self) -> Iterator[str]:
        while True:
            if self._at == len(self._block):
                if not self._inside:
                    return
                self._block, self._at = self._source.block(1 << 20), 0
                if not self._block:
                    return
            match = _LINE.match(self._block, self._at)
            assert match is not None  # every byte belongs to a line
            self._at, self._inside = match.end(), True
            self._source.lines += 1
            self._length += len(match[0])
            if self._length > _LONGEST:
                where = f"{self._source.name}, line {self._source.lines}"
                raise TableError(f"{where}: broken CSV (a row longer than 64 MB); check the quotes before it.")
            yield self._text(match[0])

    def _text(self, line: bytes) -> str:
        try:
            return line.decode("utf-8")
        except UnicodeDecodeError as error:
            where = f"{self._source.name}, line {self._source.lines}"
            raise TableError(
                f"{where}: not UTF-8 text (byte 0x{line[error.start]:02x}); save the table as CSV in UTF-8."
            ) from error
