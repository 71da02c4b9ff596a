"""Tables from the libraries that people have them in, none imported here, and the column to predict."""

import difflib
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from abnet.tables.cells import (
    DOUBTFUL,
    Note,
    TableError,
    UnknownColumnError,
    is_blank,
    listed,
    quoted,
    refuse_repeated,
    row_name,
    to_text,
)
from abnet.tables.series import Cells, DateCells, Distinct, DistinctCells, NumberCells, TextCells, TextPart
from abnet.words import number_of

__all__ = ["FeaturesAndLabels", "Table", "as_table", "cells_of", "is_plan", "label_codes", "split_target", "stacked"]


@dataclass(frozen=True)
class Table:
    """Columns by name, in order and as they came, with words for the rows.

    `index` names the rows: labels of a frame of pandas, or the number of rows before the first.
    """

    columns: Mapping[str, Any]
    n_rows: int
    index: Any = 0

    def cells(self, name: str) -> Cells:
        """The cells of a column."""
        return cells_of(self.columns[name], name)

    def take(self, rows: NDArray[np.intp]) -> "Table":
        """Some rows, by their positions."""
        return Table({name: _gathered(column, rows) for name, column in self.columns.items()}, len(rows))

    def shared(self) -> "Table":
        """The same table, of which every number in text is read once, for all rows and their parts."""
        return replace(self, columns={name: _read_once(column) for name, column in self.columns.items()})

    def part(self, rows: NDArray[np.intp]) -> "Table":
        """`take`, but numbers that are read once of a shared table are not read again, nor their text copied."""
        if not any(isinstance(column, TextCells) for column in self.columns.values()):
            return self.take(rows)
        import polars as pl

        among = np.zeros(self.n_rows, bool)
        among[rows] = True
        chosen = pl.Series(among)
        columns = {
            name: TextPart(column, rows, chosen) if isinstance(column, TextCells) else _gathered(column, rows)
            for name, column in self.columns.items()
        }
        return Table(columns, len(rows))

    def row(self, position: int) -> str:
        """Words for a row."""
        return row_name(self.index, position)


def _read_once(column: Any) -> Any:
    """A column of text in a Polars series as its cells, any other as it is."""
    library = type(column).__module__.partition(".")[0]
    return TextCells(column) if library == "polars" and str(column.dtype) == "String" else column


def is_plan(X: Any) -> bool:
    """Whether it is a LazyFrame of Polars: a frame that is yet to be made."""
    return hasattr(X, "collect") and hasattr(X, "collect_schema")


def _gathered(column: Any, rows: NDArray[np.intp]) -> Any:
    if isinstance(column, Cells):
        return column.at(rows)
    if hasattr(column, "iloc"):
        return column.iloc[rows]
    if hasattr(column, "rechunk"):  # out of many pieces rows are taken several times as slowly
        return column.rechunk().gather(rows)
    return [column[row] for row in rows.tolist()] if isinstance(column, list | tuple) else column[rows]


def as_table(X: Any, *, before: int = 0) -> Table:
    """A table from a frame of Polars or pandas, a record of columns, or an array (columns ``x0``, ``x1``, …).

    Parameters
    ----------
    X : frame, mapping or array
    before : int
        Rows that came before the first, for the words of an error; a frame of pandas has labels of its own.

    Raises
    ------
    TableError
        If column names repeat.

    Examples
    --------
    >>> table = as_table({"age": [39, 50], "city": ["Oslo", None]})
    >>> list(table.columns), table.n_rows, table.cells("city").cell(1)
    (['age', 'city'], 2, None)
    """
    if isinstance(X, Table):
        return X
    library = type(X).__module__.partition(".")[0]
    if library == "pandas" and hasattr(X, "iloc"):
        names = [str(name) for name in X.columns]
        columns = [X.iloc[:, place] for place in range(len(names))]
        return _table(names, columns, len(X), X.index)
    if library == "polars" and hasattr(X, "get_columns"):
        return _table([str(name) for name in X.columns], X.get_columns(), X.height, before)
    if isinstance(X, Mapping):
        columns = list(X.values())
        lengths = {len(column) for column in columns}
        if len(lengths) > 1:
            raise TableError(f"the columns of a table must have as many rows; got {sorted(lengths)}.")
        return _table([str(name) for name in X], columns, max(lengths, default=0), before)
    array = np.asarray(X)
    if array.ndim != 2:
        raise ValueError(f"a table has two dimensions (rows, columns); got an array of shape {array.shape}.")
    return _table([f"x{i}" for i in range(array.shape[1])], list(array.T), len(array), before)


