"""Checks of plain values, alone and as the fields of a record: each returns the value, or names what is wrong."""

import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, SupportsFloat, SupportsIndex, cast

__all__ = [
    "Check",
    "apply",
    "count",
    "exactly",
    "finite",
    "instance",
    "level",
    "nonnegative",
    "one_of",
    "optional",
    "probability",
    "real",
]


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


Check = Callable[[str, Any], Any]


def exactly(cls: type, record: object) -> dict[str, Any]:
    """Return ``record`` as a dictionary that has the fields of ``cls``, all of them and no other."""
    if not isinstance(record, Mapping):
        raise ValueError(f"{cls.__name__} must be a dictionary, got {record!r}")
    wanted = {field.name for field in fields(cast(Any, cls))}
    missing, unknown = sorted(wanted - set(record)), sorted(map(str, set(record) - wanted))
    if missing or unknown:
        raise ValueError(f"{cls.__name__} has missing fields {missing} and unknown fields {unknown}")
    return dict(record)


def apply(checks: Mapping[str, Check], record: object) -> None:
    """Replace each named field of a frozen ``record`` by what its check returns."""
    for name, check in checks.items():
        object.__setattr__(record, name, check(name, getattr(record, name)))


def optional(check: Check) -> Check:
    """Let None pass, and check everything else."""
    return lambda name, value: None if value is None else check(name, value)


def one_of(*choices: Any) -> Check:
    """Allow just the given values."""

    def check(name: str, value: Any) -> Any:
        if isinstance(value, bool) or value not in choices:
            raise ValueError(f"{name} must be one of {choices}, got {value!r}")
        return value

    return check


def finite(name: str, value: Any) -> float:
    """Return ``value`` as a float in [0, inf)."""
    number = nonnegative(name, value)
    if number == float("inf"):
        raise ValueError(f"{name} must be finite")
    return number


def instance(cls: type) -> Check:
    """Allow just instances of ``cls``."""

    def check(name: str, value: Any) -> Any:
        if not isinstance(value, cls):
            raise ValueError(f"{name} must be a {cls.__name__}, got {value!r}")
        return value

    return check
