"""Rows that come in groups, such as those of one patient: what is drawn independently are the groups.

A bound that counts groups is a promise about a new group, averaged over its rows. In other words: about a row drawn at
random from a group that is drawn first. Every group counts the same, whatever its size.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abnet.bounds.betting import unit_interval
from abnet.records import count, exactly, list_of, optional, tally

__all__ = ["GroupCounts", "group_totals", "number_groups"]

Array = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class GroupCounts:
    """How many bound rows each group has, in the order of the groups, and how many of them the vote gets wrong.

    Attributes
    ----------
    rows : tuple of int
        Rows of each group.
    errors : tuple of int or None
        Errors of the deployed vote among them, where they were counted.

    Examples
    --------
    >>> GroupCounts((4, 2), (1, 0)).rates
    [0.25, 0.0]
    """

    rows: tuple[int, ...]
    errors: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        list_of(count)("rows", list(self.rows))
        optional(list_of(tally))("errors", None if self.errors is None else list(self.errors))
        if not self.rows or (self.errors is not None and len(self.errors) != len(self.rows)):
            raise ValueError("not a certificate: errors and rows must hold one number for each of at least one group")
        if any(k > n for k, n in zip(self.errors or (), self.rows, strict=False)):
            raise ValueError("not a certificate: a group has more errors than rows")

    @classmethod
    def of(cls, groups: ArrayLike, wrong: ArrayLike | None = None) -> Self:
        """Count the rows of each group, and the errors among them."""
        if wrong is None:
            return cls(tuple(np.bincount(number_groups(groups, len(np.asarray(groups)))).tolist()))
        sums, sizes = group_totals(np.asarray(wrong, np.float64), groups)
        return cls(tuple(sizes.tolist()), tuple(int(k) for k in sums))

    @property
    def rates(self) -> list[float]:
        """Error of the vote on each group; empty where nothing was counted."""
        return [k / n for k, n in zip(self.errors or (), self.rows, strict=False)]

    def to_dict(self) -> dict[str, Any]:
        """Return plain lists, fit for JSON."""
        return {"rows": list(self.rows), "errors": None if self.errors is None else list(self.errors)}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Self:
        """Read what `to_dict` wrote; anything missing, unknown, of a wrong type or contradictory is a ValueError."""
        values = exactly(cls.__name__, record, cls.__dataclass_fields__)
        errors = optional(list_of(tally))("errors", values["errors"])
        return cls(list_of(count)("rows", values["rows"]), errors)


def number_groups(groups: ArrayLike, n: int) -> Ints:
    """Each row's group as a number: 0 for the group that appears first, and so on.

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
    """Whether a cell names nothing: None, NaN, a missing value of pandas, which is not even comparable, or blank."""
    if isinstance(name, str):
        return not name.strip()
    try:
        return name is None or bool(name != name)
    except TypeError:
        return True


def group_totals(losses: ArrayLike, groups: ArrayLike) -> tuple[Array, Ints]:
    """Sum of the losses and number of rows of each group, in the order in which the groups appear first.

    Parameters
    ----------
    losses : array-like (n,)
        Losses in [0, 1].
    groups : array-like (n,)
        Each row's group.

    Examples
    --------
    >>> group_totals([0.0, 1.0, 0.5, 0.5], ["b", "a", "b", "b"])
    (array([1., 1.]), array([3, 1]))
    """
    values = unit_interval("losses", losses)
    where = number_groups(groups, len(values))
    return np.asarray(np.bincount(where, weights=values), np.float64), np.asarray(np.bincount(where), np.int64)
