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
from abnet.checks import count, exactly, list_of, optional, tally
from abnet.groups import number_groups

__all__ = ["GroupCounts", "group_totals"]

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
