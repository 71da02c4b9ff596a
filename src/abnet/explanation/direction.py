"""The direction in which a column moves the answers: with higher numbers, or by category."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from abnet.explanation.restored_cells import RestoredCells

__all__ = ["CLEAR", "CategoryEffect", "category_effects", "rank_correlation"]

Floats = NDArray[np.float64]

CLEAR = 0.5
"""Minimum size of the rank correlation at which a column has one direction."""


class CategoryEffect(NamedTuple):
    """A category of a column: its mean contribution, and the number of rows that have it."""

    name: str
    contribution: float
    n_rows: int


def category_effects(cells: RestoredCells, contributions: Floats) -> list[CategoryEffect]:
    """The categories of a column with their mean contributions, the highest first; empty for other columns.

    Examples
    --------
    >>> effects = category_effects(RestoredCells(None, ("a", "b", "a")), np.array([0.1, -0.2, 0.3]))
    >>> [(effect.name, effect.contribution, effect.n_rows) for effect in effects]
    [('a', 0.2, 2), ('b', -0.2, 1)]
    """
    if cells.categories is None:
        return []
    names = np.array(cells.categories, object)
    effects = []
    for name in dict.fromkeys(cells.categories):
        has_name = names == name
        effects.append(CategoryEffect(name, float(contributions[has_name].mean()), int(has_name.sum())))
    return sorted(effects, key=lambda effect: -effect.contribution)


def rank_correlation(cells: RestoredCells, contributions: Floats) -> float | None:
    """Spearman's correlation of a column's numbers and contributions, over the rows that have a number.

    None if the column has no numbers, or if one of the two does not vary.

    Examples
    --------
    >>> rank_correlation(RestoredCells(np.array([1.0, 2.0, np.nan, 9.0])), np.array([0.0, 3.0, 1.0, 4.0]))
    1.0
    """
    if cells.numbers is None:
        return None
    has_number = ~np.isnan(cells.numbers)
    numbers = cells.numbers[has_number]
    moves = contributions[has_number]
    if len(numbers) < 2 or np.ptp(numbers) == 0 or np.ptp(moves) == 0:
        return None
    from scipy.stats import rankdata

    correlation = np.corrcoef(rankdata(numbers), rankdata(moves))[0, 1]
    return float(np.clip(correlation, -1.0, 1.0).round(12))  # without the last digits, so that 1 is 1
