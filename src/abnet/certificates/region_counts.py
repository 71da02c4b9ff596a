"""Rows by region: parts into which a fixed model divides the space, each row in exactly one of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

__all__ = ["HasRegions", "LocatedRows", "RegionCounts", "RegionRows"]

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class LocatedRows:
    """The region of each row, and the regions in words.

    Attributes
    ----------
    signs : array of str (n,)
        A region is the sign of every leading neuron, such as ``-++``.
    words : dict
        Regions in words, by their signs; they may be missing.
    """

    signs: NDArray[np.str_]
    words: Mapping[str, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.signs)

    def __getitem__(self, rows: Any) -> "LocatedRows":
        return LocatedRows(self.signs[rows], self.words)


@runtime_checkable
class HasRegions(Protocol):
    """A model that divides rows into regions, such as `abnet.Model`."""

    def located(self, X: Any, /) -> LocatedRows | None:
        """The region of each row; None for a model whose rows are not in one region each."""
        ...


@dataclass(frozen=True)
class RegionRows:
    """What was counted in a region.

    Attributes
    ----------
    errors : int
    answers : tuple of int (K + 1,)
        Rows by answer; the last entry is for rows without an answer.
    words : str
    """

    errors: int
    answers: tuple[int, ...]
    words: str = ""

    @property
    def n(self) -> int:
        """Number of rows."""
        return sum(self.answers)

    def __add__(self, other: "RegionRows") -> "RegionRows":
        answers = tuple(a + b for a, b in zip(self.answers, other.answers, strict=True))
        return RegionRows(self.errors + other.errors, answers, self.words)


@dataclass(frozen=True)
class RegionCounts:
    """What was counted in each region, by its signs; counts of disjoint rows are added with ``+``."""

    table: Mapping[str, RegionRows] = field(default_factory=dict)

    def __add__(self, other: "RegionCounts") -> "RegionCounts":
        table = dict(self.table)
        for signs, rows in other.table.items():
            table[signs] = rows
            if signs in self.table:
                table[signs] = self.table[signs] + rows
        return RegionCounts(table)

    @staticmethod
    def of(located: LocatedRows, answers: Ints, wrong: NDArray[np.bool_], n_answers: int) -> "RegionCounts":
        """Count rows, errors and answers.

        Parameters
        ----------
        located : LocatedRows
        answers : int array (n,)
            Codes from 0 to ``n_answers - 1``.
        wrong : bool array (n,)
        n_answers : int

        Examples
        --------
        >>> rows = LocatedRows(np.array(["+", "-", "+"]))
        >>> counts = RegionCounts.of(rows, np.array([1, 0, 0]), np.array([False, True, True]), 3)
        >>> counts.table["+"]
        RegionRows(errors=1, answers=(1, 1, 0), words='')
        """
        names, places = np.unique(located.signs, return_inverse=True)
        table = {}
        for place, name in enumerate(names.tolist()):
            inside = places == place
            counts = np.bincount(answers[inside], minlength=n_answers)
            table[name] = RegionRows(int(wrong[inside].sum()), tuple(counts.tolist()), located.words.get(name, ""))
        return RegionCounts(table)
