"""Checks of the arrays of stored networks that several kinds of predictors share."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.model.predictors.predictor import Arrays
from abnet.model.predictors.stored_arrays import check_array, check_names
from abnet.networks.codebook import MOST_NEURONS

__all__ = ["check_words", "layered_arrays", "plain_layers", "stacked_layers"]


def layered_arrays(**parts: tuple[NDArray[Any], ...]) -> dict[str, NDArray[Any]]:
    """Arrays of each layer by name and number: ``W_1``, ``W_2``, …"""
    return {f"{name}_{k}": array for name, layers in parts.items() for k, array in enumerate(layers, start=1)}


def stacked_layers(
    arrays: Arrays, drawn: str | None = None, *, further: tuple[str, ...] = ()
) -> list[tuple[NDArray[Any], ...]]:
    """Weights (M, d_k, d_{k-1}), biases (M, d_k) and, if named, drawn numbers (M, T, d_k) of the hidden layers.

    ValueError if they do not fit together, or there are other arrays than these and the `further` ones.
    """
    depth = sum(name.startswith("W_") for name in arrays)
    counts = {"W": depth, "b": depth}
    if drawn is not None:
        counts[drawn] = depth - 1
    names = [f"{name}_{k}" for name, count in counts.items() for k in range(1, count + 1)]
    check_names(arrays, (*names, *further))
    if depth < 2 or any(arrays[name].ndim < 2 or 0 in arrays[name].shape for name in names):
        raise ValueError("the arrays of the members must be stacked tables, of 2 layers or more.")
    members = len(arrays["W_1"])
    inputs = arrays["W_1"].shape[-1]
    for k in range(1, depth + 1):
        units = arrays[f"b_{k}"].shape[1]
        check_array(arrays, f"W_{k}", (members, units, inputs))
        check_array(arrays, f"b_{k}", (members, units))
        if drawn is not None and k < depth:
            check_array(arrays, f"{drawn}_{k}", (members, arrays[f"{drawn}_1"].shape[1], units))
        inputs = units
    return [tuple(arrays[f"{name}_{k}"] for k in range(1, count + 1)) for name, count in counts.items()]


def check_words(words: Any, n_outputs: int) -> None:
    """Raise a ValueError unless words is (K, c) for c output neurons; None for two classes, with one neuron."""
    if words is None:
        if n_outputs != 1:
            raise ValueError(f"{n_outputs} output neurons need code words, one for each class.")
        return
    if words.ndim != 2 or words.dtype != np.int8 or words.shape[1] != n_outputs or not 3 <= len(words) <= 2**n_outputs:
        raise ValueError(f"code words of shape {words.shape} and type {words.dtype} do not fit {n_outputs} outputs.")
    if n_outputs > MOST_NEURONS:
        raise ValueError(f"code words may have at most {MOST_NEURONS} signs; got {n_outputs}.")
    if not (np.abs(words) == 1).all():
        raise ValueError("code words must hold signs, -1 and +1.")
    if len(np.unique(words, axis=0)) < len(words):
        raise ValueError("the code words of the classes must differ.")


def plain_layers(arrays: Arrays, drawn: str | None = None) -> list[tuple[NDArray[Any], ...]]:
    """`stacked_layers` of one network, whose arrays have no axis of members."""
    parts = stacked_layers({name: array[None] for name, array in arrays.items()}, drawn)
    return [tuple(array[0] for array in part) for part in parts]
