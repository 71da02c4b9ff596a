"""Read CSV row by row with the rules of Python's own reader: slow but exact, with the line of every error."""

import csv
import re
from collections.abc import Iterator

from abnet.tables.byte_source import ByteSource
from abnet.tables.csv_dialect import Dialect
from abnet.tables.table_errors import TableError

__all__ = ["RowReader"]

_LINE = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")

_LONGEST_ROW = 1 << 26
"""Bytes of one row above which a quote must have been left open: 64 MB."""

_MORE = 1 << 20
"""Bytes read at once if the last row of the block is not complete."""


class RowReader:
    """The rows of a block of whole lines, and the rest of its last row if a quoted cell continues after the block.

    Parameters
    ----------
    source : ByteSource
        Where the block comes from, and what follows it; its lines are counted.
    block : bytes
    dialect : Dialect

    Examples
    --------
    >>> import io
    >>> source = ByteSource(io.BytesIO(b'"x\\ny",2\\n3,4\\n'), "t.csv")
    >>> list(RowReader(source, source.block(4), Dialect(",")).rows())
    [['x\\ny', '2'], ['3', '4']]
    """

    def __init__(self, source: ByteSource, block: bytes, dialect: Dialect) -> None:
        csv.field_size_limit(2**31 - 1)  # for the whole process; a long cell is not an error
        self._source = source
        self._block = block
        self._position = 0
        self._in_row = False
        self._row_length = 0
        self._rows = csv.reader(
            self._lines(), delimiter=dialect.separator, strict=True, skipinitialspace=dialect.skip_spaces
        )

    def rest(self) -> bytes:
        """The part of the block that has not been read."""
        return self._block[self._position :]

    def rows(self) -> Iterator[list[str]]:
        """The rows, without blank lines."""
        while True:
            self._in_row = False
            self._row_length = 0
            try:
                row = next(self._rows)
            except StopIteration:
                return
            except csv.Error as error:
                raise self._error(f"broken CSV ({error}); check the quotes there.") from error
            if row:
                yield row

    def _lines(self) -> Iterator[str]:
        while self._has_line():
            match = _LINE.match(self._block, self._position)
            assert match is not None  # every byte belongs to a line
            self._position = match.end()
            self._in_row = True
            self._source.lines += 1
            self._row_length += len(match[0])
            if self._row_length > _LONGEST_ROW:
                raise self._error("broken CSV (a row longer than 64 MB); check the quotes before it.")
            yield self._decoded(match[0])

    def _has_line(self) -> bool:
        """Whether there is another line: in the block, or after it for a row that is not complete."""
        if self._position == len(self._block) and self._in_row:
            self._block = self._source.block(_MORE)
            self._position = 0
        return self._position < len(self._block)

    def _decoded(self, line: bytes) -> str:
        try:
            return line.decode("utf-8")
        except UnicodeDecodeError as error:
            byte = line[error.start]
            raise self._error(f"not UTF-8 text (byte 0x{byte:02x}); save the table as CSV in UTF-8.") from error

    def _error(self, problem: str) -> TableError:
        return TableError(f"{self._source.name}, line {self._source.lines}: {problem}")
