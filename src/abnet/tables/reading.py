"""Read tables from files and streams, whole or in batches; sources that can be read again, and the training rows."""

import io
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from abnet.certificates.split import Split, row_hashes
from abnet.tables.csv_files import ByteSource, csv_frames
from abnet.tables.frames import as_table, is_plan, stacked
from abnet.tables.notes import Note
from abnet.tables.table_errors import TableError, listed
from abnet.tables.target import Binning, FeaturesAndLabels, labelled, split_target
from abnet.utils.caller_rows import is_frame

if TYPE_CHECKING:
    import polars

__all__ = [
    "STDIN",
    "Learning",
    "TableSource",
    "alike",
    "as_polars",
    "batches",
    "learning_part",
    "parquet_frames",
    "read_table",
]


ROWS = 50_000
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
        if is_plan(self._table):
            return iter(self._table.collect_batches(chunk_size=ROWS, maintain_order=True))
        if isinstance(self._table, Mapping) or is_frame(self._table):
            whole = as_polars(self._table)
            return (whole.slice(start, ROWS) for start in range(0, whole.height, ROWS))
        if not isinstance(self._table, Iterable):
            raise TypeError(f"a table is a path, a frame or frames; got {type(self._table).__name__}.")
        frames = alike(map(as_polars, self._table))
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
    if isinstance(frame, (str, os.PathLike)):
        raise TypeError(f"a list of tables must hold frames, not paths; got {os.fspath(frame)!r}.")
    table = as_table(frame)
    if not table.columns:
        raise TableError("a table needs columns.")
    return pl.DataFrame([_series(name, column) for name, column in table.columns.items()])


def alike(frames: "Iterable[polars.DataFrame]") -> "Iterator[polars.DataFrame]":
    """Check that all frames have the columns of the first one with compatible types, and return them in its order.

    A column without values is compatible with any type, and numbers or dates in one frame may be text in another.

    Examples
    --------
    >>> import polars as pl
    >>> frames = [pl.DataFrame({"a": [1], "b": ["x"]}), pl.DataFrame({"b": ["y"], "a": [2.5]})]
    >>> [frame.columns for frame in alike(frames)]
    [['a', 'b'], ['a', 'b']]
    """
    names: list[str] = []
    known: dict[str, str] = {}
    for number, frame in enumerate(frames, 1):
        names = names or frame.columns
        for absent, said in ((set(names) - set(frame.columns), "lacks"), (set(frame.columns) - set(names), "adds")):
            if absent:
                raise TableError(
                    f"frame {number} of the table {said} {listed(sorted(absent))}; all need the columns of the first."
                )
        frame = _without_types_of_gaps(frame.select(names))
        for column in frame.get_columns():
            kind = _kind(column.dtype)
            if kind == "nothing":
                continue
            before = known.setdefault(column.name, kind)
            known[column.name] = kind if before == "text" else before
            if before != kind and {before, kind} not in ({"text", "numbers"}, {"text", "dates"}):
                raise TableError(
                    f"frame {number} of the table: column {column.name!r} holds {kind}, and {before} in "
                    "frames before it; give it one type in all frames."
                )
        yield frame


def _without_types_of_gaps(frame: "polars.DataFrame") -> "polars.DataFrame":
    """The frame, whose columns of NaN alone are null: pandas makes them of text and dates without a value."""
    import polars as pl

    floats = [column for column in frame.get_columns() if column.dtype.is_float() and len(column)]
    return frame.with_columns(
        pl.lit(None).alias(column.name)
        for column in floats
        if column.head(1).fill_null(float("nan")).is_nan().item() and column.fill_null(float("nan")).is_nan().all()
    )


def _kind(dtype: Any) -> str:
    """What a column of some type holds, in a word that tells which types may be mixed."""
    import polars as pl

    if dtype == pl.Null:
        return "nothing"
    if dtype in (pl.String, pl.Categorical, pl.Enum):
        return "text"
    if dtype in (pl.Date, pl.Datetime):
        return "dates"
    return (
        "numbers" if dtype.is_numeric() else {pl.Boolean: "booleans", pl.Duration: "durations"}.get(dtype, str(dtype))
    )


