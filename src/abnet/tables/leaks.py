"""Detect columns that determine the label by themselves: often they are written after it, and new rows lack them."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.tables.cells import is_missing
from abnet.tables.columns.column import Column
from abnet.tables.frames import Table, factorised
from abnet.tables.notes import Note
from abnet.tables.series import Distinct

__all__ = ["one_after_the_other", "telling"]

_FIRST = (40, 1000)  # rows looked at before all are
_ENOUGH = 20  # rows below which chance may do it
_NEVER = 20  # chance may give every value one label with probability e^-20 at the most


def telling(table: Table, columns: Sequence[Column], y: Any) -> list[Note]:
    """Notes on columns that determine the label by themselves: often they are written after it, and new rows lack them.

    Each value occurs with one label only, or values are present exactly for some labels. Numbers may be genuine
    measurements, so they are noted only if they have as many values as there are labels.

    Parameters
    ----------
    table : Table
    columns : sequence of columns
    y : array (n,), optional
        Labels.

    Examples
    --------
    >>> from abnet.tables.columns import BooleanColumn, TextColumn
    >>> from abnet.tables.frames import as_table
    >>> table = as_table({"left": ["yes", "no"] * 24, "why": ["old", "", "sold", ""] * 12})
    >>> columns = [BooleanColumn("left", False), TextColumn("why", ("old", "sold"), (), True)]
    >>> [(note.columns, note.code) for note in telling(table, columns, [1, 0] * 24)]
    [(('left',), 'one value per label'), (('why',), 'gaps tell the label')]
    """
    labels = np.asarray([] if y is None else y)
    if len(labels) < _ENOUGH or len(labels) != table.n_rows:
        return []
    texts = {column.name: column.takes not in ("number", "date") for column in columns}
    for n in _FIRST:  # most columns are spared the work
        texts = {name: text for name, text in texts.items() if _said(_first(table, name, n), labels[:n], text=text)}
    told = {name: _said(table.cells(name).distinct(), labels, text=text, all_rows=True) for name, text in texts.items()}
    n = table.n_rows
    return [Note(said[0], (name,), n, facts={"values": said[1]}) for name, said in told.items() if said is not None]


def _first(table: Table, name: str, n: int) -> Distinct:
    """The first cells of a column, taken one by one: of all of them none is looked at."""
    cells = table.cells(name)
    return factorised([cells.cell(place) for place in range(min(n, len(cells)))], name)


def _said(distinct: Distinct, labels: NDArray[Any], *, text: bool, all_rows: bool = False) -> tuple[str, int] | None:
    known, codes = np.unique(labels, return_inverse=True)
    gaps = np.array([is_missing(value) for value in distinct.values])
    values = np.where(gaps, len(gaps), np.arange(len(gaps)))[distinct.codes]  # all gaps are one value
    if all_rows and len(known) < 2:
        return None
    different = _decides(values, codes)
    if different == len(known):
        return "one value per label", different
    if len(known) <= 2 and _decides(gaps[distinct.codes].astype(np.intp), codes) == len(known):
        return "gaps tell the label", different
    if not different or not text:
        return None
    # Values without any say have one label each with probability at most p^(n - values), p the commonest label's share.
    share = np.bincount(codes).max() / len(codes)
    if all_rows and (len(codes) - different) * -np.log(share) < _NEVER:
        return None
    return "values tell the label", different


def _decides(values: NDArray[np.intp], codes: NDArray[np.intp]) -> int:
    """How many values there are if each stands beside one label only; else 0."""
    different = len(np.unique(values))
    return different if different == len(np.unique(values * (codes.max() + 1) + codes)) else 0


def one_after_the_other(table: Table, columns: Sequence[Column], y: Any) -> list[Note]:
    """Notes on dates by which the labels follow each other without overlap, as time stamps of a sorted table do.

    Examples
    --------
    >>> from abnet.tables.columns import DateColumn
    >>> from abnet.tables.frames import as_table
    >>> table = as_table({"written": [f"2020-01-{day:02}" for day in range(1, 29)]})
    >>> dates = DateColumn("written", "year-month-day", 0.0, 0.0, 1.0, False, False)
    >>> [note.code for note in one_after_the_other(table, [dates], [0] * 14 + [1] * 14)]
    ['times tell the label']
    """
    labels = np.asarray([] if y is None else y)
    if len(labels) < _ENOUGH or len(labels) != table.n_rows or len(known := np.unique(labels)) < 2:
        return []
    found = []
    for column in columns:
        t = column.raw(table) if column.takes == "date" else None
        if t is None:
            continue
        spans = sorted((np.nanmin(part), np.nanmax(part)) for label in known if _any(part := t[labels == label]))
        if len(spans) == len(known) and all(a[1] < b[0] for a, b in pairwise(spans)):
            found.append(Note("times tell the label", (column.name,), table.n_rows))
    return found


def _any(t: NDArray[np.float64]) -> bool:
    return bool(len(t)) and not bool(np.isnan(t).all())
