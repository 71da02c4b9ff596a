"""Cells that are very far from all others in their column, and therefore have no part in its scaling."""

import numpy as np
from numpy.typing import NDArray

from abnet.tables.column_cells import Cells, NumberCells, odd_texts
from abnet.tables.columns.odd_cells import most_frequent
from abnet.tables.columns.scaling import CLIP
from abnet.tables.notes import Note

__all__ = ["far_cells", "far_notes"]

_NEAR_SHARE = 0.95
"""Share of the cells that differ from the median: the distance that this share keeps is the usual one."""


def far_cells(x: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which numbers are more than `CLIP` times as far from the median as 95% of those that differ from it.

    One of them would make the deviation so large that all others become one number in float32. Missing numbers are NaN.

    Examples
    --------
    >>> far_cells(np.array([3.0, 5.0, np.nan, 1e10, 4.0, 6.0])).tolist()
    [False, False, False, True, False, False]
    """
    known = x[~np.isnan(x)]
    if not len(known):
        return np.zeros(len(x), bool)
    distances = np.abs(x - np.median(known))
    positive = distances[distances > 0]
    if not len(positive):
        return np.zeros(len(x), bool)
    usual = np.quantile(positive, _NEAR_SHARE, method="lower")
    return np.asarray(distances > CLIP * usual)


def far_notes(name: str, cells: Cells, far: NDArray[np.bool_]) -> list[Note]:
    """A note on far cells, if there are any."""
    rows = odd_texts(cells, far)
    if not rows:
        return []
    example = most_frequent(rows)
    if isinstance(cells, NumberCells):
        example = f"{float(example):g}"
    return [Note("far cell", (name,), sum(rows.values()), example)]
