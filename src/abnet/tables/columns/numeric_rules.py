"""Recognise and fit columns of numbers."""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from math import floor

import msgspec
import numpy as np
from numpy.typing import NDArray

from abnet.tables.cells import is_gap, is_missing, to_text
from abnet.tables.column_cells import Cells, DateCells, NumberCells, odd_texts
from abnet.tables.columns.bare_numbers import FEW_VALUES, RECURRING, bare_cells, infer_bare_form, is_limit
from abnet.tables.columns.column_options import ColumnOptions
from abnet.tables.columns.infer_form import AmbiguousMark, infer_form, unit_around
from abnet.tables.columns.numeric import NumericColumn, allowed_range, read_numbers
from abnet.tables.columns.odd_cells import MOSTLY, gap_notes, most_frequent
from abnet.tables.columns.outliers import far_cells, far_notes
from abnet.tables.columns.rule_registry import Chosen, constant, rule
from abnet.tables.columns.scaling import fit_scaling
from abnet.tables.columns.sentinels import sentinel_note
from abnet.tables.durations import seconds
from abnet.tables.identifiers import LONG, identifier_reasons
from abnet.tables.notes import Note
from abnet.tables.number_forms import PLAIN, NumberForm, are_codes

_FIRST_ROWS = 1000
"""Rows looked at before all rows are."""

_LEAST_SHARE = 0.5
"""Share of the first rows that must look like numbers before all rows are looked at."""

_EXACT = 2**53
"""Whole numbers up to here are exact as floats."""


@rule(10, "numeric")
def _only_numbers(name: str, cells: Cells, options: ColumnOptions) -> Chosen | AmbiguousMark | None:
    """Only numbers, perhaps with marks, a unit, or words for missing values, or a type of numbers."""
    form: NumberForm | AmbiguousMark | None
    if isinstance(cells, NumberCells):
        form = PLAIN
    else:
        form = infer_form(cells, options.decimal)
    if form is None:
        bare, marks = bare_cells(cells, requested=options.requested_kind(name) == "numeric")
        form = infer_bare_form(bare, marks, options.decimal)
    if form is None or isinstance(form, AmbiguousMark):
        return form
    return _fitted(name, cells, form, options)


@rule(40, "numeric")
def _mostly_numbers(name: str, cells: Cells, options: ColumnOptions) -> Chosen | AmbiguousMark | None:
    """Numbers of one form in nine of ten values or more; the other cells count as missing.

    The odd cells are set aside, and the others must be numbers of one form. If a column has few different values and an
    odd one recurs, such as "3+" after 0, 1 and 2, they are categories.
    """
    if isinstance(cells, DateCells):
        return None
    requested = options.requested_kind(name) == "numeric"
    bare, marks = bare_cells(cells, requested=requested)
    least_share = _LEAST_SHARE
    if requested:
        least_share = 0.0
    for odd in _candidates_for_odd_rows(bare, least_share):
        n_odd = int(odd.sum())
        n_present = int((~_missing_rows(bare)).sum())
        if n_odd in (0, n_present):
            continue
        if not requested and n_present - n_odd < MOSTLY * n_present:
            continue
        if not requested and (_are_categories(bare, odd) or are_codes(bare.counts())):
            return None
        form = infer_bare_form(bare.at(np.flatnonzero(~odd)), marks, options.decimal)
        if isinstance(form, AmbiguousMark):
            return form
        if form is not None:
            return _fitted(name, cells, form, options)
    return None


# Odd cells


def _candidates_for_odd_rows(cells: Cells, least_share: float) -> Iterator[NDArray[np.bool_]]:
    """Rows that are not missing and no numbers, for each way in which enough of the first rows can be read."""
    first_texts = [to_text(cells.cell(place)) for place in range(min(len(cells), _FIRST_ROWS))]
    present = [text for text in first_texts if not is_missing(text)]
    if not present:
        return
    for is_number in _ways_to_read(present):
        n_numbers = sum(map(is_number, present))
        if n_numbers <= least_share * len(present):
            continue
        distinct = cells.distinct()
        odd = [not _is_missing_number(value) and not is_number(to_text(value)) for value in distinct.values]
        yield np.array(odd, bool)[distinct.codes]


def _ways_to_read(texts: list[str]) -> list[Callable[[str], bool]]:
    """Tests of whether a text is a number: of the most common unit, of either decimal mark, or a duration."""
    units = Counter(unit for text in texts if (unit := unit_around(text)) is not None)
    unit = None
    comma = NumberForm(decimal=",")
    if units:
        unit = units.most_common(1)[0][0]
        before, after = unit
        comma = NumberForm(decimal=",", before=before, after=after)

    def has_unit(text: str) -> bool:
        return unit is not None and unit_around(text) == unit

    def is_plain(text: str) -> bool:
        return PLAIN.read(text) is not None

    def has_comma(text: str) -> bool:
        return comma.read(text) is not None

    def is_duration(text: str) -> bool:
        return seconds(text) is not None

    if sum(map(has_comma, texts)) > sum(map(is_plain, texts)):
        return [has_unit, has_comma, is_plain, is_duration]
    return [has_unit, is_plain, has_comma, is_duration]


