"""What each column of a table holds: the decision, and the numbers that its preparation needs."""

import re
from collections import Counter
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from abnet.data.preparation.columns import YEAR, BooleanColumn, Column, DateColumn, NumericColumn, TextColumn, numbers
from abnet.data.tables.cells import TRUTH, distinct, is_blank, is_missing, missing, to_number, to_numbers, to_text
from abnet.data.tables.dates import ORDERS, days, is_date_type, readable, written
from abnet.data.tables.error import TableError, row_name

__all__ = ["Choice", "choose"]

MOSTLY = 0.9
"""Share of a column's values from which on the others are strays."""

FEW = 0.01
"""Share of the rows that may settle the order of day and month without being strays."""

_RARE_LISTED = 1000  # beyond, a model file would carry a whole column of names or addresses
_CODE = re.compile(r"\n\s*[+-]?0[0-9]")
_COMMA = re.compile(r"[+-]?[0-9][0-9.]*,[0-9]+")


@dataclass(frozen=True)
class Choice:
    """A column kept (or None), why it was dropped if it was, and a remark for the user if there is one."""

    column: Column | None
    dropped: str = ""
    notice: str = ""


def choose(name: str, column: pd.Series, max_categories: int) -> Choice:
    """Decide the kind of a column and fit it, by the first of these rules that applies.

    1. No value at all: dropped.
    2. Only true/false or yes/no, or a boolean type: boolean.
    3. Only numbers: numeric. A number written with a leading zero, such as ``00123``, is a code, and its column text.
    4. Dates, nine in ten of the values or more, or a type of dates: date.
    5. Anything else: text. A text column whose values all differ (more than `max_categories` of them) is an identifier
       and dropped; a column of numbers with decimal commas is an error.

    Columns of one value are dropped, unless some cells are missing.
    """
    if is_missing(column.iloc[0]) and missing(column).all():
        return Choice(None, "no value in the rows it was fitted on")
    if pd.api.types.is_numeric_dtype(column.dtype) and not pd.api.types.is_bool_dtype(column.dtype):
        return _numeric(name, column)
    _, values = distinct(column)
    parsed = to_numbers(values)
    if None not in parsed and not _CODE.search("\n".join(["", *map(str, values)])):
        return _numeric(name, column)
    words = [value for value, number in zip(values, parsed, strict=True) if number is None]
    if all(number is None or np.isnan(number) for number in parsed) and all(map(_is_truth, words)):
        return _boolean(name, words, bool(missing(column).any()))
    return _date(name, column) or _text(name, column, max_categories)


def _is_truth(value: Any) -> bool:
    return to_text(value).lower() in TRUTH


def _numeric(name: str, column: pd.Series) -> Choice:
    found = _centre(numbers(column))
    if found.constant:
        return Choice(None, f"constant ({to_text(found.fill)})")
    return Choice(NumericColumn(name, *found))


def _boolean(name: str, present: list[Any], any_missing: bool) -> Choice:
    if len({TRUTH[to_text(value).lower()] for value in present}) == 1 and not any_missing:
        return Choice(None, f"constant ({to_text(present[0])})")
    return Choice(BooleanColumn(name, any_missing))


def _text(name: str, column: pd.Series, max_categories: int) -> Choice:
    codes, values = distinct(column)
    counts: Counter[str] = Counter()
    for value, count in zip(values, np.bincount(codes, minlength=len(values)).tolist(), strict=True):
        if count and not is_blank(value):
            counts[to_text(value)] += count
    blanks = len(column) - counts.total()
    _refuse_decimal_commas(name, column, counts)
    if len(counts) == 1 and not blanks:
        return Choice(None, f"constant ({next(iter(counts))})")
    if len(counts) == counts.total() > max_categories:
        return Choice(None, f"an identifier: all {len(counts)} values differ")
    ordered = sorted(counts, key=lambda category: (-counts[category], category))
    # The feature for the rare ones counts as a category, so that max_categories limits the width.
    kept = ordered if len(ordered) <= max_categories else ordered[: max_categories - 1]
    rare = ordered[len(kept) :]
    listed = tuple(sorted(rare)) if len(rare) <= _RARE_LISTED else None
    return Choice(TextColumn(name, tuple(sorted(kept)), listed, blanks > 0), notice=_nearly_numeric(name, counts))


def _refuse_decimal_commas(name: str, column: pd.Series, counts: Counter[str]) -> None:
    written = [text for text in counts if to_number(text) is None]
    if written and all(_COMMA.fullmatch(text) for text in written):
        first = int(np.argmax([to_text(value) == written[0] for value in column.tolist()]))
        raise TableError(
            f"column {name!r}, {row_name(column.index, first)}: numbers such as {written[0]!r} have a comma; "
            "write them with a decimal point, and without marks for thousands."
        )


def _nearly_numeric(name: str, counts: Counter[str]) -> str:
    """A remark on a column that a few stray words keep from being numeric."""
    words = {text: count for text, count in counts.items() if to_number(text) is None}
    if not words or sum(words.values()) > (1 - MOSTLY) * counts.total():
        return ""
    example = max(words, key=lambda text: words[text])
    return (
        f"column {name!r} is treated as text, since {sum(words.values())} of its {counts.total()} values are not "
        f"numbers (such as {example!r}); if it should be numeric, correct these cells or leave them empty"
    )


def _date(name: str, column: pd.Series) -> Choice | None:
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
    found = _centre(t)
    if found.constant:
        return Choice(None, f"constant ({to_text(column.iloc[0])})")
    season = bool(np.nanmax(t) - np.nanmin(t) >= YEAR)
    kept = DateColumn(name, order, found.fill, found.mean, found.scale, season, found.indicator)
    return Choice(kept, notice=f"column {name!r}: {'; '.join(remarks)}" if remarks else "")


class _Centre(NamedTuple):
    """Median, then mean and deviation with the median for missing values (None if all are equal); if any is missing."""

    fill: float
    mean: float
    scale: float | None
    indicator: bool

    @property
    def constant(self) -> bool:
        """Whether nothing varies, not even whether there is a value."""
        return self.scale is None and not self.indicator


def _centre(x: NDArray[np.float64]) -> _Centre:
    """What scaling and imputation need to know of numbers, NaN where missing.

    Examples
    --------
    >>> _centre(np.array([1.0, 3.0, np.nan]))
    _Centre(fill=2.0, mean=2.0, scale=0.816496580927726, indicator=True)
    """
    absent = np.isnan(x)
    fill = float(np.median(x[~absent]))
    filled = np.where(absent, fill, x)
    deviation = float(filled.std()) if filled.max() > filled.min() else 0.0
    return _Centre(fill, float(filled.mean()), deviation or None, bool(absent.any()))
