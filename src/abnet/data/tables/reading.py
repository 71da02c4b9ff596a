"""Tables from files and streams, whole or in batches."""

import io
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING

from abnet.data.tables.csv_source import ByteSource
from abnet.data.tables.csv_text import csv_frames
from abnet.data.tables.error import TableError
from abnet.data.tables.parquet import parquet_frames

if TYPE_CHECKING:
    import polars

__all__ = ["STDIN", "batches", "read_table"]

STDIN = "-"
"""The name of standard input."""

_ENDINGS = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".parquet")


def read_table(path: str | os.PathLike[str], *, progress: Callable[[float], None] | None = None) -> "polars.DataFrame":
    """Read a whole table.

    Columns of CSV and TSV files (plain or gzipped) are text, cell for cell as in the file; what they mean is decided
    by `abnet.data.preparation.TablePreparation` and stored with the model. Columns of Parquet files keep their types.

    Parameters
    ----------
    path, progress
        As in `batches`.

    Raises
    ------
    TableError
        In one line: no such file, unknown ending, empty, header only, not UTF-8, broken quotes, rows of another length,
        repeated column names, damaged gzip or Parquet.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = path.write_text("age,city\\n39,'s-Hertogenbosch\\n,Oslo\\n")
    >>> read_table(path)["age"].to_list()
    ['39', '']
    """
    import polars as pl

    # In one piece: taking rows out of pieces is several times slower.
    return pl.concat(list(batches(path, rows=None, progress=progress)), rechunk=True)


def batches(
    path: str | os.PathLike[str],
    *,
    rows: int | None = 10_000,
    progress: Callable[[float], None] | None = None,
) -> Iterator["polars.DataFrame"]:
    """Read a table in frames of `rows` rows, the last may have fewer, so that files larger than memory stream through.

    Parameters
    ----------
    path : path
        Ends in .csv, .csv.gz, .tsv, .tsv.gz or .parquet; ``-`` is standard input, with any of these. A gzipped table
        is recognised by its content, with or without .gz.
    rows : int or None
        Rows per frame; None takes them as they come.
    progress : callable, optional
        Called before every frame with the share of the file read so far, between 0 and 1.

    Yields
    ------
    polars.DataFrame
        Types are those of `read_table`.
    """
    if rows is not None and rows < 1:
        raise ValueError(f"rows must be 1 or more, got {rows}.")
    if os.fspath(path) == STDIN:
        yield from _of_stream(sys.stdin.buffer, rows)
        return
    path = Path(path)
    ending = _ending(path)
    if ending not in _ENDINGS:
        raise TableError(f"{path}: unknown ending {ending!r}; tables end in {', '.join(_ENDINGS)}.")
    if not path.is_file():
        what = "is a folder, not a table" if path.is_dir() else "does not exist"
        raise TableError(f"{path} {what}; check the path.")
    try:
        if ending == ".parquet":
            yield from parquet_frames(path, str(path), rows, progress)
            return
        with path.open("rb") as raw:
            source = ByteSource(raw, str(path), max(path.stat().st_size, 1))
            yield from _of_text(source, ".tsv" in ending, rows, progress)
    except PermissionError as error:
        raise TableError(f"{path} may not be read; check its permissions.") from error


def _of_stream(stream: IO[bytes], rows: int | None) -> Iterator["polars.DataFrame"]:
    """A table from a stream, whose first bytes tell what it is; Parquet is read whole, as its end explains it."""
    name, buffered = "standard input", io.BufferedReader(stream)  # type: ignore[type-var]
    if buffered.peek(4)[:4] == b"PAR1":
        yield from parquet_frames(io.BytesIO(buffered.read()), name, rows, None)
    else:
        yield from _of_text(ByteSource(buffered, name), False, rows, None)


def _of_text(
    source: ByteSource, tabs: bool, rows: int | None, progress: Callable[[float], None] | None
) -> Iterator["polars.DataFrame"]:
    frames = csv_frames(source, tabs=tabs)
    for frame in frames if rows is None else _of_size(frames, rows):
        if progress is not None:
            progress(source.progress())
        yield frame


def _of_size(frames: Iterator["polars.DataFrame"], rows: int) -> Iterator["polars.DataFrame"]:
    """Frames of `rows` rows each from frames of any size; the last may have fewer."""
    import polars as pl

    waiting: list[polars.DataFrame] = []
    for frame in frames:
        waiting.append(frame)
        if sum(part.height for part in waiting) >= rows:
            whole = pl.concat(waiting, rechunk=False)
            full = whole.height - whole.height % rows
            for start in range(0, full, rows):
                yield whole.slice(start, rows)
            waiting = [whole.slice(full)] if full < whole.height else []
    if waiting:
        yield pl.concat(waiting, rechunk=False)


def _ending(path: Path) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    return "".join(suffixes[-2:]) if suffixes[-1:] == [".gz"] else "".join(suffixes[-1:])
