"""Names in the order in which people list them: 2 before 10, whatever surrounds the numbers."""

import re
from collections.abc import Sequence

__all__ = ["natural_order"]


def natural_order(names: Sequence[str]) -> list[int]:
    """The places of the names in natural order: runs of digits count as numbers, and "below 40" precedes "40 to 60".

    A minus before the first number is its sign where it begins the name, or where other names lack it: "c-1" beside
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
    heads = {"", *(re.split("[0-9]", name, maxsplit=1)[0] for name in names)}

    def key(place: int) -> tuple[bool, list[tuple[int, float, str]]]:
        name, below = names[place], []
        signed = re.match(r"([^0-9]*)(-[0-9]+(?:\.[0-9]+)?)", name)
        if signed is not None and signed[1] in heads:
            below = [*([(1, 0.0, signed[1])] if signed[1] else []), (0, float(signed[2]), signed[2])]
            name = name[signed.end() :]
        parts = re.split(r"([0-9]+)", name)
        numbered = [(0, int(part[:18]), part) if part.isdecimal() else (1, 0, part) for part in parts if part]
        return not names[place].startswith("below "), below + numbered

    return sorted(range(len(names)), key=key)
