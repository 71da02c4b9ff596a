"""The mean over all rows follows from the means over the rows of each class."""

import math
from collections.abc import Iterable
from typing import Any

from abnet.certificates.statements.statement import Statement

__all__ = ["check_mean_of_classes"]

_SUM_TOLERANCE = 1e-9  # sums over classes are added in another order than the sum over all rows


def check_mean_of_classes(overall: Any, field: str, statements: Iterable[Statement]) -> None:
    """Raise a ValueError if a mean over all rows is not that of the classes.

    Parameters
    ----------
    overall : Statement
        About all rows; for a statement about one class nothing is checked.
    field : str
        Name of the mean.
    statements : iterable of Statement
        With `label`, the mean and the number of rows `n`.
    """
    parts: list[Any] = [part for part in statements if getattr(part, "label", None) is not None]
    if overall.label is not None or not parts:
        return
    stated = getattr(overall, field)
    mean = math.fsum(getattr(part, field) * part.n for part in parts) / overall.n
    if not math.isclose(mean, stated, rel_tol=_SUM_TOLERANCE, abs_tol=_SUM_TOLERANCE):
        raise ValueError(f"the {overall.about} has {field} = {stated}, but by the classes it is {mean}.")
