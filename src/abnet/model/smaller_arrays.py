"""Lossless storage of float64 arrays in fewer bytes: as float32, or as int8 multiples of a step.

Trained weights are float32 numbers. Weights that were rounded to a few bits per neuron (`MomentsPredictor.rounded`) are
multiples of a power of two, the step, and take one byte each.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.model.predictors.steps import steps_of

__all__ = ["STEP", "shrunk", "restored"]

STEP = ".step"
"""Suffix of the name of an array of steps."""


def shrunk(arrays: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """The arrays as stored in a file; `restored` returns the same numbers.

    Examples
    --------
    >>> stored = shrunk({"W": np.array([[0.5, 3.0]]), "b": np.array([0.1])})
    >>> {name: array.dtype.name for name, array in stored.items()}
    {'W': 'int8', 'W.step': 'float32', 'b': 'float64'}
    """
    found: dict[str, NDArray[Any]] = {}
    for name, array in arrays.items():
        found |= _smaller(name, array) if array.dtype == np.float64 else {name: array}
    return found


def _smaller(name: str, array: NDArray[np.float64]) -> dict[str, NDArray[Any]]:
    with np.errstate(over="ignore"):
        if not (array.astype(np.float32) == array).all():
            return {name: array}
    if array.ndim > 1:
        steps = steps_of(array)
        whole = array / steps[..., None]
        if np.abs(whole).max(initial=0) <= 127 and not (np.signbit(array) & (array == 0)).any():
            return {name: whole.astype(np.int8), name + STEP: steps.astype(np.float32)}
    return {name: array.astype(np.float32)}


def restored(stored: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """The arrays of a predictor, in float64; ValueError where steps do not fit."""
    found = {name: array for name, array in stored.items() if not name.endswith(STEP)}
    for name, array in found.items():
        steps = stored.get(name + STEP)
        if steps is not None:
            if array.dtype != np.int8 or steps.dtype != np.float32 or steps.shape != array.shape[:-1]:
                raise ValueError(f"the steps of the array {name[:60]!r} do not fit it.")
            found[name] = array.astype(np.float64) * steps.astype(np.float64)[..., None]
        elif array.dtype == np.float32:
            found[name] = array.astype(np.float64)
    lone = [name for name in stored if name.endswith(STEP) and name.removesuffix(STEP) not in found]
    if lone:
        raise ValueError(f"the steps {lone[0][:60]!r} belong to no array.")
    return found