def _table(names: list[str], columns: Sequence[Any], n_rows: int, index: Any) -> Table:
    refuse_repeated(names)
    return Table(dict(zip(names, columns, strict=True)), n_rows, index)


def cells_of(column: Any, name: str = "") -> Cells:
    """The cells of a column: a series of Polars or pandas, an array or a list.

    Examples
    --------
    >>> cells_of([True, None]).cell(0), cells_of(np.array([1.5, 2.5])).cell(1)
    (True, 2.5)
    """
    if isinstance(column, Cells):
        return column
    library = type(column).__module__.partition(".")[0]
    if library == "polars":
        return _polars(column, name)
    if library == "pandas":
        return _pandas(column, name)
    if isinstance(column, np.ndarray) and column.dtype.kind != "O":
        return _array(column, name)
    values = list(column)
    kinds = set(map(type, values))
    if kinds and kinds <= {int, float, np.float64, np.float32, np.int64, np.int32} and _fits(values):
        return NumberCells(np.array(values))
    return DistinctCells(factorised(values, name))


def _fits(values: list[Any]) -> bool:
    """Whether numbers fit into one array without loss: whole ones up to 64 bits, or floats with small whole ones."""
    whole = [value for value in values if isinstance(value, int)]
    limit = 2**63 if len(whole) == len(values) else 2**53
    return not whole or (-limit <= min(whole) and max(whole) < limit)


def _array(values: NDArray[Any], name: str) -> Cells:
    kind = values.dtype.kind
    if kind in "iuf":
        return NumberCells(values)
    if kind == "b":
        return DistinctCells(Distinct(values.astype(np.intp), [False, True, None]))
    if kind == "M":
        return DateCells(values.astype("datetime64[us]"))
    if kind == "m":
        seconds = values.astype("timedelta64[us]").astype(np.int64) / 1_000_000
        return NumberCells(np.where(np.isnat(values), np.nan, seconds))
    return DistinctCells(factorised(values.tolist(), name))


def _pandas(series: Any, name: str) -> Cells:
    dtype, kind = series.dtype, getattr(series.dtype, "kind", "O")
    if isinstance(dtype, np.dtype) and kind != "O":
        return _array(series.to_numpy(), name)
    absent = np.asarray(series.isna(), bool)
    if kind in "iuf" and not hasattr(dtype, "categories"):
        exact: Any = {"i": np.int64, "u": np.uint64, "f": np.float64}[kind]
        return NumberCells(series.fillna(0).to_numpy(exact), absent)
    if kind == "M" and hasattr(dtype, "tz"):
        return DateCells(series.to_numpy("datetime64[us]"))
    values = series.to_numpy(object).tolist()
    return DistinctCells(factorised([None if gap else value for value, gap in zip(values, absent, strict=True)], name))


def _polars(series: Any, name: str) -> Cells:
    import polars as pl

    dtype = series.dtype
    if dtype == pl.String:
        return TextCells(series)
    if dtype in (pl.Categorical, pl.Enum):
        return TextCells(series.cast(pl.String))
    if dtype.is_integer() and dtype not in (pl.Int128, getattr(pl, "UInt128", pl.Int128)):
        return NumberCells(series.fill_null(0).to_numpy(), series.is_null().to_numpy())
    if dtype.is_float() or dtype.is_decimal():
        return NumberCells(series.cast(pl.Float64).to_numpy())
    if dtype in (pl.Date, pl.Datetime):
        stamps = series.cast(pl.Datetime("us", getattr(dtype, "time_zone", None))).to_physical()
        absent = series.is_null().to_numpy()
        values = stamps.fill_null(0).to_numpy().astype("datetime64[us]")
        return DateCells(np.where(absent, np.datetime64("NaT"), values))
    if dtype in (pl.Duration, pl.Time):
        micro = series.cast(pl.Duration("us")).dt.total_microseconds()
        return NumberCells((micro / 1_000_000).cast(pl.Float64).to_numpy())
    if dtype == pl.Binary:  # text, as some writers of Parquet have it
        try:
            return TextCells(series.cast(pl.String))
        except pl.exceptions.PolarsError as error:
            raise TableError(f"column {name!r} holds bytes that are no text in UTF-8; leave it out.") from error
    return DistinctCells(factorised(series.to_list(), name))


