"""Columns of numbers: how they are written, whether they only count the rows, and what a fit learns of them."""

import re
from dataclasses import replace
from fractions import Fraction
from math import floor

import numpy as np
from numpy.typing import NDArray

from abnet.data.preparation.chosen import Chosen, Rules, Undecided, centre
from abnet.data.preparation.columns import NumericColumn, checked
from abnet.data.tables.cells import is_gap, is_missing, to_text
from abnet.data.tables.dates import unreadable
from abnet.data.tables.durations import seconds
from abnet.data.tables.frames import Table
from abnet.data.tables.number_form import BLANKS, PLAIN, THOUSANDS, NumberForm
from abnet.data.tables.series import Cells, DateCells, NumberCells, Numbers

__all__ = ["choose_numbers", "settled_mark", "unit_of"]

_CURRENCY = (
    r"(?:US|A|C|NZ|HK|S|R)?\$|[€£¥₹₩₽₺₫₴฿]|USD|EUR|GBP|CHF|JPY|CNY|INR|BRL|AUD|CAD|SEK|NOK|DKK|PLN|CZK|HUF|Rs\.?"
)

_PARTS = re.compile(
    rf"[+-]?{BLANKS}*(?P<before>{_CURRENCY})?{BLANKS}*[+-]?"
    rf"(?P<number>[0-9.,]+(?:(?:{BLANKS}|['’])[0-9.,]+)*(?:[eE][+-]?[0-9]+)?)"
    rf"{BLANKS}*(?P<after>[^0-9.,+\s-][^0-9]{{0,15}})?"
)
"""A number with marks of any sort, and the text around it; a unit has no digits, and codes such as A1 have no unit."""

_ENGLISH = ("$", "£", "US$", "USD", "GBP", "₹", "INR")
"""Currencies of countries that write a decimal point."""

_CODE = r"^[ \t]*[+-]?0[0-9]"
"""A number with a leading zero is a code, and its column text."""

_GROUP = r"[ \t]*[+-]?[1-9][0-9]{0,2}\.[0-9]{3}[ \t]*"
_WHOLE = r"[ \t]*[+-]?[0-9]{1,3}[ \t]*"
_FRACTION = r"^[ \t]*[+-]?(?:[0-9]*\.(?:[0-9]{1,2}|[0-9]{4,})|0?\.[0-9]+|[0-9]{4,}\.[0-9]+)[ \t]*$"

_ROOM = 12  # times the number of rows, for numbers that count the rows of a table of which a part is given
_NEVER = 7  # chance may keep them apart with probability e^-7 at the most


def choose_numbers(name: str, table: Table, cells: Cells, rules: Rules) -> Chosen | Undecided | None:
    """A column of numbers, fitted; None if it holds anything else."""
    if isinstance(cells, NumberCells):
        return _fitted(name, cells, PLAIN, checked(table, name, cells, cells.numbers(PLAIN)), rules)
    texts = cells.sample()
    if isinstance(cells, DateCells) or not texts:
        return None
    if all(PLAIN.read(text) is not None for text in texts):
        plain = cells.numbers(PLAIN)
        if not plain.strange.any():
            return _plain(name, table, cells, plain, rules)
    form = _marked_form(cells, texts, rules.decimal)
    if form is None or isinstance(form, Undecided):
        return form
    return _fitted(name, cells, form, checked(table, name, cells, cells.numbers(form)), rules, _shown(texts, form))


def _plain(name: str, table: Table, cells: Cells, found: Numbers, rules: Rules) -> Chosen | Undecided | None:
    """Numbers as programming languages write them, unless their points are for thousands, or they are codes."""
    if cells.any_match(_CODE):
        return None
    x = checked(table, name, cells, found)
    if rules.decimal == "." or not cells.any_match(r"[0-9]\."):
        return _fitted(name, cells, PLAIN, x, rules)
    thousands = NumberForm(",", ".")
    if rules.decimal == ",":
        if not cells.all_match(thousands.pattern):
            return _fitted(name, cells, PLAIN, x, rules, ("has numbers with a point that can only be decimal",))
        numbers = checked(table, name, cells, cells.numbers(thousands))
        return _fitted(name, cells, thousands, numbers, rules, _shown(cells.sample(), thousands))
    sure = np.any(np.abs(x) >= 1000) or np.any((np.abs(x) < 1) & (x != 0))
    if sure or not cells.all_match(f"{_GROUP}|{_WHOLE}") or not cells.any_match(f"^{_WHOLE}$"):
        return _fitted(name, cells, PLAIN, x, rules)
    texts = list(cells.counts())
    marked = next(text for text in texts if re.fullmatch(_GROUP, text))
    return Undecided(marked, next(text for text in texts if re.fullmatch(_WHOLE, text)))


