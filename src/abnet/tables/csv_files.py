"""Read CSV as text: every cell is a string, exactly as in the file.

The stored preparation decides what a cell means (a number, a missing value, a category), never the reader: types
guessed from the rows of a batch would differ from batch to batch.

The bytes of a table, from a file or a stream, gzipped or not, are read in blocks of whole lines. A regular block, which
every CSV reader would read alike, is parsed by Polars. Other blocks are parsed row by row with the rules of Python's
own reader, which is slow but exact, and reports the line of every error.
"""

import csv
import gzip
import io
import re
import warnings
import zlib
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from itertools import chain, islice
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from abnet.tables.headers import UNNAMED, Header, separator_of
from abnet.tables.notes import NoteWarning
from abnet.tables.table_errors import TableError
from abnet.utils.wording import number_of

if TYPE_CHECKING:
    import polars

__all__ = ["ByteSource", "RowReader", "UNNAMED", "csv_frames", "regular_frame"]


_START = 1 << 16


class ByteSource:
    """The bytes of a table, with the number of lines that have been read.

    Gzip is detected from the first two bytes, a byte-order mark is skipped, and line ends of the old Macintosh (a
    single carriage return) are converted to line feeds.

    Parameters
    ----------
    raw : binary stream
    name : str
        For errors.
    size : int or None
        Bytes in all, for the progress, if known.

    Examples
    --------
    >>> source = ByteSource(io.BytesIO(b"a,b\\r1,2\\r"), "t.csv")
    >>> source.block(1000), source.block(1000)
    (b'a,b\\n1,2\\n', b'')
    """

    def __init__(self, raw: IO[bytes], name: str, size: int | None = None) -> None:
        self.name, self.lines, self._size = name, 0, size
        self._raw: Any = raw if isinstance(raw, io.BufferedReader) else io.BufferedReader(raw)
        zipped = self._raw.peek(2)[:2] == b"\x1f\x8b"  # which no text in UTF-8 begins with
        self._stream = gzip.GzipFile(fileobj=self._raw) if zipped else self._raw
        start = self._read(_START)
        if start.endswith(b"\r"):
            start += self._read(1)
        self._returns_only = b"\r" in start and b"\n" not in start
        self._kept = self._ended(start.removeprefix(b"\xef\xbb\xbf"))

    def progress(self) -> float:
        """Share of the bytes read so far."""
        return min(self._raw.tell() / self._size, 1.0) if self._size else 0.0

    def block(self, size: int) -> bytes:
        """About `size` bytes that end at the end of a line or of the table; empty at the end."""
        parts = [self._kept]
        while True:
            fresh = self._ended(self._read(size))
            end = fresh.rfind(b"\n") + 1
            if end or not fresh:
                break
            parts.append(fresh)
        self._kept = fresh[end:]
        return b"".join([*parts, memoryview(fresh)[:end]])

    def give_back(self, rest: bytes) -> None:
        """Put bytes back, to be read again."""
        self._kept = rest + self._kept

    def _ended(self, data: bytes) -> bytes:
        return data.replace(b"\r", b"\n") if self._returns_only else data

    def _read(self, size: int) -> bytes:
        try:
            return bytes(self._stream.read(size))
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise TableError(f"{self.name} is not a complete gzip file ({error}); compress the table again.") from error


BLOCK = 1 << 23
"""Bytes read at once: 8 MB."""


def csv_frames(
    source: ByteSource, *, tabs: bool = False, ragged: dict[int, str] | None = None
) -> Iterator["polars.DataFrame"]:
    """Frames of some rows each, all columns text; at least one.

    The separator is a tab if `tabs` is set; otherwise `separator_of` detects it. The text is UTF-8, with or without a
    byte-order mark; quoted cells may contain separators and line ends. Blank lines are skipped, and white space around
    column names is stripped. `Header` names columns whose name is missing or repeated. Rows that repeat the header are
    left out, with a warning. A row of another length raises an error; with `ragged` it becomes a row of empty cells,
    and its index and problem are stored there.
    """
    start = _start_of(source)
    separator = "\t" if tabs else _said_separator(source, start) or separator_of(start)
    header = _header(source, separator, tabs)
    header.ragged = ragged
    empty = True
    for part in chain.from_iterable(_block_frames(source, header, separator, tabs)):
        if part.height:
            if empty:
                header.look(part)
            empty = False
            yield part
    for note in header.notes(source.name):
        warnings.warn(NoteWarning(note), stacklevel=2)
    if empty:
        raise TableError(f"{source.name} has a header but no rows.")


