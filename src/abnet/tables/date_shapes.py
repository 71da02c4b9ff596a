"""The grammar of dates in text. Texts of one shape have their numbers at the same positions: a shape is parsed once.

The shape of a text is the text with 0 for every digit. ``2024-03-01 12:30`` and ``1999-12-31 07:05`` have the same
shape; a million time stamps have only a few shapes.
"""

import re
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["FORMS", "MONTHS", "WIDTH", "WrittenDates", "matrix", "read_dates", "read_matrix"]

WIDTH = 40
"""Characters of the longest text that may be a date."""

DAY = 86_400_000_000
"""Microseconds of a day."""

_LAST_SHORT = 68  # a year of two digits up to this is 20.., as POSIX has it
_FARTHEST_ZONE = 15  # hours
MONTHS = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
           "november", "december")  # fmt: skip

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
    """Dates as they are written: a year, then month and day, or two numbers whose order is not `settled`.

    `form` is the place in `FORMS`, -1 where there is no date; `microseconds` is the time since midnight UTC.
    """

    year: NDArray[np.int64]
    first: NDArray[np.int64]
    second: NDArray[np.int64]
    microseconds: NDArray[np.int64]
    form: NDArray[np.int8]

    @property
    def settled(self) -> NDArray[np.bool_]:
        """Where no order is needed: `first` is the month."""
        return np.array([not name.startswith("two numbers") for name in [*FORMS, ""]])[self.form]

    @property
    def open_order(self) -> NDArray[np.bool_]:
        """Where there is a date whose order is open."""
        return (self.form >= 0) & ~self.settled

    @property
    def short(self) -> NDArray[np.bool_]:
        """Where the year has two digits."""
        return np.array([name.endswith("two digits") for name in [*FORMS, ""]])[self.form]

    def days(self, order: str) -> NDArray[np.float64]:
        """Days since 1970-01-01, NaN where there is no such day, or where the order is needed and unknown.

        Examples
        --------
        >>> [float(read_dates(["13/2/1970"]).days(order)[0]) for order in ("year-month-day", "day/month/year")]
        [nan, 43.0]
        """
        settled = self.settled
        swapped = ~settled & (order == "day/month/year")
        month, day = np.where(swapped, self.second, self.first), np.where(swapped, self.first, self.second)
        known = (self.form >= 0) & (settled | (order != "year-month-day")) & _exists(self.year, month, day)
        whole = _day_number(np.where(known, self.year, 1970), np.where(known, month, 1), np.where(known, day, 1))
        return np.where(known, in_days(whole * DAY + self.microseconds), np.nan)


def in_days(microseconds: NDArray[np.int64]) -> NDArray[np.float64]:
    """Days of microseconds, rounded once."""
    days = microseconds / DAY
    large = np.flatnonzero(np.abs(microseconds) > 2**53)  # not exact as floats: Python divides whole numbers exactly
    days[large] = [value / DAY for value in microseconds[large].tolist()]
    return days


def _exists(year: NDArray[np.int64], month: NDArray[np.int64], day: NDArray[np.int64]) -> NDArray[np.bool_]:
    leap = (year % 4 == 0) & ((year % 100 != 0) | (year % 400 == 0))
    length = np.array([0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31])[np.where(month <= 12, month, 0)]
    return (year >= 1) & (day >= 1) & (day <= length + (leap & (month == 2)))


def _day_number(year: NDArray[np.int64], month: NDArray[np.int64], day: NDArray[np.int64]) -> NDArray[np.int64]:
    """Days since 1970-01-01: years begin in March, so that the leap day comes last, and 400 years repeat."""
    year = year - (month <= 2)
    of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    return 365 * year + year // 4 - year // 100 + year // 400 + of_year - 719_468


def read_dates(texts: list[str]) -> WrittenDates:
    """The dates in texts: ISO 8601, numbers with the year last, or an English month; a time may follow.

    A time with a zone is taken to UTC, one without is left as it is. Numbers such as ``2024`` or ``20240301`` are no
    dates; years of two digits are those from 1969 to 2068.

    Examples
    --------
    >>> read_dates(["2024-03-01T12:00Z", "1 March 2024", "2024-02-30", "soon"]).days("year-month-day").tolist()
    [19783.5, 19783.0, nan, nan]
    """
    return read_matrix(matrix(texts))


