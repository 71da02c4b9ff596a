"""Columns of a table as an array of numbers, for a model that was learned from an array."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from abnet.tables.columns import read_numbers
from abnet.tables.table import Table
from abnet.tables.table_errors import TableError, listed, quoted

__all__ = ["number_cells", "numeric_rows"]


def number_cells(table: Table, name: str) -> NDArray[np.float64]:
    """A column as numbers, NaN for missing cells; raises a TableError for other cells."""
    cells = table.cells(name)
    x, odd = read_numbers(cells)
    if odd.any():
        first = int(odd.argmax())
        problem = f"{quoted(cells.cell(first))} is not a finite number; correct the cell or leave it empty."
        raise TableError(f"column {name!r}, {table.row(first)}: {problem}")
    return x


def numeric_rows(table: Table, names: Sequence[str] | None, n_columns: int | None) -> NDArray[np.float64]:
    """The columns of a table as numbers, for a model that was learned from an array.

    Parameters
    ----------
    table : Table
    names : sequence of str or None
        Columns in the order of training; None for those of the table.
    n_columns : int or None
        Number of columns that the model takes, if known.
    """
    names = tuple(names or table.columns)
    absent = [name for name in names if name not in table.columns]
    if absent:
        raise TableError(f"the table lacks {listed(absent)}, which the model was trained on.")
    if n_columns is not None and len(names) != n_columns:
        raise TableError(
            f"the table has {len(names)} columns, but the model takes {n_columns} and knows no column names; remove "
            "the other columns."
        )
    matrix = np.column_stack([number_cells(table, name) for name in names])
    missing = np.argwhere(np.isnan(matrix))
    if len(missing):
        row, column = missing[0]
        where = f"column {names[column]!r}, {table.row(int(row))}"
        raise TableError(f"{where}: the value is missing, and this model has no rule for missing values; fill it in.")
    return matrix
