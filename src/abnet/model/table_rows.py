"""Rows of a table as a model reads them: batches of any table, prepared, with the values that training never saw."""

import os
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from abnet.model.file import load
from abnet.model.model import Model
from abnet.preparation.columns import read_numbers
from abnet.preparation.unseen import Unseen
from abnet.tables.cells import TableError, listed, quoted
from abnet.tables.frames import Table
from abnet.tables.reading import alike, as_polars, batches

if TYPE_CHECKING:
    import polars

__all__ = ["ROWS", "as_model", "frames_of", "number_cells", "numeric_rows", "prepared", "unused_columns", "whole_table"]

ROWS = 50_000
"""Rows that are worked on at a time."""


def as_model(model: Any) -> Model:
    """The model itself, that of a fitted classifier, or the one in a file.

    Examples
    --------
    >>> as_model(3)
    Traceback (most recent call last):
    TypeError: a model is a file, a loaded model or a fitted classifier of abnet; got int.
    """
    if isinstance(model, (str, os.PathLike)):
        return load(model)
    found = getattr(model, "model_", model)
    if not isinstance(found, Model):
        raise TypeError(
            f"a model is a file, a loaded model or a fitted classifier of abnet; got {type(model).__name__}."
        )
    return found


def frames_of(
    table: Any, *, rows: int | None = None, progress: Callable[[float], None] | None = None
) -> "Iterator[polars.DataFrame]":
    """A table in frames of at most `rows` rows.

    Parameters
    ----------
    table : path, frame, or iterable of frames
        A CSV, TSV or Parquet file (``-`` is standard input), or frames of Polars or pandas, or records of columns.
    rows : int, optional
    progress : callable, optional
        Takes the share of the table that was read so far, between 0 and 1.

    Examples
    --------
    >>> [frame.height for frame in frames_of({"x": [1, 2, 3]}, rows=2)]
    [2, 1]
    """
    rows = ROWS if rows is None else rows
    if isinstance(table, (str, os.PathLike)):
        yield from batches(table, rows=rows, progress=progress)
        return
    one = isinstance(table, Mapping) or hasattr(table, "columns")
    for frame in [as_polars(table)] if one else alike(map(as_polars, table)):
        for start in range(0, frame.height, rows):
            if progress is not None and one:
                progress(start / frame.height)
            yield frame.slice(start, rows)


def whole_table(table: Any) -> "polars.DataFrame":
    """All rows of a table in one frame."""
    import polars as pl

    return pl.concat(list(frames_of(table)), rechunk=True)


def prepared(model: Model, frame: Table, *, written: bool = True) -> tuple[Any, list[Unseen]]:
    """Inputs of the network for every row, and the values that training never saw; codes need not be `written` out."""
    preparation: Any = model.preparation
    if hasattr(preparation, "transform_reporting"):  # a table's own
        as_rows = not written and hasattr(preparation, "rows_reporting")
        read = preparation.rows_reporting if as_rows else preparation.transform_reporting
        found: tuple[Any, list[Unseen]] = read(frame)
        return found
    rows = numeric_rows(model, frame)
    return (rows if preparation is None else preparation.transform(rows)), []


def number_cells(frame: Table, name: str) -> NDArray[np.float64]:
    """A column as numbers, NaN where a cell is missing; an error where it holds anything else."""
    cells = frame.cells(name)
    x, strange = read_numbers(cells)
    if strange.any():
        first = int(strange.argmax())
        problem = f"{quoted(cells.cell(first))} is not a finite number; correct the cell or leave it empty."
        raise TableError(f"column {name!r}, {frame.row(first)}: {problem}")
    return x


def numeric_rows(model: Model, frame: Table) -> NDArray[np.float64]:
    """Columns as numbers, for a model that was learned from an array."""
    names = model.feature_names_in_ or tuple(frame.columns)
    absent = [name for name in names if name not in frame.columns]
    if absent:
        raise TableError(f"the table lacks {listed(absent)}, which the model was trained on.")
    preparation = model.preparation
    taken = model.n_inputs if preparation is None else preparation.n_features_in
    if len(names) != taken:
        raise TableError(
            f"the table has {len(names)} columns, but the model takes {taken} and knows no column names; remove the "
            "other columns."
        )
    matrix = np.column_stack([number_cells(frame, name) for name in names])
    missing = np.argwhere(np.isnan(matrix))
    if len(missing):
        row, column = missing[0]
        where = f"column {names[column]!r}, {frame.row(int(row))}"
        raise TableError(f"{where}: the value is missing, and this model has no rule for missing values; fill it in.")
    return matrix


def unused_columns(model: Model, frame: Table) -> list[str]:
    """Columns that the model does not use, except its target and its groups."""
    preparation: Any = model.preparation
    extra = preparation.extra_columns(frame) if hasattr(preparation, "extra_columns") else []
    return [name for name in extra if name not in (model.card.target, model.card.group)]