def matrix(texts: list[str]) -> NDArray[np.uint8]:
    """Texts as rows of bytes, filled up with zeros; all zeros for those that cannot be dates."""
    width = min(max(map(len, texts), default=0), WIDTH)
    empty = "\0" * width
    rows = [text.ljust(width, "\0") if len(text) <= width and text.isascii() else empty for text in texts]
    return np.frombuffer("".join(rows).encode(), np.uint8).reshape(len(texts), width)


def read_matrix(rows: NDArray[np.uint8]) -> WrittenDates:
    """The dates in rows of bytes; see `matrix`."""
    n = len(rows)
    year, first, second, microseconds = np.zeros((4, n), np.int64)
    found = WrittenDates(year, first, second, microseconds, np.full(n, -1, np.int8))
    digits = (rows >= ord("0")) & (rows <= ord("9"))
    shapes = np.where(digits, np.uint8(ord("0")), rows)
    for positions in _same_shape(shapes, np.flatnonzero(digits.sum(1) >= 3)):
        places = _places(bytes(shapes[positions[0]]).rstrip(b"\0"))
        if places is not None:
            _fill(found, positions, rows[positions], places)
    return found


_PEELED = 64


def _same_shape(shapes: NDArray[np.uint8], left: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    """Groups of equal rows; there are usually few, so the rows equal to the first are removed repeatedly."""
    groups: list[NDArray[np.intp]] = []
    while len(left) and len(groups) < _PEELED:
        same = (shapes[left] == shapes[left[0]]).all(1)
        groups.append(left[same])
        left = left[~same]
    if len(left):
        _, codes = np.unique(shapes[left].view(f"V{shapes.shape[1]}").ravel(), return_inverse=True)
        order = np.argsort(codes, kind="stable")
        groups += [left[part] for part in np.split(order, np.flatnonzero(np.diff(codes[order])) + 1)]
    return groups


class _Places(NamedTuple):
    """Where the numbers of a shape stand, and what its letters say."""

    form: int
    spans: dict[str, tuple[int, int]]
    month: int | None
    half: str
    west: bool


@lru_cache(4096)
def _places(shape: bytes) -> _Places | None:
    text = shape.decode("ascii")
    for form, pattern in enumerate(_PATTERNS):
        if match := pattern.fullmatch(text):
            part: dict[str, Any] = match.groupdict()
            month = _month(part["name"]) if part.get("name") else None
            if part.get("name") and month is None:
                return None
            spans = {name: match.span(name) for name, value in part.items() if value and value.strip("0") == ""}
            return _Places(form, spans, month, (part.get("half") or "").upper(), part.get("sign") == "-")
    return None


def _month(name: str) -> int | None:
    """The number of a month's English name, or of its beginning."""
    known = [number for number, month in enumerate(MONTHS, 1) if month.startswith(name.lower())]
    return known[0] if known else 9 if name.lower() == "sept" else None


def _fill(found: WrittenDates, positions: NDArray[np.intp], rows: NDArray[np.uint8], places: _Places) -> None:
    """Write the dates of rows that have one shape."""

    def number(name: str, absent: int = 0) -> NDArray[np.int64]:
        start, end = places.spans.get(name, (0, 0))
        tens = 10 ** np.arange(end - start, dtype=np.int64)[::-1]
        return (rows[:, start:end].astype(np.int64) - ord("0")) @ tens if end else np.full(len(rows), absent)

    short = number("short")
    year = number("year") if "year" in places.spans else short + np.where(short <= _LAST_SHORT, 2000, 1900)
    month = np.full(len(rows), places.month) if places.month else number("month")
    clock, valid = _clock(number, places)
    found.year[positions] = year
    found.first[positions] = number("first") if "first" in places.spans else month
    found.second[positions] = number("other") if "other" in places.spans else number("day", 1)
    found.microseconds[positions] = clock
    found.form[positions] = np.where(valid, places.form, -1)


def _clock(number: Any, places: _Places) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Microseconds since midnight UTC, and whether there is such a time."""
    hour, minute, second = number("hour"), number("minute"), number("second")
    valid = (hour <= 23) & (minute <= 59) & (second <= 59)
    if places.half:
        valid &= (hour >= 1) & (hour <= 12)
        hour = hour % 12 + 12 * (places.half == "P")
    ahead, minutes = number("zone_hour"), number("zone_minute")
    valid &= (ahead <= _FARTHEST_ZONE) & (minutes <= 59)
    zone = (60 * ahead + minutes) * (-1 if places.west else 1)
    start, end = places.spans.get("fraction", (0, 0))
    fraction = number("fraction") * 10**6 // 10 ** (end - start)
    return ((hour * 60 + minute - zone) * 60 + second) * 1_000_000 + fraction, valid
