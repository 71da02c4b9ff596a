"""Columns of numbers: how they are written, which cells are odd, and what scaling and imputation need to know."""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import floor, isfinite
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from abnet.tables.cells import is_gap, is_missing, to_text
from abnet.tables.columns.column import Chosen, Column, Encoded, Open, Rules, UnseenRows, kind, rule
from abnet.tables.durations import seconds
from abnet.tables.frames import Table
from abnet.tables.identifiers import LONG, IdentifierReasons, identifier_reasons
from abnet.tables.notes import Note
from abnet.tables.number_forms import BRACKETS, LIMIT, MARKED, PLAIN, THOUSANDS, NumberForm, are_codes
from abnet.tables.series import Cells, DateCells, Distinct, DistinctCells, NumberCells, Numbers, unreadable

__all__ = [
    "CLIP",
    "Centre",
    "LARGEST",
    "MOSTLY",
    "NumericColumn",
    "Undecided",
    "allowed_range",
    "centre",
    "check_scale",
    "commonest",
    "far_cells",
    "far_notes",
    "gap_notes",
    "read_numbers",
    "scaled",
    "settled_mark",
]

LARGEST = 1e150
"""Numbers beyond this count as missing, as the infinite ones do: their variance is not finite."""

CLIP = 1e6
"""Scaled values are cut here, many times beyond what training saw, so that every feature is finite in float32."""

MOSTLY = 0.9
"""Share of a column's values from which on the others are odd ones."""


def read_numbers(cells: Cells, form: NumberForm = PLAIN) -> Numbers:
    """A column as numbers, NaN where missing, and the cells that hold no number of reasonable size: also NaN.

    Examples
    --------
    >>> from abnet.tables.frames import cells_of
    >>> read_numbers(cells_of(["1", "", "rotary", "1e300"]))
    Numbers(x=array([ 1., nan, nan, nan]), strange=array([False, False,  True,  True]))
    """
    x, strange = cells.numbers(form)
    beyond = (x > LARGEST) | (x < -LARGEST)
    return Numbers(np.where(beyond, np.nan, x), strange | beyond) if beyond.any() else Numbers(x, strange)


def allowed_range(text: str) -> str:
    """Where numbers have to lie, for a note on a number that does not; empty for any other text.

    Examples
    --------
    >>> allowed_range("-1e308"), allowed_range("rotary")
    (' between -1e+150 and 1e+150', '')
    """
    try:
        return f" between {-LARGEST:g} and {LARGEST:g}" if abs(float(text)) > LARGEST else ""
    except ValueError:
        return ""


def scaled(x: NDArray[np.float64], fill: float, mean: float, scale: float) -> NDArray[np.float64]:
    """``(x - mean) / scale`` with `fill` where x is NaN, cut at `CLIP`.

    Examples
    --------
    >>> scaled(np.array([3.0, np.nan, 1e9]), fill=2.0, mean=1.0, scale=2.0).tolist()
    [1.0, 0.5, 1000000.0]
    """
    return np.clip((np.where(np.isnan(x), fill, x) - mean) / scale, -CLIP, CLIP)


def check_scale(fill: float, mean: float, scale: float | None) -> None:
    """Refuse numbers of a stored column that no fit makes."""
    if not (isfinite(fill) and isfinite(mean)) or not (scale is None or (isfinite(scale) and scale > 0)):
        raise ValueError("fill and mean must be finite numbers, and scale a positive one or null")


