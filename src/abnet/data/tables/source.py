"""A table that is read twice: a file, frames, or a stream that has to be kept on the disk meanwhile."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from abnet.data.tables.error import TableError
from abnet.data.tables.frames import as_table
from abnet.data.tables.reading import STDIN, batches

if TYPE_CHECKING:
    import polars

__all__ = ["TableSource", "as_polars"]

ROWS = 50_000
"""Rows read at a time."""


class TableSource:
    """Frames of Polars from a table, as often as they are asked for.

    Parameters
    ----------
    table : path, frame, sequence of frames, or iterator of frames
        Frames may be of Polars or pandas, or records of columns. An iterator, and standard input (``-``), can be read
        once only: what it gives goes to files in `folder` too.
    folder : path
        For such files; the caller removes it.
    progress : callable, optional
        Of the first pass through a file, as in `abnet.data.tables.batches`.

    Examples
    --------
    >>> import tempfile
    >>> frames = ({"x": [i, i + 1]} for i in range(0, 6, 2))
    >>> source = TableSource(frames, tempfile.mkdtemp())
    >>> [frame["x"].to_list() for frame in source.frames()] == [frame["x"].to_list() for frame in source.frames()]
    True
    """

    def __init__(
        self, table: Any, folder: str | os.PathLike[str], progress: Callable[[float], None] | None = None
    ) -> None:
        self._table, self._folder, self._progress = table, Path(folder), progress
        self._files: list[Path] | None = None

    def frames(self) -> Iterator["polars.DataFrame"]:
        """The frames, in order."""
        if self._files is not None:
            return map(_read_file, self._files)
        if isinstance(self._table, (str, os.PathLike)):
            if os.fspath(self._table) == STDIN:
                return self._keeping(batches(STDIN, rows=ROWS))
            return batches(self._table, rows=ROWS, progress=self._progress)
        if isinstance(self._table, Mapping) or hasattr(self._table, "columns"):
            whole = as_polars(self._table)
            return (whole.slice(start, ROWS) for start in range(0, whole.height, ROWS))
        if not isinstance(self._table, Iterable):
            raise TypeError(f"a table is a path, a frame or frames; got {type(self._table).__name__}.")
        frames = map(as_polars, self._table)
        return self._keeping(frames) if isinstance(self._table, Iterator) else frames

    def _keeping(self, frames: Iterable["polars.DataFrame"]) -> Iterator["polars.DataFrame"]:
        files = []
        for number, frame in enumerate(frames):
            files.append(self._folder / f"{number}.arrow")
            frame.write_ipc(files[-1])
            yield frame
        self._files = files


def _read_file(path: Path) -> "polars.DataFrame":
    import polars as pl

    return pl.read_ipc(path)


def as_polars(frame: Any) -> "polars.DataFrame":
    """A frame of Polars from one of pandas, or from a record of columns.

    Examples
    --------
    >>> as_polars({"x": [1, None], "city": ["Oslo", None]}).rows()
    [(1, 'Oslo'), (None, None)]
    """
    import polars as pl

    if isinstance(frame, pl.DataFrame):
        return frame
    table = as_table(frame)
    if not table.columns:
        raise TableError("a table needs columns.")
    return pl.DataFrame([_series(name, column) for name, column in table.columns.items()])


def _series(name: str, column: Any) -> "polars.Series":
    import polars as pl

    values = column.to_numpy() if hasattr(column, "to_numpy") else column
    if isinstance(values, np.ndarray) and values.dtype.kind in "OU":
        values = [None if value is None or value != value else value for value in values.tolist()]
        if len({type(value) for value in values} - {type(None)}) > 1:  # as they are written: each cell for itself
            values = [None if value is None else str(value) for value in values]
    return pl.Series(name, values)
