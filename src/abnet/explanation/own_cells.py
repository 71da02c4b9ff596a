"""Prepared rows back in the units of the caller's table: numbers, dates and categories, column by column."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.explanation.background import column_layout
from abnet.model.model import Model
from abnet.tables.columns import BooleanColumn, DateColumn, NumericColumn, TextColumn
from abnet.tables.preparation.scalers import MinMaxMap, StandardMap

__all__ = ["MISSING", "OTHER", "OwnCells", "own_cells"]

Floats = NDArray[np.float64]
MISSING, OTHER = "(missing)", "(other)"


@dataclass(frozen=True, eq=False)
class OwnCells:
    """What some rows have in one column: numbers, or categories, or neither (free text).

    Attributes
    ----------
    numbers : float array (rows,) or None
        In the table's own units, NaN where missing; dates are days since 1970-01-01.
    categories : tuple of str or None
        The category of each row.
    unit : str
        What the numbers are written with, such as ``€``.
    dates : bool
        Whether the numbers are dates.
    """

    numbers: Floats | None = None
    categories: tuple[str, ...] | None = None
    unit: str = ""
    dates: bool = False


def own_cells(model: Model, features: NDArray[Any]) -> tuple[OwnCells, ...]:
    """The cells behind prepared rows, for each column that the model uses.

    Numbers come back to about seven digits, and cut where preparation cut them. What a transformer of another library
    made stays as it is.

    Parameters
    ----------
    model : Model
    features : array (rows, features)
        Before the codes.

    Examples
    --------
    >>> from abnet.model.predictors.compact import Compact
    >>> from abnet.tables.preparation.table_map import TableMap
    >>> cities = TextColumn("city", ("Oslo", "Rome"), (), False)
    >>> table = TableMap((NumericColumn("age", 40.0, 40.0, 10.0, True), cities))
    >>> model = Model(Compact(np.ones((1, 1, 4)), np.zeros((1, 1)), np.array([[-1.0, 1.0]])), preparation=table)
    >>> rows = table.transform({"age": ["25", None], "city": ["Rome", "Oslo"]})
    >>> age, city = own_cells(model, rows)
    >>> age.numbers, city.categories
    (array([25., nan]), ('Rome', 'Oslo'))
    """
    rows = np.asarray(features, np.float64)
    base = model.preparation.base
    if base.columns:
        ends = np.cumsum([len(column.features) for column in base.columns])
        parts = np.split(rows, ends[:-1], axis=1)
        return tuple(_of_column(column, part) for column, part in zip(base.columns, parts, strict=True))
    if isinstance(base, StandardMap):
        return tuple(map(OwnCells, (rows * np.array(base.scale) + np.array(base.mean)).T))
    if isinstance(base, MinMaxMap):
        return tuple(map(OwnCells, ((rows - np.array(base.shift)) / np.array(base.scale)).T))
    layout = column_layout(model)
    owners = np.array(layout.owners)
    alone = np.bincount(owners) == 1
    return tuple(OwnCells(rows[:, owners == j][:, 0]) if alone[j] else OwnCells() for j in range(len(layout.names)))


def _of_column(column: Any, features: Floats) -> OwnCells:
    if isinstance(column, NumericColumn | DateColumn):
        unit = "" if isinstance(column, DateColumn) else _unit(column)
        return OwnCells(_numbers(column, features), None, unit, isinstance(column, DateColumn))
    if isinstance(column, BooleanColumn):
        return OwnCells(None, tuple("yes" if sign > 0 else "no" if sign < 0 else MISSING for sign in features[:, 0]))
    if isinstance(column, TextColumn):
        return OwnCells(None, tuple(_category(column, row) for row in features))
    return OwnCells()


def _numbers(column: NumericColumn | DateColumn, features: Floats) -> Floats:
    value = (
        features[:, 0] * column.scale + column.mean if column.scale is not None else np.full(len(features), column.fill)
    )
    absent = features[:, -1] == 1.0 if column.indicator else np.zeros(len(features), bool)
    offset = column.form.offset if isinstance(column, NumericColumn) else 0
    return np.where(absent, np.nan, value + offset)


def _unit(column: NumericColumn) -> str:
    return "seconds" if column.form.duration else (column.form.before or column.form.after).strip()


def _category(column: TextColumn, features: Floats) -> str:
    active = np.flatnonzero(features[: len(column.categories)])
    if len(active):
        return column.categories[int(active[0])]
    return MISSING if column.missing and features[-1] == 1.0 else OTHER
