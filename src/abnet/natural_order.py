"""Names in the order in which people list them: 2 before 10, whatever surrounds the numbers."""

import re
from collections.abc import Sequence

__all__ = ["natural_order"]


def natural_order(names: Sequence[str]) -> list[int]:
    """The places of the names in natural order: runs of digits count as numbers, and "below 40" precedes "40 to 60".

    Examples
    --------
    >>> natural_order(["c10", "c2", "b", "1.5"])
    [3, 2, 1, 0]
    >>> natural_order(["40 to 60", "60 or above", "below 40"])
    [2, 0, 1]
    """

    def key(place: int) -> tuple[bool, list[tuple[int, int, str]]]:
        parts = re.split(r"([0-9]+)", names[place])
        numbered = [(0, int(part[:18]), part) if part.isdecimal() else (1, 0, part) for part in parts if part]
        return not names[place].startswith("below "), numbered

    return sorted(range(len(names)), key=key)
