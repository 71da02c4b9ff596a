"""Names in the order in which people list them: 2 before 10, whatever surrounds the numbers."""

import re
from collections.abc import Sequence

__all__ = ["natural_order"]


def natural_order(names: Sequence[str]) -> list[int]:
    """The places of names in natural order: runs of digits count as numbers.

    Names that do not come in alphabetical order have an order of their own, such as "low", "medium", "high": it is
    kept.

    Examples
    --------
    >>> natural_order(["1.5", "b", "c10", "c2"]), natural_order(["low", "medium", "high"])
    ([0, 1, 3, 2], [0, 1, 2])
    """
    if list(names) != sorted(names):
        return list(range(len(names)))

    def key(place: int) -> list[tuple[int, int, str]]:
        parts = re.split(r"([0-9]+)", names[place])
        return [(0, int(part[:18]), part) if part.isdecimal() else (1, 0, part) for part in parts if part]

    return sorted(range(len(names)), key=key)
