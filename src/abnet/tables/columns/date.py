"""Columns of dates: in which order they are written, and what time and season they stand for."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.tables.cells import is_gap, is_missing, to_text
from abnet.tables.columns.column import Chosen, Column, Encoded, Rules, UnseenRows, kind, rule
from abnet.tables.columns.numeric import (
    MOSTLY,
    centre,
    check_scale,
    commonest,
    far_cells,
    far_notes,
    gap_notes,
    scaled,
)
from abnet.tables.date_shapes import FORMS, read_dates
from abnet.tables.frames import Table
from abnet.tables.notes import Note
from abnet.tables.series import ORDERS, Cells, DateCells, Dates, Days, DistinctCells, days, days_of, unreadable

__all__ = ["DateColumn", "YEAR"]

YEAR = 365.2425
"""Days in the mean Gregorian year: the phase stays within two days of the calendar's."""

FEW = 0.01
"""Share of the rows that may settle the order of day and month without being odd ones."""


BY_TYPE = "dates by their type"
"""How dates are written that a file or frame has as such."""


@kind
class DateColumn(Column, frozen=True, tag="date"):
    """``(t - mean) / scale`` of t, the days since 1970-01-01, and the season: ``sin`` and ``cos`` of ``2 π t / YEAR``.

    A network's first layer sees linear functions of its inputs, and no linear function of t comes back every year. The
    season is left out when the dates of the fit do not span a whole year (`season` is False), for then it says nothing
    that t does not; t is left out when they were all equal (`scale` is None). Missing dates are `fill` (the median) in
    t and the centre of the circle, (0, 0), in the season; `indicator` as in `NumericColumn`. `written` is the way in
    which most dates of the fit were written, in words.
    """

    takes = "date"
    odd = "odd date"
    order: str
    fill: float
    mean: float
    scale: float | None
    season: bool
    indicator: bool
    written: str = ""

    def __post_init__(self) -> None:
        check_scale(self.fill, self.mean, self.scale)
        if self.order not in ORDERS:
            raise ValueError(f"the order of dates must be one of {', '.join(ORDERS)}")
        if not self.features:
            raise ValueError("a column of dates makes no feature (no scale, season nor indicator)")

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the features."""
        season = (f"{self.name} (season, sine)", f"{self.name} (season, cosine)") * self.season
        return (self.name,) * (self.scale is not None) + season + (f"{self.name} (missing)",) * self.indicator

    @property
    def read_as(self) -> str:
        """How cells have to be written: as most were in training."""
        return self.order if self.written == BY_TYPE else self.written or self.order

    def described(self) -> str:
        """The kind in words."""
        return f"{self.kind} ({self.written or self.order})"

    def shown(self, value: float) -> str:
        """The day."""
        return str(np.datetime64(int(np.floor(value)), "D"))

    def raw(self, table: Table) -> NDArray[np.float64]:
        """Days since 1970-01-01, NaN where missing."""
        return days(table.cells(self.name), self.order).x

    def encoded(self, table: Table) -> tuple[Encoded, UnseenRows]:
        """Anything but a date or a missing value is reported, and counts as missing."""
        t, strange = days(table.cells(self.name), self.order)
        n_missing = int(np.count_nonzero(np.isnan(t)))
        width = len(self.features)
        return Encoded(len(t), width, lambda rows: np.column_stack(self._features(t[rows])), n_missing, t), strange

    def _features(self, t: NDArray[np.float64]) -> list[NDArray[Any]]:
        value = [] if self.scale is None else [scaled(t, self.fill, self.mean, self.scale)]
        return [*value, *(_season(t) if self.season else []), *([np.isnan(t)] if self.indicator else [])]


def _season(t: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    absent, phase = np.isnan(t), 2 * np.pi * (t / YEAR)
    return [np.where(absent, 0.0, np.sin(phase)), np.where(absent, 0.0, np.cos(phase))]


@rule(30, "dates")
def _dates(name: str, cells: Cells, rules: Rules) -> Chosen | None:
    """Dates, nine in ten of the values or more, or a type of dates; the other cells count as missing.

    The order is the one in which most rows can be read: a number above 12 can be no month. Where both orders read as
    many, the day comes first. A note says so where no more than one row in a hundred settles it.
    """
    asked = rules.asked(name) == "dates"
    if isinstance(cells, DateCells):
        return _fitted(name, cells, Days(cells.days(), {}), ORDERS[0], BY_TYPE, [])
    if not (asked or isinstance(cells, DistinctCells)) and not (read_dates(cells.sample()).form >= 0).any():
        return None
    dates = cells.dates()
    if dates is None or not (dates.written.form >= 0).any():
        return None
    open_order = dates.rows(dates.written.open_order)
    orders = ORDERS if open_order.any() else ORDERS[:1]
    rows = {order: int(np.isfinite(dates.rows(dates.written.days(order))).sum()) for order in orders}
    order = max(orders, key=lambda candidate: rows[candidate])
    found = days_of(cells, dates, order)
    present = rows[order] + sum(found.strange.values())
    if not rows[order] or rows[order] < (0 if asked else MOSTLY) * present:
        return None
    gaps = unreadable(cells, np.isnan(found.x))
    notes = gap_notes(name, {text: count for text, count in gaps.items() if is_gap(text)})
    settling = rows[order] - min(rows["day/month/year"], rows["month/day/year"]) if len(orders) > 1 else present
    if order != ORDERS[0] and settling <= FEW * present:
        why = f"only {settling} of {present} rows settle the order" if settling else "its values settle neither order"
        example = to_text(cells.cell(int(np.argmax(open_order))))
        notes.append(Note("date order", (name,), example=example, facts={"order": order, "why": why}))
    notes += _written_notes(name, cells, dates, found)
    forms = dates.rows(dates.written.form)[np.isfinite(found.x)]
    return _fitted(name, cells, found, order, _in_words(forms, order), notes)


def _written_notes(name: str, cells: Cells, dates: Dates, found: Days) -> list[Note]:
    """Notes on years of two digits, and on dates without a day."""
    notes, known = [], np.isfinite(found.x)
    short = dates.rows(dates.written.short) & known
    if short.any():
        place = int(short.argmax())
        day = str(np.datetime64(int(np.floor(found.x[place])), "D"))
        notes.append(Note("short years", (name,), example=to_text(cells.cell(place)), facts={"day": day}))
    months = (dates.rows(dates.written.form) == list(FORMS).index("year-month")) & known
    if months.any():
        notes.append(Note("months", (name,), int(months.sum()), to_text(cells.cell(int(months.argmax())))))
    return notes


def _in_words(forms: NDArray[np.int8], order: str) -> str:
    """How the dates are written, but for a few."""
    shares = np.bincount(forms, minlength=len(FORMS)) / len(forms)
    return " or ".join(
        _form_name(name, order) for name, share in zip(FORMS, shares, strict=True) if share >= 1 - MOSTLY
    )


def _form_name(name: str, order: str) -> str:
    if not name.startswith("two numbers"):
        return name
    return f"{order}, year in two digits" if name.endswith("two digits") else order


def _fitted(name: str, cells: Cells, found: Days, order: str, written: str, notes: list[Note]) -> Chosen:
    t, strange = found
    if strange:
        odd = Note("odd date", (name,), sum(strange.values()), commonest(strange), {"form": ""})
        notes = [*notes, odd]
    far = far_cells(t)
    numbers = centre(t, far)
    if numbers.constant:
        first = next(place for place in range(len(cells)) if not is_missing(cells.cell(place)))
        return Chosen(None, (Note("constant", (name,), facts={"value": to_text(cells.cell(first))}),))
    season = bool(np.nanmax(t) - np.nanmin(t) >= YEAR)
    kept = DateColumn(name, order, numbers.fill, numbers.mean, numbers.scale, season, numbers.indicator, written)
    return Chosen(kept, (*notes, *far_notes(name, cells, far)))
