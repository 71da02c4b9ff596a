"""`Times`: when each row was recorded, for a split into past and future."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.tables.cells import is_blank, to_text
from abnet.tables.column_cells import Cells, DateCells, Dates, NumberCells
from abnet.tables.date_grammar import DAY
from abnet.tables.days import ORDERS
from abnet.tables.number_forms import PLAIN
from abnet.tables.table import cells_of
from abnet.tables.table_errors import TableError, quoted, row_name
from abnet.utils.wording import number_of, shortened

__all__ = ["Times", "read_times"]

_DAY_FIRST, _MONTH_FIRST = ORDERS[1:]

LONGEST_NAME = 40
"""Characters of a column's name in the words for its later rows."""


@dataclass(frozen=True, eq=False)
class Times:
    """When each row was recorded.

    Attributes
    ----------
    values : float array (n,)
        Days since 1970-01-01, or the numbers of the column.
    are_dates : bool
    name : str or None
        The column.
    """

    values: NDArray[np.float64]
    are_dates: bool
    name: str | None = None

    def __len__(self) -> int:
        return len(self.values)

    def after(self, latest: float) -> str:
        """The later rows, as the words that follow "rows".

        Examples
        --------
        >>> read_times(["2024-03-01", "2024-03-01 12:30"]).after(19783.0)
        'after 2024-03-01'
        >>> read_times([7, 8], "week").after(7.0)
        'with week after 7'
        """
        if self.are_dates:
            return f"after {_date_text(latest)}"
        name = shortened(" ".join((self.name or "time").split()), LONGEST_NAME)
        return f"with {name} after {to_text(latest)}"


def _date_text(days: float) -> str:
    """A date, with the time of the day unless it is midnight."""
    stamp = np.datetime64(round(days * DAY), "us")
    return str(stamp).removesuffix(".000000").removesuffix("T00:00:00").replace("T", " ")


def read_times(column: Any, name: str | None = None, *, index: Any = 0) -> Times:
    """Read a column of dates, time stamps or numbers; every row needs one.

    A row without a time belongs neither to the past nor to the future, so it is an error, as is a date such as
    03/04/2024 if no other date says which number is the month.

    Parameters
    ----------
    column : series, array or list (n,)
    name : str, optional
        The column's name, for messages.
    index
        Names of the rows, as for `abnet.tables.table_errors.row_name`.

    Examples
    --------
    >>> read_times(["2024-03-01", "1 April 2024 06:00"]).values.tolist()
    [19783.0, 19814.25]
    >>> read_times(["2024-03-01", "soon"], "seen")
    Traceback (most recent call last):
    abnet.tables.table_errors.TableError: time, column 'seen': 1 row without a readable time (data row 2: 'soon'). ...
    """
    if np.ndim(column) > 1:
        raise TableError(f"{_where(name)}: one time for each row is needed; got the shape {np.shape(column)}.")
    cells = cells_of(column, name or "")
    if isinstance(cells, DateCells):
        values = cells.days()
        are_dates = True
    elif isinstance(cells, NumberCells):
        values = cells.numbers(PLAIN).x
        are_dates = False
    else:
        values, are_dates = _written(cells, name)
    unreadable = np.flatnonzero(~np.isfinite(values))
    if len(unreadable):
        raise _without_time(cells, unreadable, name, index)
    return Times(values, are_dates, name)


def _written(cells: Cells, name: str | None) -> tuple[NDArray[np.float64], bool]:
    """Times from text or other cells, and whether they are dates; NaN where there is none."""
    numbers = cells.numbers(PLAIN).x
    dates = cells.dates()
    if dates is None:
        return numbers, False
    n_dates = int(np.sum(dates.rows(dates.written.form) >= 0))
    if n_dates <= np.sum(np.isfinite(numbers)):
        return numbers, False
    return dates.rows(dates.written.days(_order(dates, cells, name))), True


def _order(dates: Dates, cells: Cells, name: str | None) -> str:
    """The order of day and month in which more rows are dates."""
    open_order = dates.rows(dates.written.open_order)
    if not open_order.any():
        return ORDERS[0]
    day_first = dates.rows(dates.written.days(_DAY_FIRST))
    month_first = dates.rows(dates.written.days(_MONTH_FIRST))
    n_day_first = int(np.isfinite(day_first).sum())
    n_month_first = int(np.isfinite(month_first).sum())
    if n_day_first == n_month_first:
        example = quoted(cells.cell(int(np.argmax(open_order))))
        raise TableError(
            f"{_where(name)}: {example} may be day/month or month/day, and the rows settle neither. Write dates as "
            "year-month-day."
        )
    if n_day_first > n_month_first:
        return _DAY_FIRST
    return _MONTH_FIRST


def _without_time(cells: Cells, rows: NDArray[np.intp], name: str | None, index: Any) -> TableError:
    """The error for rows without a time; it names some of them with their cells."""
    named = []
    for row in rows[:5].tolist():
        cell = cells.cell(row)
        text = "empty"
        if not is_blank(cell):
            text = quoted(cell)
        named.append(f"{row_name(index, row)}: {text}")
    if len(rows) > 5:
        named.append("…")
    return TableError(
        f"{_where(name)}: {number_of(len(rows), 'row')} without a readable time ({', '.join(named)}). Every row needs "
        "a date, a time stamp or a number, because rows without one are neither past nor future: complete them, or "
        "leave these rows out."
    )


def _where(name: str | None) -> str:
    if name is None:
        return "time"
    return f"time, column {name!r}"
