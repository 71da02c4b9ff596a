"""Groups of rows, such as those of one patient: numbering, and holding out whole groups."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abnet.utils.wording import first_few

__all__ = ["held_rows", "number_groups"]


def number_groups(groups: ArrayLike, n: int) -> NDArray[np.int64]:
    """The group of each row as an integer: 0 for the group that appears first, and so on.

    Examples
    --------
    >>> number_groups(["b", "a", "b"], 3)
    array([0, 1, 0])
    """
    column = np.asarray(groups)
    if column.shape != (n,):
        raise ValueError(f"groups must name one group for each of the {n} rows, got the shape {column.shape}")
    missing = _rows_without_group(column)
    if missing:
        rows = first_few([str(row) for row in missing])
        raise ValueError(
            f"groups must name a group for every row; {len(missing)} of {n} have none (row {rows}, counted from 0). "
            "Rows without a name are not one group: give each its own name if it stands alone, or leave them out"
        )
    if column.dtype.kind == "O":
        column = np.array([str(name) for name in column.tolist()])
    _, first_rows, places = np.unique(column, return_index=True, return_inverse=True)
    numbers = np.empty(len(first_rows), dtype=np.int64)
    numbers[np.argsort(first_rows)] = np.arange(len(first_rows))
    return np.asarray(numbers[places])


def _rows_without_group(column: NDArray[Any]) -> list[int]:
    if column.dtype.kind in "OU":
        return [row for row, name in enumerate(column.tolist()) if _is_missing(name)]
    return list(np.flatnonzero(column != column).tolist())  # NaN, which equals nothing


def _is_missing(name: Any) -> bool:
    """Whether a cell is None, NaN, a missing value of pandas, or blank."""
    if name is None:
        return True
    if isinstance(name, str):
        return not name.strip()
    try:
        return bool(name != name)
    except TypeError:  # a missing value of pandas cannot be compared
        return True


def held_rows(groups: NDArray[Any], fraction: float) -> int:
    """Number of rows in the last groups, a `fraction` of all groups; rows of a group must be neighbours.

    Examples
    --------
    >>> held_rows(np.array([4, 4, 4, 1, 7, 7]), 0.4)
    2
    """
    numbers = number_groups(groups, len(groups))
    n_groups = int(numbers.max(initial=-1)) + 1
    n_held = round(fraction * n_groups)
    return int(np.sum(numbers >= n_groups - n_held))
