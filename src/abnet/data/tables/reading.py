"""Tables from files, whole or in chunks."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pandas as pd

from abnet.data.tables.csv_text import csv_chunks
from abnet.data.tables.error import TableError
from abnet.data.tables.parquet import parquet_chunks

__all__ = ["read_chunks", "read_table"]

_READERS = {
    ".csv": csv_chunks,
    ".csv.gz": csv_chunks,
    ".tsv": csv_chunks,
    ".tsv.gz": csv_chunks,
    ".parquet": parquet_chunks,
}


def read_table(path: str | os.PathLike[str]) -> pd.DataFrame:
    """Read a whole table; its index counts the data rows from 0.

    Columns of CSV and TSV files (plain or gzipped) are text, cell for cell as in the file; what they mean is decided
    by `abnet.data.preparation.TablePreparation` and stored with the model. Columns of Parquet files keep their types.

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
    >>> read_table(path)["age"].tolist()
    ['39', '']
    """
    return pd.concat(list(read_chunks(path, rows=None)))


def read_chunks(
    path: str | os.PathLike[str],
    *,
    rows: int | None = 10_000,
    progress: Callable[[float], None] | None = None,
) -> Iterator[pd.DataFrame]:
    """Read a table in frames of at most `rows` rows, so that files larger than memory stream through.

    Parameters
    ----------
    path : path
        Ends in .csv, .csv.gz, .tsv, .tsv.gz or .parquet. A gzipped table is recognised by its content, with or without
        .gz.
    rows : int or None
        Rows per frame; None lets the number of columns decide.
    progress : callable, optional
        Called before every frame with the share of the file read so far, between 0 and 1.

    Yields
    ------
    DataFrame
        Its index goes on from frame to frame. Types are those of `read_table`.
    """
    path = Path(path)
    reader = _READERS.get(_ending(path))
    if reader is None:
        raise TableError(f"{path}: unknown ending {_ending(path)!r}; tables end in {', '.join(_READERS)}.")
    if not path.is_file():
        what = "is a folder, not a table" if path.is_dir() else "does not exist"
        raise TableError(f"{path} {what}; check the path.")
    if rows is not None and rows < 1:
        raise ValueError(f"rows must be 1 or more, got {rows}.")
    try:
        yield from reader(path, rows, progress)
    except PermissionError as error:
        raise TableError(f"{path} may not be read; check its permissions.") from error


def _ending(path: Path) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    return "".join(suffixes[-2:]) if suffixes[-1:] == [".gz"] else "".join(suffixes[-1:])
