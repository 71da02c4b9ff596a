"""Fields of the form, one for each column that a model reads, filled in with a typical row."""

from collections.abc import Sequence
from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.model.model import Model
from abnet.tables.columns import BooleanColumn, Column, DateColumn, NumericColumn, TextColumn
from abnet.tables.preparation.preparation import Preparation, Unprepared
from abnet.tables.preparation.scalers import MinMaxMap, StandardMap

__all__ = ["form_fields", "medoid"]

Floats = NDArray[np.float64]


def medoid(rows: NDArray[Any]) -> Floats:
    """The row with the smallest sum of distances to the others: a typical row that really occurs.

    Examples
    --------
    >>> medoid(np.array([[0.0, 0.0], [1.0, 1.0], [9.0, 9.0]]))
    array([1., 1.])
    """
    values = np.asarray(rows, np.float64)
    distances = np.sqrt(((values[:, None] - values[None]) ** 2).sum(axis=2))
    return np.asarray(values[int(np.argmin(distances.sum(axis=1)))])


def form_fields(model: Model, typical: Floats | None) -> list[dict[str, Any]]:
    """The fields of the form, one for each column, filled in from the features of a typical row.

    Parameters
    ----------
    model : Model
    typical : array (features,), optional
        Without codes. By default, means and first categories are filled in.
    """
    base = model.preparation.base
    if not base.columns:
        return _array_fields(model, base, typical)
    fields = []
    start = 0
    for column in base.columns:
        end = start + len(column.features)
        features = None
        if typical is not None:
            features = typical[start:end]
        fields.append(_field(column, features))
        start = end
    return fields


def _array_fields(model: Model, base: Preparation, typical: Floats | None) -> list[dict[str, Any]]:
    """Fields for the columns of an array."""
    n_columns = base.n_features_in or model.n_inputs
    names = model.feature_names or [f"column {number}" for number in range(1, n_columns + 1)]
    scales: Sequence[float] = [1.0] * n_columns
    if isinstance(base, StandardMap):
        scales = base.scale
    fields: list[dict[str, Any]] = []
    for name, value, scale in zip(names, _array_row(base, n_columns, typical), scales, strict=True):
        fields.append({"name": name, "type": "number", "usual": _rounded(value, scale)})
    return fields


def _array_row(base: Preparation, n_columns: int, typical: Floats | None) -> Sequence[float]:
    """A row of an array from scaled features; without any, means of the columns or the middle of their ranges."""
    if isinstance(base, StandardMap):
        if typical is None:
            return base.mean
        return list(np.array(base.mean) + typical * np.array(base.scale))
    if isinstance(base, MinMaxMap):
        features = typical
        if features is None:
            features = np.full(n_columns, 0.5)
        return [(value - shift) / scale for value, scale, shift in zip(features, base.scale, base.shift, strict=True)]
    if isinstance(base, Unprepared) and typical is not None:
        return list(typical)
    return [0.0] * n_columns


@singledispatch
def _field(column: Column, features: Floats | None) -> dict[str, Any]:
    """The field of one column: a line of text, unless the kind of column has a better one."""
    return {"name": column.name, "type": "text", "usual": ""}


@_field.register
def _(column: BooleanColumn, features: Floats | None) -> dict[str, Any]:
    usual = ""
    if features is not None and features[0] > 0:
        usual = "true"
    if features is not None and features[0] < 0:
        usual = "false"
    return {"name": column.name, "type": "truth", "usual": usual}


@_field.register
def _(column: TextColumn, features: Floats | None) -> dict[str, Any]:
    choices = [*column.categories, *(column.rare or ())]
    return {"name": column.name, "type": "choice", "choices": choices, "usual": _category(column, features)}


@_field.register
def _(column: DateColumn, features: Floats | None) -> dict[str, Any]:
    value = _value(column, features)
    if column.fill != round(column.fill):
        return {"name": column.name, "type": "time", "usual": value}
    if value is not None:
        value = float(round(value))
    return {"name": column.name, "type": "date", "usual": value}


@_field.register
def _(column: NumericColumn, features: Floats | None) -> dict[str, Any]:
    value = _value(column, features)
    form = column.form
    kind = "number"
    if form.offset:
        kind = "whole"
    usual: str | float = ""
    if value is not None and form.offset:
        usual = str(form.offset + round(value))  # as text: JavaScript would round large numbers
    elif value is not None:
        usual = _rounded(value, column.scale or 1.0)
    unit = (form.before or form.after).strip()
    if form.duration:
        unit = "seconds"
    return {"name": column.name, "type": kind, "usual": usual, "unit": unit}


def _value(column: NumericColumn | DateColumn, features: Floats | None) -> float | None:
    """The number behind a column's features; None if the typical row has none."""
    if features is None or column.scale is None:
        return float(column.fill)
    if column.indicator and features[-1] == 1.0:
        return None
    return float(features[0] * column.scale + column.mean)


def _category(column: TextColumn, features: Floats | None) -> int | None:
    """Position of the category among the choices; -1 for a category without a feature, None for a missing one."""
    if features is None:
        if column.categories:
            return 0
        return None
    active = np.flatnonzero(features[: len(column.categories)])
    if len(active):
        return int(active[0])
    if column.missing and features[-1] == 1.0:
        return None
    return -1


def _rounded(value: float, scale: float) -> float:
    """A number computed in single precision, without the digits that are only rounding errors.

    Examples
    --------
    >>> _rounded(36.99999809, 13.0), _rounded(2.7e-9, 0.5)
    (37.0, 0.0)
    """
    if abs(value) < 1e-6 * abs(scale):
        return 0.0
    return float(f"{value:.6g}")
