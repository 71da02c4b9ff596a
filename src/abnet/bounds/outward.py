"""Rounding outward: a certificate may be a hair too large, never a hair too small."""

import struct
from collections.abc import Callable

__all__ = ["OUTWARD", "adjacent_floats", "round_up"]

#: Four units in the last place: more than the few roundings of the formulas in this room can lose.
OUTWARD = 1.0 + 2.0**-50


def round_up(value: float) -> float:
    """Enlarge a non-negative number by more than the rounding errors of a short formula.

    Examples
    --------
    >>> round_up(1.0) > 1.0
    True
    """
    return value * OUTWARD


def adjacent_floats(holds: Callable[[float], bool], low: float, high: float) -> tuple[float, float]:
    """Find two neighbouring floats between which ``holds`` turns from false to true.

    Non-negative doubles are ordered like their bit patterns, so halving the patterns ends at neighbours after at most
    62 steps at any magnitude, denormal numbers included. ``holds`` was evaluated and false at the first of the returned
    pair, evaluated and true at the second, unless they are the given ends.

    Parameters
    ----------
    holds : callable
        A condition that is false at ``low`` and true at ``high``.
    low, high : float
        Non-negative ends, ``low < high``.

    Examples
    --------
    >>> adjacent_floats(lambda x: x * x >= 2.0, 1.0, 2.0)
    (1.414213562373095, 1.4142135623730951)
    """
    below, above = _pattern(low), _pattern(high)
    while above - below > 1:
        middle = (below + above) // 2
        if holds(_number(middle)):
            above = middle
        else:
            below = middle
    return _number(below), _number(above)


def _pattern(number: float) -> int:
    return int(struct.unpack("<q", struct.pack("<d", number))[0])


def _number(pattern: int) -> float:
    return float(struct.unpack("<d", struct.pack("<q", pattern))[0])