@kind
class NumericColumn(Column, frozen=True, tag="numeric"):
    """``(x - mean) / scale`` with `fill` (the median) for missing values, and a 0-1 feature that says where they were.

    The scaled value is left out when `scale` is None (all values in fitting were equal), the indicator when nothing was
    missing in fitting; a value missing later is then `fill`, and nothing else. `form` says how the numbers are written;
    x is what remains of them after its offset has been taken away. A cell that is no number of this form, or not of
    reasonable size, counts as missing.
    """

    takes = "number"
    odd = "odd number"
    fill: float
    mean: float
    scale: float | None
    indicator: bool
    form: NumberForm = PLAIN

    def __post_init__(self) -> None:
        check_scale(self.fill, self.mean, self.scale)
        if not self.features:
            raise ValueError("a numeric column makes no feature (no scale and no indicator)")

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the features."""
        return (self.name,) * (self.scale is not None) + (f"{self.name} (missing)",) * self.indicator

    @property
    def read_as(self) -> str:
        """How cells have to be written."""
        return "a number" if self.form.plain else f"a number written as {self.form.example}"

    def shown(self, value: float) -> str:
        """The number, with the offset of the form."""
        return f"{value + self.form.offset:.5g}"

    def raw(self, table: Table) -> NDArray[np.float64]:
        """The numbers themselves, NaN where missing."""
        return read_numbers(table.cells(self.name), self.form).x

    def encoded(self, table: Table) -> tuple[Encoded, UnseenRows]:
        """Anything but a number or a missing value is reported, and counts as missing."""
        cells = table.cells(self.name)
        x, strange = read_numbers(cells, self.form)
        n_missing = int(np.count_nonzero(np.isnan(x)))
        width = len(self.features)
        features = Encoded(len(x), width, lambda rows: np.column_stack(self._features(x[rows])), n_missing, x)
        return features, unreadable(cells, strange)

    def _features(self, x: NDArray[np.float64]) -> list[NDArray[Any]]:
        value = [] if self.scale is None else [scaled(x, self.fill, self.mean, self.scale)]
        return [*value, *([np.isnan(x)] if self.indicator else [])]


class Centre(NamedTuple):
    """Median, then mean and deviation with the median for missing values (None if all are equal); if any is missing."""

    fill: float
    mean: float
    scale: float | None
    indicator: bool

    @property
    def constant(self) -> bool:
        """Whether nothing varies, not even whether there is a value."""
        return self.scale is None and not self.indicator


def centre(x: NDArray[np.float64], far: NDArray[np.bool_]) -> Centre:
    """What scaling and imputation need to know of numbers, NaN where missing; far ones have no part in the scaling.

    Examples
    --------
    >>> centre(np.array([1.0, 3.0, np.nan]), np.zeros(3, bool))
    Centre(fill=2.0, mean=2.0, scale=0.816496580927726, indicator=True)
    """
    absent = np.isnan(x)
    fill = float(np.median(x[~absent]))
    filled = np.where(absent, fill, x)
    if far.any():
        filled = filled[~far]
    deviation = float(filled.std()) if filled.max() > filled.min() else 0.0
    return Centre(fill, float(filled.mean()), deviation or None, bool(absent.any()))


MOST = 0.95
"""Share of the cells that differ from the median: more cells than the rest are no exceptions."""


def far_cells(x: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Cells more than `CLIP` times as far from the median as `MOST` of those that differ from it; NaN where missing.

    One of them would make the deviation so large that the others become one number in float32.

    Examples
    --------
    >>> far_cells(np.array([3.0, 5.0, np.nan, 1e10, 4.0, 6.0])).tolist()
    [False, False, False, True, False, False]
    """
    present = x[~np.isnan(x)]
    distance = np.abs(x - np.median(present)) if len(present) else np.zeros(len(x))
    usual = distance[distance > 0]
    if not len(usual):
        return np.zeros(len(x), bool)
    return np.asarray(distance > CLIP * np.quantile(usual, MOST, method="lower"))


def far_notes(name: str, cells: Cells, far: NDArray[np.bool_]) -> list[Note]:
    """A note on cells that are far from all others, if there are any."""
    if not (rows := unreadable(cells, far)):
        return []
    text = commonest(rows)
    shown = f"{float(text):g}" if isinstance(cells, NumberCells) else text
    return [Note("far cell", (name,), sum(rows.values()), shown)]


@dataclass(frozen=True)
class Undecided(Open):
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


@rule(10, "numeric")
def _only_numbers(name: str, cells: Cells, rules: Rules) -> Chosen | Undecided | None:
    """Only numbers, perhaps with marks, a unit, or words for missing values, or a type of numbers.

    A number written with a leading zero, such as ``00123``, is a code, and its column text.
    """
    form = PLAIN if isinstance(cells, NumberCells) else _form(cells, rules.decimal)
    if form is None:
        form = _form_of_bare(*_bare(cells, asked=rules.asked(name) == "numeric"), rules.decimal)
    return form if form is None or isinstance(form, Undecided) else _fitted(name, cells, form, rules)


