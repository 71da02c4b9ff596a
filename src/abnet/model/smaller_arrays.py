"""Lossless storage of float64 arrays in fewer bytes: as float32, or as int8 multiples of a step.

Trained weights are float32 numbers. Weights that were rounded to a few bits per neuron (`MomentsPredictor.rounded`) are
multiples of a power of two, the step, and take one byte each.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.model.predictors.weight_steps import steps_of

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
    stored: dict[str, NDArray[Any]] = {}
    for name, array in arrays.items():
        if array.dtype == np.float64:
            stored |= _smaller(name, array)
        else:
            stored[name] = array
    return stored


def _smaller(name: str, array: NDArray[np.float64]) -> dict[str, NDArray[Any]]:
    with np.errstate(over="ignore"):
        single = array.astype(np.float32)
    if not (single == array).all():
        return {name: array}
    if array.ndim > 1:
        steps = steps_of(array)
        multiples = array / steps[..., None]
        # An integer has no sign of zero, so an array with -0.0 stays as it is.
        negative_zeros = np.signbit(array) & (array == 0)
        if np.abs(multiples).max(initial=0) <= 127 and not negative_zeros.any():
            return {name: multiples.astype(np.int8), name + STEP: steps.astype(np.float32)}
    return {name: single}


def restored(stored: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """The arrays of a predictor, in float64; ValueError where steps do not fit."""
    lone = [name for name in stored if name.endswith(STEP) and name.removesuffix(STEP) not in stored]
    if lone:
        raise ValueError(f"the steps {lone[0][:60]!r} belong to no array.")
    arrays: dict[str, NDArray[Any]] = {}
    for name, array in stored.items():
        if name.endswith(STEP):
            continue
        steps = stored.get(name + STEP)
        if steps is not None:
            arrays[name] = _multiplied(name, array, steps)
        elif array.dtype == np.float32:
            arrays[name] = array.astype(np.float64)
        else:
            arrays[name] = array
    return arrays


def _multiplied(name: str, multiples: NDArray[Any], steps: NDArray[Any]) -> NDArray[np.float64]:
    """Multiples of steps as numbers; ValueError where they do not fit."""
    if multiples.dtype != np.int8 or steps.dtype != np.float32 or steps.shape != multiples.shape[:-1]:
        raise ValueError(f"the steps of the array {name[:60]!r} do not fit it.")
    return multiples.astype(np.float64) * steps.astype(np.float64)[..., None]
