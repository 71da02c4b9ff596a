"""Read CSV as text: every cell is a string, exactly as in the file.

The fitted preparation decides what a cell means (a number, a missing value, a category), never the reader: types
guessed from the rows of a batch would differ from batch to batch.

The bytes are read in blocks of whole lines. Regular blocks are parsed by Polars (`abnet.tables.csv_regular`), the
others row by row (`abnet.tables.csv_rows`).
"""

import io
import warnings
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from abnet.tables.byte_source import ByteSource
from abnet.tables.csv_dialect import Dialect, named_separator, separator_of
from abnet.tables.csv_header import Header
from abnet.tables.csv_regular import count_byte, regular_frame
from abnet.tables.csv_rows import RowReader
from abnet.tables.file_formats import refuse_other_formats
from abnet.tables.notes import Note, NoteWarning
from abnet.tables.table_errors import TableError
from abnet.utils.wording import number_of

if TYPE_CHECKING:
    import polars

__all__ = ["csv_frames"]

_START = 1 << 16
"""Bytes that show separator and header."""

_HEADER_ROWS = 20
"""Rows that show whether the header lacks a cell."""

_BLOCK = 1 << 23
"""Bytes read at once: 8 MB."""

_EXACT_ROWS = 10_000
"""Rows of a frame that was read row by row."""


def csv_frames(
    source: ByteSource, *, tabs: bool = False, ragged: dict[int, str] | None = None
) -> Iterator["polars.DataFrame"]:
    """Frames of some rows each, all columns text; at least one.

    The separator is a tab if `tabs` is set; otherwise it is detected. The text is UTF-8, with or without a
    byte-order mark; quoted cells may contain separators and line ends. Blank lines are skipped, and white space around
    column names is stripped. `Header` names columns whose name is missing or repeated. Rows that repeat the header are
    left out, with a warning. A row of another length raises an error; with `ragged` it becomes a row of empty cells,
    and its index and problem are stored there.
    """
    dialect = _dialect(source, tabs)
    header = _header(source, dialect)
    reader = _CsvReader(source, dialect, header, ragged)
    is_empty = True
    looks_like_data = False
    for frame in reader.frames():
        if not frame.height:
            continue
        if is_empty:
            looks_like_data = header.looks_like_data(frame)
            is_empty = False
        yield frame
    notes = header.renamed_notes()
    if reader.n_repeats:
        notes.insert(0, reader.note_repeated_header())
    elif looks_like_data:
        notes.insert(0, header.note_no_header())
    for note in notes:
        warnings.warn(NoteWarning(note), stacklevel=2)
    if is_empty:
        raise TableError(f"{source.name} has a header but no rows.")


def _dialect(source: ByteSource, tabs: bool) -> Dialect:
    start = _start(source)
    if tabs:
        return Dialect("\t", skip_spaces=False)
    named = named_separator(start)
    if named is None:
        return Dialect(separator_of(start))
    separator, line = named
    source.give_back(source.block(_START)[len(line.encode()) :])
    source.lines += 1
    return Dialect(separator)


def _start(source: ByteSource) -> str:
    """The first lines, which stay in the source; blank lines before them are removed."""
    while block := source.block(_START):
        for line in block.splitlines(keepends=True):
            if line.strip():
                source.give_back(block)
                refuse_other_formats(source.name, line)
                return block.decode("utf-8", "replace")
            source.lines += 1
            block = block[len(line) :]
    raise TableError(f"{source.name} is empty: it needs a header line with column names, then rows.")


def _header(source: ByteSource, dialect: Dialect) -> Header:
    """The header; the rows after it stay in the source."""
    reader = RowReader(source, source.block(_START), dialect)
    cells = next(reader.rows())
    rest = reader.rest()
    source.give_back(rest)
    following = RowReader(ByteSource(io.BytesIO(), source.name), rest, dialect).rows()
    first_rows, _ = _rows_until_error(following, _HEADER_ROWS)  # an error is raised when its row is read again
    return Header.of(cells, first_rows)


def _rows_until_error(rows: Iterator[list[str]], most: int) -> tuple[list[list[str]], TableError | None]:
    """At most `most` rows, and the error that came after them."""
    found: list[list[str]] = []
    try:
        found.extend(islice(rows, most))  # keeps the rows before an error
    except TableError as error:
        return found, error
    return found, None


class _Parsing(NamedTuple):
    """A block, and the frame that a thread makes of it; None if the block is irregular."""

    block: bytes
    frame: "Future[polars.DataFrame | None]"