@rule(40, "numeric")
def _mostly_numbers(name: str, cells: Cells, rules: Rules) -> Chosen | Undecided | None:
    """Numbers of one form, nine in ten of the values or more; the other cells count as missing.

    The odd cells are set aside, and the others must be numbers of one form. Where a column has few different values and
    an odd one comes again and again, as "3+" after 0, 1 and 2, they are categories.
    """
    asked = rules.asked(name) == "numeric"
    if isinstance(cells, DateCells):
        return None
    bare, marks = _bare(cells, asked=asked)
    for odd in _odd_rows(bare, 0.0 if asked else _GATE):
        n_odd, present = int(odd.sum()), int((~_gaps(bare)).sum())
        if n_odd in (0, present) or (not asked and present - n_odd < MOSTLY * present):
            continue
        if not asked and (_few_values(bare, odd) or are_codes(bare.counts())):
            return None
        form = _form_of_bare(bare.at(np.flatnonzero(~odd)), marks, rules.decimal)
        if isinstance(form, Undecided):
            return form
        if form is not None:
            return _fitted(name, cells, form, rules)
    return None


_GATE = 0.5
"""Share of the first rows that must look like numbers before all rows are looked at."""
_AGAIN = 5
"""Rows from which on an odd value is one that comes again."""


def _gaps(cells: Cells) -> NDArray[np.bool_]:
    return cells.distinct().lookup(lambda value: is_missing(value) or is_gap(value)).astype(bool)


_FEW = 20
"""Different values up to which those of a column with odd ones can be categories."""


def _few_values(cells: Cells, odd: NDArray[np.bool_]) -> bool:
    """Whether every value of a column can be a category, and an odd one comes again."""
    return max(cells.at(np.flatnonzero(odd)).counts().values()) >= _AGAIN and len(cells.counts()) <= _FEW


def _bare(cells: Cells, *, asked: bool) -> tuple[Cells, NumberForm]:
    """Cells without brackets and marks of limits, and which of them the form of their numbers has.

    Brackets are read only beside numbers without them. Marks of limits are read if most of the different numbers have
    none; where a column has few different values and a marked one comes again and again, as ">2" after 0, 1 and 2, they
    are categories.
    """
    form, texts = NumberForm(brackets=True, limits=True), cells.sample()
    numbers = sum(_unit(form.bare(text)) is not None for text in texts)
    if isinstance(cells, NumberCells | DateCells) or 2 * numbers < len(texts):
        return cells, PLAIN
    counts = cells.counts()
    usual = [text for text in counts if _unit(text) is not None]
    bracketed = any(re.search(BRACKETS, text) for text in counts)
    limited = [count for text, count in counts.items() if _limited(text, form)]
    few = len(counts) <= _FEW and max(limited, default=0) >= _AGAIN
    limits = bool(limited) and (asked or (len(usual) > len(limited) and not few))
    form = NumberForm(brackets=bracketed and bool(usual), limits=limits)
    if form.plain:
        return cells, PLAIN
    codes, values = cells.distinct()
    return DistinctCells(Distinct(codes, [form.bare(to_text(value)) for value in values[:-1]] + [None])), form


def _limited(text: str, form: NumberForm) -> bool:
    """Whether a text is a number with the mark of a limit."""
    return re.search(LIMIT, text) is not None and _unit(form.bare(text)) is not None


def _form_of_bare(cells: Cells, marks: NumberForm, decimal: str) -> NumberForm | Undecided | None:
    """The form of numbers whose brackets and marks of limits were removed."""
    form = _form(cells, decimal)
    if form is None or isinstance(form, Undecided):
        return form
    if form.duration and not marks.plain:
        return None
    return msgspec.structs.replace(form, brackets=marks.brackets, limits=marks.limits)


