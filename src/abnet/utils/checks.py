"""Checks of single values: each returns the converted value, or raises a ValueError that says what is wrong."""

import math
import operator
from collections.abc import Callable, Collection, Mapping
from typing import Any, SupportsFloat, SupportsIndex

import numpy as np

from abnet.utils.wording import shortened

__all__ = [
    "Check",
    "between",
    "count",
    "exactly",
    "finite",
    "boolean",
    "level",
    "list_of",
    "nonnegative",
    "one_of",
    "positive",
    "probability",
    "real",
    "refusal",
    "fields",
    "tally",
    "text",
]

Check = Callable[[str, Any], Any]
"""A check: the name of a value and the value, to the converted value."""

_MOST_SHOWN = 80
"""Characters of a wrong value that a message shows."""


def refusal(name: str, rule: str, value: Any) -> ValueError:
    """The error for a value that breaks a rule; a long value is shortened.

    Examples
    --------
    >>> refusal("max_iter", "be a positive whole number", 0)
    ValueError('max_iter must be a positive whole number; got 0.')
    """
    shown = shortened(repr(value), _MOST_SHOWN)
    return ValueError(f"{name} must {rule}; got {shown}.")


def real(name: str, value: Any) -> float:
    """A number that is not NaN, as a float."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, SupportsFloat):
        raise refusal(name, "be a number", value)
    try:
        number = float(value) + 0.0  # turns -0.0 into 0.0
    except (TypeError, ValueError, OverflowError) as error:
        raise refusal(name, "be a number", value) from error
    if math.isnan(number):
        raise ValueError(f"{name} must be a number; got NaN.")
    return number


def finite(name: str, value: Any) -> float:
    """A finite number of either sign."""
    number = real(name, value)
    if math.isinf(number):
        raise refusal(name, "be a finite number", value)
    return number


def nonnegative(name: str, value: Any) -> float:
    """A number in [0, inf]."""
    number = real(name, value)
    if number < 0.0:
        raise refusal(name, "not be negative", value)
    return number


def positive(name: str, value: Any) -> float:
    """A number in (0, inf)."""
    number = real(name, value)
    if not 0.0 < number < math.inf:
        raise refusal(name, "be a positive number", value)
    return number


def probability(name: str, value: Any) -> float:
    """A number in [0, 1]."""
    number = real(name, value)
    if not 0.0 <= number <= 1.0:
        raise refusal(name, "lie in [0, 1]", value)
    return number


def between(low: float, high: float) -> Check:
    """Allow numbers in the open interval.

    Examples
    --------
    >>> between(0, 1)("prior_fraction", 1.5)
    Traceback (most recent call last):
    ValueError: prior_fraction must lie strictly between 0 and 1; got 1.5.
    """

    def check(name: str, value: Any) -> float:
        number = real(name, value)
        if not low < number < high:
            raise refusal(name, f"lie strictly between {low:g} and {high:g}", value)
        return number

    return check


def level(name: str, value: Any) -> float:
    """A number in (0, 1), such as a probability of failure or a fraction of the rows."""
    return float(between(0.0, 1.0)(name, value))


def count(name: str, value: Any, *, least: int = 1) -> int:
    """A whole number of at least `least`, as an int; a float such as 10.0 raises an error."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, SupportsIndex):
        raise refusal(name, "be a whole number", value)
    try:
        number = operator.index(value)
    except TypeError as error:
        raise refusal(name, "be a whole number", value) from error
    if number < least:
        raise refusal(name, f"be at least {least}", number)
    return number


def tally(name: str, value: Any) -> int:
    """A whole number of at least 0."""
    return count(name, value, least=0)


def boolean(name: str, value: Any) -> bool:
    """True or False."""
    if not isinstance(value, bool):
        raise refusal(name, "be true or false", value)
    return value


def text(name: str, value: Any) -> str:
    """A string."""
    if not isinstance(value, str):
        raise refusal(name, "be text", value)
    return value


def list_of(check: Check) -> Check:
    """Allow a list whose items all pass a check, and return a tuple.

    Examples
    --------
    >>> list_of(finite)("mean", [1, 2.5])
    (1.0, 2.5)
    >>> list_of(finite)("mean", [1, "2"])
    Traceback (most recent call last):
    ValueError: mean[1] must be a number; got '2'.
    """

    def check_list(name: str, value: Any) -> tuple[Any, ...]:
        if not isinstance(value, list):
            raise refusal(name, "be a list", value)
        return tuple(check(f"{name}[{place}]", item) for place, item in enumerate(value))

    return check_list


def one_of(*choices: Any) -> Check:
    """Allow the given values only.

    Examples
    --------
    >>> one_of("train", "frozen")("posterior", "thawed")
    Traceback (most recent call last):
    ValueError: posterior must be one of 'train', 'frozen'; got 'thawed'.
    """

    def check(name: str, value: Any) -> Any:
        if isinstance(value, bool) or not any(_is_choice(value, choice) for choice in choices):
            allowed = ", ".join(map(repr, choices))
            raise refusal(name, f"be one of {allowed}", value)
        return value

    return check


def _is_choice(value: Any, choice: Any) -> bool:
    """Whether a value is a choice; its type comes first, because an array compared with a text is no boolean."""
    return isinstance(value, type(choice)) and bool(value == choice)


def exactly(name: str, value: Any, fields: Collection[str]) -> dict[str, Any]:
    """A dictionary that has exactly the given fields.

    Examples
    --------
    >>> exactly("point", {"x": 1, "z": 2}, ["x", "y"])
    Traceback (most recent call last):
    ValueError: point has missing fields ['y'] and unknown fields ['z'].
    """
    if not isinstance(value, Mapping):
        raise refusal(name, "be a dictionary", value)
    missing = sorted(set(fields) - set(value))
    unknown = sorted(map(str, set(value) - set(fields)))
    if missing or unknown:
        raise ValueError(f"{name} has missing fields {missing} and unknown fields {unknown}.")
    return dict(value)


def fields(name: str, value: Any, /, **checks: Check) -> dict[str, Any]:
    """The checked fields of a dictionary that has exactly the fields of `checks`.

    Examples
    --------
    >>> fields("column", {"scale": 2.0}, scale=positive)
    {'scale': 2.0}
    >>> fields("column", {"scale": -2.0}, scale=positive)
    Traceback (most recent call last):
    ValueError: column.scale must be a positive number; got -2.0.
    """
    record = exactly(name, value, checks)
    return {field: check(f"{name}.{field}", record[field]) for field, check in checks.items()}
