"""Durations in cells, as seconds."""

import re
from fractions import Fraction

__all__ = ["seconds"]

_CLOCK = re.compile(
    r"\s*([+-]?)(?:([0-9]+) ?d(?:ays?)?,? ?)?([0-9]+):([0-5][0-9])(?::([0-5][0-9](?:[.,][0-9]+)?))?\s*", re.IGNORECASE
)

_PARTS = re.compile(
    r"\s*(?:([0-9]+(?:\.[0-9]+)?) ?(?:days?|d),? ?)?(?:([0-9]+(?:\.[0-9]+)?) ?(?:hours?|hrs?|h),? ?)?"
    r"(?:([0-9]+(?:\.[0-9]+)?) ?(?:minutes?|mins?|m),? ?)?(?:([0-9]+(?:\.[0-9]+)?) ?(?:seconds?|secs?|s))?\s*",
    re.IGNORECASE,
)

_UNITS = (86_400, 3_600, 60, 1)


def seconds(text: str) -> str | None:
    """The seconds of a duration, in digits that lose nothing; None for anything else.

    A clock of two numbers is read as hours and minutes: where they are minutes and seconds, all are 60 times as long,
    which scaling undoes.

    Examples
    --------
    >>> seconds("01:30:00"), seconds("1:30"), seconds("2 days 00:00:01.5"), seconds("1 h 30 min"), seconds("90")
    ('5400', '5400', '172801.5', '5400', None)
    """
    if clock := _CLOCK.fullmatch(text):
        sign = clock[1]
        numbers: tuple[str, ...] = (clock[2], clock[3], clock[4], (clock[5] or "0").replace(",", "."))
    elif (parts := _PARTS.fullmatch(text)) and any(parts.groups()):
        sign, numbers = "", parts.groups()
    else:
        return None
    total = sum(unit * Fraction(number or 0) for unit, number in zip(_UNITS, numbers, strict=True))
    return sign + (str(total) if total.denominator == 1 else repr(float(total)))