def _odd_rows(cells: Cells, least: float) -> Iterator[NDArray[np.bool_]]:
    """Rows that are no numbers: of the commonest unit, of the commonest decimal mark, or durations."""
    head = [text for place in range(min(len(cells), 1000)) if not is_missing(text := to_text(cells.cell(place)))]
    units = Counter(_unit(text) for text in head)
    units.pop(None, None)
    unit = units.most_common(1)[0][0] if units else None
    numbers: Callable[[str], bool] = lambda text: unit is not None and _unit(text) == unit  # noqa: E731
    durations: Callable[[str], bool] = lambda text: seconds(text) is not None  # noqa: E731
    plain: Callable[[str], bool] = lambda text: PLAIN.read(text) is not None  # noqa: E731
    comma = NumberForm(",", "", *(unit or ("", "")))
    commas: Callable[[str], bool] = lambda text: comma.read(text) is not None  # noqa: E731
    marks = sorted((plain, commas), key=lambda fits: -sum(map(fits, head)))
    for fits in (numbers, *marks, durations):
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


def _fitted(name: str, cells: Cells, form: NumberForm, rules: Rules) -> Chosen:
    """A column of numbers of one form; what is no number of this form counts as missing."""
    x, strange = read_numbers(cells, form)
    if np.isnan(x).all():
        return Chosen(None, (Note("empty", (name,)),))
    notes = [*_form_notes(name, cells, form, rules.decimal)]
    low, high = np.nanmin(x), np.nanmax(x)
    if max(-low, high) > 2**53 and high - low <= 2**53:
        form = _with_offset(cells, x, form)
        x = read_numbers(cells, form).x
    if strange.any():
        odd = unreadable(cells, strange)
        example = commonest(odd)
        written = f" written as {form.example}" * (not form.plain or re.search("[0-9],[0-9]", example) is not None)
        form_of = allowed_range(example) or written
        notes.append(Note("odd number", (name,), sum(odd.values()), example, {"form": form_of}))
    if not isinstance(cells, NumberCells):
        notes += gap_notes(name, unreadable(cells, np.isnan(x) & ~strange))
    far = far_cells(x)
    found = centre(x, far)
    if found.constant:
        return Chosen(None, (Note("constant", (name,), facts={"value": to_text(found.fill + form.offset)}),))
    reasons = IdentifierReasons()
    if not rules.wanted(name):
        reasons = identifier_reasons(name, x, long=_all_long(cells, low))
    if reasons.certain:
        return Chosen(None, (Note("identifier", (name,), facts={"why": reasons.certain}),))
    if reasons.possible:
        notes.append(Note("perhaps identifier", (name,), facts={"why": reasons.possible}))
    notes += [*far_notes(name, cells, far), *sentinel_notes(name, x + form.offset)]
    return Chosen(NumericColumn(name, *found, form), tuple(notes))


def _all_long(cells: Cells, low: float) -> bool:
    """Whether all are whole numbers of many digits, and no large measurements such as 6.022e23."""
    if low < 10.0 ** (LONG - 1):
        return False
    if isinstance(cells, NumberCells):
        return cells.values.dtype.kind in "iu"
    return cells.all_match("[ \t]*[0-9]+[ \t]*")


def commonest(rows: UnseenRows) -> str:
    """The text that most rows have.

    Examples
    --------
    >>> commonest({"a": 1, "b": 3})
    'b'
    """
    return max(rows, key=lambda text: (rows[text], text))


def _form_notes(name: str, cells: Cells, form: NumberForm, decimal: str) -> Iterator[Note]:
    """A note on numbers that are not written plainly, with the longest of some examples, and one on limits."""
    if form.limits:
        limited = {text: count for text, count in cells.counts().items() if _limited(text, form)}
        example = commonest(limited)
        yield Note("limits", (name,), sum(limited.values()), example, {"value": f"{form.read(example):.15g}"})
    if not msgspec.structs.replace(form, limits=False).plain:
        texts = [text for text in cells.sample() if form.read(text) is not None]
        example = max(texts, key=lambda text: (form.brackets and "(" in text, len(text)))
        value = f"{form.read(example):.15g}{' seconds' * form.duration}"
        yield Note("number form", (name,), example=example, facts={"value": value})
    elif decimal == "," and not isinstance(cells, NumberCells) and cells.any_match(r"[0-9]\."):
        yield Note("decimal point", (name,), example=next(text for text in cells.sample() if "." in text))


