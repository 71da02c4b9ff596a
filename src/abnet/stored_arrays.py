"""Checks of arrays that come from a file, for the ``from_arrays`` of predictors."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["check_array", "check_leading", "check_names", "check_table"]

Arrays = Mapping[str, NDArray[Any]]

WIDEST = 40
"""Widest leading layer that a table over its representations could be stored for: 2^40 values are 8 TB."""


def check_names(arrays: Arrays, names: tuple[str, ...]) -> None:
    """Refuse anything but arrays of these names."""
    if set(arrays) != set(names):
        raise ValueError(f"the arrays must be {', '.join(names)}, not {', '.join(sorted(arrays))[:200] or 'none'}.")


def check_array(arrays: Arrays, name: str, shape: tuple[int, ...], dtype: Any = np.float64) -> None:
    """Refuse an array of another shape or type, or with values that are not finite."""
    array = arrays[name]
    if array.shape != shape or array.dtype != dtype:
        wanted = f"{np.dtype(dtype)} of shape {shape}"
        raise ValueError(f"the array {name} must be {wanted}, but is {array.dtype} of shape {array.shape}.")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise ValueError(f"the array {name} holds values that are not finite.")


def check_table(arrays: Arrays, name: str, shape: tuple[int, ...]) -> None:
    """Refuse what is no table of expected outputs: float64 in [-1, 1], but for rounding."""
    check_array(arrays, name, shape)
    if np.abs(arrays[name]).max() > 1 + 1e-9:
        raise ValueError(f"the array {name} holds values outside [-1, 1].")


def check_leading(arrays: Arrays) -> int:
    """The width of the leading hidden layer, after a look at its weights and biases."""
    if arrays["W"].ndim != 2 or not 1 <= len(arrays["W"]) <= WIDEST or arrays["W"].shape[1] < 1:
        raise ValueError(f"the array W must have the shape (1 to {WIDEST}, inputs), but has {arrays['W'].shape}.")
    check_array(arrays, "W", arrays["W"].shape)
    check_array(arrays, "b", arrays["W"].shape[:1])
    return len(arrays["W"])
