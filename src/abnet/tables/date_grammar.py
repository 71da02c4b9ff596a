"""The grammar of dates in text. Texts of one shape have their numbers at the same positions: a shape is parsed once.

The shape of a text is the text with 0 for every digit. ``2024-03-01 12:30`` and ``1999-12-31 07:05`` have the same
shape; a million time stamps have only a few shapes.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["FORMS", "MONTHS", "WIDTH", "WrittenDates", "matrix", "read_dates", "read_matrix"]

WIDTH = 40
"""Characters of the longest text that may be a date."""

DAY = 86_400_000_000
"""Microseconds of a day."""

_LAST_SHORT = 68  # a year of two digits up to this is 20.., as in POSIX
_FARTHEST_ZONE = 15  # hours
MONTHS = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)

_TIME = (
    r"(?:(?:T|,? +)(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:[.,](?P<fraction>\d{1,9}))?)?"
    r"(?: ?(?P<half>[AP])\.?M\.?)?"
    r" ?(?:Z|UTC|GMT|(?P<sign>[+-])(?P<zone_hour>\d\d)(?::?(?P<zone_minute>\d\d))?)?)?"
)

FORMS = {
    "year-month-day": r"(?P<year>\d{4})(?P<mark>[-/.])(?P<month>\d{1,2})(?P=mark)(?P<day>\d{1,2})" + _TIME,
    "two numbers, then the year": r"(?P<first>\d{1,2})(?P<mark>[-/.])(?P<other>\d{1,2})(?P=mark)(?P<year>\d{4})"
    + _TIME,
    "day, name of the month, year": r"(?P<day>\d{1,2})[ -](?P<name>[a-z]{3,9})\.?,?[ -](?P<year>\d{4})" + _TIME,
    "name of the month, day, year": r"(?P<name>[a-z]{3,9})\.? (?P<day>\d{1,2}),? (?P<year>\d{4})" + _TIME,
    "two numbers, then the year in two digits": r"(?P<first>\d{1,2})(?P<mark>[/.])(?P<other>\d{1,2})(?P=mark)"
    r"(?P<short>\d\d)" + _TIME,
    "day, name of the month, year in two digits": r"(?P<day>\d{1,2})[ -](?P<name>[a-z]{3,9})[ -](?P<short>\d\d)"
    + _TIME,
    "year-month": r"(?P<year>\d{4})[-/](?P<month>\d\d)",
    "month/year": r"(?P<month>\d{1,2})/(?P<year>\d{4})",
    "name of the month, year": r"(?P<name>[a-z]{3,9})\.?,?[ -](?P<year>\d{4})",
}
"""Ways to write a date, each with its pattern."""

_PATTERNS = [re.compile(pattern, re.ASCII | re.IGNORECASE) for pattern in FORMS.values()]


class WrittenDates(NamedTuple):
    """Dates as they are written: a year, and month and day, or two numbers in an unknown order.

    Attributes
    ----------
    year : int array (n,)
    first, second : int array (n,)
        Month and day, or two numbers in an unknown order (`open_order`).
    microseconds : int array (n,)
        Time since midnight UTC.
    form : int array (n,)
        Place in `FORMS`, -1 if there is no date.
    """

    year: NDArray[np.int64]
    first: NDArray[np.int64]
    second: NDArray[np.int64]
    microseconds: NDArray[np.int64]
    form: NDArray[np.int8]

    @property
    def open_order(self) -> NDArray[np.bool_]:
        """Which are dates with two numbers in an unknown order; for the others, `first` is the month."""
        return _holds_of_form(lambda name: name.startswith("two numbers"))[self.form]

    @property
    def short(self) -> NDArray[np.bool_]:
        """Which have a year of two digits."""
        return _holds_of_form(lambda name: name.endswith("two digits"))[self.form]

    def days(self, order: str) -> NDArray[np.float64]:
        """Days since 1970-01-01, NaN if there is no such day, or if the order is needed and not given.

        Examples
        --------
        >>> [float(read_dates(["13/2/1970"]).days(order)[0]) for order in ("year-month-day", "day/month/year")]
        [nan, 43.0]
        """
        open_order = self.open_order
        day_first = open_order & (order == "day/month/year")
        month = np.where(day_first, self.second, self.first)
        day = np.where(day_first, self.first, self.second)
        known = (self.form >= 0) & _exists(self.year, month, day)
        if order == "year-month-day":
            known &= ~open_order
        whole = _day_number(np.where(known, self.year, 1970), np.where(known, month, 1), np.where(known, day, 1))
        return np.where(known, in_days(whole * DAY + self.microseconds), np.nan)


def _holds_of_form(holds: Callable[[str], bool]) -> NDArray[np.bool_]:
    """Whether a condition holds of each form's name; False for the last place, -1, which stands for no date."""
    return np.array([*map(holds, FORMS), False])


