"""How a column of numbers, booleans, text or dates becomes features."""

from collections import Counter
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from abnet import records
from abnet.data.tables.cells import TRUTH, distinct, is_blank, is_missing, to_numbers, to_text
from abnet.data.tables.dates import ORDERS, days
from abnet.data.tables.error import TableError, row_name

__all__ = [
    "BooleanColumn",
    "Column",
    "DateColumn",
    "NumericColumn",
    "TextColumn",
    "YEAR",
    "column_from_dict",
    "numbers",
    "scaled",
]


Features = NDArray[np.float32]

UnseenRows = dict[str, int]

LARGEST = 1e150
"""Numbers beyond this are refused with the infinite ones: their variance is not finite."""

CLIP = 1e6
"""Scaled values are cut here, many times beyond what training saw, so that every feature is finite in float32."""


def numbers(column: pd.Series) -> NDArray[np.float64]:
    """A column as numbers, NaN where missing; a cell that is no number of reasonable size is an error."""
    if pd.api.types.is_numeric_dtype(column.dtype) and column.dtype.kind != "c":
        x = column.to_numpy(np.float64, na_value=np.nan)
    else:
        codes, values = distinct(column)
        x = np.array([np.inf if number is None else number for number in to_numbers(values)])[codes]
    wrong = np.abs(x) > LARGEST
    if wrong.any():
        first = int(wrong.argmax())
        cell, where = to_text(column.iloc[first]), row_name(column.index, first)
        raise TableError(
            f"column {str(column.name)!r}, {where}: {cell!r} is not a finite number (below {LARGEST:g}); "
            "correct the cell or leave it empty."
        )
    return x


def scaled(x: NDArray[np.float64], fill: float, mean: float, scale: float) -> NDArray[np.float64]:
    """``(x - mean) / scale`` with `fill` where x is NaN, cut at `CLIP`.

    Examples
    --------
    >>> scaled(np.array([3.0, np.nan, 1e9]), fill=2.0, mean=1.0, scale=2.0).tolist()
    [1.0, 0.5, 1000000.0]
    """
    return np.clip((np.where(np.isnan(x), fill, x) - mean) / scale, -CLIP, CLIP)


@dataclass(frozen=True)
class NumericColumn:
    """``(x - mean) / scale`` with `fill` (the median) for missing values, and a 0-1 feature that says where they were.

    The scaled value is left out when `scale` is None (all values in fitting were equal), the indicator when nothing was
    missing in fitting; a value missing later is then `fill`, and nothing else.
    """

    kind: ClassVar[str] = "numeric"
    name: str
    fill: float
    mean: float
    scale: float | None
    indicator: bool

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the features."""
        return (self.name,) * (self.scale is not None) + (f"{self.name} (missing)",) * self.indicator

    def encode(self, column: pd.Series) -> tuple[Features, UnseenRows]:
        """Features of every row, and no unseen values."""
        x = numbers(column)
        value = [] if self.scale is None else [scaled(x, self.fill, self.mean, self.scale)]
        absent = [np.isnan(x)] if self.indicator else []
        return np.column_stack([*value, *absent]).astype(np.float32), {}

    @classmethod
    def from_dict(cls, record: Any, where: str) -> "NumericColumn":
        """The column stored in a record, after checking it."""
        fields = records.take(
            where, record, name=records.text, fill=records.finite, mean=records.finite,
            scale=records.optional(records.positive), indicator=records.flag,
        )  # fmt: skip
        if fields["scale"] is None and not fields["indicator"]:
            raise ValueError(f"{where} makes no feature (no scale and no indicator).")
        return cls(**fields)


@dataclass(frozen=True)
class BooleanColumn:
    """+1 for true or yes, -1 for false or no, 0 for missing; and a 0-1 feature for missing if fitting met any."""

    kind: ClassVar[str] = "boolean"
    name: str
    indicator: bool

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the features."""
        return (self.name,) + (f"{self.name} (missing)",) * self.indicator

    def encode(self, column: pd.Series) -> tuple[Features, UnseenRows]:
        """Features of every row; anything but a truth or a missing value is reported, and counts as missing."""
        codes, values = distinct(column)
        truths = [TRUTH.get(to_text(value).lower()) for value in values]
        signs = np.array([0 if truth is None else 2 * truth - 1 for truth in truths], np.float32)
        table = np.column_stack([signs] + [signs == 0] * self.indicator).astype(np.float32)
        strange = [truth is None and not is_missing(value) for truth, value in zip(truths, values, strict=True)]
        return table[codes], _count(values, codes, strange)

    @classmethod
    def from_dict(cls, record: Any, where: str) -> "BooleanColumn":
        """The column stored in a record, after checking it."""
        return cls(**records.take(where, record, name=records.text, indicator=records.flag))