def _block_frames(
    source: ByteSource, header: Header, separator: str, tabs: bool
) -> Iterator[Iterable["polars.DataFrame"]]:
    """Frames of consecutive blocks; the next block is parsed in parallel."""

    def begun() -> tuple[bytes, Future["polars.DataFrame | None"]]:
        block = source.block(BLOCK)
        return block, pool.submit(regular_frame, block, header.names, separator, blanks=tabs)

    with ThreadPoolExecutor(2) as pool:
        block, reading = begun()
        while block:
            try:
                following: Any = begun()
            except TableError:
                following = None  # damage is told of after the rows before it
            frame = reading.result()
            if frame is not None:
                frame = header.without(frame, partial(_line, source, block, header, separator, tabs))
                source.lines += _count(block, b"\n")
                header.n_rows += frame.height
                yield [frame]
            else:
                if following:
                    source.give_back(following[0])
                    following = None
                yield _exact_frames(source, block, header, separator, tabs)
            block, reading = following or begun()


def _exact_frames(
    source: ByteSource, block: bytes, header: Header, separator: str, tabs: bool
) -> Iterator["polars.DataFrame"]:
    """Frames of the rows of an irregular block, including a row that continues after it."""
    import polars as pl

    reader = RowReader(source, block, separator, blanks=tabs)
    rows = _checked(source, reader.rows(), header)
    while True:
        part, error = _until_error(rows, 10_000)
        if part:
            columns = zip(header.names, zip(*part, strict=True), strict=True)
            yield pl.DataFrame({name: pl.Series(cells, dtype=pl.String) for name, cells in columns})
        if error is not None:
            raise error
        if not part:
            break
    source.give_back(reader.rest())


def _until_error(rows: Iterator[list[str]], most: int) -> tuple[list[list[str]], TableError | None]:
    """At most so many rows, and the error that came after them."""
    found: list[list[str]] = []
    try:
        found.extend(islice(rows, most))  # keeps what came before an error
    except TableError as error:
        return found, error
    return found, None


_FOREIGN = {
    b"PAR1": "a Parquet file; name it so that it ends in .parquet",
    b"PK\x03\x04": "a zip archive, as Excel writes them; save the table as CSV in UTF-8",
    b"\x28\xb5\x2f\xfd": "compressed with Zstandard; unpack it, or compress it with gzip",
    b"BZh9": "compressed with bzip2; unpack it, or compress it with gzip",
    b"\xfd7zXZ": "compressed with xz; unpack it, or compress it with gzip",
}
"""Beginnings of files that are no text, each with what it is and what to do."""


def _start_of(source: ByteSource) -> str:
    """The first lines, left in the source; blank ones before them are gone."""
    while block := source.block(1 << 16):
        for line in block.splitlines(keepends=True):
            if line.strip():
                source.give_back(block)
                if kind := next((told for magic, told in _FOREIGN.items() if line.startswith(magic)), ""):
                    raise TableError(f"{source.name} is {kind}.")
                if b"\0" in line and not line.startswith((b"\xff\xfe", b"\xfe\xff")):
                    raise TableError(
                        f"{source.name} is not a text table (its first line holds zero bytes); save it as CSV in UTF-8."
                    )
                if line[:9].lower() == b"@relation":
                    raise TableError(
                        f"{source.name} is an ARFF or KEEL file; keep the rows after @data, put a line with the column "
                        "names above them, and save it as CSV."
                    )
                return block.decode("utf-8", "replace")
            source.lines += 1
            block = block[len(line) :]
    raise TableError(f"{source.name} is empty: it needs a header line with column names, then rows.")


def _said_separator(source: ByteSource, start: str) -> str:
    """The separator that a line such as ``sep=;`` names, as Excel understands it; that line is gone then."""
    match = re.match(r"""["']?sep=(.)["']?\r?\n""", start)
    if match is None:
        return ""
    source.give_back(source.block(1 << 16)[len(match[0].encode()) :])
    source.lines += 1
    return match[1]


def _header(source: ByteSource, separator: str, tabs: bool) -> Header:
    """The header; the rows after them stay in the source."""
    reader = RowReader(source, source.block(1 << 16), separator, blanks=tabs)
    written, rest = next(reader.rows()), reader.rest()
    source.give_back(rest)
    rows = RowReader(ByteSource(io.BytesIO(), source.name), rest, separator, blanks=tabs).rows()
    return Header.of(written, _until_error(rows, 20)[0])  # the error is told of when its turn comes


def _line(source: ByteSource, block: bytes, header: Header, separator: str, tabs: bool) -> int:
    """The line in which a block repeats the header for the first time."""
    lines = ByteSource(io.BytesIO(), source.name)
    lines.lines = source.lines
    rows = RowReader(lines, block, separator, blanks=tabs).rows()
    return next(lines.lines for row in rows if header.repeated(row))


def _checked(source: ByteSource, rows: Iterator[list[str]], header: Header) -> Iterator[list[str]]:
    """Rows of the right width that do not repeat the header."""
    width = len(header.names)
    for row in rows:
        if len(row) != width:
            wrong = f"{source.name}, line {source.lines}: {number_of(len(row), 'field')} where the header has {width}"
            if header.ragged is None:
                raise TableError(
                    f"{wrong}; quote fields that contain the separator, and leave missing fields empty between "
                    "separators."
                )
            header.ragged[header.n_rows] = wrong
            row = [""] * width
        elif header.repeated(row):
            header.leave_out(1, lambda: source.lines)
            continue
        header.n_rows += 1
        yield row


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


