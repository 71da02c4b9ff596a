"""Checks of the plain numbers that enter a bound: each returns the value, or names what is wrong."""

import math
import operator
from typing import Any, SupportsFloat, SupportsIndex

__all__ = ["count", "level", "nonnegative", "probability", "real"]


def real(name: str, value: Any) -> float:
    """Return ``value`` as a float that is not NaN."""
    if isinstance(value, bool) or not isinstance(value, SupportsFloat):
        raise ValueError(f"{name} must be a number, got {value!r}")
    number = float(value) + 0.0  # turns -0.0 into 0.0
    if math.isnan(number):
        raise ValueError(f"{name} must be a number, got NaN")
    return number


def nonnegative(name: str, value: Any) -> float:
    """Return ``value`` as a float in [0, inf]."""
    number = real(name, value)
    if number < 0.0:
        raise ValueError(f"{name} must not be negative, got {number!r}")
    return number


def probability(name: str, value: Any) -> float:
    """Return ``value`` as a float in [0, 1]."""
    number = real(name, value)
    if not 0.0 <= number <= 1.0:
        raise ValueError(f"{name} must lie in [0, 1], got {number!r}")
    return number


def level(name: str, value: Any) -> float:
    """Return ``value`` as a float in the open interval (0, 1): a probability of failure that one may ask for."""
    number = real(name, value)
    if not 0.0 < number < 1.0:
        raise ValueError(f"{name} must lie strictly between 0 and 1, got {number!r}")
    return number


def count(name: str, value: Any, *, least: int = 1) -> int:
    """Return ``value`` as an int of at least ``least``; a float such as 10.0 is refused."""
    if isinstance(value, bool) or not isinstance(value, SupportsIndex):
        raise ValueError(f"{name} must be a whole number, got {value!r}")
    number = operator.index(value)
    if number < least:
        raise ValueError(f"{name} must be at least {least}, got {number}")
    return number
