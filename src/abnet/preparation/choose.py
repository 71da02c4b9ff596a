"""What each column of a table holds, how it is written, and the numbers that its preparation needs."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import floor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.errors import NamesParameters, Parameter
from abnet.preparation.columns import (
    YEAR,
    BooleanColumn,
    DateColumn,
    NumericColumn,
    Rules,
    TextColumn,
    centre,
    checked,
)
from abnet.preparation.many_texts import Chosen, ManyTexts, many_texts, settle_texts
from abnet.preparation.row_names import NEARLY_ALL, is_row_name, names_rows
from abnet.preparation.words import common_words
from abnet.tables.cells import (
    BLANK,
    MARKED,
    MISSING,
    PLAIN,
    THOUSANDS,
    TRUTH,
    NumberForm,
    TableError,
    is_gap,
    is_missing,
    quoted,
    seconds,
    to_text,
)
from abnet.tables.csv_files import UNNAMED
from abnet.tables.date_shapes import FORMS, read_dates
from abnet.tables.doubts import perhaps_no_text
from abnet.tables.frames import Table
from abnet.tables.series import (
    ORDERS,
    Cells,
    DateCells,
    Days,
    DistinctCells,
    NumberCells,
    Numbers,
    days_of,
    unreadable,
)
from abnet.threads import mapped, threads_for
from abnet.words import number_of

__all__ = ["DecimalMarkError", "choose_all", "choose_dates", "choose_numbers", "settled_mark"]


@dataclass(frozen=True)
class Undecided:
    """Numbers with a mark that may be the decimal one or one for thousands: such a cell, and one without, if any."""

    marked: str
    plain: str


_ENGLISH = ("$", "£", "US$", "USD", "GBP", "₹", "INR")
"""Currencies of countries that write a decimal point."""
_CODE = r"^[ \t]*[+-]?0[0-9]"
"""A number with a leading zero is a code, and its column text."""
_GROUP = r"[ \t]*[+-]?[1-9][0-9]{0,2}\.[0-9]{3}[ \t]*"
_WHOLE = r"[ \t]*[+-]?[0-9]{1,3}[ \t]*"
_FRACTION = r"^[ \t]*[+-]?(?:[0-9]*\.(?:[0-9]{1,2}|[0-9]{4,})|0?\.[0-9]+|[0-9]{4,}\.[0-9]+)[ \t]*$"
_BELOW_ONE = "(?:^|[^0-9.,])0[.,][0-9]"


def choose_numbers(name: str, table: Table, cells: Cells, rules: Rules) -> Chosen | Undecided | None:
    """A column of numbers, fitted; None if it holds anything else."""
    if isinstance(cells, NumberCells):
        return _fitted_numbers(name, cells, PLAIN, checked(table, name, cells, cells.numbers(PLAIN)), rules)
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
    return _fitted_numbers(
        name, cells, form, checked(table, name, cells, cells.numbers(form)), rules, _shown(texts, form)
    )


def _plain(name: str, table: Table, cells: Cells, found: Numbers, rules: Rules) -> Chosen | Undecided | None:
    """Numbers as programming languages write them, unless their points are for thousands, or they are codes."""
    if cells.any_match(_CODE):
        return None
    x = checked(table, name, cells, found)
    if rules.decimal == "." or not cells.any_match(r"[0-9]\."):
        return _fitted_numbers(name, cells, PLAIN, x, rules)
    thousands = NumberForm(",", ".")
    if rules.decimal == ",":
        if not cells.all_match(thousands.pattern) or cells.any_match(_BELOW_ONE):
            return _fitted_numbers(name, cells, PLAIN, x, rules, ("has numbers with a point that can only be decimal",))
        numbers = checked(table, name, cells, cells.numbers(thousands))
        return _fitted_numbers(name, cells, thousands, numbers, rules, _shown(cells.sample(), thousands))
    sure = np.any(np.abs(x) >= 1000) or np.any((np.abs(x) < 1) & (x != 0))
    if sure or not cells.all_match(f"{_GROUP}|{_WHOLE}") or not cells.any_match(f"^{_WHOLE}$"):
        return _fitted_numbers(name, cells, PLAIN, x, rules)
    texts = list(cells.counts())
    marked = next(text for text in texts if re.fullmatch(_GROUP, text))
    return Undecided(marked, next(text for text in texts if re.fullmatch(_WHOLE, text)))


def _marked_form(cells: Cells, texts: list[str], decimal: str) -> NumberForm | Undecided | None:
    """The form of numbers with marks for thousands, a decimal comma, or a unit; durations."""
    units = {(match["before"] or "", match["after"] or "") if (match := MARKED.fullmatch(t)) else None for t in texts}
    unit = units.pop() if len(units) == 1 else None
    if unit is None:
        return NumberForm(duration=True) if _all_durations(cells, texts) else None
    candidates = [
        NumberForm(mark, group, unit[0], unit[1].rstrip())
        for mark in (decimal or ".,")
        for group in THOUSANDS
        if group != mark
    ]
    # What the plain form reads is plain, and "- 5" is not.
    candidates = [form for form in candidates if not form.plain]
    candidates = [form for form in candidates if all(re.fullmatch(form.pattern, text) for text in texts)]
    fitting = [form for form in candidates if cells.all_match(form.pattern)]
    for mark in ",.":  # no group of thousands begins with zero
        if fitting and cells.any_match(_BELOW_ONE.replace("[.,]", f"[{mark}]")):
            fitting = [form for form in fitting if form.decimal == mark]
    if len({form.decimal for form in fitting}) < 2 or not cells.any_match("[0-9][.,][0-9]"):
        return fitting[0] if fitting else None
    point = next(form for form in fitting if form.decimal == ".")
    # With a point in every cell, all are fractions or all are thousands: one is 1,000 times the other, and no matter.
    if unit[0] in _ENGLISH or not cells.any_match("^[^.]*$"):
        return point
    marked = next(text for text in cells.counts() if re.search("[0-9][.,][0-9]", text))
    bare = (text for text in cells.counts() if re.fullmatch("[^.,]*[0-9][^.,]*", text))
    return Undecided(marked, next(bare, ""))


def _all_durations(cells: Cells, texts: list[str]) -> bool:
    if not all(seconds(text) is not None for text in texts):
        return False
    return all(seconds(text) is not None or is_missing(text) or is_gap(text) for text in cells.counts())


def _shown(texts: list[str], form: NumberForm) -> tuple[str, ...]:
    """A remark on numbers that are not written plainly, with the longest of some examples."""
    example = max(texts, key=len)
    return (f"has numbers written as {example!r}, read as {form.read(example):.15g}{' seconds' * form.duration}",)


def _fitted_numbers(
    name: str, cells: Cells, form: NumberForm, x: NDArray[np.float64], rules: Rules, remarks: tuple[str, ...] = ()
) -> Chosen:
    low, high = np.nanmin(x), np.nanmax(x)
    if max(-low, high) > 2**53 and high - low <= 2**53:
        form = _with_offset(cells, x, form)
        x = cells.numbers(form).x
    gaps = unreadable(cells, np.isnan(x)) if not isinstance(cells, NumberCells) else {}
    if gaps:
        remarks = (*remarks, _gap_remark(gaps))
    found = centre(x)
    if found.constant:
        return Chosen(None, f"constant ({to_text(found.fill + form.offset)})")
    naming, perhaps = ("", "") if name in rules.use else names_rows(name, x)
    if naming:
        return Chosen(None, f"{naming}; use={name!r} takes it in")
    remarks = (*remarks, perhaps) if perhaps else remarks
    return Chosen(NumericColumn(name, *found, form), remarks=remarks)


def _with_offset(cells: Cells, x: NDArray[np.float64], form: NumberForm) -> NumberForm:
    """The form with a whole number near the smallest one as offset, so that differences survive the rounding."""
    cell = cells.cell(int(np.nanargmin(x)))
    return replace(form, offset=floor(Fraction(form.plain_text(cell) or 0) if isinstance(cell, str) else cell))


def settled_mark(cells: Cells, column: NumericColumn) -> str:
    """The decimal mark that a column of numbers shows beyond doubt; empty where it shows none."""
    form = column.form
    if isinstance(cells, NumberCells) or form.duration:
        return ""
    if form.plain:
        return "." if cells.any_match(_FRACTION) else ""
    other = NumberForm("." if form.decimal == "," else ",", form.decimal, form.before, form.after)
    return "" if cells.all_match(other.pattern) and not cells.any_match(_BELOW_ONE) else form.decimal


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
        return _fitted_dates(name, cells, Days(cells.days(), {}), ORDERS[0], "dates by their type", [])
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
    remarks = _date_gaps(cells, found)
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
        place = int(short.argmax())
        example, day = to_text(cells.cell(place)), np.datetime64(int(np.floor(found.x[place])), "D")
        remarks.append(
            f"has dates such as {example!r} with years of two digits, which are read as 1969 to 2068 (this one as "
            f"{day}); if that is wrong, write all digits"
        )
    return _fitted_dates(name, cells, found, order, _in_words(form[np.isfinite(found.x)], order), remarks)


def _date_gaps(cells: Cells, found: Days) -> list[str]:
    """A remark on words for missing values among dates."""
    gaps = {text: count for text, count in unreadable(cells, np.isnan(found.x)).items() if is_gap(text)}
    return [_gap_remark(gaps)] if gaps else []


def _gap_remark(gaps: Mapping[str, int]) -> str:
    said = " or ".join(repr(word) for word in sorted(gaps, key=lambda word: (-gaps[word], word))[:3])
    return f"has {number_of(sum(gaps.values()), 'cell')} such as {said}, taken as missing"


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


def _fitted_dates(name: str, cells: Cells, found: Days, order: str, written: str, remarks: list[str]) -> Chosen:
    t, strange = found
    if strange:
        example, count = max(strange, key=lambda text: strange[text]), sum(strange.values())
        remarks = [
            *remarks,
            f"has {number_of(count, 'value')} that cannot be read as a date (such as {quoted(example)}), taken as "
            "missing",
        ]
    numbers = centre(t)
    if numbers.constant:
        first = next(place for place in range(len(cells)) if not is_missing(cells.cell(place)))
        return Chosen(None, f"constant ({to_text(cells.cell(first))})")
    season = bool(np.nanmax(t) - np.nanmin(t) >= YEAR)
    kept = DateColumn(name, order, numbers.fill, numbers.mean, numbers.scale, season, numbers.indicator, written)
    return Chosen(kept, remarks=tuple(remarks))


class DecimalMarkError(NamesParameters, TableError):
    """Numbers whose marks can be read in two ways."""


def choose_all(table: Table, rules: Rules, y: Any = None) -> dict[str, Chosen]:
    """The decisions on all columns.

    Numbers in which a mark may be the decimal one or one for thousands are read as the other columns are written; where
    these do not tell either, that is an error which asks for `decimal`. What becomes of text with many values is
    decided last, by the labels `y`.
    """
    choices = mapped(lambda name: _choose(name, table, rules), table.columns, threads_for(table.n_rows))
    found = dict(zip(table.columns, choices, strict=True))
    undecided = {name: choice for name, choice in found.items() if isinstance(choice, Undecided)}
    chosen = {name: choice for name, choice in found.items() if isinstance(choice, Chosen)}
    marks = _marks(table, chosen) if undecided else set()
    for name, doubt in undecided.items():
        if len(marks) != 1:
            beside = f" beside {doubt.plain!r}" if doubt.plain else ""
            raise DecimalMarkError(
                "column {!r}: numbers such as {!r}{} may have a decimal mark or one for thousands, and no "
                "other column tells; say which mark is the decimal one with {} or {}.",
                name, doubt.marked, beside, Parameter("decimal", "comma"), Parameter("decimal", "point"),
            )  # fmt: skip
        settled = _choose(name, table, replace(rules, decimal=next(iter(marks))))
        assert isinstance(settled, Chosen)  # with the mark given, nothing is undecided
        word = {".": "point", ",": "comma"}[next(iter(marks))]
        remark = f"has numbers such as {doubt.marked!r}, read with a decimal {word} as those of other columns are"
        chosen[name] = replace(settled, remarks=(remark, *settled.remarks))
    if many := [choice for choice in found.values() if isinstance(choice, ManyTexts)]:
        chosen |= settle_texts(many, [choice.column for choice in chosen.values() if choice.column], table, y)
    return {name: chosen[name] for name in table.columns}


def _marks(table: Table, chosen: Mapping[str, Chosen]) -> set[str]:
    """The decimal marks that columns show beyond doubt."""
    columns = [choice.column for choice in chosen.values() if isinstance(choice.column, NumericColumn)]
    return {settled_mark(table.cells(column.name), column) for column in columns} - {""}


def _choose(name: str, table: Table, rules: Rules) -> Chosen | Undecided | ManyTexts:
    """Decide the kind of a column and fit it, by the first of these rules that applies.

    1. No name in the header, or no value at all: dropped.
    2. Only numbers, perhaps with marks, a unit, or words for missing values: numeric. A number written with a leading
       zero, such as ``00123``, is a code, and its column text.
    3. Only true/false or yes/no, or a boolean type: boolean.
    4. Dates, nine in ten of the values or more, or a type of dates: date.
    5. Anything else: text, as categories; with many different values, as what helps to tell the labels.

    Columns of one value are dropped, unless some cells are missing; so are those that only name the rows.
    """
    if name not in rules.use and (name.endswith(UNNAMED) or re.fullmatch(r"(?:Unnamed: \d+.*)?", name)):
        return Chosen(None, f"it has no name; use={name!r} takes it in")
    cells = table.cells(name)
    if _all_missing(cells):
        return Chosen(None, "no value in the rows it was fitted on")
    return (
        choose_numbers(name, table, cells, rules)
        or _boolean(name, cells)
        or choose_dates(name, cells)
        or _text(name, cells, rules)
    )


def _all_missing(cells: Cells) -> bool:
    first = cells.cell(0)
    if first is not None and str(first).strip().lower() not in MISSING:
        return False  # most columns are spared the work
    return all(text.lower() in MISSING for text in cells.counts())


_TRUTHS = set(TRUTH) - {"0", "1"}  # these beside words are categories


def _boolean(name: str, cells: Cells) -> Chosen | None:
    if isinstance(cells, DateCells) or not all(text.lower() in _TRUTHS for text in cells.sample()):
        return None
    texts = {text.lower() for text in cells.counts()}
    present = texts - MISSING
    if not present or not present <= _TRUTHS:
        return None
    if len({TRUTH[text] for text in present}) == 1 and present == texts:
        return Chosen(None, f"constant ({next(iter(cells.counts()))})")
    return Chosen(BooleanColumn(name, present != texts))


_RARE_LISTED = 1000  # beyond, a model file would carry a whole column of names or addresses


def _text(name: str, cells: Cells, rules: Rules) -> Chosen | ManyTexts:
    """A column of text, fitted, or what it may become if its values are many.

    A text that differs in every row and has no words that come again is an identifier: its characters might count the
    rows as a number does.
    """
    counts = {text: count for text, count in cells.counts().items() if text.lower() not in BLANK}
    total, wanted = sum(counts.values()), name in rules.use
    blanks = len(cells) > total
    if len(counts) == 1 and not blanks:
        text = next(iter(counts))
        return Chosen(None, f"constant ({text if len(text) < len(quoted(text)) else quoted(text)})")
    ordered = sorted(counts, key=lambda category: (-counts[category], category))
    # The feature for the rare ones counts as a category, so that max_categories limits the width.
    kept = ordered if len(ordered) <= rules.max_categories else ordered[: rules.max_categories - 1]
    rare = ordered[len(kept) :]
    shared = tuple(sorted(rare)) if len(rare) <= _RARE_LISTED else None
    categories = TextColumn(name, tuple(sorted(kept)), shared, blanks)
    perhaps = perhaps_no_text(counts) if any(re.search("[0-9]", text) for text in counts) else ""
    remarks = (f"is treated as text, since {perhaps}",) if perhaps else ()
    many = 2 * sum(counts[category] for category in kept) < total
    naming = len(counts) == total or (is_row_name(name) and len(counts) >= NEARLY_ALL * total)
    if rare and naming and not wanted and not (many and common_words(counts)):
        differ = f"all {total} values" if len(counts) == total else f"{len(counts)} of {total} values"
        return Chosen(None, f"an identifier: {differ} differ; use={name!r} takes it in", remarks)
    if not many:
        return Chosen(categories, remarks=remarks)
    return replace(many_texts(name, counts, categories, wanted=wanted), remarks=remarks)