def factorised(values: list[Any], name: str) -> Distinct:
    """The distinct values of a list; None and NaN are missing.

    Examples
    --------
    >>> factorised(["b", "a", "b", None], "letters")
    Distinct(codes=array([0, 1, 0, 2]), values=['b', 'a', None])
    """
    places: dict[Any, int] = {}
    try:
        # 1, 1.0 and True are equal to Python, but not written alike.
        codes = [
            -1 if value is None or value != value else places.setdefault((value.__class__, value), len(places))
            for value in values
        ]
    except (TypeError, ValueError) as error:  # arrays and lists
        raise TableError(f"column {name!r} holds lists or records; give every part its own column.") from error
    kept = [value for _, value in places]
    found = np.array(codes, np.intp).reshape(len(values))
    return Distinct(np.where(found < 0, len(kept), found), [*kept, None])


def stacked(frames: list[Any]) -> Any:
    """One frame of several; a column whose type changes has the type that holds all its values.

    Examples
    --------
    >>> import polars as pl
    >>> stacked([pl.DataFrame({"x": [1]}), pl.DataFrame({"x": [2.5]}), pl.DataFrame({"x": [None]})])["x"].to_list()
    [1.0, 2.5, None]
    """
    import polars as pl

    if not frames:
        raise TableError("there are no rows to learn from.")
    same = all(frame.schema == frames[0].schema for frame in frames)
    return pl.concat(frames, how="vertical" if same else "vertical_relaxed")


class FeaturesAndLabels(NamedTuple):
    """Features (a frame of the library that the table came in), labels, and remarks on the labels."""

    X: Any
    y: NDArray[Any]
    notes: tuple[Note, ...]


def split_target(frame: Any, column: str, *, index: Any = None) -> FeaturesAndLabels:
    """Features and labels of a table.

    Labels stay as they are in the file: text from CSV becomes whole numbers or booleans only where these are written
    back as the same text (``1``, ``True``, but neither ``01`` nor ``true``); Parquet keeps its types. Blanks around
    text are dropped. Where one number is written in several ways (``1``, ``1.0``, ``1.00``), the labels are numbers,
    and a note says so. Empty cells and ``nan``, ``null``, ``<NA>``, ``#N/A`` are missing labels; ``NA`` or ``None`` may
    be a class.

    Parameters
    ----------
    frame : frame of Polars or pandas, or record of columns
    column : str
        Name of the column with the labels.
    index : sequence of int, optional
        Numbers of the rows in the table that they were taken from, from 0, for the words of an error.

    Returns
    -------
    FeaturesAndLabels
        ``X``, the other columns in their order; ``y``, the labels (n,); ``notes``.

    Raises
    ------
    UnknownColumnError
        If there is no such column.
    TableError
        If labels are missing, there is one class or more than a hundred, or there is no other column.

    Examples
    --------
    >>> X, y, notes = split_target({"age": ["39", "50", "61"], "rich": ["1", "0", "1.0"]}, "rich")
    >>> list(X), y.tolist(), *map(str, notes)
    (['age'], [1, 0, 1], "column 'rich' has the labels '1' and '1.0', which are one number and count as one class")
    """
    table = as_table(frame) if index is None else replace(as_table(frame), index=index)
    if column not in table.columns:
        close = difflib.get_close_matches(column, list(table.columns), n=3)
        spelled = ascii if _composed(column) in map(_composed, close) else repr  # look alike
        hint = f" Did you mean {' or '.join(map(spelled, close))}?" if close else ""
        raise UnknownColumnError(f"no column {column!r} in the table.{hint} Its columns are {listed(table.columns)}.")
    if len(table.columns) == 1:
        raise TableError(f"{column!r} is the only column; the table needs at least one other to predict it from.")
    y, notes = _labels(table, column)
    return FeaturesAndLabels(_without(frame, column), y, notes)


def _composed(name: str) -> str:
    return unicodedata.normalize("NFC", name)


def label_codes(table: Table, column: str, classes: Sequence[Any]) -> NDArray[np.intp]:
    """The place of every row's label among K classes that are known already, and K for any other label.

    Parameters
    ----------
    table : Table
    column : str
    classes : sequence
        As `split_target` found them in some rows of the table.

    Raises
    ------
    TableError
        For a missing label.

    Examples
    --------
    >>> label_codes(as_table({"rich": ["1", "0", "1.0", "very"]}), "rich", [0, 1]).tolist()
    [1, 0, 1, 2]
    """
    if column not in table.columns:
        raise UnknownColumnError(f"no column {column!r} in the table. Its columns are {listed(table.columns)}.")
    distinct = table.cells(column).distinct()
    known = {to_text(label): place for place, label in enumerate(classes)}
    codes = distinct.lookup(lambda value: _code(value, known))
    if (codes < 0).any():
        row = table.row(int((codes < 0).argmax()))
        raise TableError(f"column {column!r}, {row}: the label is missing; correct it or remove the row.")
    return codes.astype(np.intp)