def _series(name: str, column: Any) -> "polars.Series":
    import polars as pl

    values = column.to_numpy() if hasattr(column, "to_numpy") else column
    if isinstance(values, np.ndarray) and values.dtype.kind in "OU":
        values = [None if value is None or value != value else value for value in values.tolist()]
        if len({type(value) for value in values} - {type(None)}) > 1:  # as they are written: each cell for itself
            values = [None if value is None else str(value) for value in values]
    return pl.Series(name, values)


def parquet_frames(
    source: Path | IO[bytes], name: str, rows: int | None, progress: Callable[[float], None] | None
) -> Iterator["polars.DataFrame"]:
    """Frames of at most `rows` rows (None: all of them) with the file's own types; at least one frame."""
    import polars as pl

    start = 0
    try:
        lazy = pl.scan_parquet(source)
        lazy = lazy.select(_columns(lazy.collect_schema().names()))
        total = 0 if progress is None else lazy.select(pl.len()).collect().item()
        for frame in [lazy.collect()] if rows is None else lazy.collect_batches(chunk_size=rows, maintain_order=True):
            if frame.height:
                start += frame.height
                if progress is not None:
                    progress(start / total)
                yield frame
    except pl.exceptions.DuplicateError as error:
        repeated = re.search(r"'(.*)'", str(error))
        shown = repr(repeated[1]) if repeated else "one"
        raise TableError(f"{name}: column names must differ, but {shown} repeats; rename one.") from error
    except (pl.exceptions.PolarsError, OSError) as error:
        raise TableError(f"{name} is not a complete Parquet file ({_first_line(error)}).") from error
    if start == 0:
        raise TableError(f"{name} has columns but no rows.")


def _columns(names: list[str]) -> list[str]:
    """Names of the columns, without the index that pandas may have written beside them."""
    return [name for name in names if not re.fullmatch(r"__index_level_\d+__", name)]


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n")[0].rstrip(".")


STDIN = "-"
"""The name of standard input."""
_ENDINGS = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".parquet")
_MORE_ENDINGS = (".txt", ".txt.gz", ".dat", ".data")
"""Read like CSV."""
_FOREIGN = (
    ".xlsx",
    ".xls",
    ".ods",
    ".json",
    ".feather",
    ".arrow",
    ".dta",
    ".sav",
    ".rds",
    ".pkl",
    ".arff",
    ".sas7bdat",
)
"""Tables of other programs."""


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
        yield from _of_stream(sys.stdin.buffer, rows, ragged)
        return
    path = Path(path)
    if path.exists() and not path.is_file() and not path.is_dir():
        raise TableError(
            f"{path} is not a regular file; to read a pipe, use {STDIN}, as in `abnet predict MODEL - < {path}`."
        )
    ending = _ending(path)
    if ending not in (*_ENDINGS, *_MORE_ENDINGS):
        instead = "save it as CSV in UTF-8" if ending in _FOREIGN else f"tables end in {', '.join(_ENDINGS)}"
        raise TableError(f"{path}: unknown file extension {ending!r}; {instead}.")
    if not path.is_file():
        what = "is a folder, not a table" if path.is_dir() else "does not exist"
        raise TableError(f"{path} {what}; check the path.")
    try:
        if ending == ".parquet":
            yield from parquet_frames(path, str(path), rows, progress)
            return
        with path.open("rb") as raw:
            source = ByteSource(raw, str(path), max(path.stat().st_size, 1))
            yield from _of_text(source, ".tsv" in ending, rows, progress, ragged)
    except PermissionError as error:
        raise TableError(f"{path} cannot be read; check its permissions.") from error


def _of_stream(stream: IO[bytes], rows: int | None, ragged: dict[int, str] | None) -> Iterator["polars.DataFrame"]:
    """A table from a stream, whose first bytes tell what it is; Parquet is read whole, as its end explains it."""
    name, buffered = "standard input", io.BufferedReader(stream)  # type: ignore[type-var]
    if buffered.peek(4)[:4] == b"PAR1":
        yield from parquet_frames(io.BytesIO(buffered.read()), name, rows, None)
    else:
        yield from _of_text(ByteSource(buffered, name), False, rows, None, ragged)


def _of_text(
    source: ByteSource, tabs: bool, rows: int | None, progress: Callable[[float], None] | None,
    ragged: dict[int, str] | None,
) -> Iterator["polars.DataFrame"]:  # fmt: skip
    frames = csv_frames(source, tabs=tabs, ragged=ragged)
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


