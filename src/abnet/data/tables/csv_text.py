"""CSV as text: every cell a string, exactly as in the file.

What a cell means (a number, a missing value, a category) is for the stored preparation to say, never for the reader:
types guessed from the rows at hand would differ from batch to batch.
"""

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING

from abnet.data.tables.csv_blocks import regular_frame
from abnet.data.tables.csv_rows import RowReader
from abnet.data.tables.csv_source import ByteSource
from abnet.data.tables.error import TableError, refuse_repeated

if TYPE_CHECKING:
    import polars

__all__ = ["UNNAMED", "csv_frames"]

BLOCK = 1 << 23
"""Bytes read at once: 8 MB."""

UNNAMED = "(unnamed)"
"""End of the name of a column that has none in the header."""


def csv_frames(source: ByteSource, *, tabs: bool = False) -> Iterator["polars.DataFrame"]:
    """Frames of some rows each, all columns text; at least one.

    The separator is a tab if `tabs` says so; else a comma, or where the header has none, a semicolon, a tab or a bar.
    UTF-8 with or without a byte-order mark; cells may be quoted, and hold separators and line ends then. Blank lines
    are skipped, and blanks around column names dropped. A column without a name is called ``column 3 (unnamed)``.
    """
    first = _first_line(source)
    separator = "\t" if tabs else _separator(first)
    names = _header(source, separator, tabs)
    empty = True
    while block := source.block(BLOCK):
        frame = regular_frame(block, names, separator, blanks=tabs)
        if frame is None:
            frames = _exact_frames(source, block, names, separator, tabs)
        else:
            source.lines += block.count(b"\n")
            frames = iter([frame])
        for part in frames:
            if part.height:
                empty = False
                yield part
    if empty:
        raise TableError(f"{source.name} has a header but no rows.")


def _exact_frames(
    source: ByteSource, block: bytes, names: list[str], separator: str, tabs: bool
) -> Iterator["polars.DataFrame"]:
    """Frames of the rows of a block that is not regular, and of the row that goes on after it."""
    import polars as pl

    reader = RowReader(source, block, separator, blanks=tabs)
    rows = _checked(source, reader.rows(), len(names))
    while True:
        part, error = _until_error(rows, 10_000)
        if part:
            columns = zip(names, zip(*part, strict=True), strict=True)
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
        found.extend(itertools.islice(rows, most))  # keeps what came before an error
    except TableError as error:
        return found, error
    return found, None


def _first_line(source: ByteSource) -> str:
    """The first line that is not blank, left in the source; blank ones before it are gone."""
    while block := source.block(1 << 16):
        for line in block.splitlines(keepends=True):
            if line.strip():
                source.give_back(block)
                if b"\0" in line and not line.startswith((b"\xff\xfe", b"\xfe\xff")):
                    raise TableError(
                        f"{source.name} is not a text table (its first line holds zero bytes); save it as CSV in UTF-8."
                    )
                return line.decode("utf-8", "replace")
            source.lines += 1
            block = block[len(line) :]
    raise TableError(f"{source.name} is empty: it needs a header line with column names, then rows.")


def _separator(header: str) -> str:
    """A comma, or where the header has none outside quotes, a semicolon, a tab or a bar.

    Examples
    --------
    >>> _separator("a,b;c"), _separator('"size, cm";weight'), _separator("a|b"), _separator("name")
    (',', ';', '|', ',')
    """
    bare = "".join(header.split('"')[::2])
    return next((mark for mark in ",;\t|" if mark in bare), ",")


def _header(source: ByteSource, separator: str, tabs: bool) -> list[str]:
    """Column names; the rows after them stay in the source."""
    reader = RowReader(source, source.block(1 << 16), separator, blanks=tabs)
    written = next(reader.rows())
    source.give_back(reader.rest())
    names = [name.strip() or f"column {i} {UNNAMED}" for i, name in enumerate(written, 1)]
    refuse_repeated(names, f"{source.name}: ")
    return names


def _checked(source: ByteSource, rows: Iterator[list[str]], width: int) -> Iterator[list[str]]:
    """Rows of the right width."""
    for row in rows:
        if len(row) != width:
            raise TableError(
                f"{source.name}, line {source.lines}: {len(row)} fields where the header has {width}; "
                "quote fields that hold the separator, and fill missing ones with nothing between separators."
            )
        yield row
