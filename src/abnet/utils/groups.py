"""Groups of rows, such as those of one patient: numbering, and holding out whole groups."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

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
    values = column.tolist() if column.dtype.kind in "OU" else []
    missing = [row for row, name in enumerate(values) if _is_none(name)] or np.flatnonzero(column != column).tolist()
    if missing:
        named = ", ".join(map(str, missing[:5])) + (", …" if len(missing) > 5 else "")
        raise ValueError(
            f"groups must name a group for every row; {len(missing)} of {n} have none (row {named}, counted from 0). "
            "Rows without a name are not one group: give each its own name if it stands alone, or leave them out"
        )
    column = np.array([str(name) for name in values]) if column.dtype.kind == "O" else column
    _, first, where = np.unique(column, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return np.asarray(rank[where])


def _is_none(name: Any) -> bool:
    """Whether a cell is missing: None, NaN, a missing value of pandas (which cannot be compared), or blank."""
    if isinstance(name, str):
        return not name.strip()
    try:
        return name is None or bool(name != name)
    except TypeError:
        return True


def held_rows(groups: NDArray[Any], fraction: float) -> int:
    """Number of rows in the last groups, a `fraction` of all groups; rows of a group must be neighbours.

    Examples
    --------
    >>> held_rows(np.array([4, 4, 4, 1, 7, 7]), 0.4)
    2
    """
    where = number_groups(groups, len(groups))
    count = int(where.max(initial=-1)) + 1
    return int(np.sum(where >= count - round(fraction * count)))
