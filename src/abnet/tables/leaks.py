"""Detect columns that determine the label by themselves: often they are written after it, and new rows lack them."""

from collections.abc import Iterator, Sequence
from itertools import chain, pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln

from abnet.tables.cells import is_missing
from abnet.tables.columns.column import Column
from abnet.tables.columns.numeric import NumericColumn
from abnet.tables.frames import Table, factorised
from abnet.tables.notes import Note
from abnet.tables.series import Distinct

__all__ = ["leaks"]

_FIRST = (40, 1000)  # rows looked at before all are
_ENOUGH = 20  # rows below which chance may do it
_NEVER = 20  # chance may give every value one label with probability e^-20 at the most
_SORTED = 12  # chance may put the labels one after the other with probability e^-12 at the most
_MOST_CUTS = 3  # that a note lists


def leaks(table: Table, columns: Sequence[Column], y: Any) -> list[Note]:
    """Notes on columns that determine the label, one for each column at the most.

    Parameters
    ----------
    table : Table
    columns : sequence of columns
    y : array (n,), optional
        Labels.

    Examples
    --------
    >>> from abnet.tables.columns import NumericColumn
    >>> from abnet.tables.frames import as_table
    >>> table = as_table({"weeks": [*range(20, 36), *range(37, 45)], "age": [20, 50, 30] * 8})
    >>> columns = [NumericColumn(name, 0.0, 0.0, 1.0, False) for name in ("weeks", "age")]
    >>> [(note.code, note.columns, note.facts) for note in leaks(table, columns, [1] * 16 + [0] * 8)]
    [('cut tells the label', ('weeks',), {'cut': '36'})]
    """
    labels = np.asarray([] if y is None else y)
    if len(labels) < _ENOUGH or len(labels) != table.n_rows:
        return []
    found: dict[tuple[str, ...], Note] = {}
    for note in chain(*(find(table, columns, labels) for find in (_telling, _one_sided, _in_order))):
        found.setdefault(note.columns, note)
    return list(found.values())


def _telling(table: Table, columns: Sequence[Column], labels: NDArray[Any]) -> list[Note]:
    """Notes on columns of which each value has one label only, or that have values exactly for some labels.

    Numbers may be genuine measurements, so they are noted only if they have as many values as there are labels.
    """
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
    values = np.where(gaps := _gaps(distinct), len(distinct.values), distinct.codes)  # all gaps are one value
    if all_rows and len(known) < 2:
        return None
    different = _decides(values, codes)
    if different == len(known):
        return "one value per label", different
    if len(known) <= 2 and _decides(gaps.astype(np.intp), codes) == len(known):
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


def _one_sided(table: Table, columns: Sequence[Column], labels: NDArray[Any]) -> Iterator[Note]:
    """Notes on columns that have values, or gaps, in rows of one label only."""
    known, codes = np.unique(labels, return_inverse=True)
    shares = np.bincount(codes) / len(codes)
    for column in columns:
        if f"{column.name} (missing)" not in column.features:
            continue
        first = _gaps(_first(table, column.name, _FIRST[-1]))
        if min(len(np.unique(codes[: len(first)][part])) for part in (first, ~first)) > 1:
            continue  # most columns are spared the work
        gaps = _gaps(table.cells(column.name).distinct())
        for code, part in (("values of one label", ~gaps), ("gaps of one label", gaps)):
            found = np.unique(codes[part])
            # Rows without any say all have this label with probability at most p^rows, p its share.
            if len(found) == 1 and len(known) > 1 and -part.sum() * np.log(shares[found[0]]) >= _NEVER:
                yield Note(code, (column.name,), int(part.sum()))


def _gaps(distinct: Distinct) -> NDArray[np.bool_]:
    return np.array([is_missing(value) for value in distinct.values])[distinct.codes]


def _in_order(table: Table, columns: Sequence[Column], labels: NDArray[Any]) -> Iterator[Note]:
    """Notes on numbers and dates by which the labels follow each other without overlap.

    By numbers, a cut then separates the labels, as the outcome does from which they were made. By dates, the labels
    follow each other in time, as time stamps of a sorted table do.
    """
    known, codes = np.unique(labels, return_inverse=True)
    for column in columns:
        x = column.raw(table) if column.takes in ("number", "date") else None
        if x is None or _spans(x[: _FIRST[-1]], codes[: _FIRST[-1]]) is None:
            continue  # most columns are spared the work
        counts, spans = np.bincount(codes[~np.isnan(x)], minlength=len(known)), _spans(x, codes)
        if spans is None or len(known) < 2 or not counts.all() or _surprise(counts) < _SORTED:
            continue
        if column.takes == "date":
            yield Note("times tell the label", (column.name,), table.n_rows)
            continue
        offset = column.form.offset if isinstance(column, NumericColumn) else 0
        cuts = [(a[1] + b[0]) / 2 + offset for a, b in pairwise(spans)]
        yield Note("cut tells the label", (column.name,), table.n_rows, facts={"cut": _listed(cuts)})


def _spans(x: NDArray[np.float64], codes: NDArray[np.intp]) -> list[tuple[float, float]] | None:
    """Least and largest number of each label that has any, in order; None if two labels overlap."""
    x, codes = x[~np.isnan(x)], codes[~np.isnan(x)]
    parts = (x[codes == code] for code in np.unique(codes))
    spans = sorted((float(part.min()), float(part.max())) for part in parts)
    return None if any(a[1] >= b[0] for a, b in pairwise(spans)) else spans


def _listed(cuts: Sequence[float]) -> str:
    return ", ".join(f"{cut:.10g}" for cut in cuts[:_MOST_CUTS]) + ", …" * (len(cuts) > _MOST_CUTS)


def _surprise(counts: ArrayLike) -> float:
    """Minus the logarithm of the probability that labels with these counts, in random order, do not overlap.

    Examples
    --------
    >>> round(float(np.exp(_surprise([2, 3]))))
    5
    """
    several = np.asarray(counts, np.float64)
    return float(gammaln(several.sum() + 1) - gammaln(several + 1).sum() - gammaln(len(several) + 1))
