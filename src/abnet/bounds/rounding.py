"""Outward rounding: sums, bisection and factors whose rounding errors never make a bound too small."""

import math
import struct
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

__all__ = ["OUTWARD", "adjacent_floats", "exact_sum", "round_up"]

#: Four units in the last place, more than the rounding errors of the short formulas in this package.
OUTWARD = 1.0 + 2.0**-50


def round_up(value: float) -> float:
    """Enlarge a non-negative number by more than the rounding errors of a short formula.

    Examples
    --------
    >>> round_up(1.0) > 1.0
    True
    """
    return value * OUTWARD


def exact_sum(values: NDArray[np.float64]) -> float:
    """Correctly rounded sum of numbers in [0, 1], which does not depend on their order.

    The result is that of `math.fsum`, in fewer steps: each number is cut into pieces of 30 bits, whose sums are
    integers that a float represents exactly. The remainders of numbers below 2^-37 are summed one by one.

    Examples
    --------
    >>> exact_sum(np.array([0.1] * 10)), sum([0.1] * 10)
    (1.0, 0.9999999999999999)
    """
    pieces: list[float] = []
    for start in range(0, len(values), _TOGETHER):
        rest = values[start : start + _TOGETHER]
        unit = 1.0
        for _ in range(3):
            rest = rest * 2.0**30
            unit *= 2.0**-30
            whole = np.floor(rest)
            rest = rest - whole
            pieces.append(float(whole.sum()) * unit)
        pieces.extend((rest[rest > 0.0] * unit).tolist())
    return math.fsum(pieces)


# This many integers below 2^30 have a sum below 2^53.
_TOGETHER = 2**22


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
    below = _pattern(low)
    above = _pattern(high)
    while above - below > 1:
        middle = (below + above) // 2
        if holds(_number(middle)):
            above = middle
        else:
            below = middle
    return _number(below), _number(above)


def _pattern(number: float) -> int:
    """The bits of a float, as an integer."""
    return int(struct.unpack("<q", struct.pack("<d", number))[0])


def _number(pattern: int) -> float:
    """The float with these bits."""
    return float(struct.unpack("<d", struct.pack("<q", pattern))[0])
