"""Recognise and fit columns of dates."""

import numpy as np
from numpy.typing import NDArray

from abnet.tables.cells import is_gap, is_missing, to_text
from abnet.tables.column_cells import Cells, DateCells, Dates, DistinctCells, odd_texts
from abnet.tables.columns.column_options import ColumnOptions
from abnet.tables.columns.date import BY_TYPE, YEAR, DateColumn, day_text
from abnet.tables.columns.odd_cells import MOSTLY, gap_notes, most_frequent
from abnet.tables.columns.outliers import far_cells, far_notes
from abnet.tables.columns.rule_registry import Chosen, constant, rule
from abnet.tables.columns.scaling import fit_scaling
from abnet.tables.date_grammar import FORMS, read_dates
from abnet.tables.days import ORDERS, Days, days_of
from abnet.tables.notes import Note

_FEW = 0.01
"""If no larger share of the rows decides the order of day and month, a note says so: these rows may be mistakes."""

_LEAST_SHARE = 0.1
"""Forms of dates that fewer rows have are not mentioned."""


@rule(30, "dates")
def _dates(name: str, cells: Cells, options: ColumnOptions) -> Chosen | None:
    """Dates in nine of ten values or more, or a type of dates; the other cells count as missing."""
    if isinstance(cells, DateCells):
        return _fitted(name, cells, Days(cells.days(), {}), ORDERS[0], BY_TYPE, [])
    requested = options.requested_kind(name) == "dates"
    # Texts that are seldom repeated are only read if some of the first ones are dates.
    if not requested and not isinstance(cells, DistinctCells) and not _are_dates(read_dates(cells.sample()).form):
        return None
    dates = cells.dates()
    if dates is None or not _are_dates(dates.written.form):
        return None
    rows_by_order = _rows_by_order(dates)
    order = max(rows_by_order, key=lambda candidate: rows_by_order[candidate])
    found = days_of(cells, dates, order)
    n_dates = rows_by_order[order]
    n_present = n_dates + sum(found.odd.values())
    if n_dates == 0 or (not requested and n_dates < MOSTLY * n_present):
        return None
    missing_words = {text: rows for text, rows in odd_texts(cells, np.isnan(found.x)).items() if is_gap(text)}
    notes = gap_notes(name, missing_words)
    notes += _order_notes(name, cells, dates, rows_by_order, n_present)
    notes += _written_notes(name, cells, dates, found)
    forms = dates.rows(dates.written.form)[np.isfinite(found.x)]
    return _fitted(name, cells, found, order, _in_words(forms, order), notes)


def _are_dates(forms: NDArray[np.int8]) -> bool:
    return bool((forms >= 0).any())


def _rows_by_order(dates: Dates) -> dict[str, int]:
    """Number of rows that can be read in each order; the first order with the most rows is the best.

    A number above 12 is not a month. If no date leaves the order open, all orders are the same.
    """
    orders: tuple[str, ...] = ORDERS
    if not dates.rows(dates.written.open_order).any():
        orders = ORDERS[:1]
    rows = {}
    for order in orders:
        t = dates.rows(dates.written.days(order))
        rows[order] = int(np.isfinite(t).sum())
    return rows


def _fitted(name: str, cells: Cells, found: Days, order: str, written: str, notes: list[Note]) -> Chosen:
    """A column of dates; `notes` are those on how they are written."""
    t, odd = found
    far = far_cells(t)
    scaling = fit_scaling(t, far)
    if scaling.constant:
        present = (cells.cell(row) for row in range(len(cells)))
        first = next(cell for cell in present if not is_missing(cell))
        return constant(name, to_text(first))
    if odd:
        notes = [*notes, Note("odd date", (name,), sum(odd.values()), most_frequent(odd), {"form": ""})]
    spans_a_year = bool(np.nanmax(t) - np.nanmin(t) >= YEAR)
    column = DateColumn(
        name,
        order=order,
        fill=scaling.fill,
        mean=scaling.mean,
        scale=scaling.scale,
        season=spans_a_year,
        indicator=scaling.indicator,
        written=written,
    )
    return Chosen(column, (*notes, *far_notes(name, cells, far)))


# Notes


def _order_notes(name: str, cells: Cells, dates: Dates, rows_by_order: dict[str, int], n_present: int) -> list[Note]:
    """A note if few rows, or none, decide the order of day and month."""
    order = max(rows_by_order, key=lambda candidate: rows_by_order[candidate])
    if order == ORDERS[0]:
        return []
    _, day_first, month_first = ORDERS
    n_deciding = rows_by_order[order] - min(rows_by_order[day_first], rows_by_order[month_first])
    if n_deciding > _FEW * n_present:
        return []
    why = "its values settle neither order"
    if n_deciding:
        why = f"only {n_deciding} of {n_present} rows settle the order"
    open_order = dates.rows(dates.written.open_order)
    example = to_text(cells.cell(int(np.argmax(open_order))))
    return [Note("date order", (name,), example=example, facts={"order": order, "why": why})]


def _written_notes(name: str, cells: Cells, dates: Dates, found: Days) -> list[Note]:
    """Notes on years of two digits, and on dates without a day."""
    notes = []
    known = np.isfinite(found.x)
    has_short_year = dates.rows(dates.written.short) & known
    if has_short_year.any():
        row = int(has_short_year.argmax())
        example = to_text(cells.cell(row))
        notes.append(Note("short years", (name,), example=example, facts={"day": day_text(found.x[row])}))
    year_and_month = list(FORMS).index("year-month")
    has_no_day = (dates.rows(dates.written.form) == year_and_month) & known
    if has_no_day.any():
        example = to_text(cells.cell(int(has_no_day.argmax())))
        notes.append(Note("months", (name,), int(has_no_day.sum()), example))
    return notes


def _in_words(forms: NDArray[np.int8], order: str) -> str:
    """How most of the dates are written, given the place in `FORMS` of each."""
    shares = np.bincount(forms, minlength=len(FORMS)) / len(forms)
    names = [_form_name(form, order) for form, share in zip(FORMS, shares, strict=True) if share >= _LEAST_SHARE]
    return " or ".join(names)


def _form_name(form: str, order: str) -> str:
    """The name of a form, with the order of its numbers."""
    if not form.startswith("two numbers"):
        return form
    if form.endswith("two digits"):
        return f"{order}, year in two digits"
    return order