def gap_notes(name: str, gaps: UnseenRows) -> list[Note]:
    """A note on words for missing values, if there are any."""
    if not gaps:
        return []
    said = " or ".join(repr(word) for word in sorted(gaps, key=lambda word: (-gaps[word], word))[:3])
    return [Note("gap words", (name,), sum(gaps.values()), facts={"words": said})]


_NINES = (9.0, 99.0, 999.0, 9999.0, 99999.0, 999999.0)
_SENTINELS = (-1.0, *(-nines for nines in _NINES), *_NINES[1:])
_FAR = 5
"""Ranges of the other values between a sentinel and the nearest: no measurement is so far off again and again."""


def sentinel_notes(name: str, x: NDArray[np.float64]) -> list[Note]:
    """A note on a number such as -999 that comes again, far from all other values.

    Examples
    --------
    >>> sentinel_notes("depth", np.array([3.0, 5.5, -999.0, 4.1, -999.0]))[0].example
    '-999'
    >>> sentinel_notes("depth", np.array([3.0, 5.5, 9.0, 99.0, -1.0]))
    []
    >>> print(*sentinel_notes("q1", np.array([1.0, 2.0, 6.0, 4.0, -9.0, 3.0, 5.0, -9.0])))
    column 'q1' has the value -9 in 2 training rows, while the others go from 1 to 6; if it marks missing values, \
leave these cells empty, or use categorical='q1'
    """
    low, high = np.nanmin(x), np.nanmax(x)
    for value in (low, high):
        if value not in (*_SENTINELS, *_NINES):
            continue
        others = x[~np.isnan(x) & (x != value)]
        rows = int(np.count_nonzero(x == value))
        if rows < 2 or not len(others):
            continue
        width = max(float(others.max() - others.min()), float(np.abs(others).max()) / 100)
        far = min(abs(value - others.min()), abs(value - others.max())) > _FAR * width
        if far and value in _SENTINELS:
            return [Note("sentinel", (name,), rows, f"{value:g}")]
        if _like_a_code(value, others, rows):
            known = others[others >= 0]
            span = f"{known.min():g} to {known.max():g}"
            return [Note("code for missing", (name,), rows, f"{value:g}", {"span": span})]
    return []


_CODES = 20
"""Different whole numbers up to which a column may hold codes."""
_GAP = 0.75
"""Share of 9, 99 or 999 that the other values do not exceed where it may stand for a missing one."""


def _like_a_code(value: float, others: NDArray[np.float64], rows: int) -> bool:
    """Whether a number may stand for a missing one among a few whole numbers from zero on, though it is not far off.

    Below zero is -9, perhaps with other codes such as -8. Above the others is 9, more frequent than the largest of
    them: in counts, large ones are rare.
    """
    different, often = np.unique(others, return_counts=True)
    if len(different) > _CODES or np.any(different != np.rint(different)):
        return False
    below = different[different < 0]
    if value < 0:
        return value in _SENTINELS[1:] and len(below) < min(3, len(different)) and (not len(below) or below[-1] <= -7)
    return value in _NINES and not len(below) and different[-1] <= _GAP * value and rows > max(_AGAIN, often[-1])


def _with_offset(cells: Cells, x: NDArray[np.float64], form: NumberForm) -> NumberForm:
    """The form with a whole number near the smallest one as offset, so that differences survive the rounding."""
    cell = cells.cell(int(np.nanargmin(x)))
    return msgspec.structs.replace(
        form, offset=floor(Fraction(form.plain_text(cell) or 0) if isinstance(cell, str) else cell)
    )


def settled_mark(cells: Cells, column: NumericColumn) -> str:
    """The decimal mark that a column of numbers shows beyond doubt; empty where it shows none."""
    form = column.form
    if isinstance(cells, NumberCells) or form.duration or form.brackets or form.limits:
        return ""
    if form.plain:
        return "." if cells.any_match(_FRACTION) else ""
    other = NumberForm("." if form.decimal == "," else ",", form.decimal, form.before, form.after)
    return "" if cells.all_match(other.pattern) and not cells.any_match(_BELOW_ONE) else form.decimal