def _marked_form(cells: Cells, texts: list[str], decimal: str) -> NumberForm | Undecided | None:
    """The form of numbers with marks for thousands, a decimal comma, or a unit; durations."""
    units = {(match["before"] or "", match["after"] or "") if (match := _PARTS.fullmatch(t)) else None for t in texts}
    unit = units.pop() if len(units) == 1 else None
    if unit is None:
        return NumberForm(duration=True) if _all_durations(cells, texts) else None
    candidates = [
        NumberForm(mark, group, unit[0], unit[1].rstrip())
        for mark in (decimal or ".,")
        for group in THOUSANDS
        if group != mark
    ]
    candidates = [form for form in candidates if all(re.fullmatch(form.pattern, text) for text in texts)]
    fitting = [form for form in candidates if cells.all_match(form.pattern)]
    if len({form.decimal for form in fitting}) < 2 or not cells.any_match("[0-9][.,][0-9]"):
        return fitting[0] if fitting else None
    point = next(form for form in fitting if form.decimal == ".")
    # With a point in every cell, all are fractions or all are thousands: one is 1,000 times the other, and no matter.
    if unit[0] in _ENGLISH or not cells.any_match("^[^.]*$"):
        return point
    marked = next(text for text in cells.counts() if re.search("[0-9][.,][0-9]", text))
    bare = (text for text in cells.counts() if re.fullmatch("[^.,]*[0-9][^.,]*", text))
    return Undecided(marked, next(bare, marked))


def unit_of(text: str) -> str:
    """The unit of a number; empty where there is none, or no number."""
    match = _PARTS.fullmatch(text)
    return "" if match is None else match["before"] or (match["after"] or "").rstrip()


def _all_durations(cells: Cells, texts: list[str]) -> bool:
    if not all(seconds(text) is not None for text in texts):
        return False
    return all(seconds(text) is not None or is_missing(text) or is_gap(text) for text in cells.counts())


def _shown(texts: list[str], form: NumberForm) -> tuple[str, ...]:
    """A remark on numbers that are not written plainly, with the longest of some examples."""
    example = max(texts, key=len)
    return (f"has numbers written as {example!r}, read as {form.read(example):.15g}{' seconds' * form.duration}",)


def _fitted(
    name: str, cells: Cells, form: NumberForm, x: NDArray[np.float64], rules: Rules, remarks: tuple[str, ...] = ()
) -> Chosen:
    low, high = np.nanmin(x), np.nanmax(x)
    if max(-low, high) > 2**53 and high - low <= 2**53:
        form = _with_offset(cells, x, form)
        x = cells.numbers(form).x
    gaps = unreadable(cells, np.isnan(x)) if not isinstance(cells, NumberCells) else {}
    if gaps:
        said = " or ".join(repr(word) for word in sorted(gaps, key=lambda word: (-gaps[word], word))[:3])
        remarks = (*remarks, f"has {sum(gaps.values())} cells such as {said}, which count as missing")
    found = centre(x)
    if found.constant:
        return Chosen(None, f"constant ({to_text(found.fill + form.offset)})")
    if name not in rules.use and _counts_rows(x):
        return Chosen(None, f"whole numbers that never repeat, as if they counted the rows; use={name!r} takes it in")
    return Chosen(NumericColumn(name, *found, form), remarks=remarks)


def _with_offset(cells: Cells, x: NDArray[np.float64], form: NumberForm) -> NumberForm:
    """The form with a whole number near the smallest one as offset, so that differences survive the rounding."""
    cell = cells.cell(int(np.nanargmin(x)))
    return replace(form, offset=floor(Fraction(form.plain_text(cell) or 0) if isinstance(cell, str) else cell))


def _counts_rows(x: NDArray[np.float64]) -> bool:
    """Whether whole numbers never repeat though there is little room, as chance would have it.

    n draws from R values are all different with probability about ``exp(-n² / 2R)``. A part of the rows of a table has
    a part of the numbers 1, 2, 3, …, so that the range may be some times the number of rows.
    """
    n, room = len(x), float(x.max() - x.min()) + 1  # NaN if a value is missing
    if not (room <= _ROOM * n and n * n >= 2 * _NEVER * room) or np.any(x != np.rint(x)):
        return False
    return len(np.unique(x)) == n


def settled_mark(cells: Cells, column: NumericColumn) -> str:
    """The decimal mark that a column of numbers shows beyond doubt; empty where it shows none."""
    form = column.form
    if isinstance(cells, NumberCells) or form.duration:
        return ""
    if form.plain:
        return "." if cells.any_match(_FRACTION) else ""
    other = NumberForm("." if form.decimal == "," else ",", form.decimal, form.before, form.after)
    return "" if cells.all_match(other.pattern) else form.decimal
