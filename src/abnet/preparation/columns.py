"""How a column of numbers, booleans, text or dates becomes features."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from abnet import checks
from abnet.errors import Parameter, ParameterError
from abnet.tables.cells import (
    PLAIN,
    THOUSANDS,
    TRUTH,
    NumberForm,
    UnknownColumnError,
    is_blank,
    is_missing,
    listed,
    to_text,
)
from abnet.tables.frames import Table
from abnet.tables.series import ORDERS, Cells, Distinct, Numbers, days, unreadable

__all__ = [
    "BY_HAND",
    "BooleanColumn",
    "Centre",
    "DateColumn",
    "Encoded",
    "Features",
    "NumericColumn",
    "Rules",
    "TextColumn",
    "UnseenRows",
    "YEAR",
    "centre",
    "read_numbers",
    "scaled",
    "written_out",
]


Features = NDArray[np.float32]

UnseenRows = dict[str, int]

LARGEST = 1e150
"""Numbers beyond this count as missing, as the infinite ones do: their variance is not finite."""

CLIP = 1e6
"""Scaled values are cut here, many times beyond what training saw, so that every feature is finite in float32."""


def read_numbers(cells: Cells, form: NumberForm = PLAIN) -> Numbers:
    """A column as numbers, NaN where missing, and the cells that hold no number of reasonable size: also NaN.

    Examples
    --------
    >>> from abnet.tables.frames import cells_of
    >>> read_numbers(cells_of(["1", "", "rotary", "1e300"]))
    Numbers(x=array([ 1., nan, nan, nan]), strange=array([False, False,  True,  True]))
    """
    x, strange = cells.numbers(form)
    beyond = (x > LARGEST) | (x < -LARGEST)
    return Numbers(np.where(beyond, np.nan, x), strange | beyond) if beyond.any() else Numbers(x, strange)


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
    missing in fitting; a value missing later is then `fill`, and nothing else. `form` says how the numbers are written;
    x is what remains of them after its offset has been taken away.
    """

    kind: ClassVar[str] = "numeric"
    name: str
    fill: float
    mean: float
    scale: float | None
    indicator: bool
    form: NumberForm = PLAIN

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the features."""
        return (self.name,) * (self.scale is not None) + (f"{self.name} (missing)",) * self.indicator

    def raw(self, table: Table) -> NDArray[np.float64]:
        """The numbers themselves, NaN where missing."""
        return read_numbers(table.cells(self.name), self.form).x

    def encode(self, table: Table) -> tuple[Features, UnseenRows]:
        """Features of every row; anything but a number or a missing value is reported, and counts as missing."""
        return written_out(self.encoded(table))

    def encoded(self, table: Table) -> tuple["Encoded", UnseenRows]:
        """`encode`, with features that are not written out."""
        cells = table.cells(self.name)
        x, strange = read_numbers(cells, self.form)
        features = Encoded(len(x), len(self.features), lambda rows: np.column_stack(self._features(x[rows])))
        return features, unreadable(cells, strange)

    def _features(self, x: NDArray[np.float64]) -> list[NDArray[Any]]:
        value = [] if self.scale is None else [scaled(x, self.fill, self.mean, self.scale)]
        return [*value, *([np.isnan(x)] if self.indicator else [])]

    @classmethod
    def from_dict(cls, record: Any, where: str) -> "NumericColumn":
        """The column stored in a record, after checking it."""
        fields = checks.take(
            where, record, name=checks.text, fill=checks.finite, mean=checks.finite,
            scale=checks.optional(checks.positive), indicator=checks.flag, form=_form,
        )  # fmt: skip
        if fields["scale"] is None and not fields["indicator"]:
            raise ValueError(f"{where} makes no feature (no scale and no indicator).")
        return cls(**fields)


BLOCK = 4096
"""Rows worked on at a time: what is computed on the way should stay in the cache."""


class Encoded(NamedTuple):
    """The features of a column, computed where they are wanted: written out they are larger than what they come from.

    `block` gives those of some rows, (rows, width).
    """

    n_rows: int
    width: int
    block: Callable[[slice], NDArray[Any]]

    @staticmethod
    def looked_up(lookup: Features, distinct: Distinct) -> "Encoded":
        """A row of a table for each distinct value."""
        codes = distinct.codes
        return Encoded(len(codes), lookup.shape[1], lambda rows: np.take(lookup, codes[rows], axis=0))


def written_out(found: tuple[Encoded, UnseenRows]) -> tuple[Features, UnseenRows]:
    """All features of a column, and what is unseen."""
    encoded, unseen = found
    out = np.empty((encoded.n_rows, encoded.width), np.float32)
    for start in range(0, len(out), BLOCK):
        rows = slice(start, start + BLOCK)
        out[rows] = encoded.block(rows)
    return out, unseen


def _form(where: str, value: Any) -> NumberForm:
    fields = checks.take(
        where, value, decimal=checks.text, thousands=checks.text, before=checks.text, after=checks.text,
        duration=checks.flag, offset=_whole,
    )  # fmt: skip
    form = NumberForm(**fields)
    if form.decimal not in (".", ",") or form.thousands not in THOUSANDS or form.decimal == form.thousands:
        raise checks.refusal(where, "have a decimal mark and another one for thousands", value)
    return form


def _whole(where: str, value: Any) -> int:
    if type(value) is not int:
        raise checks.refusal(where, "be a whole number", value)
    return value


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

    def raw(self, table: Table) -> None:
        """There are no numbers behind booleans."""

    def encode(self, table: Table) -> tuple[Features, UnseenRows]:
        """Features of every row; anything but a boolean or a missing value is reported, and counts as missing."""
        return written_out(self.encoded(table))

    def encoded(self, table: Table) -> tuple[Encoded, UnseenRows]:
        """`encode`, with features that are not written out."""
        distinct = table.cells(self.name).distinct()
        found = [TRUTH.get(to_text(value).lower()) for value in distinct.values]
        signs = np.array([0 if truth is None else 2 * truth - 1 for truth in found], np.float32)
        lookup = np.column_stack([signs] + [signs == 0] * self.indicator).astype(np.float32)
        strange = [truth is None and not is_missing(value) for truth, value in zip(found, distinct.values, strict=True)]
        return Encoded.looked_up(lookup, distinct), counted(distinct, strange)

    @classmethod
    def from_dict(cls, record: Any, where: str) -> "BooleanColumn":
        """The column stored in a record, after checking it."""
        return cls(**checks.take(where, record, name=checks.text, indicator=checks.flag))


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

    def raw(self, table: Table) -> None:
        """There are no numbers behind categories."""

    def encode(self, table: Table) -> tuple[Features, UnseenRows]:
        """Features of every row, and the categories that fitting never met."""
        return written_out(self.encoded(table))

    def encoded(self, table: Table) -> tuple[Encoded, UnseenRows]:
        """`encode`, with features that are not written out."""
        distinct = table.cells(self.name).distinct()
        other = len(self.categories) if self.rare != () else None
        places = {category: place for place, category in enumerate(self.categories)}
        known = set(self.categories).union(self.rare or ())
        lookup = np.zeros((len(distinct.values), len(self.features)), np.float32)
        for row, value in zip(lookup, distinct.values, strict=True):
            place = (len(row) - 1 if self.missing else other) if is_blank(value) else places.get(to_text(value), other)
            if place is not None:
                row[place] = 1
        strange = [
            self.rare is not None and not is_blank(value) and to_text(value) not in known for value in distinct.values
        ]
        return Encoded.looked_up(lookup, distinct), counted(distinct, strange)

    @classmethod
    def from_dict(cls, record: Any, where: str) -> "TextColumn":
        """The column stored in a record, after checking it."""
        fields = checks.take(
            where, record, name=checks.text, categories=checks.texts, rare=checks.optional(checks.texts),
            missing=checks.flag,
        )  # fmt: skip
        if set(fields["categories"]) & set(fields["rare"] or ()):
            raise ValueError(f"{where} lists a category as rare and as frequent.")
        if not fields["categories"] and fields["rare"] == () and not fields["missing"]:
            raise ValueError(f"{where} makes no feature (no category).")
        return cls(**fields)


def counted(distinct: Distinct, strange: list[bool]) -> UnseenRows:
    """Rows for every strange value, by its text."""
    if not any(strange):
        return {}
    rows: Counter[str] = Counter()
    for value, count, odd in zip(distinct.values, distinct.counts(), strange, strict=True):
        if odd and count:
            rows[to_text(value)] += count
    return dict(rows)


YEAR = 365.2425
"""Days in the mean Gregorian year: the phase stays within two days of the calendar's."""


