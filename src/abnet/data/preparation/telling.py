"""Columns that tell the label by themselves: commonly they are written down after it, and new rows lack them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.data.tables.cells import is_missing
from abnet.data.tables.frames import Table, cells_of
from abnet.data.tables.series import Distinct, factorised

__all__ = ["telling"]

_FIRST = (40, 1000)  # rows looked at before all are
_ENOUGH = 20  # rows below which chance may do it


def telling(table: Table, names: list[str], y: Any) -> dict[str, str]:
    """Remarks on columns whose values are the labels under other names, or that have one exactly for some labels.

    Parameters
    ----------
    table : Table
    names : list of str
    y : array (n,), optional
        Labels.

    Examples
    --------
    >>> from abnet.data.tables.frames import as_table
    >>> table = as_table({"x": [1, 2, 3] * 8, "left": ["yes", "no"] * 12, "reason": ["rude", None] * 12})
    >>> for name, text in telling(table, ["x", "left", "reason"], [1, 0] * 12).items(): print(name, text)
    left has one value for each label in all 24 rows it was fitted on; if it is known only later, leave the column out
    reason has one value for each label in all 24 rows it was fitted on; if it is known only later, leave the column out
    """
    labels, codes = np.unique(np.asarray([] if y is None else y), return_inverse=True)
    if len(labels) < 2 or len(codes) < _ENOUGH or len(codes) != table.n_rows:
        return {}
    for n in _FIRST:  # most columns are spared the work
        names = [name for name in names if _said(_first(table.columns[name], n, name), codes[:n])]
    found = {name: said for name in names if (said := _said(table.cells(name).distinct(), codes))}
    later = f"in all {table.n_rows:,} rows it was fitted on; if it is known only later, leave the column out"
    return {name: f"{said} {later}" for name, said in found.items()}


def _first(column: Any, n: int, name: str) -> Distinct:
    cells = cells_of(column.iloc[:n] if hasattr(column, "iloc") else column[:n], name)
    return factorised([cells.cell(place) for place in range(len(cells))], name)


def _said(distinct: Distinct, codes: NDArray[np.intp]) -> str:
    gaps = np.array([is_missing(value) for value in distinct.values])
    values = np.where(gaps, len(gaps), np.arange(len(gaps)))  # all gaps are one value
    if _one_to_one(values[distinct.codes], codes):
        return "has one value for each label"
    if codes.max() <= 1 and _one_to_one(gaps[distinct.codes].astype(np.intp), codes):
        return "is empty exactly where the label is one of the two"
    return ""


def _one_to_one(values: NDArray[np.intp], codes: NDArray[np.intp]) -> bool:
    """Whether there are as many values as labels, and each stands beside one label only."""
    return len(np.unique(values)) == len(np.unique(codes)) == len(np.unique(values * (codes.max() + 1) + codes))
