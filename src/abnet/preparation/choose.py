"""What each column of a table holds, how it is written, and the numbers that its preparation needs."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import floor
from typing import Any, NoReturn

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
    read_numbers,
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


def choose_numbers(name: str, cells: Cells, rules: Rules) -> Chosen | Undecided | None:
    """A column of numbers, fitted; None if it holds anything else, if only in one cell."""
    form = PLAIN if isinstance(cells, NumberCells) else _form(cells, rules.decimal)
    return form if form is None or isinstance(form, Undecided) else _fitted_numbers(name, cells, form, rules)


def choose_mostly_numbers(name: str, cells: Cells, rules: Rules) -> Chosen | Undecided | None:
    """A column of numbers but for a few odd cells, which count as missing; None if these are too many.

    The odd cells are set aside, and the others must be numbers of one form. Where a column has few different values and
    an odd one comes again and again, as "3+" after 0, 1 and 2, they are categories.
    """
    asked = name in rules.numeric
    if isinstance(cells, DateCells):
        return None
    for odd in _odd_rows(cells, 0.0 if asked else _GATE):
        n_odd, present = int(odd.sum()), int((~_gaps(cells)).sum())
        if n_odd in (0, present) or (not asked and n_odd > (1 - MOSTLY) * present):
            continue
        if not asked and _few_values(cells, odd, rules.max_categories):
            return None
        form = _form(cells.at(np.flatnonzero(~odd)), rules.decimal)
        if isinstance(form, Undecided):
            return form
        if form is not None:
            return _fitted_numbers(name, cells, form, rules)
    return None


_GATE = 0.5
"""Share of the first rows that must look like numbers before all rows are looked at."""
_AGAIN = 5
"""Rows from which on an odd value is one that comes again."""


def _gaps(cells: Cells) -> NDArray[np.bool_]:
    return cells.distinct().lookup(lambda value: is_missing(value) or is_gap(value)).astype(bool)


def _few_values(cells: Cells, odd: NDArray[np.bool_], most: int) -> bool:
    """Whether every value of a column can be a category, and an odd one comes again."""
    return max(cells.at(np.flatnonzero(odd)).counts().values()) >= _AGAIN and len(cells.counts()) <= most


def _odd_rows(cells: Cells, least: float) -> Iterator[NDArray[np.bool_]]:
    """Rows that are no numbers: among numbers with the commonest unit, then among durations."""
    head = [text for place in range(min(len(cells), 1000)) if not is_missing(text := to_text(cells.cell(place)))]
    units = Counter(_unit(text) for text in head)
    units.pop(None, None)
    unit = units.most_common(1)[0][0] if units else None
    for fits in (lambda text: _unit(text) == unit and unit is not None, lambda text: seconds(text) is not None):
        if head and sum(map(fits, head)) > least * len(head):
            distinct = cells.distinct()
            missing = [value is None or is_missing(value) or is_gap(value) for value in distinct.values]
            odd = [not gap and not fits(to_text(value)) for value, gap in zip(distinct.values, missing, strict=True)]
            yield np.array(odd, bool)[distinct.codes]


def _unit(text: str) -> tuple[str, str] | None:
    """The text around a number; None where there is no number."""
    match = MARKED.fullmatch(text)
    return None if match is None else (match["before"] or "", (match["after"] or "").rstrip())


def _form(cells: Cells, decimal: str) -> NumberForm | Undecided | None:
    """The form in which all cells that are not missing are numbers; None if there is none."""
    texts = cells.sample()
    if isinstance(cells, DateCells) or not texts:
        return None
    if all(PLAIN.read(text) is not None for text in texts) and not cells.numbers(PLAIN).strange.any():
        return _plain(cells, decimal)
    return _marked_form(cells, texts, decimal)


def _plain(cells: Cells, decimal: str) -> NumberForm | Undecided | None:
    """Numbers as programming languages write them, unless their points are for thousands, or they are codes."""
    if cells.any_match(_CODE):
        return None
    if decimal == "." or not cells.any_match(r"[0-9]\."):
        return PLAIN
    thousands = NumberForm(",", ".")
    if decimal == ",":
        return PLAIN if not cells.all_match(thousands.pattern) or cells.any_match(_BELOW_ONE) else thousands
    x = read_numbers(cells).x
    sure = np.any(np.abs(x) >= 1000) or np.any((np.abs(x) < 1) & (x != 0))
    if sure or not cells.all_match(f"{_GROUP}|{_WHOLE}") or not cells.any_match(f"^{_WHOLE}$"):
        return PLAIN
    texts = list(cells.counts())
    marked = next(text for text in texts if re.fullmatch(_GROUP, text))
    return Undecided(marked, next(text for text in texts if re.fullmatch(_WHOLE, text)))


def _marked_form(cells: Cells, texts: list[str], decimal: str) -> NumberForm | Undecided | None:
    """The form of numbers with marks for thousands, a decimal comma, or a unit; durations."""
    units = {_unit(text) for text in texts}
    unit = units.pop() if len(units) == 1 else None
    if unit is None:
        return NumberForm(duration=True) if _all_durations(cells, texts) else None
    candidates = [NumberForm(mark, group, *unit) for mark in (decimal or ".,") for group in THOUSANDS if group != mark]
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


def _fitted_numbers(name: str, cells: Cells, form: NumberForm, rules: Rules) -> Chosen:
    """A column of numbers of one form; what is no number of this form counts as missing."""
    x, strange = read_numbers(cells, form)
    if np.isnan(x).all():
        return Chosen(None, "no number of reasonable size in the rows it was fitted on")
    remarks = [*_form_remarks(cells, form, rules.decimal)]
    low, high = np.nanmin(x), np.nanmax(x)
    if max(-low, high) > 2**53 and high - low <= 2**53:
        form = _with_offset(cells, x, form)
        x = read_numbers(cells, form).x
    if strange.any():
        odd = unreadable(cells, strange)
        remarks.append(
            f"has {number_of(sum(odd.values()), 'cell')} such as {quoted(max(odd, key=lambda text: odd[text]))} among "
            f"numbers, taken as missing"
        )
    if not isinstance(cells, NumberCells) and (gaps := unreadable(cells, np.isnan(x) & ~strange)):
        remarks.append(_gap_remark(gaps))
    found = centre(x)
    if found.constant:
        return Chosen(None, f"constant ({to_text(found.fill + form.offset)})")
    naming, perhaps = ("", "") if name in rules.use | rules.numeric else names_rows(name, x)
    if naming:
        return Chosen(None, f"{naming}; use={name!r} takes it in")
    remarks += [perhaps] if perhaps else []
    return Chosen(NumericColumn(name, *found, form), remarks=tuple(remarks))


def _form_remarks(cells: Cells, form: NumberForm, decimal: str) -> Iterator[str]:
    """A remark on numbers that are not written plainly, with the longest of some examples."""
    if not form.plain:
        example = max((text for text in cells.sample() if form.read(text) is not None), key=len)
        yield f"has numbers written as {example!r}, read as {form.read(example):.15g}{' seconds' * form.duration}"
    elif decimal == "," and not isinstance(cells, NumberCells) and cells.any_match(r"[0-9]\."):
        yield "has numbers with a point that can only be decimal"


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


def choose_dates(name: str, cells: Cells, mostly: float = MOSTLY) -> Chosen | None:
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
    if not rows[order] or rows[order] < mostly * present:
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


class ColumnKindError(NamesParameters, TableError):
    """A column that cannot be of the kind that was asked for."""


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
    2. The kind that was asked for by hand.
    3. Only numbers, perhaps with marks, a unit, or words for missing values: numeric. A number written with a leading
       zero, such as ``00123``, is a code, and its column text.
    4. Only true/false or yes/no, or a boolean type: boolean.
    5. Dates, nine in ten of the values or more, or a type of dates: date; the other cells count as missing.
    6. Numbers of one form, nine in ten of the values or more: numeric; the other cells count as missing.
    7. Anything else: text, as categories; with many different values, as what helps to tell the labels.

    Columns of one value are dropped, unless some cells are missing; so are those that only name the rows.
    """
    if name not in rules.use and (name.endswith(UNNAMED) or re.fullmatch(r"(?:Unnamed: \d+.*)?", name)):
        return Chosen(None, f"it has no name; use={name!r} takes it in")
    cells = table.cells(name)
    if _all_missing(cells):
        return Chosen(None, "no value in the rows it was fitted on")
    if name in rules.categorical:
        return _text(name, cells, rules)
    if name in rules.dates:
        return choose_dates(name, cells, mostly=0.0) or _refused(name, cells, "dates", "no cell is a date")
    if name in rules.numeric:
        found = choose_numbers(name, cells, rules) or choose_mostly_numbers(name, cells, rules)
        return found or _refused(name, cells, "numeric", "no cell is a number")
    return (
        choose_numbers(name, cells, rules)
        or _boolean(name, cells)
        or choose_dates(name, cells)
        or choose_mostly_numbers(name, cells, rules)
        or _text(name, cells, rules)
    )


def _refused(name: str, cells: Cells, parameter: str, problem: str) -> NoReturn:
    example = next(iter(cells.sample()), "")
    raise ColumnKindError(
        "column {!r} cannot be read as asked for with {}: {} in the rows it was fitted on, such as {}.",
        name, Parameter(parameter, name), problem, quoted(example),
    )  # fmt: skip


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
