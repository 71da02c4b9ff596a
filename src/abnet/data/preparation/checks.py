"""Checks of records that come from a file: nothing in them is believed before it has been looked at."""

import math
from collections.abc import Callable
from typing import Any

__all__ = ["flag", "number", "numbers", "optional", "positive", "take", "text", "texts"]

Check = Callable[[Any, str], Any]


def take(record: Any, where: str, **checks: Check) -> dict[str, Any]:
    """The values of a record that has exactly the keys of `checks`, each value passed through its check.

    Examples
    --------
    >>> take({"scale": 2.0}, "column", scale=positive)
    {'scale': 2.0}
    >>> take({"scale": -2.0}, "column", scale=positive)
    Traceback (most recent call last):
    ValueError: stored preparation: column.scale must be above 0, got -2.0.
    """
    if not isinstance(record, dict) or set(record) != set(checks):
        found = sorted(map(str, record)) if isinstance(record, dict) else type(record).__name__
        raise ValueError(f"stored preparation: {where} must have the keys {sorted(checks)}, got {found}.")
    return {key: check(record[key], f"{where}.{key}") for key, check in checks.items()}


def fail(where: str, rule: str, value: Any) -> ValueError:
    """The error for a value that breaks a rule."""
    return ValueError(f"stored preparation: {where} must be {rule}, got {str(value)[:60]}.")


def text(value: Any, where: str) -> str:
    """A string."""
    if not isinstance(value, str):
        raise fail(where, "text", value)
    return value


def texts(value: Any, where: str) -> tuple[str, ...]:
    """A list of different strings."""
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value) or len(set(value)) < len(value):
        raise fail(where, "a list of different texts", value)
    return tuple(value)


def optional(check: Check) -> Check:
    """A check that lets None pass.

    Examples
    --------
    >>> optional(positive)(None, "scale"), optional(positive)(2, "scale")
    (None, 2.0)
    """
    return lambda value, where: None if value is None else check(value, where)


def flag(value: Any, where: str) -> bool:
    """True or False."""
    if not isinstance(value, bool):
        raise fail(where, "true or false", value)
    return value


def number(value: Any, where: str) -> float:
    """A finite number."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise fail(where, "a finite number", value)
    return float(value)


def positive(value: Any, where: str) -> float:
    """A finite number above 0."""
    if number(value, where) <= 0:
        raise fail(where, "above 0", value)
    return float(value)


def numbers(value: Any, where: str) -> list[float]:
    """A list of finite numbers."""
    if not isinstance(value, list):
        raise fail(where, "a list of numbers", value)
    return [number(item, f"{where}[{i}]") for i, item in enumerate(value)]
