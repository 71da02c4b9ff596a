"""Durations in text, such as ``01:30:00``, ``2 days 3 h`` or ``PT1H30M``, in seconds."""

import re
from fractions import Fraction

__all__ = ["DURATIONS", "seconds"]

_CLOCK = re.compile(
    r"\s*([+-]?)(?:([0-9]+) ?d(?:ays?)?,? ?)?([0-9]+):([0-5][0-9])(?::([0-5][0-9](?:[.,][0-9]+)?))?\s*", re.IGNORECASE
)
"""Sign, days, hours, minutes, seconds."""

_UNITS = re.compile(
    r"\s*P?(?:([0-9]+(?:\.[0-9]+)?) ?(?:days?|d),? ?)?T?(?:([0-9]+(?:\.[0-9]+)?) ?(?:hours?|hrs?|h),? ?)?"
    r"(?:([0-9]+(?:\.[0-9]+)?) ?(?:minutes?|mins?|m),? ?)?(?:([0-9]+(?:\.[0-9]+)?) ?(?:seconds?|secs?|s))?\s*",
    re.IGNORECASE,
)
"""Days, hours, minutes, seconds."""

DURATIONS = (_CLOCK.pattern, _UNITS.pattern)
"""Patterns of durations, in letters of any case: a clock, and numbers with units."""

_SECONDS = (86_400, 3_600, 60, 1)
"""Of a day, an hour, a minute and a second."""


def seconds(text: str) -> str | None:
    """The seconds of a duration as exact decimal digits; None for anything else.

    Two numbers such as ``1:30`` are read as hours and minutes. If they are minutes and seconds, all values are 60 times
    too large, which scaling undoes.

    Examples
    --------
    >>> seconds("01:30:00"), seconds("1:30"), seconds("2 days 00:00:01.5"), seconds("1 h 30 min"), seconds("90")
    ('5400', '5400', '172801.5', '5400', None)
    >>> seconds("PT1H30M"), seconds("P2DT0.5S"), seconds("P")
    ('5400', '172800.5', None)
    """
    clock = _CLOCK.fullmatch(text)
    if clock is not None:
        sign, days, hours, minutes, rest = clock.groups()
        return sign + _total(days, hours, minutes, (rest or "0").replace(",", "."))
    units = _UNITS.fullmatch(text)
    if units is not None and any(units.groups()):
        return _total(*units.groups())
    return None


def _total(*numbers: str | None) -> str:
    """The seconds of days, hours, minutes and seconds, in digits."""
    total = sum(unit * Fraction(number or 0) for unit, number in zip(_SECONDS, numbers, strict=True))
    if total.denominator == 1:
        return str(total)
    return repr(float(total))
