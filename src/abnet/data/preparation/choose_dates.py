"""Columns of dates: the order of day and month, and what a fit learns of them."""

import numpy as np
from numpy.typing import NDArray

from abnet.data.preparation.chosen import Chosen, centre
from abnet.data.preparation.columns import YEAR, DateColumn
from abnet.data.tables.cells import is_missing, to_text
from abnet.data.tables.date_shapes import FORMS, read_dates
from abnet.data.tables.dates import ORDERS, Days, days_of
from abnet.data.tables.series import Cells, DateCells, DistinctCells

__all__ = ["MOSTLY", "choose_dates"]

MOSTLY = 0.9
"""Share of a column's values from which on the others are strays."""

FEW = 0.01
"""Share of the rows that may settle the order of day and month without being strays."""


def choose_dates(name: str, cells: Cells) -> Chosen | None:
    """A column of dates, fitted; None if too few of its values are dates.

    The order is the one in which most rows can be read: a number above 12 can be no month. Where both orders read as
    many, the day comes first. A remark says so where no more than one row in a hundred settles it.
    """
    if isinstance(cells, DateCells):
        return _fitted(name, cells, Days(cells.days(), {}), ORDERS[0], "dates by their type", [])
    if not isinstance(cells, DistinctCells) and not (read_dates(cells.sample()).form >= 0).any():
        return None
    dates = cells.dates()
    if dates is None or not (dates.written.form >= 0).any():
        return None
    form, open_order = dates.rows(dates.written.form), dates.rows(dates.written.open_order)
    orders = ORDERS if open_order.any() else ORDERS[:1]
    rows = {order: int(np.isfinite(dates.rows(dates.written.days(order))).sum()) for order in orders}
    order = max(orders, key=lambda candidate: rows[candidate])
    found = days_of(cells, dates, order)
    present = rows[order] + sum(found.strange.values())
    if rows[order] < MOSTLY * present:
        return None
    remarks = []
    settling = rows[order] - min(rows["day/month/year"], rows["month/day/year"]) if len(orders) > 1 else present
    if order != ORDERS[0] and settling <= FEW * present:
        place = int(np.argmax(open_order))
        told = f"only {settling} of {present} rows settle the order" if settling else "its values settle neither order"
        remarks.append(
            f"has dates such as {to_text(cells.cell(place))!r}, read as {order}, since {told}; if that is wrong, write "
            "them as year-month-day"
        )
    short = dates.rows(dates.written.short) & np.isfinite(found.x)
    if short.any():
        example = to_text(cells.cell(int(short.argmax())))
        remarks.append(
            f"has dates such as {example!r} with years of two digits, which are read as 1969 to 2068; if that is "
            "wrong, write all digits"
        )
    return _fitted(name, cells, found, order, _in_words(form[np.isfinite(found.x)], order), remarks)


def _in_words(forms: NDArray[np.int8], order: str) -> str:
    """How the dates are written, but for a few."""
    shares = np.bincount(forms, minlength=len(FORMS)) / len(forms)
    return " or ".join(
        _form_name(name, order) for name, share in zip(FORMS, shares, strict=True) if share >= 1 - MOSTLY
    )


def _form_name(name: str, order: str) -> str:
    if not name.startswith("two numbers"):
        return name
    return f"{order}, year in two digits" if name.endswith("two digits") else order


def _fitted(name: str, cells: Cells, found: Days, order: str, written: str, remarks: list[str]) -> Chosen:
    t, strange = found
    if strange:
        example, count = max(strange, key=lambda text: strange[text]), sum(strange.values())
        remarks = [
            *remarks,
            f"has {count} values that cannot be read as dates (such as {example!r}), and count as missing",
        ]
    numbers = centre(t)
    if numbers.constant:
        first = next(place for place in range(len(cells)) if not is_missing(cells.cell(place)))
        return Chosen(None, f"constant ({to_text(cells.cell(first))})")
    season = bool(np.nanmax(t) - np.nanmin(t) >= YEAR)
    kept = DateColumn(name, order, numbers.fill, numbers.mean, numbers.scale, season, numbers.indicator, written)
    return Chosen(kept, remarks=tuple(remarks))
