"""Class labels as plain values: whole numbers, numbers, truths or text, with their exact NumPy type."""

import math
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["labels_from_dict", "labels_to_dict"]


_TYPES = {"b": (bool,), "i": (int,), "u": (int,), "f": (float,), "U": (str,), "O": (bool, int, float, str)}

_DTYPE = re.compile(r"\|b1|\|[iu]1|[<>][iu][248]|[<>]f[248]|[<>]U[1-9][0-9]{0,4}|\|O")
"""Text is at most 99,999 characters wide, so that no file makes a reader allocate more than it holds."""


def labels_to_dict(classes: NDArray[Any]) -> dict[str, Any]:
    """Type and values of an array of labels, ready for JSON.

    Examples
    --------
    >>> labels_to_dict(np.array(["no", "yes"]))
    {'dtype': '<U3', 'values': ['no', 'yes']}
    """
    values = [value.item() if isinstance(value, np.generic) else value for value in classes.tolist()]
    record = {"dtype": classes.dtype.str, "values": values}
    labels_from_dict(record)  # what could not be read back is not written
    return record


def labels_from_dict(record: Any) -> NDArray[Any]:
    """The array of labels that `labels_to_dict` was given; ValueError for anything that it would not have written.

    Examples
    --------
    >>> labels_from_dict({"dtype": "|i1", "values": [0, 1]})
    array([0, 1], dtype=int8)
    """
    if not isinstance(record, dict) or set(record) != {"dtype", "values"}:
        raise ValueError("class labels must have the keys 'dtype' and 'values'.")
    name, values = record["dtype"], record["values"]
    if not isinstance(name, str) or not _DTYPE.fullmatch(name):
        raise ValueError(f"class labels of type {str(name)[:40]!r} cannot be stored; use numbers, truths or text.")
    dtype = np.dtype(name)
    if not isinstance(values, list) or len(values) != 2:
        raise ValueError("class labels must be a list of two.")
    if not all(type(value) in _TYPES[dtype.kind] and _finite(value) for value in values):
        raise ValueError(f"class labels {str(values)[:60]} are not of the type {name}.")
    return _exactly(values, dtype)


def _finite(value: Any) -> bool:
    return not isinstance(value, float) or math.isfinite(value)


def _exactly(values: list[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """The values in their type, none of them changed by it, and different from each other."""
    try:
        classes = np.array(values, dtype)
    except OverflowError:
        classes = None
    if classes is None or classes.tolist() != values:
        raise ValueError(f"class labels {str(values)[:60]} do not fit the type {dtype.str}.")
    if values[0] == values[1]:
        raise ValueError(f"class labels must differ, but both are {str(values[0])[:60]!r}.")
    return classes
