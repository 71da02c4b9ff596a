"""Columns of dates as days since 1970-01-01."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from abnet.tables.cells import is_gap
from abnet.tables.column_cells import Cells, DateCells, Dates, odd_texts

__all__ = ["ORDERS", "Days", "days", "days_of"]

ORDERS = ("year-month-day", "day/month/year", "month/day/year")
"""What the numbers of a date stand for; a year of four digits that comes first, or a month's name, needs no order."""


class Days(NamedTuple):
    """Days since 1970-01-01 of every row, NaN if there is no date, and the rows of texts that are no date."""

    x: NDArray[np.float64]
    odd: dict[str, int]


def days(cells: Cells, order: str) -> Days:
    """A column as days since 1970-01-01, with a fraction for the time of the day.

    Examples
    --------
    >>> from abnet.tables.table import cells_of
    >>> days(cells_of(["1970-01-02", "1970-01-01 06:00", "soon", ""]), "year-month-day")
    Days(x=array([1.  , 0.25,  nan,  nan]), odd={'soon': 1})
    """
    if isinstance(cells, DateCells):
        return Days(cells.days(), {})
    return days_of(cells, cells.dates(), order)


def days_of(cells: Cells, dates: Dates | None, order: str) -> Days:
    """`days` of a column whose texts have been read."""
    if dates is None:
        x = np.full(len(cells), np.nan)
    else:
        x = dates.rows(dates.written.days(order))
    odd = odd_texts(cells, np.isnan(x))
    return Days(x, {text: count for text, count in odd.items() if not is_gap(text)})
