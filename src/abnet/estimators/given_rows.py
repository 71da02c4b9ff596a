"""What is wrong with the rows and labels that a classifier was given, in words that say what to do."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["as_frame", "check_labelled", "check_size", "with_advice"]


def as_frame(X: Any) -> Any:
    """Columns by name in a plain mapping as a frame; anything else as it is.

    Examples
    --------
    >>> as_frame({"age": [40, 50]}).columns
    ['age']
    """
    if not isinstance(X, Mapping) or hasattr(X, "columns") or hasattr(X, "tocsr"):
        return X
    import polars

    return polars.DataFrame(dict(X))


LARGEST = 1e150
"""Larger numbers have no finite square, and cannot be scaled."""


def check_size(X: NDArray[Any]) -> NDArray[Any]:
    """The rows, if none of their numbers is too large to be scaled.

    Examples
    --------
    >>> check_size(np.array([[1.0, 1e200]]))
    Traceback (most recent call last):
    ValueError: column 1 holds 1e+200, and numbers of 1e+150 and above cannot be scaled: divide the column by ...
    """
    most = np.maximum(X.max(axis=0), -X.min(axis=0))  # without a copy of the rows
    if X.dtype == np.float64 and (most >= LARGEST).any():
        column = int(np.argmax(most))
        raise ValueError(
            f"column {column} holds {most[column]:.3g}, and numbers of {LARGEST:g} and above cannot be scaled: divide "
            "the column by a constant, or correct its cells."
        )
    return X


def check_labelled(y: Any) -> None:
    """Refuse rows whose label is missing.

    Examples
    --------
    >>> check_labelled(["yes", "no"])
    >>> check_labelled(["yes", None])
    Traceback (most recent call last):
    ValueError: y holds missing labels (None or NaN): remove those rows, or give them a label.
    """
    labels = np.asarray(y)
    if labels.dtype.kind == "O" and any(map(_is_missing, labels.flat)):
        raise ValueError("y holds missing labels (None or NaN): remove those rows, or give them a label.")


def _is_missing(label: Any) -> bool:
    return label is None or type(label).__name__ == "NAType" or bool(isinstance(label, float) and label != label)


def with_advice(error: ValueError, preprocessor: Any) -> ValueError:
    """An error about an array, with what to do about cells that a frame may have, if it is prepared, and an array not.

    Examples
    --------
    >>> print(with_advice(ValueError("Input X contains NaN."), "auto"))
    Input X contains NaN. Give X as a frame (pandas or Polars): text and missing cells are then prepared.
    """
    text = str(error)
    if not (isinstance(preprocessor, str) and preprocessor == "auto"):
        return error
    if ("Input X" in text and "NaN" in text) or "could not convert string" in text:
        first = text.splitlines()[0].rstrip(".")
        return ValueError(f"{first}. Give X as a frame (pandas or Polars): text and missing cells are then prepared.")
    return error