_QUOTE, _NEWLINE, _BLANK = b'"\n '


def regular_frame(block: bytes, names: list[str], separator: str, *, blanks: bool) -> "polars.DataFrame | None":
    """A frame of text from whole lines; None if anything is not plain: `csv_rows` then takes a closer look.

    Plain is a block of valid UTF-8 whose rows all have as many cells as there are names, whose quotes open right where
    a cell begins and close right where it ends, and whose lines end alike.

    Parameters
    ----------
    block : bytes
    names : list of str
    separator : str
    blanks : bool
        Whether blanks after a separator belong to the cell.

    Examples
    --------
    >>> regular_frame(b'1,2\\n"x, y",\\n', ["a", "b"], ",", blanks=False).rows()
    [('1', '2'), ('x, y', '')]
    >>> regular_frame(b"1,2\\n3\\n", ["a", "b"], ",", blanks=False) is None
    True
    """
    import polars as pl

    quoted = b'"' in block
    data = _plain_lines(block, quoted)
    if data is None or data.startswith(b"\xef\xbb\xbf") or not _is_text(data):
        return None
    schema = dict.fromkeys(names, pl.String)
    if not data:
        return pl.DataFrame(schema=schema)
    mark, rows = separator.encode(), _count(data, b"\n")
    blank = not blanks and not quoted and b" " in data
    strip = blank and (mark + b" " in data or b"\n " in data or data.startswith(b" "))
    if quoted:
        found = _quoted_rows(np.frombuffer(data, np.uint8), ord(separator), len(names), blanks)
        if found is None:
            return None
        rows = found
    elif _count(data, mark) != (len(names) - 1) * rows:
        return None
    try:
        # More cells than names are an error of Polars, fewer are filled up: as the sum is right, none has fewer.
        frame = pl.read_csv(
            data, has_header=False, schema=schema, separator=separator, quote_char='"' if quoted else None
        )
    except pl.exceptions.PolarsError:
        return None
    if frame.height != rows:
        return None
    frame = frame.with_columns(column.fill_null("") for column in frame.get_columns() if column.null_count())
    return frame.with_columns(pl.all().str.strip_chars_start(" ")) if strip else frame


def _is_text(data: bytes) -> bool:
    if data.isascii():
        return True
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _plain_lines(block: bytes, quoted: bool) -> bytes | None:
    """Lines with plain ends, none of them blank; None if that may change a quoted cell, or a return stands alone."""
    data = block if block.endswith(b"\n") or not block else block + b"\n"
    if quoted and (b"\r" in data or _blank_lines(data)) and _newline_in_quotes(data):
        return None
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n")
        if b"\r" in data:
            return None
    if _blank_lines(data):
        data = re.sub(rb"\n{2,}", b"\n", data).removeprefix(b"\n")
    return data


def _count(data: bytes, mark: bytes) -> int:
    """How often a byte occurs: ten times as fast as `bytes.count` where it does often."""
    return int(np.count_nonzero(np.frombuffer(data, np.uint8) == ord(mark)))


def _blank_lines(data: bytes) -> bool:
    ends = np.frombuffer(data, np.uint8) == _NEWLINE
    return bool(len(ends) and (ends[0] or (ends[1:] & ends[:-1]).any()))


def _inside(data: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Which bytes stand after an odd number of quotes."""
    return np.bitwise_xor.accumulate((data == _QUOTE).view(np.uint8)).view(np.bool_)


def _newline_in_quotes(data: bytes) -> bool:
    array = np.frombuffer(data, np.uint8)
    return bool((_inside(array) & ((array == _NEWLINE) | (array == ord("\r")))).any())


def _quoted_rows(data: NDArray[np.uint8], separator: int, width: int, blanks: bool) -> int | None:
    """The number of rows; None if not all have `width` cells, or a quote does not stand where a cell begins or ends."""
    inside, ends = _inside(data), (data == separator) | (data == _NEWLINE)
    if inside[-1]:
        return None
    outer = np.flatnonzero(ends & ~inside)
    if len(outer) % width:
        return None
    kinds = data[outer].reshape(-1, width)
    if not ((kinds[:, -1] == _NEWLINE).all() and (kinds[:, :-1] == separator).all()):
        return None
    if not blanks and (data[0] == _BLANK or (data[outer[:-1] + 1] == _BLANK).any()):
        return None
    quotes = data == _QUOTE
    places = np.flatnonzero(quotes)
    opening, closing = places[0::2], places[1::2]  # the byte "before" the first one is the last, a line end
    begins, ends_there = (ends | quotes)[opening - 1], (ends | quotes)[closing + 1]
    return len(kinds) if bool(begins.all() and ends_there.all()) else None