class _CsvReader:
    """The rows below a header, block by block.

    Attributes
    ----------
    n_rows : int
        Rows read so far, without those that repeat the header.
    n_repeats : int
        Rows that repeat the header.
    first_repeat : int
        Line of the first of them.
    """

    def __init__(self, source: ByteSource, dialect: Dialect, header: Header, ragged: dict[int, str] | None) -> None:
        self._source = source
        self._dialect = dialect
        self._header = header
        self._ragged = ragged
        self.n_rows = 0
        self.n_repeats = 0
        self.first_repeat = 0

    def frames(self) -> Iterator["polars.DataFrame"]:
        """Frames of consecutive blocks; the next block is parsed in parallel."""
        with ThreadPoolExecutor(2) as pool:
            current = self._start_parsing(pool)
            while current.block:
                following = self._start_parsing_next(pool)
                frame = current.frame.result()
                if frame is not None:
                    yield self._regular(frame, current.block)
                else:
                    if following is not None:
                        # The last row of this block may continue in the next one.
                        self._source.give_back(following.block)
                        following = None
                    yield from self._irregular(current.block)
                if following is None:
                    following = self._start_parsing(pool)
                current = following

    def note_repeated_header(self) -> Note:
        """The note on rows that repeat the header."""
        facts: dict[str, str | int | float] = {"file": self._source.name, "line": self.first_repeat}
        return Note("repeated header", (), self.n_repeats, facts=facts)

    def _start_parsing(self, pool: ThreadPoolExecutor) -> _Parsing:
        block = self._source.block(_BLOCK)
        return _Parsing(block, pool.submit(regular_frame, block, self._header.names, self._dialect))

    def _start_parsing_next(self, pool: ThreadPoolExecutor) -> _Parsing | None:
        """None for a damaged block: the rows before it come first, then reading it again raises the error."""
        try:
            return self._start_parsing(pool)
        except TableError:
            return None

    def _regular(self, frame: "polars.DataFrame", block: bytes) -> "polars.DataFrame":
        """The frame of a regular block without rows that repeat the header."""
        repeated = self._header.repeats_in(frame)
        if repeated is not None:
            if not self.n_repeats:
                self.first_repeat = self._line_of_repeat(block)
            self.n_repeats += int(repeated.sum())
            frame = frame.filter(~repeated)
        self._source.lines += count_byte(block, ord("\n"))
        self.n_rows += frame.height
        return frame

    def _line_of_repeat(self, block: bytes) -> int:
        """The line in which a block repeats the header for the first time."""
        source = ByteSource(io.BytesIO(), self._source.name)
        source.lines = self._source.lines
        rows = RowReader(source, block, self._dialect).rows()
        return next(source.lines for row in rows if self._header.is_repeated(row))

    def _irregular(self, block: bytes) -> Iterator["polars.DataFrame"]:
        """Frames of the rows of an irregular block, including a row that continues after it."""
        import polars as pl

        reader = RowReader(self._source, block, self._dialect)
        checked = self._checked(reader.rows())
        while True:
            rows, error = _rows_until_error(checked, _EXACT_ROWS)
            if rows:
                columns = zip(self._header.names, zip(*rows, strict=True), strict=True)
                yield pl.DataFrame({name: pl.Series(cells, dtype=pl.String) for name, cells in columns})
            if error is not None:
                raise error
            if not rows:
                break
        self._source.give_back(reader.rest())

    def _checked(self, rows: Iterator[list[str]]) -> Iterator[list[str]]:
        """Rows as long as the header that do not repeat it."""
        width = len(self._header.names)
        for row in rows:
            if len(row) != width:
                self._report_length(len(row), width)
                row = [""] * width
            elif self._header.is_repeated(row):
                if not self.n_repeats:
                    self.first_repeat = self._source.lines
                self.n_repeats += 1
                continue
            self.n_rows += 1
            yield row

    def _report_length(self, n_cells: int, width: int) -> None:
        """Raise an error for a row of another length than the header, or store it in `ragged`."""
        where = f"{self._source.name}, line {self._source.lines}"
        problem = f"{where}: {number_of(n_cells, 'field')} where the header has {width}"
        if self._ragged is None:
            raise TableError(
                f"{problem}; quote fields that contain the separator, and leave missing fields empty between "
                "separators."
            )
        self._ragged[self.n_rows] = problem
