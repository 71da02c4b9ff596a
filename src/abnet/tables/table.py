"""Tables from pandas, Polars, NumPy or dicts; none of these libraries is imported here."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.tables.column_cells import Cells, DateCells, Distinct, DistinctCells, NumberCells
from abnet.tables.table_errors import TableError, check_unique_names, row_name
from abnet.tables.text_cells import TextCells, TextPart
from abnet.utils.caller_rows import is_frame

__all__ = ["Table", "as_frame", "as_table", "cells_of", "factorised", "is_plan"]


@dataclass(frozen=True)
class Table:
    """Columns by name, in order and in their original form, with names of the rows for messages.

    `index` names the rows: the labels of a pandas frame, or the number of rows before the first.
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
        """The same table, in which numbers in text are parsed once, for all rows and all parts."""
        return replace(self, columns={name: _read_once(column) for name, column in self.columns.items()})

    def part(self, rows: NDArray[np.intp]) -> "Table":
        """Like `take`, but numbers of a shared table are not parsed again, and their text is not copied."""
        if not any(isinstance(column, TextCells) for column in self.columns.values()):
            return self.take(rows)
        import polars as pl

        among = np.zeros(self.n_rows, bool)
        among[rows] = True
        chosen = pl.Series(among)
        columns: dict[str, Any] = {}
        for name, column in self.columns.items():
            if isinstance(column, TextCells):
                columns[name] = TextPart(column, rows, chosen)
            else:
                columns[name] = _gathered(column, rows)
        return Table(columns, len(rows))

    def row(self, position: int) -> str:
        """The name of a row in messages."""
        return row_name(self.index, position)


def _read_once(column: Any) -> Any:
    """The cells of a column of text in a Polars series; other columns unchanged."""
    library = type(column).__module__.partition(".")[0]
    if library == "polars" and str(column.dtype) == "String":
        return TextCells(column)
    return column


def is_plan(X: Any) -> bool:
    """Whether it is a LazyFrame of Polars."""
    return hasattr(X, "collect") and hasattr(X, "collect_schema")


def _gathered(column: Any, rows: NDArray[np.intp]) -> Any:
    if isinstance(column, Cells):
        return column.at(rows)
    if hasattr(column, "iloc"):
        return column.iloc[rows]
    if hasattr(column, "rechunk"):
        return column.rechunk().gather(rows)  # several times as fast as from many chunks
    if isinstance(column, list | tuple):
        return [column[row] for row in rows.tolist()]
    return column[rows]


def as_table(X: Any, *, before: int = 0) -> Table:
    """A table from a frame of Polars or pandas, a record of columns, or an array (columns ``x0``, ``x1``, …).

    Parameters
    ----------
    X : frame, mapping or array
    before : int
        Number of rows before the first, for the messages of errors; a frame of pandas has labels of its own.

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
            raise TableError(f"all columns of a table must have the same number of rows; got {sorted(lengths)}.")
        return _table([str(name) for name in X], columns, max(lengths, default=0), before)
    array = np.asarray(X)
    if array.ndim != 2:
        raise ValueError(f"a table has two dimensions (rows, columns); got an array of shape {array.shape}.")
    return _table([f"x{i}" for i in range(array.shape[1])], list(array.T), len(array), before)


def as_frame(X: Any) -> Any:
    """Convert a dict of columns, or a Polars LazyFrame, to a frame; anything else is returned unchanged.

    Examples
    --------
    >>> as_frame({"age": [40, 50]}).columns
    ['age']
    >>> as_frame({"age": [40, 50], "size": [1.8]})
    Traceback (most recent call last):
    abnet.tables.table_errors.TableError: all columns of a table must have the same number of rows; got [1, 2].
    """
    if is_plan(X):
        return X.collect()
    if is_frame(X):
        check_unique_names([str(name) for name in X.columns])
    if not isinstance(X, Mapping) or is_frame(X) or hasattr(X, "tocsr"):
        return X
    import polars

    return polars.DataFrame(dict(as_table(X).columns), strict=False)  # 1 and 2.5 in one column, or 1 and "n/a"


def _table(names: list[str], columns: Sequence[Any], n_rows: int, index: Any) -> Table:
    check_unique_names(names)
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
    types = set(map(type, values))
    if types and types <= {int, float, np.float64, np.float32, np.int64, np.int32} and _fit_array(values):
        return NumberCells(np.array(values))
    return DistinctCells(factorised(values, name))


def _fit_array(values: list[Any]) -> bool:
    """Whether numbers fit into one array without loss: integers up to 64 bits, or floats with small integers."""
    integers = [value for value in values if isinstance(value, int)]
    if not integers:
        return True
    limit = 2**53
    if len(integers) == len(values):
        limit = 2**63
    return -limit <= min(integers) and max(integers) < limit


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
    dtype = series.dtype
    kind = getattr(dtype, "kind", "O")
    if isinstance(dtype, np.dtype) and kind != "O":
        return _array(series.to_numpy(), name)
    missing = np.asarray(series.isna(), bool)
    if kind in "iuf" and not hasattr(dtype, "categories"):
        exact: Any = {"i": np.int64, "u": np.uint64, "f": np.float64}[kind]
        return NumberCells(series.fillna(0).to_numpy(exact), missing)
    if kind == "M" and hasattr(dtype, "tz"):
        return DateCells(series.to_numpy("datetime64[us]"))
    values = series.to_numpy(object).copy()
    values[missing] = None
    return DistinctCells(factorised(values.tolist(), name))


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
        missing = series.is_null().to_numpy()
        values = stamps.fill_null(0).to_numpy().astype("datetime64[us]")
        return DateCells(np.where(missing, np.datetime64("NaT"), values))
    if dtype in (pl.Duration, pl.Time):
        micro = series.cast(pl.Duration("us")).dt.total_microseconds()
        return NumberCells((micro / 1_000_000).cast(pl.Float64).to_numpy())
    if dtype == pl.Binary:  # some writers of Parquet store text as bytes
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
    code_of: dict[Any, int] = {}
    codes = np.full(len(values), -1, np.intp)
    try:
        for row, value in enumerate(values):
            if value is not None and value == value:
                # 1, 1.0 and True are equal in Python, but their texts differ.
                codes[row] = code_of.setdefault((type(value), value), len(code_of))
    except (TypeError, ValueError) as error:  # arrays and lists
        raise TableError(f"column {name!r} holds lists or records; give every part its own column.") from error
    distinct = [value for _, value in code_of]
    return Distinct(np.where(codes < 0, len(distinct), codes), [*distinct, None])
