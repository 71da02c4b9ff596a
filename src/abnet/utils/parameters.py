"""Checks of the parameters of estimators: each raises a `ParameterError`, so that the command line names its option."""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from abnet.utils.errors import Parameter, ParameterError

__all__ = ["check_choice", "check_fraction", "check_hidden", "check_positive", "check_tolerance"]


def check_hidden(sizes: Any) -> tuple[int, ...]:
    """`hidden_layer_sizes` as a tuple of at least one width of at least one."""
    name = Parameter("hidden_layer_sizes")
    if isinstance(sizes, (int, np.integer)):
        widths: tuple[Any, ...] = (sizes,)
    elif isinstance(sizes, Iterable) and not isinstance(sizes, str):
        widths = tuple(sizes)
    else:
        raise ParameterError("{} must be a whole number or a tuple of them; got {!r}.", name, sizes)
    if not widths or not all(_is_positive_integer(width) for width in widths):
        raise ParameterError("{} must hold at least one width, each of 1 or more; got {!r}.", name, sizes)
    return tuple(int(width) for width in widths)


def check_fraction(name: str, value: Any) -> float:
    """A number strictly between 0 and 1."""
    if not _is_positive(value) or not value < 1:
        raise ParameterError("{} must lie strictly between 0 and 1; got {!r}.", Parameter(name), value)
    return float(value)


def check_positive(name: str, value: Any, *, whole: bool = False) -> None:
    """A positive number; with `whole`, a whole one."""
    if whole and not _is_positive_integer(value):
        raise ParameterError("{} must be a positive whole number; got {!r}.", Parameter(name), value)
    if not _is_positive(value):
        raise ParameterError("{} must be a positive number; got {!r}.", Parameter(name), value)


def _is_positive(value: Any) -> bool:
    try:
        return bool(value > 0 and math.isfinite(value))
    except (TypeError, ValueError, OverflowError):
        return False


def _is_positive_integer(value: Any) -> bool:
    return _is_positive(value) and bool(int(value) == value)


def check_choice(name: str, value: Any, choices: tuple[str, ...]) -> None:
    """One of the named choices."""
    if not isinstance(value, str) or value not in choices:
        listed = ", ".join(map(repr, choices))
        raise ParameterError("{} must be one of {}; got {!r}.", Parameter(name), listed, value)


def check_tolerance(value: Any) -> None:
    """`tol`: a number of at least 0."""
    if not (isinstance(value, (int, float, np.number)) and 0 <= value < np.inf):
        raise ParameterError("{} must be a number of at least 0; got {!r}.", Parameter("tol"), value)