@dataclass(frozen=True)
class DateColumn:
    """``(t - mean) / scale`` of t, the days since 1970-01-01, and the season: ``sin`` and ``cos`` of ``2 π t / YEAR``.

    A network's first layer sees linear functions of its inputs, and no linear function of t comes back every year. The
    season is left out when the dates of the fit do not span a whole year (`season` is False), for then it says nothing
    that t does not; t is left out when they were all equal (`scale` is None). Missing dates are `fill` (the median) in
    t and the centre of the circle, (0, 0), in the season; `indicator` as in `NumericColumn`. `written` is the way in
    which most dates of the fit were written, in words.
    """

    kind: ClassVar[str] = "date"
    name: str
    order: str
    fill: float
    mean: float
    scale: float | None
    season: bool
    indicator: bool
    written: str = ""

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the features."""
        season = (f"{self.name} (season, sine)", f"{self.name} (season, cosine)") * self.season
        return (self.name,) * (self.scale is not None) + season + (f"{self.name} (missing)",) * self.indicator

    def raw(self, table: Table) -> NDArray[np.float64]:
        """Days since 1970-01-01, NaN where missing."""
        return days(table.cells(self.name), self.order).x

    def encode(self, table: Table) -> tuple[Features, UnseenRows]:
        """Features of every row; anything but a date or a missing value is reported, and counts as missing."""
        return written_out(self.encoded(table))

    def encoded(self, table: Table) -> tuple[Encoded, UnseenRows]:
        """`encode`, with features that are not written out."""
        t, strange = days(table.cells(self.name), self.order)
        return Encoded(len(t), len(self.features), lambda rows: np.column_stack(self._features(t[rows]))), strange

    def _features(self, t: NDArray[np.float64]) -> list[NDArray[Any]]:
        value = [] if self.scale is None else [scaled(t, self.fill, self.mean, self.scale)]
        return [*value, *(_season(t) if self.season else []), *([np.isnan(t)] if self.indicator else [])]

    @classmethod
    def from_dict(cls, record: Any, where: str) -> "DateColumn":
        """The column stored in a record, after checking it."""
        fields = checks.take(
            where, record, name=checks.text, order=_order, fill=checks.finite, mean=checks.finite,
            scale=checks.optional(checks.positive), season=checks.flag, indicator=checks.flag, written=checks.text,
        )  # fmt: skip
        if fields["scale"] is None and not fields["season"] and not fields["indicator"]:
            raise ValueError(f"{where} makes no feature (no scale, season nor indicator).")
        return cls(**fields)


def _season(t: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    absent, phase = np.isnan(t), 2 * np.pi * (t / YEAR)
    return [np.where(absent, 0.0, np.sin(phase)), np.where(absent, 0.0, np.cos(phase))]


def _order(where: str, value: Any) -> str:
    if not isinstance(value, str) or value not in ORDERS:
        raise checks.refusal(where, f"be one of {', '.join(ORDERS)}", value)
    return value


@dataclass(frozen=True)
class Rules:
    """What the user has said.

    Most categories, the decimal mark ("", "." or ","), columns to use in any case, and columns of a kind by hand.
    """

    max_categories: int = 20
    decimal: str = ""
    use: frozenset[str] = frozenset()
    numeric: frozenset[str] = frozenset()
    categorical: frozenset[str] = frozenset()
    dates: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        kinds = ("numeric", "categorical", "dates")
        for first, second in combinations(kinds, 2):
            if twice := getattr(self, first) & getattr(self, second):
                raise ParameterError(
                    "column {!r} cannot be both {} and {}.", min(twice), Parameter(first), Parameter(second)
                )

    def check_columns(self, names: Sequence[str]) -> None:
        """Refuse columns that are named by hand and not in the table."""
        for parameter in BY_HAND:
            if unknown := sorted(getattr(self, parameter) - set(names)):
                raise UnknownColumnError(f"{parameter}: no column {listed(unknown)}; the columns are {listed(names)}.")


BY_HAND = ("use", "numeric", "categorical", "dates")
"""Parameters that name columns."""


class Centre(NamedTuple):
    """Median, then mean and deviation with the median for missing values (None if all are equal); if any is missing."""

    fill: float
    mean: float
    scale: float | None
    indicator: bool

    @property
    def constant(self) -> bool:
        """Whether nothing varies, not even whether there is a value."""
        return self.scale is None and not self.indicator


def centre(x: NDArray[np.float64]) -> Centre:
    """What scaling and imputation need to know of numbers, NaN where missing.

    Examples
    --------
    >>> centre(np.array([1.0, 3.0, np.nan]))
    Centre(fill=2.0, mean=2.0, scale=0.816496580927726, indicator=True)
    """
    absent = np.isnan(x)
    fill = float(np.median(x[~absent]))
    filled = np.where(absent, fill, x)
    deviation = float(filled.std()) if filled.max() > filled.min() else 0.0
    return Centre(fill, float(filled.mean()), deviation or None, bool(absent.any()))
