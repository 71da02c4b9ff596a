"""A table that can be read several times, from a file, a frame or an iterator of frames."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from abnet.tables.polars_frames import alike, as_polars
from abnet.tables.reading import STDIN, batches
from abnet.tables.table import is_plan
from abnet.utils.caller_rows import is_frame

if TYPE_CHECKING:
    import polars

__all__ = ["TableSource"]

_ROWS = 50_000
"""Rows read at a time."""


class TableSource:
    """A table that can be read several times, as Polars frames.

    Parameters
    ----------
    table : path, frame, sequence of frames, or iterator of frames
        Frames may be of Polars or pandas, or dicts of columns. An iterator, and standard input (``-``), can be read
        only once: its frames are also stored in files in `folder`.
    folder : path
        Folder for such files; the caller removes it.
    progress : callable, optional
        For the first pass through a file, as in `abnet.tables.reading.batches`.

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
        self._table = table
        self._folder = Path(folder)
        self._progress = progress
        self._files: list[Path] | None = None

    def frames(self) -> Iterator["polars.DataFrame"]:
        """The frames, in order."""
        if self._files is not None:
            return map(_read_file, self._files)
        if isinstance(self._table, (str, os.PathLike)):
            if os.fspath(self._table) == STDIN:
                return self._stored(batches(STDIN, rows=_ROWS))
            return batches(self._table, rows=_ROWS, progress=self._progress)
        if is_plan(self._table):
            return iter(self._table.collect_batches(chunk_size=_ROWS, maintain_order=True))
        if isinstance(self._table, Mapping) or is_frame(self._table):
            whole = as_polars(self._table)
            return (whole.slice(start, _ROWS) for start in range(0, whole.height, _ROWS))
        if not isinstance(self._table, Iterable):
            raise TypeError(f"a table is a path, a frame or frames; got {type(self._table).__name__}.")
        frames = alike(map(as_polars, self._table))
        if isinstance(self._table, Iterator):
            return self._stored(frames)
        return frames

    def _stored(self, frames: Iterable["polars.DataFrame"]) -> Iterator["polars.DataFrame"]:
        """The frames, each of which is written to a file for the next time."""
        files = []
        for number, frame in enumerate(frames):
            file = self._folder / f"{number}.arrow"
            frame.write_ipc(file)
            files.append(file)
            yield frame
        self._files = files


def _read_file(path: Path) -> "polars.DataFrame":
    import polars as pl

    return pl.read_ipc(path)
