"""The cells of explained rows as text, as the caller's table has them."""

from collections.abc import Sequence
from typing import Any

from abnet.explanation.background import ColumnLayout
from abnet.model.model import Model
from abnet.tables.cells import to_text
from abnet.tables.csv_header import UNNAMED
from abnet.tables.table import Table, as_table
from abnet.utils.coded_rows import dense

__all__ = ["row_cells"]


def row_cells(model: Model, layout: ColumnLayout, X: Any) -> list[tuple[str, ...]]:
    """The cells of every row in the columns of a layout."""
    if model.preparation.columns:
        table = as_table(X)
        return _table_cells(table, _names_in_table(table, layout.names))
    used = _used_places(model, layout)
    if isinstance(X, Table):
        names = model.feature_names or tuple(X.columns)
        return _table_cells(X, [names[place] for place in used])
    if layout.original:
        rows = model.in_order(X)
    else:
        rows = model.prepare(X)
    return [tuple(map(to_text, row)) for row in dense(rows)[:, used]]


def _names_in_table(table: Table, names: Sequence[str]) -> list[str]:
    """The names that a table has for columns of the model: a column may be marked there as unnamed."""
    without_mark = {name.removesuffix(f" {UNNAMED}"): name for name in table.columns}
    exact = {name: name for name in table.columns}
    in_table = without_mark | exact
    return [in_table[name] for name in names]


def _used_places(model: Model, layout: ColumnLayout) -> list[int]:
    """The places of the layout's columns among the columns of an array."""
    owners = model.preparation.owners
    if owners is None:
        return list(range(len(layout.names)))
    return sorted(set(owners))


def _table_cells(table: Table, names: Sequence[str]) -> list[tuple[str, ...]]:
    columns = [table.cells(name) for name in names]
    return [tuple(to_text(column.cell(row)) for column in columns) for row in range(table.n_rows)]
