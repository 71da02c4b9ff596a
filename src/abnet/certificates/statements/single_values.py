"""Statements that follow from single values, which are not stored: only their number and mean are."""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abnet.certificates.statements.statement import Checked, Statement

__all__ = ["check_range", "checked_values"]

_TOLERANCE = 1e-12


def checked_values(values: ArrayLike, *, mean: float, n: int) -> NDArray[np.float64]:
    """The values as an array; raises a ValueError if they are not those that were counted."""
    array = np.asarray(values, np.float64)
    if len(array) != n or not math.isclose(float(array.mean()), mean, abs_tol=1e-9):
        raise ValueError(f"these are not the values that were counted, which are {n} values with the mean {mean}.")
    return array


def check_range(statement: Statement, low: float, high: float) -> Checked:
    """Raise a ValueError if no values with the stored number and mean give the bound."""
    value = statement.value
    if value is None or not low - _TOLERANCE <= value <= high + _TOLERANCE:
        raise ValueError(f"the {statement.about} cannot be {value}: with these figures it lies in [{low}, {high}].")
    return "attainable"
