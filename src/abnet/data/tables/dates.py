"""Dates in cells, as text or as values of a type of their own, and as days since 1970-01-01."""

import re
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from abnet.data.tables.cells import distinct, is_missing, to_text

__all__ = ["ORDERS", "Days", "WrittenDate", "days", "is_date_type", "read_date", "readable", "written"]

ORDERS = ("year-month-day", "day/month/year", "month/day/year")
"""What the numbers of a date stand for; a year of four digits that comes first, or a month's name, needs no order."""

_EPOCH = date(1970, 1, 1).toordinal()
_DAY = 86_400_000_000  # microseconds
_MONTHS = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
           "november", "december")  # fmt: skip

_TIME = (
    r"(?:(?:T|,? +)(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:[.,](?P<fraction>\d{1,9}))?)?"
    r"(?: ?(?P<half>[AP])\.?M\.?)? ?(?P<zone>Z|UTC|GMT|[+-]\d\d(?::?\d\d)?)?)?"
)
_FORMS = [
    re.compile(form + _TIME, re.ASCII | re.IGNORECASE)
    for form in (
        r"(?P<year>\d{4})(?P<mark>[-/.])(?P<month>\d{1,2})(?P=mark)(?P<day>\d{1,2})",
        r"(?P<first>\d{1,2})(?P<mark>[-/.])(?P<other>\d{1,2})(?P=mark)(?P<year>\d{4})",
        r"(?P<day>\d{1,2})[ -](?P<name>[a-z]{3,9})\.?,?[ -](?P<year>\d{4})",
        r"(?P<name>[a-z]{3,9})\.? (?P<day>\d{1,2}),? (?P<year>\d{4})",
    )
]


class WrittenDate(NamedTuple):
    """A date as it is written: year, then month and day, or two numbers whose order is not `settled`."""

    year: int
    month: int
    day: int
    settled: bool
    microseconds: int = 0

    def days(self, order: str) -> float | None:
        """Days since 1970-01-01, None if there is no such day or the order is needed and unknown.

        Examples
        --------
        >>> [WrittenDate(1970, 2, 13, settled=False).days(order) for order in ORDERS]
        [None, None, 43.0]
        """
        if not self.settled and order == "year-month-day":
            return None
        swapped = not self.settled and order == "day/month/year"
        month, day = (self.day, self.month) if swapped else (self.month, self.day)
        try:
            whole = date(self.year, month, day).toordinal() - _EPOCH
        except ValueError:
            return None
        return (whole * _DAY + self.microseconds) / _DAY  # one rounding, as for dates that have a type


def read_date(text: str) -> WrittenDate | None:
    """The date in a text: ISO 8601, numbers with a year of four digits, or an English month; a time may follow.

    A time with a zone is taken to UTC, one without is left as it is. Numbers such as ``2024`` or ``20240301``, and
    years of two digits, are no dates.

    Examples
    --------
    >>> read_date("2024-03-01T12:00Z")
    WrittenDate(year=2024, month=3, day=1, settled=True, microseconds=43200000000)
    >>> read_date("1 March 2024") == read_date("Mar 1, 2024") == read_date("2024/3/1")
    True
    >>> read_date("01/03/2024").settled, read_date("20240301"), read_date("1/3/24")
    (False, None, None)
    """
    match = next((found for form in _FORMS if (found := form.fullmatch(text))), None)
    if match is None:
        return None
    part = match.groupdict()
    clock, year = _microseconds(part) if part["hour"] else 0, int(part["year"])
    if clock is None:
        return None
    if "first" in part:
        return WrittenDate(year, int(part["first"]), int(part["other"]), settled=False, microseconds=clock)
    month = _month(part["name"]) if "name" in part else int(part["month"])
    return None if month is None else WrittenDate(year, month, int(part["day"]), settled=True, microseconds=clock)


def _month(name: str) -> int | None:
    """The number of a month's English name, or of its beginning."""
    known = [number for number, month in enumerate(_MONTHS, 1) if month.startswith(name.lower())]
    return known[0] if known else 9 if name.lower() == "sept" else None


def _microseconds(part: dict[str, str | None]) -> int | None:
    """Time since midnight UTC, None where there is no such time."""
    hour, minute, second = (int(part[name] or 0) for name in ("hour", "minute", "second"))
    if part["half"]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + 12 * (part["half"] in "pP")
    if hour > 23 or minute > 59 or second > 59:
        return None
    fraction = int((part["fraction"] or "0")[:6].ljust(6, "0"))
    return ((hour * 60 + minute - _offset(part["zone"] or "")) * 60 + second) * 1_000_000 + fraction


def _offset(zone: str) -> int:
    """Minutes by which a zone is ahead of UTC.

    Examples
    --------
    >>> _offset("+05:30"), _offset("-08"), _offset("Z")
    (330, -480, 0)
    """
    digits = "".join(filter(str.isdigit, zone)).ljust(4, "0")
    return (-1 if zone.startswith("-") else 1) * (60 * int(digits[:2]) + int(digits[2:]))


def written(value: Any) -> WrittenDate | None:
    """The date in a cell of any type, None for anything else."""
    if isinstance(value, str):
        return read_date(value.strip())
    if isinstance(value, datetime):
        clock = datetime.combine(date.min, value.time()) - datetime.min - (value.utcoffset() or timedelta())
        return WrittenDate(value.year, value.month, value.day, True, clock // timedelta(microseconds=1))
    return WrittenDate(value.year, value.month, value.day, True) if isinstance(value, date) else None


def is_date_type(column: pd.Series) -> bool:
    """Whether the type of a column says that it holds dates; Arrow's types are read cell by cell instead."""
    return isinstance(column.dtype, (np.dtype, pd.DatetimeTZDtype)) and column.dtype.kind == "M"


class Days(NamedTuple):
    """Days since 1970-01-01 of every row, NaN where there is no date, and the rows of what is neither date nor gap."""

    x: NDArray[np.float64]
    strange: dict[str, int]


def days(column: pd.Series, order: str) -> Days:
    """A column as days since 1970-01-01, with a fraction for the time of the day.

    Examples
    --------
    >>> days(pd.Series(["1970-01-02", "1970-01-01 06:00", "soon", ""]), "year-month-day")
    Days(x=array([1.  , 0.25,  nan,  nan]), strange={'soon': 1})
    """
    if is_date_type(column):
        return Days(_typed_days(column), {})
    codes, values = distinct(column)
    found = [cell.days(order) if (cell := written(value)) else None for value in values]
    counts = np.bincount(codes, minlength=len(values)).tolist()
    strange: dict[str, int] = {}
    for value, day, count in zip(values, found, counts, strict=True):
        if day is None and count and not is_missing(value):
            strange[to_text(value)] = strange.get(to_text(value), 0) + count
    return Days(np.array([np.nan if day is None else day for day in found])[codes], strange)


def _typed_days(column: pd.Series) -> NDArray[np.float64]:
    """Days of a column whose type is a date; times with a zone are in UTC."""
    stamps = column.to_numpy("datetime64[us]")
    return np.where(np.isnat(stamps), np.nan, stamps.astype(np.int64) / _DAY)


def readable(cells: Sequence[WrittenDate | None], counts: Sequence[int], order: str) -> int:
    """Rows whose cell is a date if its numbers come in that order."""
    pairs = zip(cells, counts, strict=True)
    return sum(count for cell, count in pairs if cell is not None and cell.days(order) is not None)
