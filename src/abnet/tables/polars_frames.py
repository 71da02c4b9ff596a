"""Polars frames: made from other libraries, checked to be parts of one table, and stacked."""

import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from abnet.tables.table import as_table
from abnet.tables.table_errors import TableError, listed

if TYPE_CHECKING:
    import polars

__all__ = ["alike", "as_polars", "stacked"]


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


def _series(name: str, column: Any) -> "polars.Series":
    import polars as pl

    values = column
    if hasattr(column, "to_numpy"):
        values = column.to_numpy()
    if isinstance(values, np.ndarray) and values.dtype.kind in "OU":
        values = _of_one_type(values.tolist())
    return pl.Series(name, values)


def _of_one_type(values: list[Any]) -> list[Any]:
    """Values with None for NaN; as text if they have several types, so that each cell is read by itself."""
    types = {type(value) for value in values if not _is_missing(value)}
    several = len(types) > 1
    cells: list[Any] = []
    for value in values:
        if _is_missing(value):
            cells.append(None)
        elif several:
            cells.append(str(value))
        else:
            cells.append(value)
    return cells


def _is_missing(value: Any) -> bool:
    return value is None or bool(value != value)


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
    contents: dict[str, str] = {}
    for number, frame in enumerate(frames, 1):
        names = names or frame.columns
        _check_names(frame.columns, names, number)
        frame = _with_null_columns(frame.select(names))
        for column in frame.get_columns():
            content = _content(column.dtype)
            if content == "nothing":
                continue
            before = contents.setdefault(column.name, content)
            if not _are_compatible(before, content):
                raise TableError(
                    f"frame {number} of the table: column {column.name!r} holds {content}, and {before} in "
                    "frames before it; give it one type in all frames."
                )
            if before == "text":
                contents[column.name] = content
        yield frame


def _check_names(columns: list[str], names: list[str], number: int) -> None:
    lacking = sorted(set(names) - set(columns))
    added = sorted(set(columns) - set(names))
    if lacking:
        raise TableError(f"frame {number} of the table lacks {listed(lacking)}; all need the columns of the first.")
    if added:
        raise TableError(f"frame {number} of the table adds {listed(added)}; all need the columns of the first.")


def _with_null_columns(frame: "polars.DataFrame") -> "polars.DataFrame":
    """The frame with nulls in columns of NaN alone, as pandas makes them of text and dates without a value."""
    import polars as pl

    empty = [column.name for column in frame.get_columns() if _has_only_nan(column)]
    return frame.with_columns(pl.lit(None).alias(name) for name in empty)


def _has_only_nan(column: "polars.Series") -> bool:
    if not column.dtype.is_float() or not len(column):
        return False
    # Most columns have a number in the first row.
    return _is_nan_everywhere(column.head(1)) and _is_nan_everywhere(column)


def _is_nan_everywhere(column: "polars.Series") -> bool:
    return bool(column.fill_null(float("nan")).is_nan().all())


def _content(dtype: Any) -> str:
    """What a column of this type holds, in a word for messages; columns that hold the same can be stacked."""
    import polars as pl

    if dtype == pl.Null:
        return "nothing"
    if dtype in (pl.String, pl.Categorical, pl.Enum):
        return "text"
    if dtype in (pl.Date, pl.Datetime):
        return "dates"
    if dtype.is_numeric():
        return "numbers"
    if dtype == pl.Boolean:
        return "booleans"
    if dtype == pl.Duration:
        return "durations"
    return str(dtype)


def _are_compatible(first: str, second: str) -> bool:
    return first == second or {first, second} in ({"text", "numbers"}, {"text", "dates"})


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
        raise TableError("there are no rows to train on.")
    if all(frame.schema == frames[0].schema for frame in frames):
        return pl.concat(frames, how="vertical")
    return pl.concat(frames, how="vertical_relaxed")
