"""The columns that a model reads: a table of them, and fields for the form, filled in with a typical row."""

from collections.abc import Sequence
from functools import singledispatch
from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from abnet.model.model import Model
from abnet.report.markup import html_table, rendered
from abnet.tables.columns import BooleanColumn, Column, DateColumn, NumericColumn, TextColumn
from abnet.tables.note_sentences import named_option, note_sentence
from abnet.tables.preparation.preparation import Preparation, Unprepared
from abnet.tables.preparation.scalers import MinMaxMap, StandardMap
from abnet.utils.wording import number_of, shortened

__all__ = ["columns_section", "form_fields", "medoid"]

Floats = NDArray[np.float64]


def columns_section(model: Model) -> Markup:
    """The columns that the model reads, and remarks on columns that were left out or look doubtful."""
    preparation = model.preparation
    codes = ""
    if preparation.codes:
        n_codes = sum(map(len, preparation.codes))
        codes = f"{n_codes:,} thermometer codes (is the value above a threshold?) are added to the features."
    plain = ""
    used: Markup | str = ""
    remarks: Markup | str = ""
    if preparation.columns:
        used = _used_table([(column.name, _kind(column), _features(column)) for column in preparation.columns])
        notes = [[", ".join(note.columns), note_sentence(note, named_option)] for note in preparation.notes]
        if notes:
            remarks = html_table(["column", "remark"], _shortened(notes), caption="Remarks", left=2)
    elif model.feature_names is not None:
        used = _used_table([(name, "numeric", "1 feature") for name in model.feature_names])
    else:
        n_columns = preparation.n_features_in or model.n_inputs
        plain = f"Arrays of {n_columns:,} numbers without names."
    return rendered("columns.html", used=used, codes=codes, plain=plain, remarks=remarks)


def _used_table(columns: Sequence[tuple[str, str, str]]) -> Markup:
    lines = _shortened(_grouped(columns))
    return html_table(["column", "kind", "features"], lines, caption="Columns used", left=3)


def _grouped(columns: Sequence[tuple[str, str, str]]) -> list[list[str]]:
    """One line for all columns of the same kind with the same features.

    Examples
    --------
    >>> _grouped([("a", "numeric", "1 feature"), ("b", "text", "x, y"), ("c", "numeric", "1 feature")])
    [['a, c', 'numeric', '1 feature each'], ['b', 'text', 'x, y']]
    """
    groups: dict[tuple[str, str], list[str]] = {}
    for name, kind, features in columns:
        groups.setdefault((kind, features), []).append(name)
    lines = []
    for (kind, features), names in groups.items():
        if len(names) > 1:
            features += " each"
        lines.append([", ".join(names), kind, features])
    return lines


def _kind(column: Column) -> str:
    if isinstance(column, NumericColumn):
        unit = column.form.before or column.form.after
        if unit:
            return f"{column.kind}, in {unit}"
    return column.kind


def _features(column: Column) -> str:
    if not isinstance(column, TextColumn):
        return number_of(len(column.features), "feature")
    categories = ", ".join(shortened(name) for name in column.categories[:6])
    n_others = len(column.categories) - 6
    if n_others > 0:
        categories += f" and {n_others} more"
    return categories


def _shortened(lines: Sequence[list[str]], most: int = 100) -> list[list[str]]:
    """The first lines, with very long cells cut, and a line that says how many lines follow."""
    short_lines = [[shortened(cell, 2_000) for cell in line] for line in lines[:most]]
    if len(lines) > most:
        blank = [""] * (len(lines[0]) - 1)
        short_lines.append([f"and {len(lines) - most:,} more", *blank])
    return short_lines


# A typical row


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