@dataclass(frozen=True)
class TextColumn:
    """One 0-1 feature per category, one for all rare categories together, one for missing.

    `rare` lists the categories that share a feature: empty where every category has its own, None where they are too
    many to list. `missing` is True if fitting met missing cells. What fitting never met has the value 0 in every
    feature, or that of the rare ones where there is such a feature.
    """

    kind: ClassVar[str] = "text"
    name: str
    categories: tuple[str, ...]
    rare: tuple[str, ...] | None
    missing: bool

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the features."""
        own = tuple(f"{self.name}={category}" for category in self.categories)
        return own + (f"{self.name} (other)",) * (self.rare != ()) + (f"{self.name} (missing)",) * self.missing

    def encode(self, column: pd.Series) -> tuple[Features, UnseenRows]:
        """Features of every row, and the categories that fitting never met."""
        codes, values = distinct(column)
        other = len(self.categories) if self.rare != () else None
        places = {category: place for place, category in enumerate(self.categories)}
        known = set(self.categories).union(self.rare or ())
        table = np.zeros((len(values), len(self.features)), np.float32)
        for row, value in zip(table, values, strict=True):
            place = (len(row) - 1 if self.missing else other) if is_blank(value) else places.get(to_text(value), other)
            if place is not None:
                row[place] = 1
        strange = [self.rare is not None and not is_blank(value) and to_text(value) not in known for value in values]
        return table[codes], _count(values, codes, strange)

    @classmethod
    def from_dict(cls, record: Any, where: str) -> "TextColumn":
        """The column stored in a record, after checking it."""
        fields = records.take(
            where, record, name=records.text, categories=records.texts, rare=records.optional(records.texts),
            missing=records.flag,
        )  # fmt: skip
        if set(fields["categories"]) & set(fields["rare"] or ()):
            raise ValueError(f"{where} lists a category as rare and as frequent.")
        if not fields["categories"] and fields["rare"] == () and not fields["missing"]:
            raise ValueError(f"{where} makes no feature (no category).")
        return cls(**fields)


def _count(values: list[Any], codes: NDArray[np.intp], strange: list[bool]) -> UnseenRows:
    """Rows for every strange value, by its text."""
    if not any(strange):
        return {}
    rows: Counter[str] = Counter()
    for value, count, odd in zip(values, np.bincount(codes, minlength=len(values)), strange, strict=True):
        if odd:
            rows[to_text(value)] += int(count)
    return dict(rows)


YEAR = 365.2425
"""Days in the mean Gregorian year: the phase stays within two days of the calendar's."""


@dataclass(frozen=True)
class DateColumn:
    """``(t - mean) / scale`` of t, the days since 1970-01-01, and the season: ``sin`` and ``cos`` of ``2 π t / YEAR``.

    A network's first layer sees linear functions of its inputs, and no linear function of t comes back every year. The
    season is left out when the dates of the fit do not span a whole year (`season` is False), for then it says nothing
    that t does not; t is left out when they were all equal (`scale` is None). Missing dates are `fill` (the median) in
    t and the centre of the circle, (0, 0), in the season; `indicator` as in `NumericColumn`.
    """

    kind: ClassVar[str] = "date"
    name: str
    order: str
    fill: float
    mean: float
    scale: float | None
    season: bool
    indicator: bool

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the features."""
        season = (f"{self.name} (season, sine)", f"{self.name} (season, cosine)") * self.season
        return (self.name,) * (self.scale is not None) + season + (f"{self.name} (missing)",) * self.indicator

    def encode(self, column: pd.Series) -> tuple[NDArray[np.float32], dict[str, int]]:
        """Features of every row; anything but a date or a missing value is reported, and counts as missing."""
        t, strange = days(column, self.order)
        value = [] if self.scale is None else [scaled(t, self.fill, self.mean, self.scale)]
        absent = [np.isnan(t)] if self.indicator else []
        return np.column_stack([*value, *(_season(t) if self.season else []), *absent]).astype(np.float32), strange

    @classmethod
    def from_dict(cls, record: Any, where: str) -> "DateColumn":
        """The column stored in a record, after checking it."""
        fields = records.take(
            where, record, name=records.text, order=_order, fill=records.finite, mean=records.finite,
            scale=records.optional(records.positive), season=records.flag, indicator=records.flag,
        )  # fmt: skip
        if fields["scale"] is None and not fields["season"] and not fields["indicator"]:
            raise ValueError(f"{where} makes no feature (no scale, season nor indicator).")
        return cls(**fields)


def _season(t: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    phase = 2 * np.pi * (t / YEAR)
    return [np.nan_to_num(np.sin(phase)), np.nan_to_num(np.cos(phase))]


def _order(where: str, value: Any) -> str:
    if not isinstance(value, str) or value not in ORDERS:
        raise records.refusal(where, f"be one of {', '.join(ORDERS)}", value)
    return value


Column = NumericColumn | BooleanColumn | DateColumn | TextColumn

_KINDS: dict[str, type[Column]] = {
    kind.kind: kind for kind in (NumericColumn, BooleanColumn, DateColumn, TextColumn)
}  # fmt: skip


def column_from_dict(record: Any, where: str) -> Column:
    """The column of the kind that a record names."""
    kind = record.get("kind") if isinstance(record, dict) else None
    if not isinstance(kind, str) or kind not in _KINDS:
        raise records.refusal(f"{where}.kind", f"be one of {sorted(_KINDS)}", kind)
    return _KINDS[kind].from_dict({key: value for key, value in record.items() if key != "kind"}, where)
