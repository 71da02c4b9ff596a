"""Columns of dates as days since 1970-01-01."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from abnet.data.tables.cells import MISSING
from abnet.data.tables.series import Cells, DateCells, Dates, Distinct, DistinctCells, TextCells

__all__ = ["ORDERS", "Days", "days", "days_of", "unreadable"]

ORDERS = ("year-month-day", "day/month/year", "month/day/year")
"""What the numbers of a date stand for; a year of four digits that comes first, or a month's name, needs no order."""


class Days(NamedTuple):
    """Days since 1970-01-01 of every row, NaN where there is no date, and the rows of what is neither date nor gap."""

    x: NDArray[np.float64]
    strange: dict[str, int]


def days(cells: Cells, order: str) -> Days:
    """A column as days since 1970-01-01, with a fraction for the time of the day.

    Examples
    --------
    >>> from abnet.data.tables.frames import cells_of
    >>> days(cells_of(["1970-01-02", "1970-01-01 06:00", "soon", ""]), "year-month-day")
    Days(x=array([1.  , 0.25,  nan,  nan]), strange={'soon': 1})
    """
    if isinstance(cells, DateCells):
        return Days(cells.days(), {})
    return days_of(cells, cells.dates(), order)


def days_of(cells: Cells, dates: Dates | None, order: str) -> Days:
    """`days` of a column whose texts have been read."""
    x = np.full(len(cells), np.nan) if dates is None else dates.rows(dates.written.days(order))
    return Days(x, unreadable(cells, np.isnan(x)))


def unreadable(cells: Cells, wrong: NDArray[np.bool_]) -> dict[str, int]:
    """The rows of every text where something is wrong, those that are missing left out."""
    if not wrong.any():
        return {}
    if isinstance(cells, TextCells):
        rest: Cells = TextCells(cells.series.gather(np.flatnonzero(wrong)))
    else:
        codes, values = cells.distinct()
        rest = DistinctCells(Distinct(codes[wrong], values))
    return {text: count for text, count in rest.counts().items() if text.lower() not in MISSING}
