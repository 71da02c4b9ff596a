"""Which way a column moves the answers: higher values, or single categories."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from abnet.explanation.own_cells import OwnCells

__all__ = ["CLEAR", "Level", "levels", "rank_correlation"]

Floats = NDArray[np.float64]

CLEAR = 0.5
"""Rank correlation from which a column has one direction."""


class Level(NamedTuple):
    """A category: its mean contribution, and how many of the rows have it."""

    name: str
    contribution: float
    n_rows: int


def levels(cells: OwnCells, contributions: Floats) -> list[Level]:
    """The categories of a column by what they contribute on average, the highest first.

    Examples
    --------
    >>> levels(OwnCells(None, ("a", "b", "a")), np.array([0.1, -0.2, 0.3]))
    [Level(name='a', contribution=0.2, n_rows=2), Level(name='b', contribution=-0.2, n_rows=1)]
    """
    if cells.categories is None:
        return []
    names = np.array(cells.categories, object)
    found = []
    for name in dict.fromkeys(cells.categories):
        here = names == name
        found.append(Level(name, float(contributions[here].mean()), int(here.sum())))
    return sorted(found, key=lambda level: -level.contribution)


def rank_correlation(cells: OwnCells, contributions: Floats) -> float | None:
    """Spearman's correlation of a column's numbers and contributions, over the rows that have a number.

    None where the column has no numbers, or where one of the two does not vary.

    Examples
    --------
    >>> rank_correlation(OwnCells(np.array([1.0, 2.0, np.nan, 9.0])), np.array([0.0, 3.0, 1.0, 4.0]))
    1.0
    """
    if cells.numbers is None:
        return None
    here = ~np.isnan(cells.numbers)
    a, b = cells.numbers[here], contributions[here]
    if len(a) < 2 or np.ptp(a) == 0 or np.ptp(b) == 0:
        return None
    from scipy.stats import rankdata

    return float(np.clip(np.corrcoef(rankdata(a), rankdata(b))[0, 1], -1.0, 1.0).round(12))
