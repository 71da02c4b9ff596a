"""Prepared rows back in the units of the caller's table: numbers, dates and categories, column by column."""

from dataclasses import dataclass
from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.explanation.background import column_layout
from abnet.model.model import Model
from abnet.tables.columns import BooleanColumn, Column, DateColumn, NumericColumn, TextColumn
from abnet.tables.preparation.scalers import MinMaxMap, StandardMap

__all__ = ["MISSING", "OTHER", "RestoredCells", "restore_cells"]

Floats = NDArray[np.float64]
MISSING = "(missing)"
OTHER = "(other)"


@dataclass(frozen=True, eq=False)
class RestoredCells:
    """The cells of some rows in one column: numbers, or categories, or neither (free text).

    Attributes
    ----------
    numbers : float array (rows,) or None
        In the table's own units, NaN where missing; dates are days since 1970-01-01.
    categories : tuple of str or None
        The category of each row.
    unit : str
        Unit that the table's numbers are written with, such as ``€``.
    dates : bool
        Whether the numbers are dates.
    """

    numbers: Floats | None = None
    categories: tuple[str, ...] | None = None
    unit: str = ""
    dates: bool = False


def restore_cells(model: Model, features: NDArray[Any]) -> tuple[RestoredCells, ...]:
    """The cells behind prepared rows, for each column that the model uses.

    Numbers are restored to about seven digits, and stay clipped if the preparation clipped them. Features made by a
    transformer of another library are returned unchanged.

    Parameters
    ----------
    model : Model
    features : array (rows, features)
        Without codes.

    Examples
    --------
    >>> from abnet.model.predictors.compact import Compact
    >>> from abnet.tables.preparation.table_map import TableMap
    >>> cities = TextColumn("city", ("Oslo", "Rome"), (), False)
    >>> table = TableMap((NumericColumn("age", 40.0, 40.0, 10.0, True), cities))
    >>> model = Model(Compact(np.ones((1, 1, 4)), np.zeros((1, 1)), np.array([[-1.0, 1.0]])), preparation=table)
    >>> rows = table.transform({"age": ["25", None], "city": ["Rome", "Oslo"]})
    >>> age, city = restore_cells(model, rows)
    >>> age.numbers, city.categories
    (array([25., nan]), ('Rome', 'Oslo'))
    """
    rows = np.asarray(features, np.float64)
    base = model.preparation.base
    if base.columns:
        ends = np.cumsum([len(column.features) for column in base.columns])
        parts = np.split(rows, ends[:-1], axis=1)
        return tuple(_column_cells(column, part) for column, part in zip(base.columns, parts, strict=True))
    if isinstance(base, StandardMap):
        numbers = rows * np.array(base.scale) + np.array(base.mean)
        return tuple(map(RestoredCells, numbers.T))
    if isinstance(base, MinMaxMap):
        numbers = (rows - np.array(base.shift)) / np.array(base.scale)
        return tuple(map(RestoredCells, numbers.T))
    return _single_features(model, rows)


def _single_features(model: Model, rows: Floats) -> tuple[RestoredCells, ...]:
    """Columns of one feature have its values as their numbers; columns of several features have no values."""
    layout = column_layout(model)
    owners = np.array(layout.owners)
    cells = []
    for j in range(len(layout.names)):
        features = rows[:, owners == j]
        if features.shape[1] == 1:
            cells.append(RestoredCells(features[:, 0]))
        else:
            cells.append(RestoredCells())
    return tuple(cells)


@singledispatch
def _column_cells(column: Column, features: Floats) -> RestoredCells:
    """The cells behind the features of one column; none for a column of free text."""
    return RestoredCells()


@_column_cells.register
def _(column: NumericColumn, features: Floats) -> RestoredCells:
    numbers = _unscaled(column, features) + column.form.offset
    unit = (column.form.before or column.form.after).strip()
    if column.form.duration:
        unit = "seconds"
    return RestoredCells(numbers=numbers, unit=unit)


@_column_cells.register
def _(column: DateColumn, features: Floats) -> RestoredCells:
    return RestoredCells(numbers=_unscaled(column, features), dates=True)


@_column_cells.register
def _(column: BooleanColumn, features: Floats) -> RestoredCells:
    words = {1.0: "yes", -1.0: "no", 0.0: MISSING}
    return RestoredCells(categories=tuple(words[sign] for sign in np.sign(features[:, 0])))


@_column_cells.register
def _(column: TextColumn, features: Floats) -> RestoredCells:
    return RestoredCells(categories=tuple(_category(column, row) for row in features))


def _unscaled(column: NumericColumn | DateColumn, features: Floats) -> Floats:
    """The numbers behind the features of a column, NaN where missing."""
    if column.scale is None:
        numbers = np.full(len(features), column.fill)
    else:
        numbers = features[:, 0] * column.scale + column.mean
    if column.indicator:
        numbers = np.where(features[:, -1] == 1.0, np.nan, numbers)
    return np.asarray(numbers)


def _category(column: TextColumn, features: Floats) -> str:
    active = np.flatnonzero(features[: len(column.categories)])
    if len(active):
        return column.categories[int(active[0])]
    if column.missing and features[-1] == 1.0:
        return MISSING
    return OTHER