def _is_missing_number(value: object) -> bool:
    """Whether a cell among numbers is missing."""
    return value is None or is_missing(value) or is_gap(value)


def _missing_rows(cells: Cells) -> NDArray[np.bool_]:
    return cells.distinct().lookup(_is_missing_number).astype(bool)


def _are_categories(cells: Cells, odd: NDArray[np.bool_]) -> bool:
    """Whether a column has few different values, and an odd one recurs."""
    if len(cells.counts()) > FEW_VALUES:
        return False
    rows_of_odd = cells.at(np.flatnonzero(odd)).counts()
    return max(rows_of_odd.values()) >= RECURRING


# Fit


def _fitted(name: str, cells: Cells, form: NumberForm, options: ColumnOptions) -> Chosen:
    """A column of numbers of one form; other cells count as missing."""
    x, odd = read_numbers(cells, form)
    if np.isnan(x).all():
        return Chosen(None, (Note("empty", (name,)),))
    smallest = float(np.nanmin(x))
    largest = float(np.nanmax(x))
    notes = _form_notes(name, cells, form, options.decimal)
    if max(-smallest, largest) > _EXACT and largest - smallest <= _EXACT:
        form = _with_offset(cells, x, form)
        x = read_numbers(cells, form).x
    if odd.any():
        notes.append(_odd_note(name, odd_texts(cells, odd), form))
    if not isinstance(cells, NumberCells):
        missing_words = odd_texts(cells, np.isnan(x) & ~odd)
        notes += gap_notes(name, missing_words)
    far = far_cells(x)
    scaling = fit_scaling(x, far)
    if scaling.constant:
        return constant(name, to_text(scaling.fill + form.offset))
    if not options.is_named(name):
        reasons = identifier_reasons(name, x, long=_are_long(cells, smallest))
        if reasons.certain:
            return Chosen(None, (Note("identifier", (name,), facts={"why": reasons.certain}),))
        if reasons.possible:
            notes.append(Note("perhaps identifier", (name,), facts={"why": reasons.possible}))
    notes += far_notes(name, cells, far)
    sentinel = sentinel_note(name, x + form.offset)
    if sentinel is not None:
        notes.append(sentinel)
    column = NumericColumn(name, scaling.fill, scaling.mean, scaling.scale, scaling.indicator, form)
    return Chosen(column, tuple(notes))


def _with_offset(cells: Cells, x: NDArray[np.float64], form: NumberForm) -> NumberForm:
    """The form with the smallest number as offset, rounded down, so that differences between large numbers are exact.

    Parameters
    ----------
    cells : Cells
    x : array (n,)
        The same cells as numbers.
    form : NumberForm
    """
    smallest = cells.cell(int(np.nanargmin(x)))
    if isinstance(smallest, str):
        smallest = Fraction(form.plain_text(smallest) or 0)
    return msgspec.structs.replace(form, offset=floor(smallest))


def _are_long(cells: Cells, smallest: float) -> bool:
    """Whether all are whole numbers of many digits, and not large measurements such as 6.022e23."""
    if smallest < 10.0 ** (LONG - 1):
        return False
    if isinstance(cells, NumberCells):
        return cells.values.dtype.kind in "iu"
    return cells.all_match("[ \t]*[0-9]+[ \t]*")


# Notes


def _odd_note(name: str, rows: dict[str, int], form: NumberForm) -> Note:
    """A note on cells that are no numbers; it says how numbers are written if that is not plain to see."""
    example = most_frequent(rows)
    expected = allowed_range(example)
    has_comma = re.search("[0-9],[0-9]", example) is not None
    if not expected and (has_comma or not form.plain):
        expected = f" written as {form.example}"
    return Note("odd number", (name,), sum(rows.values()), example, {"form": expected})


def _form_notes(name: str, cells: Cells, form: NumberForm, decimal: str) -> list[Note]:
    """Notes on limits of measurement, and on numbers that are not written plainly."""
    notes = []
    if form.limits:
        notes.append(_limit_note(name, cells, form))
    if not msgspec.structs.replace(form, limits=False).plain:
        notes.append(_unusual_form_note(name, cells, form))
    elif decimal == "," and not isinstance(cells, NumberCells) and cells.any_match(r"[0-9]\."):
        example = next(text for text in cells.sample() if "." in text)
        notes.append(Note("decimal point", (name,), example=example))
    return notes


def _limit_note(name: str, cells: Cells, form: NumberForm) -> Note:
    limits = {text: count for text, count in cells.counts().items() if is_limit(text, form)}
    example = most_frequent(limits)
    return Note("limits", (name,), sum(limits.values()), example, {"value": f"{form.read(example):.15g}"})


def _unusual_form_note(name: str, cells: Cells, form: NumberForm) -> Note:
    """A note with the longest of some examples; a number in brackets is preferred."""
    texts = [text for text in cells.sample() if form.read(text) is not None]
    example = max(texts, key=lambda text: (form.brackets and "(" in text, len(text)))
    value = f"{form.read(example):.15g}"
    if form.duration:
        value = f"{value} seconds"
    return Note("number form", (name,), example=example, facts={"value": value})
