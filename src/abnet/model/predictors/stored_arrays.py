"""Checks of the arrays that a stored predictor is made of."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["check_array", "check_names", "check_table"]

Arrays = Mapping[str, NDArray[Any]]


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
