"""Infer how the numbers of a column are written: decimal mark, thousands, unit; or durations."""

import re
from dataclasses import dataclass

import numpy as np

from abnet.tables.cells import is_gap, is_missing
from abnet.tables.column_cells import Cells, DateCells, NumberCells
from abnet.tables.columns.numeric import NumericColumn, read_numbers
from abnet.tables.columns.rule_registry import Open
from abnet.tables.durations import seconds
from abnet.tables.number_forms import MARKED, PLAIN, THOUSANDS, NumberForm

__all__ = ["AmbiguousMark", "certain_decimal_mark", "infer_form", "unit_around"]

_POINT_CURRENCIES = ("$", "£", "US$", "USD", "GBP", "₹", "INR")
"""Currencies of countries that write a decimal point."""

_LEADING_ZERO = r"^[ \t]*[+-]?0[0-9]"
"""A number with a leading zero, such as 00123, is a code, and its column text."""

_ONE_GROUP = r"[ \t]*[+-]?[1-9][0-9]{0,2}\.[0-9]{3}[ \t]*"
"""A number such as 1.234, whose point may be a decimal one or one for thousands."""

_UP_TO_THREE_DIGITS = r"[ \t]*[+-]?[0-9]{1,3}[ \t]*"

_CERTAIN_FRACTION = r"^[ \t]*[+-]?(?:[0-9]*\.(?:[0-9]{1,2}|[0-9]{4,})|0?\.[0-9]+|[0-9]{4,}\.[0-9]+)[ \t]*$"
"""A number whose point can only be a decimal one."""

_BELOW_ONE = "(?:^|[^0-9.,])0[.,][0-9]"
"""A number such as 0.5: no group of thousands begins with zero, so its mark is a decimal one."""


@dataclass(frozen=True)
class AmbiguousMark(Open):
    """Numbers with a mark that may be a decimal one or one for thousands.

    Attributes
    ----------
    marked : str
        A cell with the mark.
    plain : str
        A cell without it; empty if there is none.
    """

    marked: str
    plain: str


def infer_form(cells: Cells, decimal: str) -> NumberForm | AmbiguousMark | None:
    """The form in which all cells that are not missing are numbers; None if there is none.

    Parameters
    ----------
    cells : Cells
    decimal : {"", ".", ","}
        The decimal mark, if the user has set it or other columns have decided it.
    """
    texts = cells.sample()
    if isinstance(cells, DateCells) or not texts:
        return None
    all_plain = all(PLAIN.read(text) is not None for text in texts)
    if all_plain and not cells.numbers(PLAIN).odd.any():
        return _plain_form(cells, decimal)
    return _marked_form(cells, texts, decimal)


def unit_around(text: str) -> tuple[str, str] | None:
    """The text before and after a number; None if there is no number.

    Examples
    --------
    >>> unit_around("€ 5"), unit_around("5 kg"), unit_around("five")
    (('€', ''), ('', 'kg'), None)
    """
    match = MARKED.fullmatch(text)
    if match is None:
        return None
    before = match["before"] or ""
    after = match["after"] or ""
    return before, after.rstrip()


# Numbers as programming languages write them


def _plain_form(cells: Cells, decimal: str) -> NumberForm | AmbiguousMark | None:
    """The form of cells that can all be read as plain numbers, unless they are codes, or have points for thousands."""
    if cells.any_match(_LEADING_ZERO):
        return None
    if decimal == "." or not cells.any_match(r"[0-9]\."):
        return PLAIN
    if decimal == ",":
        point_for_thousands = NumberForm(decimal=",", thousands=".")
        if cells.all_match(point_for_thousands.pattern) and not cells.any_match(_BELOW_ONE):
            return point_for_thousands
        return PLAIN
    if not _may_have_points_for_thousands(cells):
        return PLAIN
    texts = list(cells.counts())
    marked = next(text for text in texts if re.fullmatch(_ONE_GROUP, text))
    plain = next(text for text in texts if re.fullmatch(_UP_TO_THREE_DIGITS, text))
    return AmbiguousMark(marked, plain)