def _code(value: Any, known: Mapping[str, int]) -> int:
    """The place of a label; -1 if it is missing, K if it is unknown. A number may be written in several ways."""
    text = to_text(value)
    if is_blank(value) or text in known or not re.fullmatch(_NUMBER, text):
        return -1 if is_blank(value) else known.get(text, len(known))
    numbers = {float(name): place for name, place in known.items() if re.fullmatch(_NUMBER, name)}
    return numbers.get(float(text), len(known))


MOST_CLASSES = 100
"""More are no classes but a quantity, or an id."""
_NUMBER = r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]*)?"


def _without(frame: Any, column: str) -> Any:
    if isinstance(frame, Mapping):
        return {name: values for name, values in frame.items() if str(name) != column}
    return frame[[name for name in frame.columns if str(name) != column]]


def _labels(table: Table, column: str) -> tuple[NDArray[Any], tuple[Note, ...]]:
    distinct = table.cells(column).distinct()
    rows = np.array(distinct.counts())
    if any(map(is_blank, (value for value, count in zip(distinct.values, rows, strict=True) if count))):
        blank = distinct.lookup(is_blank)
        first = table.row(int(blank.argmax()))
        raise TableError(
            f"column {column!r}: {number_of(int(blank.sum()), 'row')} without a label, the first is {first}; "
            "fill in the label or remove the row."
        )
    present = np.flatnonzero(rows)
    converted, notes = _converted([distinct.values[place] for place in present.tolist()], column)
    classes, places = np.unique(converted, return_inverse=True)
    if not 2 <= len(classes) <= MOST_CLASSES:
        counts = np.zeros(len(classes), np.intp)
        np.add.at(counts, places, rows[present])
        raise TableError(_wrong_number(column, classes.tolist(), counts.tolist()))
    if converted.dtype.kind == "U" and len(classes) > 2:
        from abnet.tables.doubts import label_doubts

        notes = (*notes, *label_doubts(dict(zip(converted.tolist(), rows[present].tolist(), strict=True)), column))
    lookup = np.zeros(len(distinct.values), converted.dtype)
    lookup[present] = converted
    return lookup[distinct.codes], notes


def _converted(values: list[Any], column: str) -> tuple[NDArray[Any], tuple[Note, ...]]:
    """Labels of one plain type as they are; text as numbers or booleans where these are written as the same text."""
    if {type(value) for value in values} in ({bool}, {int}, {float}):
        return np.array(values), ()
    texts = [to_text(value) for value in values]
    if set(texts) <= {"True", "False"}:
        return np.array([text == "True" for text in texts]), ()
    if all(_is_plain_integer(text) for text in texts):
        return np.array([int(text) for text in texts], np.int64), ()
    same = _same_number(texts)
    if same:
        numbers = np.array([float(text) for text in texts])
        whole = bool((numbers == np.trunc(numbers)).all() and (np.abs(numbers) < 2**53).all())
        note = Note(column, f"has the labels {same}, which are one number and count as one class")
        return numbers.astype(np.int64) if whole else numbers, (note,)
    return np.array(texts), ()


def _same_number(texts: list[str]) -> str:
    """Different texts of one number, in words; empty if there are none, or if not all are numbers."""
    if not all(re.fullmatch(_NUMBER, text) for text in texts):
        return ""
    written: dict[float, list[str]] = {}
    for text in sorted(set(texts), key=lambda text: (len(text), text)):
        written.setdefault(float(text), []).append(text)
    return next((" and ".join(map(repr, same)) for same in written.values() if len(same) > 1), "")


def _is_plain_integer(text: str) -> bool:
    digits = text.removeprefix("-")
    return digits.isascii() and digits.isdigit() and len(digits) <= 18 and str(int(text)) == text


def _label(value: Any) -> str:
    return quoted(value) if isinstance(value, str) else repr(value)


def _wrong_number(column: str, classes: Sequence[Any], counts: Sequence[int]) -> str:
    order = np.argsort(counts, kind="stable")[::-1][:5]
    shown = ", ".join(f"{_label(classes[i])} ({number_of(int(counts[i]), 'row')})" for i in order)
    more = f" and {len(classes) - 5} more" if len(classes) > 5 else ""
    doubtful = [text for text in map(str, classes) if text.lower() in DOUBTFUL]
    hint = (
        f"; if {doubtful[0]!r} stands for a missing label, remove these rows" if doubtful and len(classes) > 2 else ""
    )
    number = "only one class" if len(classes) == 1 else f"{len(classes)} classes"
    return f"column {column!r} has {number}, but 2 to {MOST_CLASSES} are taken: {shown}{more}{hint}."
