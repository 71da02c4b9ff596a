"""CSV as text: every cell a string, exactly as in the file.

What a cell means (a number, a missing value, a category) is for the stored preparation to say, never for the reader:
types guessed from the rows at hand would differ from chunk to chunk.
"""

import csv
import gzip
import io
import itertools
import zlib
from collections.abc import Callable, Iterator
from io import BufferedReader
from pathlib import Path
from typing import TextIO

import pandas as pd

from abnet.data.tables.error import TableError, listed

__all__ = ["CELLS", "csv_chunks"]

CELLS = 2_000_000
"""Cells read at once where the caller leaves the number of rows open: some 100 MB of text."""


def csv_chunks(path: Path, rows: int | None, progress: Callable[[float], None] | None) -> Iterator[pd.DataFrame]:
    """Frames of at most `rows` rows (None: blocks of some `CELLS` cells), all columns text; at least one frame.

    The separator is a comma in ``.csv`` files and a tab in ``.tsv`` files; a semicolon or tab is understood when the
    header has no comma. UTF-8 with or without a byte-order mark; fields may be quoted, and hold separators and line
    ends then. Blank lines are skipped, and blanks around column names dropped. An unnamed column is called
    ``column 3``. Whether the file is gzipped is seen from its first bytes, whatever its name ends in.
    """
    size = max(path.stat().st_size, 1)
    with path.open("rb") as raw:
        stream = gzip.GzipFile(fileobj=raw) if _starts_as_gzip(raw) else raw
        text = io.TextIOWrapper(stream, encoding="utf-8-sig", newline="")
        start = 0
        for frame in _frames(path, text, rows):
            frame.index = pd.RangeIndex(start, start + len(frame))
            start += len(frame)
            if progress is not None:
                progress(min(raw.tell() / size, 1.0))
            yield frame
    if start == 0:
        raise TableError(f"{path} has a header but no rows.")


def _starts_as_gzip(raw: BufferedReader) -> bool:
    """Whether a file begins with the mark of gzip, which no text in UTF-8 does."""
    return raw.peek(2)[:2] == b"\x1f\x8b"


def _frames(path: Path, text: TextIO, rows: int | None) -> Iterator[pd.DataFrame]:
    """Frames with the errors of every layer below (gzip, UTF-8, CSV) turned into one line each."""
    lines = _Counted(text)
    try:
        reader = _reader(path, lines)
        names = _header(path, next(reader))
        body = _checked(path, reader, lines, len(names))
        while block := list(itertools.islice(body, rows or max(CELLS // len(names), 1))):
            yield pd.DataFrame(dict(zip(names, zip(*block, strict=True), strict=True)), dtype=str)
    except UnicodeDecodeError as error:
        # Every whole line before the undecodable block has been given out, so the count goes on inside the block.
        byte, line = error.object[error.start], lines.number + 1 + error.object[: error.start].count(b"\n")
        raise TableError(
            f"{path}, line {line}: not UTF-8 text (byte 0x{byte:02x}); save the table as CSV in UTF-8."
        ) from error
    except csv.Error as error:
        raise TableError(f"{path}, line {lines.number}: broken CSV ({error}); check the quotes there.") from error
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise TableError(f"{path} is not a whole gzip file ({error}); compress the table again.") from error


class _Counted:
    """Lines with the number of the last one given out."""

    def __init__(self, text: TextIO) -> None:
        self.text, self.number = text, 0

    def __iter__(self) -> Iterator[str]:
        for line in self.text:
            self.number += 1
            yield line


def _reader(path: Path, lines: _Counted) -> Iterator[list[str]]:
    """A CSV reader at the first line that is not blank, with the separator that the line shows."""
    iterator = iter(lines)
    first = next((line for line in iterator if line.strip()), None)
    if first is None:
        raise TableError(f"{path} is empty: it needs a header line with column names, then rows.")
    if "\0" in first:
        raise TableError(f"{path} is not a text table (its first line holds zero bytes); save it as CSV in UTF-8.")
    tabs = ".tsv" in (suffix.lower() for suffix in path.suffixes[-2:])
    separator = "\t" if tabs else _separator(first)
    return csv.reader(itertools.chain([first], iterator), delimiter=separator, strict=True, skipinitialspace=not tabs)


def _separator(header: str) -> str:
    """A comma, or where the header has none outside quotes, a semicolon or a tab.

    Examples
    --------
    >>> _separator("a,b;c"), _separator('"size, cm";weight'), _separator("name")
    (',', ';', ',')
    """
    bare = "".join(header.split('"')[::2])
    return next((mark for mark in ",;\t" if mark in bare), ",")


def _header(path: Path, names: list[str]) -> list[str]:
    names = [name.strip() or f"column {i}" for i, name in enumerate(names, 1)]
    repeated = sorted({name for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []
    if repeated:
        raise TableError(f"{path}: column names must differ, but {listed(repeated)} repeat; rename them in the header.")
    return names


def _checked(path: Path, reader: Iterator[list[str]], lines: _Counted, width: int) -> Iterator[list[str]]:
    """Rows of the right width; blank lines left out."""
    for row in reader:
        if len(row) == width:
            yield row
        elif row:
            raise TableError(
                f"{path}, line {lines.number}: {len(row)} fields where the header has {width}; "
                "quote fields that hold the separator, and fill missing ones with nothing between separators."
            )
