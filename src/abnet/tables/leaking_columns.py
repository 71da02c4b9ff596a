"""Detect columns that determine the label by themselves: often they are written after it, and new rows lack them."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln

from abnet.tables.cells import is_missing
from abnet.tables.column_cells import Distinct
from abnet.tables.columns.column import Column
from abnet.tables.columns.numeric import NumericColumn
from abnet.tables.notes import Note
from abnet.tables.table import Table, factorised

__all__ = ["leaking_columns"]

_FIRST_ROWS = 40
_MORE_ROWS = 1000
"""Rows that are checked first: hardly any column that does not leak passes them, and all rows are expensive."""

_FEWEST_ROWS = 20
"""With fewer rows, chance may be the reason."""

_VALUES_SURPRISE = 20
"""Uninformative values have one label each with probability e^-20 at most."""

_ORDER_SURPRISE = 12
"""Labels in random order do not overlap with probability e^-12 at most."""

_MOST_CUTS = 3
"""Cut points that a note lists."""


class _Target(NamedTuple):
    """The labels as codes 0 … K-1, and their number K."""

    codes: NDArray[np.intp]
    n_classes: int

    def first(self, n: int) -> "_Target":
        """The labels of the first rows."""
        return _Target.of(self.codes[:n])

    @classmethod
    def of(cls, labels: NDArray[Any]) -> "_Target":
        classes, codes = np.unique(labels, return_inverse=True)
        return cls(codes, len(classes))

    def shares(self) -> NDArray[np.float64]:
        """The fraction of the rows that have each label."""
        return np.bincount(self.codes) / len(self.codes)


def leaking_columns(table: Table, columns: Sequence[Column], y: Any) -> list[Note]:
    """Notes on columns that determine the label, one for each column at most.

    Parameters
    ----------
    table : Table
    columns : sequence of columns
    y : array (n,), optional
        Labels.

    Examples
    --------
    >>> from abnet.tables.columns import NumericColumn
    >>> from abnet.tables.table import as_table
    >>> table = as_table({"weeks": [*range(20, 36), *range(37, 45)], "age": [20, 50, 30] * 8})
    >>> columns = [NumericColumn(name, 0.0, 0.0, 1.0, False) for name in ("weeks", "age")]
    >>> [(note.code, note.columns, note.facts) for note in leaking_columns(table, columns, [1] * 16 + [0] * 8)]
    [('cut tells the label', ('weeks',), {'cut': '36'})]
    """
    if y is None:
        return []
    labels = np.asarray(y)
    if len(labels) < _FEWEST_ROWS or len(labels) != table.n_rows:
        return []
    target = _Target.of(labels)
    if target.n_classes < 2:
        return []
    notes: dict[tuple[str, ...], Note] = {}
    for find in (_with_values_of_one_label, _with_gaps_of_one_label, _with_labels_in_order):
        for note in find(table, columns, target):
            notes.setdefault(note.columns, note)
    return list(notes.values())


# Values that each occur with one label only


def _with_values_of_one_label(table: Table, columns: Sequence[Column], target: _Target) -> Iterator[Note]:
    """Notes on columns of which each value has one label only, or that have values exactly for some labels.

    Numbers may be genuine measurements, so they are noted only if they have as many values as there are labels.
    """
    for column in columns:
        is_text = column.takes not in ("number", "date")
        if not _passes_first_rows(table, column.name, target, is_text=is_text):
            continue
        distinct = table.cells(column.name).distinct()
        code = _code_of_values(distinct, target, is_text=is_text)
        if code is None or (code == "values tell the label" and _may_be_chance(distinct, target)):
            continue
        yield Note(code, (column.name,), table.n_rows, facts={"values": _n_different(_values(distinct))})


def _passes_first_rows(table: Table, name: str, target: _Target, *, is_text: bool) -> bool:
    """Whether a column may leak, by its first rows: at most 40, then at most 1,000."""
    for n in (_FIRST_ROWS, _MORE_ROWS):
        if _code_of_values(_first_cells(table, name, n), target.first(n), is_text=is_text) is None:
            return False
    return True


def _first_cells(table: Table, name: str, n: int) -> Distinct:
    """The first n cells, without reading the column."""
    cells = table.cells(name)
    return factorised([cells.cell(row) for row in range(min(n, len(cells)))], name)


def _code_of_values(distinct: Distinct, target: _Target, *, is_text: bool) -> str | None:
    """The code of the note on a column, as far as these rows show; None if it does not leak."""
    values = _values(distinct)
    each_has_one_label = _each_has_one_label(values, target)
    n_values = _n_different(values)
    if each_has_one_label and n_values == target.n_classes:
        return "one value per label"
    if target.n_classes <= 2:
        gaps = _gaps(distinct).astype(np.intp)
        if _each_has_one_label(gaps, target) and _n_different(gaps) == target.n_classes:
            return "gaps tell the label"
    if each_has_one_label and is_text:
        return "values tell the label"
    return None


def _values(distinct: Distinct) -> NDArray[np.intp]:
    """The value of every row as a code; all missing cells are one value."""
    return np.where(_gaps(distinct), len(distinct.values), distinct.codes)


def _gaps(distinct: Distinct) -> NDArray[np.bool_]:
    """Which rows have no value."""
    return distinct.lookup(is_missing)


def _n_different(values: NDArray[np.intp]) -> int:
    return len(np.unique(values))


def _each_has_one_label(values: NDArray[np.intp], target: _Target) -> bool:
    pairs = values * target.n_classes + target.codes
    return _n_different(values) == _n_different(pairs)


def _may_be_chance(distinct: Distinct, target: _Target) -> bool:
    """Whether uninformative values may each have one label.

    The probability is at most ``p^(rows - values)``, where p is the share of the most frequent label.
    """
    n_rows = len(target.codes)
    n_repeats = n_rows - _n_different(_values(distinct))
    return bool(-n_repeats * np.log(target.shares().max()) < _VALUES_SURPRISE)


# Missing cells, or values, in rows of one label only


def _with_gaps_of_one_label(table: Table, columns: Sequence[Column], target: _Target) -> Iterator[Note]:
    """Notes on columns that have values, or missing cells, in rows of one label only."""
    for column in columns:
        if f"{column.name} (missing)" not in column.features:
            continue
        first_gaps = _gaps(_first_cells(table, column.name, _MORE_ROWS))
        first = target.first(_MORE_ROWS)
        if _has_several_labels(first, first_gaps) and _has_several_labels(first, ~first_gaps):
            continue
        gaps = _gaps(table.cells(column.name).distinct())
        for code, rows in (("values of one label", ~gaps), ("gaps of one label", gaps)):
            if _have_one_label(target, rows):
                yield Note(code, (column.name,), int(rows.sum()))


def _has_several_labels(target: _Target, rows: NDArray[np.bool_]) -> bool:
    return _n_different(target.codes[rows]) > 1


def _have_one_label(target: _Target, rows: NDArray[np.bool_]) -> bool:
    """Whether rows have one label, and are so many that this is not by chance.

    Rows chosen at random all have a label of share p with probability ``p^rows``.
    """
    found = np.unique(target.codes[rows])
    if len(found) != 1:
        return False
    return bool(-rows.sum() * np.log(target.shares()[found[0]]) >= _VALUES_SURPRISE)


# Numbers and dates that put the labels in order


class _Span(NamedTuple):
    """The smallest and the largest number of a label."""

    low: float
    high: float


def _with_labels_in_order(table: Table, columns: Sequence[Column], target: _Target) -> Iterator[Note]:
    """Notes on numbers and dates by which the labels follow each other without overlap.

    By numbers, a cut then separates the labels, as the outcome does from which they were made. By dates, the labels
    follow each other in time, as time stamps of a sorted table do.
    """
    for column in columns:
        if column.takes not in ("number", "date"):
            continue
        x = column.raw(table)
        if x is None or _spans(x[:_MORE_ROWS], target.codes[:_MORE_ROWS]) is None:
            continue
        spans = _spans(x, target.codes)
        counts = np.bincount(target.codes[~np.isnan(x)], minlength=target.n_classes)
        if spans is None or not counts.all() or _order_surprise(counts) < _ORDER_SURPRISE:
            continue
        if column.takes == "date":
            yield Note("times tell the label", (column.name,), table.n_rows)
            continue
        offset = 0
        if isinstance(column, NumericColumn):
            offset = column.form.offset
        cuts = [(before.high + after.low) / 2 + offset for before, after in pairwise(spans)]
        yield Note("cut tells the label", (column.name,), table.n_rows, facts={"cut": _listed(cuts)})


def _spans(x: NDArray[np.float64], codes: NDArray[np.intp]) -> list[_Span] | None:
    """The span of each label that has numbers, in order; None if two spans overlap."""
    is_number = ~np.isnan(x)
    x = x[is_number]
    codes = codes[is_number]
    spans = []
    for code in np.unique(codes):
        own = x[codes == code]
        spans.append(_Span(float(own.min()), float(own.max())))
    spans.sort()
    if any(before.high >= after.low for before, after in pairwise(spans)):
        return None
    return spans


def _listed(cuts: Sequence[float]) -> str:
    shown = ", ".join(f"{cut:.10g}" for cut in cuts[:_MOST_CUTS])
    if len(cuts) > _MOST_CUTS:
        return f"{shown}, …"
    return shown


def _order_surprise(counts: ArrayLike) -> float:
    """Minus the logarithm of the probability that labels with these counts, in random order, do not overlap.

    Of the ``n!/(n_1! … n_K!)`` orders, K! have each label in one piece.

    Examples
    --------
    >>> round(float(np.exp(_order_surprise([2, 3]))))
    5
    """
    n = np.asarray(counts, np.float64)
    return float(gammaln(n.sum() + 1) - gammaln(n + 1).sum() - gammaln(len(n) + 1))
