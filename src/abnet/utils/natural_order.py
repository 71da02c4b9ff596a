"""Names in the order in which people list them: 2 before 10, whatever surrounds the numbers."""

import re
from collections.abc import Collection, Sequence

__all__ = ["natural_order"]

_SIGNED = re.compile(r"([^0-9]*)(-[0-9]+(?:\.[0-9]+)?)")
"""A name up to its first number, if a minus precedes the number."""

_MOST_DIGITS = 18
"""Numbers are compared by this many leading digits; later digits are compared as text."""

_NUMBER = 0
_TEXT = 1
"""Numbers come before text."""

Part = tuple[int, float, str]
"""A part of a name as a key: `_NUMBER` with its value, or `_TEXT` with 0, and the part itself."""


def natural_order(names: Sequence[str]) -> list[int]:
    """The places of the names in natural order: runs of digits count as numbers, and "below 40" precedes "40 to 60".

    A minus before the first number is its sign if the name begins with it, or if other names lack it: "c-1" beside
    "c1", but not "a-1" beside "a-2".

    Examples
    --------
    >>> natural_order(["c10", "c2", "b", "1.5"])
    [3, 2, 1, 0]
    >>> natural_order(["40 to 60", "60 or above", "below 40"])
    [2, 0, 1]
    >>> natural_order(["c1.0", "c-1.0", "c-2.0"]), natural_order(["a-2", "a-1"])
    ([2, 1, 0], [1, 0])
    """
    beginnings = {_before_first_digit(name) for name in names}
    beginnings.add("")

    def key(place: int) -> tuple[bool, list[Part]]:
        name = names[place]
        return not name.startswith("below "), _parts(name, beginnings)

    return sorted(range(len(names)), key=key)


def _before_first_digit(name: str) -> str:
    return re.split("[0-9]", name, maxsplit=1)[0]


def _parts(name: str, beginnings: Collection[str]) -> list[Part]:
    """A name as numbers and text; `beginnings` are what precedes the first digit of the names."""
    parts: list[Part] = []
    signed = _SIGNED.match(name)
    if signed is not None and signed[1] in beginnings:
        before, number = signed.groups()
        if before:
            parts.append((_TEXT, 0.0, before))
        parts.append((_NUMBER, float(number), number))
        name = name[signed.end() :]
    for part in re.split("([0-9]+)", name):
        if part.isdecimal():
            parts.append((_NUMBER, int(part[:_MOST_DIGITS]), part))
        elif part:
            parts.append((_TEXT, 0.0, part))
    return parts