def _may_have_points_for_thousands(cells: Cells) -> bool:
    """Whether all numbers are such as 1.234 or 857, and some have no point.

    With a point in every cell, all numbers are fractions or all are thousands. One reading is 1,000 times the other,
    which scaling removes.
    """
    x = read_numbers(cells).x
    if np.any(np.abs(x) >= 1000) or np.any((np.abs(x) < 1) & (x != 0)):
        return False
    if not cells.all_match(f"{_ONE_GROUP}|{_UP_TO_THREE_DIGITS}"):
        return False
    return cells.any_match(f"^{_UP_TO_THREE_DIGITS}$")


# Numbers with marks


def _marked_form(cells: Cells, texts: list[str], decimal: str) -> NumberForm | AmbiguousMark | None:
    """The form of numbers with marks for thousands, a decimal comma, or a unit; or of durations."""
    units = {unit_around(text) for text in texts}
    unit = None
    if len(units) == 1:
        unit = units.pop()
    if unit is None:
        if _are_durations(cells, texts):
            return NumberForm(duration=True)
        return None
    fitting = _fitting_forms(cells, texts, decimal, unit)
    if not fitting:
        return None
    decimal_marks = {form.decimal for form in fitting}
    if len(decimal_marks) == 1 or not cells.any_match("[0-9][.,][0-9]"):
        return fitting[0]
    # With a mark in every cell, the two readings differ by a constant factor, which scaling removes.
    all_have_points = not cells.any_match("^[^.]*$")
    if unit[0] in _POINT_CURRENCIES or all_have_points:
        return next(form for form in fitting if form.decimal == ".")
    marked = next(text for text in cells.counts() if re.search("[0-9][.,][0-9]", text))
    without_mark = (text for text in cells.counts() if re.fullmatch("[^.,]*[0-9][^.,]*", text))
    return AmbiguousMark(marked, next(without_mark, ""))


def _fitting_forms(cells: Cells, texts: list[str], decimal: str, unit: tuple[str, str]) -> list[NumberForm]:
    """The forms with this unit in which all cells are numbers; `texts` are some of the cells."""
    before, after = unit
    fitting = []
    for form in _forms_with_unit(decimal, before, after):
        # The pattern of the plain form also fits "- 5", which is no plain number.
        if form.plain or not all(re.fullmatch(form.pattern, text) for text in texts):
            continue
        if cells.all_match(form.pattern):
            fitting.append(form)
    for mark in ",.":
        if fitting and cells.any_match(_BELOW_ONE.replace("[.,]", f"[{mark}]")):
            fitting = [form for form in fitting if form.decimal == mark]
    return fitting


def _forms_with_unit(decimal: str, before: str, after: str) -> list[NumberForm]:
    """All forms with a unit, for one decimal mark or for both."""
    return [
        NumberForm(mark, thousands, before, after)
        for mark in decimal or ".,"
        for thousands in THOUSANDS
        if thousands != mark
    ]


def _are_durations(cells: Cells, texts: list[str]) -> bool:
    """Whether all cells that are not missing are durations; `texts` are some of them."""
    if not all(seconds(text) is not None for text in texts):
        return False
    return all(seconds(text) is not None or is_missing(text) or is_gap(text) for text in cells.counts())


# What other columns can learn


def certain_decimal_mark(cells: Cells, column: NumericColumn) -> str:
    """The decimal mark that a column of numbers certainly has; empty if it is not certain."""
    form = column.form
    if isinstance(cells, NumberCells) or form.duration or form.brackets or form.limits:
        return ""
    if form.plain:
        if cells.any_match(_CERTAIN_FRACTION):
            return "."
        return ""
    other_mark = {".": ",", ",": "."}[form.decimal]
    other_form = NumberForm(other_mark, form.decimal, form.before, form.after)
    fits_other_form = cells.all_match(other_form.pattern) and not cells.any_match(_BELOW_ONE)
    if fits_other_form:
        return ""
    return form.decimal
