"""The columns that a model reads: a table of them, fields for the form, and a typical row to begin with."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from abnet.model.model import Model
from abnet.report.markup import rendered, short, table
from abnet.tables.columns import Column, DateColumn, NumericColumn, TextColumn
from abnet.tables.notes import named_option, sentence
from abnet.tables.preparation.preparation import Preparation, Unprepared
from abnet.tables.preparation.scalers import MinMaxMap, StandardMap
from abnet.utils.wording import number_of

__all__ = ["columns_section", "form_fields", "medoid"]


def columns_section(model: Model) -> Markup:
    """The columns that the model takes, and what was left out."""
    preparation, codes = model.preparation, ""
    if preparation.codes:
        n = sum(map(len, preparation.codes))
        codes = f"{n:,} thermometer codes (is the value above a threshold?) are added to the features."
    if preparation.columns:
        lines = _alike([(column.name, _kind(column), _features(column)) for column in preparation.columns])
        used = table(["column", "kind", "features"], _first(lines), caption="Columns used", left=3)
        notes = [[", ".join(note.columns), sentence(note, named_option)] for note in preparation.notes]
        remarks = table(["column", "remark"], _first(notes), caption="Remarks", left=2) if notes else ""
        return rendered("columns.html", used=used, codes=codes, plain="", remarks=remarks)
    names = model.feature_names
    if names is None:
        n = preparation.n_features_in or model.n_inputs
        return rendered(
            "columns.html", used="", codes=codes, plain=f"Arrays of {n:,} numbers without names.", remarks=""
        )
    lines = _alike([(name, "numeric", "1 feature") for name in names])
    used = table(["column", "kind", "features"], _first(lines), caption="Columns used", left=3)
    return rendered("columns.html", used=used, codes=codes, plain="", remarks="")


def _alike(columns: Sequence[tuple[str, str, str]]) -> list[list[str]]:
    """Columns of the same kind with the same features share a line.

    Examples
    --------
    >>> _alike([("a", "numeric", "1 feature"), ("b", "text", "x, y"), ("c", "numeric", "1 feature")])
    [['a, c', 'numeric', '1 feature each'], ['b', 'text', 'x, y']]
    """
    groups: dict[tuple[str, str], list[str]] = {}
    for name, kind, features in columns:
        groups.setdefault((kind, features), []).append(name)
    return [
        [", ".join(names), kind, features + " each" * (len(names) > 1)] for (kind, features), names in groups.items()
    ]


def _kind(column: Column) -> str:
    unit = column.form.before or column.form.after if isinstance(column, NumericColumn) else ""
    return f"{column.kind}, in {unit}" if unit else column.kind


def _features(column: Column) -> str:
    if isinstance(column, TextColumn):
        listed = ", ".join(short(name) for name in column.categories[:6])
        return listed + (f" and {len(column.categories) - 6} more" if len(column.categories) > 6 else "")
    return number_of(len(column.features), "feature")


def _first(lines: Sequence[list[str]], most: int = 100) -> list[list[str]]:
    cut = [[short(cell, 2_000) for cell in line] for line in lines[:most]]
    return cut if len(lines) <= most else [*cut, [f"and {len(lines) - most:,} more", *[""] * (len(lines[0]) - 1)]]


# A typical row


def medoid(rows: NDArray[Any]) -> NDArray[np.float64]:
    """The row with the least sum of distances to the others: a typical row that really occurred.

    Examples
    --------
    >>> medoid(np.array([[0.0, 0.0], [1.0, 1.0], [9.0, 9.0]]))
    array([1., 1.])
    """
    values = np.asarray(rows, np.float64)
    gaps = np.sqrt(((values[:, None] - values[None]) ** 2).sum(axis=2))
    return np.asarray(values[int(np.argmin(gaps.sum(axis=1)))])


def form_fields(model: Model, typical: NDArray[np.float64] | None) -> list[dict[str, Any]]:
    """What the form asks for: a field for each column, filled in from the features of a typical row.

    Parameters
    ----------
    model : Model
    typical : array (features,), optional
        Before the codes; without it, means and first categories are taken.
    """
    base = model.preparation.base
    if base.columns:
        made, start = [], 0
        for column in base.columns:
            width = len(column.features)
            made.append(_field(column, None if typical is None else typical[start : start + width]))
            start += width
        return made
    n = base.n_features_in or model.n_inputs
    names = model.feature_names or [f"column {place}" for place in range(1, n + 1)]
    usual = _numbers(base, n, typical)
    scales = base.scale if isinstance(base, StandardMap) else [1.0] * n
    return [
        {"name": name, "type": "number", "usual": _rounded(value, scale)}
        for name, value, scale in zip(names, usual, scales, strict=True)
    ]


def _numbers(base: Preparation, n: int, typical: NDArray[np.float64] | None) -> Sequence[float]:
    """Numbers of an array's columns from scaled features; their means, or the middle of their range, without any."""
    if isinstance(base, StandardMap):
        return list(base.mean) if typical is None else list(np.array(base.mean) + typical * np.array(base.scale))
    if isinstance(base, MinMaxMap):
        features = np.full(n, 0.5) if typical is None else typical
        return [(f - shift) / scale for f, scale, shift in zip(features, base.scale, base.shift, strict=True)]
    return list(typical) if isinstance(base, Unprepared) and typical is not None else [0.0] * n


def _field(column: Column, features: NDArray[np.float64] | None) -> dict[str, Any]:
    if isinstance(column, NumericColumn | DateColumn):
        return {"name": column.name, **_numeric_field(column, _value(column, features))}
    if isinstance(column, TextColumn):
        known = [*column.categories, *(column.rare or ())]
        return {"name": column.name, "type": "choice", "choices": known, "usual": _category(column, features)}
    if column.kind == "boolean":
        sign = 0.0 if features is None else float(features[0])
        return {"name": column.name, "type": "truth", "usual": "" if sign == 0 else "true" if sign > 0 else "false"}
    return {"name": column.name, "type": "text", "usual": ""}


def _value(column: NumericColumn | DateColumn, features: NDArray[np.float64] | None) -> float | None:
    """The number behind a column's features; None where the typical row has none."""
    if features is None or column.scale is None:
        return float(column.fill)
    if column.indicator and features[-1] == 1.0:
        return None
    return float(features[0] * column.scale + column.mean)


def _numeric_field(column: NumericColumn | DateColumn, value: float | None) -> dict[str, Any]:
    if isinstance(column, DateColumn):
        timed = column.fill != round(column.fill)
        whole = value if value is None or timed else float(round(value))
        return {"type": "time" if timed else "date", "usual": whole}
    form = column.form
    unit = "seconds" if form.duration else (form.before or form.after).strip()
    if form.offset:
        return {"type": "whole", "usual": "" if value is None else str(form.offset + round(value)), "unit": unit}
    return {"type": "number", "usual": "" if value is None else _rounded(value, column.scale or 1.0), "unit": unit}


def _category(column: TextColumn, features: NDArray[np.float64] | None) -> int | None:
    """The place of the category among the choices; -1 for another one, None for a missing one."""
    if features is None:
        return 0 if column.categories else None
    active = np.flatnonzero(features[: len(column.categories)])
    if len(active):
        return int(active[0])
    return None if column.missing and features[-1] == 1.0 else -1


def _rounded(value: float, scale: float) -> float:
    """A number that was computed in single precision, without the digits that this made up.

    Examples
    --------
    >>> _rounded(36.99999809, 13.0), _rounded(2.7e-9, 0.5)
    (37.0, 0.0)
    """
    return 0.0 if abs(value) < 1e-6 * abs(scale) else float(f"{value:.6g}")
