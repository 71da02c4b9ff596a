"""Read tables from files and standard input, whole or in batches."""

import io
import os
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import IO, TYPE_CHECKING

from abnet.tables.byte_source import ByteSource
from abnet.tables.csv_files import csv_frames
from abnet.tables.file_formats import check_extension, extension
from abnet.tables.parquet_files import parquet_frames
from abnet.tables.table_errors import TableError

if TYPE_CHECKING:
    import polars

__all__ = ["STDIN", "batches", "read_table"]

STDIN = "-"
"""The name of standard input."""

_PARQUET = b"PAR1"
"""The first bytes of a Parquet file."""


def read_table(path: str | os.PathLike[str]) -> "polars.DataFrame":
    """Read a whole table.

    Columns of CSV and TSV files (plain or gzipped) are text, cell for cell as in the file; what they mean is decided
    by `abnet.tables.preparation.TablePreparation` and stored with the model. Columns of Parquet files keep their types.

    Parameters
    ----------
    path : path
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
    return pl.concat(list(batches(path, rows=None)), rechunk=True)


def batches(
    path: str | os.PathLike[str],
    *,
    rows: int | None = 10_000,
    progress: Callable[[float], None] | None = None,
    ragged: dict[int, str] | None = None,
) -> Iterator["polars.DataFrame"]:
    """Read a table in frames of `rows` rows (the last may have fewer), so that files larger than memory can be
    streamed.

    Parameters
    ----------
    path : path
        Ends in .csv, .csv.gz, .tsv, .tsv.gz or .parquet; ``-`` is standard input, with any of these. A gzipped table
        is recognised by its content, with or without .gz.
    rows : int or None
        Rows per frame; None takes them as they come.
    progress : callable, optional
        Called before every frame with the fraction of the file read so far.
    ragged : dict, optional
        If given, rows of a text table whose length differs from the header are read as empty cells, and their index and
        problem are stored here. Otherwise such rows raise an error.

    Yields
    ------
    polars.DataFrame
        Types are those of `read_table`.
    """
    if find_spec("polars") is None:
        raise ModuleNotFoundError("reading a file needs Polars: install abnet-predict[tables].", name="polars")
    if rows is not None and rows < 1:
        raise ValueError(f"rows must be 1 or more, got {rows}.")
    if os.fspath(path) == STDIN:
        yield from _stream_frames(sys.stdin.buffer, rows, ragged)
        return
    path = Path(path)
    _check_path(path)
    try:
        if extension(path) == ".parquet":
            yield from parquet_frames(path, str(path), rows, progress)
            return
        with path.open("rb") as raw:
            source = ByteSource(raw, str(path), max(path.stat().st_size, 1))
            tabs = ".tsv" in extension(path)
            for frame in _of_size(csv_frames(source, tabs=tabs, ragged=ragged), rows):
                if progress is not None:
                    progress(source.progress())
                yield frame
    except PermissionError as error:
        raise TableError(f"{path} cannot be read; check its permissions.") from error


def _check_path(path: Path) -> None:
    """Raise a TableError unless this is a file with the extension of a table."""
    if path.exists() and not path.is_file() and not path.is_dir():
        raise TableError(
            f"{path} is not a regular file; to read a pipe, use {STDIN}, as in `abnet predict MODEL - < {path}`."
        )
    check_extension(path)
    if path.is_dir():
        raise TableError(f"{path} is a folder, not a table; check the path.")
    if not path.is_file():
        raise TableError(f"{path} does not exist; check the path.")


def _stream_frames(stream: IO[bytes], rows: int | None, ragged: dict[int, str] | None) -> Iterator["polars.DataFrame"]:
    """Frames from a stream, whose format is detected from its first bytes."""
    name = "standard input"
    buffered = io.BufferedReader(stream)  # type: ignore[type-var]
    if buffered.peek(4)[:4] == _PARQUET:
        # The end of a Parquet file describes the rest of it, so it is read whole.
        yield from parquet_frames(io.BytesIO(buffered.read()), name, rows, None)
    else:
        yield from _of_size(csv_frames(ByteSource(buffered, name), ragged=ragged), rows)


def _of_size(frames: Iterator["polars.DataFrame"], rows: int | None) -> Iterator["polars.DataFrame"]:
    """Frames of `rows` rows each from frames of any size; the last may have fewer. None leaves them as they are."""
    import polars as pl

    if rows is None:
        yield from frames
        return
    waiting: list[polars.DataFrame] = []
    for frame in frames:
        waiting.append(frame)
        if sum(part.height for part in waiting) < rows:
            continue
        whole = pl.concat(waiting, rechunk=False)
        n_complete = whole.height - whole.height % rows
        for start in range(0, n_complete, rows):
            yield whole.slice(start, rows)
        waiting = []
        if n_complete < whole.height:
            waiting = [whole.slice(n_complete)]
    if waiting:
        yield pl.concat(waiting, rechunk=False)