@dataclass(frozen=True)
class Learning:
    """The training rows of a table.

    Attributes
    ----------
    X, y, notes
        As returned by `split_target`; if all rows are in memory, text labels remain text, because some of these rows
        will be held out.
    n_rows : int
        Number of labelled rows of the whole table.
    learns : array of bool (n_rows,) or None
        Whether each labelled row is a training row; None if all rows are in memory.
    frames : callable or None
        Reads all labelled rows again, in the order of `learns`.
    cuts : tuple of float
        Points at which a numeric target was cut into classes, if it was.
    """

    X: "polars.DataFrame"
    y: NDArray[Any]
    notes: tuple[Note, ...]
    n_rows: int
    learns: NDArray[np.bool_] | None = None
    frames: "Callable[[], Iterator[polars.DataFrame]] | None" = None
    cuts: tuple[float, ...] = ()

    @property
    def n_unlabelled(self) -> int:
        """Number of rows that were left out because they have no label."""
        return sum(note.rows or 0 for note in self.notes if note.code == "missing labels")


def learning_part(
    read: "Callable[[], Iterable[polars.DataFrame]]",
    target: str,
    *,
    max_learn_rows: int,
    share: float,
    seed: int,
    missing_label: str = "drop",
    bins: int | Sequence[float] | None = None,
) -> Learning:
    """The whole table if it has at most `max_learn_rows` rows, otherwise a random choice of training rows.

    A larger table is read twice: once for the hashes of its rows (`abnet.certificates.split`; this temporarily takes 40
    bytes per row), and once for the training rows. The same rows and seed give the same choice, in any order of the
    rows.

    Parameters
    ----------
    read : callable
        Returns the frames of the table, from the first on, at every call.
    target : str
    max_learn_rows : int
    share : float
        Fraction of the rows of a larger table to train on, up to `max_learn_rows`.
    seed : int
    missing_label : {"drop", "error"}
        What to do with rows without a label.
    bins : int or sequence of float, optional
        Cut a numeric target into classes (`abnet.tables.target.Binning`).
    """
    if not 0 < share < 1 or max_learn_rows < 1:
        raise ValueError(f"share must lie between 0 and 1, max_learn_rows be 1 or more; got {share}, {max_learn_rows}.")
    binning = None if bins is None else Binning.of(read, target, bins, seed)
    notes: tuple[Note, ...] = () if binning is None else (binning.note,)
    cuts = () if binning is None else binning.cuts

    def frames() -> "Iterable[polars.DataFrame]":
        return read() if binning is None else binning.frames(read())

    stream, first, total = iter(frames()), [], 0
    for frame in stream:
        first.append(frame)
        total += frame.height
        if total > max_learn_rows:
            tally = _Tally(chain(_emptied(first), stream))
            hashes = np.concatenate([row_hashes(part) for part in labelled(tally, target, missing_label)])
            learns = np.zeros(len(hashes), np.bool_)
            learns[Split.of(hashes, share, seed, most=max_learn_rows).first] = True
            if tally.rows > len(hashes):
                notes += (Note("missing labels", (target,), tally.rows - len(hashes)),)
            X, y, more = _chosen(labelled(frames(), target), target, learns)
            notes = (*notes, *more)
            return Learning(X, y, notes, len(learns), learns, lambda: labelled(frames(), target), cuts)
    whole = stacked(first)  # in pieces: to copy all text takes longer than to read half of it
    first.clear()
    X, y, more = split_target(whole, target, missing_label=missing_label, typed=False)
    return Learning(X, y, (*notes, *more), len(y), cuts=cuts)


class _Tally:
    """Frames whose rows are counted as they pass."""

    def __init__(self, frames: "Iterable[polars.DataFrame]") -> None:
        self._frames, self.rows = frames, 0

    def __iter__(self) -> "Iterator[polars.DataFrame]":
        for frame in self._frames:
            self.rows += frame.height
            yield frame


def _chosen(frames: "Iterable[polars.DataFrame]", target: str, learns: NDArray[np.bool_]) -> FeaturesAndLabels:
    """Features and labels of the rows that learn."""
    kept, start = [], 0
    for frame in frames:
        kept.append(frame.filter(learns[start : start + frame.height]))
        start += frame.height
    whole = stacked(kept).rechunk()
    kept.clear()
    return split_target(whole, target)


def _emptied(frames: list[Any]) -> Iterator[Any]:
    """The items of a list, which is emptied on the way."""
    while frames:
        yield frames.pop(0)
