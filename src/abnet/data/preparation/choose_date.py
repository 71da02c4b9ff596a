"""Whether a column holds dates, and in which order their numbers stand."""

import numpy as np
import pandas as pd

from abnet.data.preparation.choice import MOSTLY, Choice, centre
from abnet.data.preparation.date_column import YEAR, DateColumn
from abnet.data.tables.cells import distinct, is_missing, to_text
from abnet.data.tables.dates import ORDERS, days, is_date_type, readable, written

__all__ = ["choose_date"]

FEW = 0.01
"""Share of the rows that may settle the order of day and month without being strays."""


def choose_date(name: str, column: pd.Series) -> Choice | None:
    """A column of dates, fitted; None if too few of its values are dates.

    The order is the one in which most rows can be read: a number above 12 can be no month. Where both orders read as
    many, the day comes first. A remark says so where no more than one row in a hundred settles it.
    """
    if is_date_type(column):
        return _fitted(name, column, ORDERS[0], [])
    codes, values = distinct(column)
    counts = np.bincount(codes, minlength=len(values)).tolist()
    cells = [written(value) for value in values]
    if not any(cells):
        return None
    orders = ORDERS if any(cell and not cell.settled for cell in cells) else ORDERS[:1]
    rows = {order: readable(cells, counts, order) for order in orders}
    order = max(orders, key=lambda candidate: rows[candidate])
    present = sum(count for value, count in zip(values, counts, strict=True) if not is_missing(value))
    if rows[order] < MOSTLY * present:
        return None
    remarks = []
    settling = rows[order] - min(rows["day/month/year"], rows["month/day/year"]) if len(orders) > 1 else present
    if order != ORDERS[0] and settling <= FEW * present:
        example = next(to_text(v) for v, cell in zip(values, cells, strict=True) if cell and not cell.settled)
        told = f"only {settling} of {present} rows settle the order" if settling else "its values settle neither order"
        remarks.append(
            f"dates such as {example!r} are read as {order}, since {told}; if that is wrong, write them as "
            "year-month-day"
        )
    return _fitted(name, column, order, remarks)


def _fitted(name: str, column: pd.Series, order: str, remarks: list[str]) -> Choice:
    t, strange = days(column, order)
    if strange:
        example, count = max(strange, key=lambda text: strange[text]), sum(strange.values())
        remarks = [
            *remarks,
            f"{count} of its values cannot be read as dates (such as {example!r}), and count as missing",
        ]
    numbers = centre(t)
    if numbers.constant:
        return Choice(None, f"constant ({to_text(column.iloc[0])})")
    season = bool(np.nanmax(t) - np.nanmin(t) >= YEAR)
    kept = DateColumn(name, order, numbers.fill, numbers.mean, numbers.scale, season, numbers.indicator)
    return Choice(kept, notice=f"column {name!r}: {'; '.join(remarks)}" if remarks else "")