def in_days(microseconds: NDArray[np.int64]) -> NDArray[np.float64]:
    """Days of microseconds, rounded once."""
    days = microseconds / DAY
    # Large numbers are not exact as floats. Python divides whole numbers and rounds once.
    large = np.flatnonzero(np.abs(microseconds) > 2**53)
    days[large] = [value / DAY for value in microseconds[large].tolist()]
    return days


def _exists(year: NDArray[np.int64], month: NDArray[np.int64], day: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether there are such days."""
    leap_year = (year % 4 == 0) & ((year % 100 != 0) | (year % 400 == 0))
    month_lengths = np.array([0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31])
    last_day = month_lengths[np.where(month <= 12, month, 0)] + (leap_year & (month == 2))
    return (year >= 1) & (day >= 1) & (day <= last_day)


def _day_number(year: NDArray[np.int64], month: NDArray[np.int64], day: NDArray[np.int64]) -> NDArray[np.int64]:
    """Days since 1970-01-01. Years begin in March, so that the leap day comes last."""
    year = year - (month <= 2)
    day_of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    leap_days = year // 4 - year // 100 + year // 400
    return 365 * year + leap_days + day_of_year - 719_468


def read_dates(texts: list[str]) -> WrittenDates:
    """The dates in texts: ISO 8601, numbers with the year last, or an English month; a time may follow.

    A time with a zone is converted to UTC, one without is left as it is. Numbers such as ``2024`` or ``20240301`` are
    no dates. Years of two digits are those from 1969 to 2068.

    Examples
    --------
    >>> read_dates(["2024-03-01T12:00Z", "1 March 2024", "2024-02-30", "soon"]).days("year-month-day").tolist()
    [19783.5, 19783.0, nan, nan]
    """
    return read_matrix(matrix(texts))


def matrix(texts: list[str]) -> NDArray[np.uint8]:
    """Texts as rows of bytes, padded with zeros; all zeros for texts that cannot be dates."""
    width = min(max(map(len, texts), default=0), WIDTH)
    rows = []
    for text in texts:
        may_be_date = len(text) <= width and text.isascii()
        row = ""
        if may_be_date:
            row = text
        rows.append(row.ljust(width, "\0"))
    return np.frombuffer("".join(rows).encode(), np.uint8).reshape(len(texts), width)


def read_matrix(rows: NDArray[np.uint8]) -> WrittenDates:
    """The dates in rows of bytes; see `matrix`."""
    n = len(rows)
    year, first, second, microseconds = np.zeros((4, n), np.int64)
    found = WrittenDates(year, first, second, microseconds, np.full(n, -1, np.int8))
    digits = (rows >= ord("0")) & (rows <= ord("9"))
    shapes = np.where(digits, np.uint8(ord("0")), rows)
    for positions in _same_shape(shapes, np.flatnonzero(digits.sum(1) >= 3)):
        layout = _layout(bytes(shapes[positions[0]]).rstrip(b"\0"))
        if layout is not None:
            _fill(found, positions, _Fields(rows[positions], layout))
    return found


_COMPARED_SHAPES = 64
"""Shapes found by comparing all rows with the first one; if there are more, the rows are sorted."""


def _same_shape(shapes: NDArray[np.uint8], rows: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    """Groups of rows with equal shapes."""
    groups: list[NDArray[np.intp]] = []
    while len(rows) and len(groups) < _COMPARED_SHAPES:
        same = (shapes[rows] == shapes[rows[0]]).all(1)
        groups.append(rows[same])
        rows = rows[~same]
    if len(rows):
        _, codes = np.unique(shapes[rows].view(f"V{shapes.shape[1]}").ravel(), return_inverse=True)
        order = np.argsort(codes, kind="stable")
        ends = np.flatnonzero(np.diff(codes[order])) + 1
        groups += [rows[part] for part in np.split(order, ends)]
    return groups


class _Layout(NamedTuple):
    """Where the numbers of a shape stand, and what its letters say.

    Attributes
    ----------
    form : int
        Place in `FORMS`.
    spans : dict
        First and last column of each number, by its name in the pattern.
    month : int or None
        The month, if it is written by its name.
    half : str
        A or P, of a time with twelve hours; otherwise empty.
    west : bool
        Whether the time zone is behind UTC.
    """

    form: int
    spans: dict[str, tuple[int, int]]
    month: int | None
    half: str
    west: bool


@lru_cache(4096)
def _layout(shape: bytes) -> _Layout | None:
    text = shape.decode("ascii")
    for form, pattern in enumerate(_PATTERNS):
        match = pattern.fullmatch(text)
        if match is None:
            continue
        parts: dict[str, Any] = match.groupdict()
        month = None
        if parts.get("name"):
            month = _month(parts["name"])
            if month is None:
                return None
        spans = {name: match.span(name) for name, part in parts.items() if part and part.strip("0") == ""}
        return _Layout(
            form=form,
            spans=spans,
            month=month,
            half=(parts.get("half") or "").upper(),
            west=parts.get("sign") == "-",
        )
    return None


def _month(name: str) -> int | None:
    """The number of a month's English name, or of its beginning."""
    for number, month in enumerate(MONTHS, 1):
        if month.startswith(name.lower()):
            return number
    return None


@dataclass(frozen=True)
class _Fields:
    """Rows of one shape, from which numbers are read by name."""

    rows: NDArray[np.uint8]
    layout: _Layout

    def __contains__(self, name: str) -> bool:
        return name in self.layout.spans

    def n_digits(self, name: str) -> int:
        """Number of digits."""
        start, end = self.layout.spans.get(name, (0, 0))
        return end - start

    def number(self, name: str, default: int = 0) -> NDArray[np.int64]:
        """The number of every row; `default` if the shape does not have it."""
        if name not in self:
            return np.full(len(self.rows), default)
        start, end = self.layout.spans[name]
        powers = 10 ** np.arange(end - start, dtype=np.int64)[::-1]
        return (self.rows[:, start:end].astype(np.int64) - ord("0")) @ powers


def _fill(found: WrittenDates, positions: NDArray[np.intp], fields: _Fields) -> None:
    """Write the dates of rows that have one shape."""
    if "year" in fields:
        year = fields.number("year")
    else:
        short = fields.number("short")
        year = short + np.where(short <= _LAST_SHORT, 2000, 1900)
    if "first" in fields:
        first = fields.number("first")
        second = fields.number("other")
    else:
        first = fields.number("month", default=fields.layout.month or 0)
        second = fields.number("day", default=1)
    clock, valid = _clock(fields)
    found.year[positions] = year
    found.first[positions] = first
    found.second[positions] = second
    found.microseconds[positions] = clock
    found.form[positions] = np.where(valid, fields.layout.form, -1)


def _clock(fields: _Fields) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Microseconds since midnight UTC, and whether there is such a time."""
    hour = fields.number("hour")
    minute = fields.number("minute")
    second = fields.number("second")
    valid = (hour <= 23) & (minute <= 59) & (second <= 59)
    if fields.layout.half:
        valid &= (hour >= 1) & (hour <= 12)
        hour = hour % 12 + 12 * (fields.layout.half == "P")
    zone_hour = fields.number("zone_hour")
    zone_minute = fields.number("zone_minute")
    valid &= (zone_hour <= _FARTHEST_ZONE) & (zone_minute <= 59)
    zone = 60 * zone_hour + zone_minute
    if fields.layout.west:
        zone = -zone
    fraction = fields.number("fraction") * 10**6 // 10 ** fields.n_digits("fraction")
    seconds = (hour * 60 + minute - zone) * 60 + second
    return seconds * 1_000_000 + fraction, valid
