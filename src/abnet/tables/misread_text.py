"""Detect columns of text that may be meant as numbers or dates, in a format that is not recognised."""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from itertools import islice

import msgspec
import numpy as np
from numpy.typing import NDArray

from abnet.tables.cells import is_gap, is_missing, to_number
from abnet.tables.date_grammar import MONTHS, read_dates
from abnet.tables.days import ORDERS
from abnet.tables.notes import Note
from abnet.tables.number_forms import MARKED, are_codes, unit_of
from abnet.tables.table_errors import listed, quoted

__all__ = ["misread_text_note"]

_MOSTLY = 0.9
"""Fraction of the rows that must have a format."""

_FIRST_TEXTS = 300
"""Texts that are checked first, before all are."""

_SAMPLE = 20_000
"""Texts that are enough for the checks of `_CHECKS_OF_SAMPLE`."""

_MOST_CATEGORIES = 20
"""Values that are categories, whatever they look like: 18-25, 26-35, …"""

_MOST_UNITS = 5
"""Units of one column; more are words."""

_LONGEST = 60
"""Characters of the longest text that may be a number or date."""

_MOST_DATE_WORDS = 40
"""Different words in a column of dates: months, days of the week, zones."""

_MOST_UNIT_WORDS = 6
"""Different words in a column of numbers with units."""

Check = Callable[[Mapping[str, int], int], Note | None]
"""From the rows of each text, and their sum, to a note without a column."""


def misread_text_note(column: str, counts: Mapping[str, int]) -> Note | None:
    """A note if a column of text may be meant as numbers or dates; usually None.

    Parameters
    ----------
    column : str
    counts : mapping of str to int
        Rows of each text.

    Examples
    --------
    >>> print(misread_text_note("c", {"12 kg": 3, "7": 5}))
    column 'c' is read as text because its numbers have several units ('kg' and none); if it should be numeric, write \
all with one unit
    >>> [misread_text_note("c", counts).code for counts in ({"20-05-31": 1, "20-06-01": 2}, {"5.20-": 3, "7.10": 5})]
    ['year unclear', 'other minus']
    """
    if are_codes(counts):
        return None
    sample = _sampled(counts)
    for check in _CHECKS:
        texts = counts
        if check in _CHECKS_OF_SAMPLE:
            texts = sample
        note = check(texts, sum(texts.values()))
        if note is not None:
            return msgspec.structs.replace(note, columns=(column,))
    return None


def _sampled(counts: Mapping[str, int]) -> dict[str, int]:
    """At most `_SAMPLE` texts, from all parts of the column."""
    step = -(-len(counts) // _SAMPLE)
    return dict(islice(counts.items(), 0, None, step))


def _share(counts: Mapping[str, int], n_rows: int, fits: Callable[[str], object]) -> float:
    """Fraction of the rows with a value whose text fits; 0 if fewer than half of the first texts fit."""
    n_first = min(len(counts), _FIRST_TEXTS)
    n_fitting = sum(bool(fits(text)) for text in islice(counts, n_first))
    if 2 * n_fitting < n_first:
        return 0.0
    others = {text: count for text, count in counts.items() if not fits(text)}
    if len(others) == len(counts):
        return 0.0
    n_missing = sum(count for text, count in others.items() if is_missing(text) or is_gap(text))
    n_others = sum(others.values()) - n_missing
    return 1 - n_others / max(n_rows - n_missing, 1)


def _most_frequent(counts: Mapping[str, int], texts: Mapping[str, object] | list[str]) -> str:
    return max(texts, key=lambda text: (counts[text], text))


def _several_units(counts: Mapping[str, int], n_rows: int) -> Note | None:
    unit_of_text = {}
    for text in counts:
        match = MARKED.fullmatch(text)
        if match is not None:
            unit_of_text[text] = (match["before"] or "") + (match["after"] or "").rstrip()
    kinds = set(unit_of_text.values())
    units = sorted(kinds - {""})
    if not units or not 2 <= len(kinds) <= _MOST_UNITS:
        return None
    if sum(counts[text] for text in unit_of_text) < _MOSTLY * n_rows:
        return None
    shown = listed(units)
    if "" in kinds:
        shown += " and none"
    return Note("several units", facts={"units": shown})


_OTHER_MINUS = re.compile(r"[\u2212\u2013\u2012] ?(.*)|([^-]*[0-9][^-]*?) ?[-\u2212]")
"""A dash before a number, or a minus after it."""


def _usual_minus(text: str) -> str:
    """A negative number with the usual sign; any other text as it is."""
    match = _OTHER_MINUS.fullmatch(text)
    if match is None:
        return text
    return f"-{match[1] or match[2] or ''}"


def _other_minus(counts: Mapping[str, int], n_rows: int) -> Note | None:
    """Negative numbers with the sign after them, or with a dash before them."""
    if _share(counts, n_rows, lambda text: MARKED.fullmatch(_usual_minus(text))) < _MOSTLY:
        return None
    negative = [text for text in counts if _usual_minus(text) != text and MARKED.fullmatch(_usual_minus(text))]
    if not negative:
        return None
    example = _most_frequent(counts, negative)
    return Note("other minus", example=example, facts={"usual": quoted(_usual_minus(example))})


def _nearly_numbers(counts: Mapping[str, int], n_rows: int) -> Note | None:
    """Most rows are numbers, all without a unit or with the same one."""
    units = Counter(unit_of(text) for text in counts)
    del units[""]
    usual_unit = max(units, key=lambda unit: (units[unit], unit), default=None)
    words = {text: n for text, n in counts.items() if to_number(text) is None and unit_of(text) != usual_unit}
    n_words = sum(words.values())
    if not words or 2 * n_words > n_rows:
        return None
    return Note("nearly numbers", (), n_words, _most_frequent(counts, words), {"total": n_rows})


_SHORT_DATE = re.compile(r"[0-9]{1,2}-[0-9]{1,2}-[0-9]{1,2}")


def _short_dates(counts: Mapping[str, int], n_rows: int) -> Note | None:
    """Dates such as 20-05-31, which do not show where the year is."""
    short = [text for text in counts if _SHORT_DATE.fullmatch(text)]
    if sum(counts[text] for text in short) < _MOSTLY * n_rows:
        return None
    return Note("year unclear", example=short[0])


def _days(counts: Mapping[str, int]) -> NDArray[np.float64]:
    """The day of every text in the order that reads most rows, NaN if there is none."""
    written = read_dates(list(counts))
    rows = np.array(list(counts.values()))
    candidates = [written.days(order) for order in ORDERS]
    return max(candidates, key=lambda days: int(rows[np.isfinite(days)].sum()))


def _nearly_dates(counts: Mapping[str, int], n_rows: int) -> Note | None:
    """Most rows are dates; the others are not, or there is no such day in the order of the dates."""
    others = {text: n for (text, n), day in zip(counts.items(), _days(counts), strict=True) if np.isnan(day)}
    n_others = sum(others.values())
    if not others or 2 * n_others > n_rows:
        return None
    return Note("nearly dates", (), n_others, _most_frequent(counts, others), {"total": n_rows})


_YEAR = re.compile(r"(?<![0-9])(?:1[89]|20)[0-9]{2}(?![0-9])")
_DAY = re.compile(r"(?<![0-9])[0-9]{1,2}(?![0-9])")
_DIGIT = re.compile(r"[0-9]")
_WORD = re.compile(r"[^\W\d_]+")
_MONTHS = {month[:3] for month in MONTHS}
"""Abbreviations of English months; those of many other languages begin alike."""


def _date_words(text: str) -> list[str] | None:
    """The words of a text with a year and a day, or with a month and a number; None for any other text."""
    if len(text) > _LONGEST:
        return None
    words = [word.lower() for word in _WORD.findall(text)]
    if len(words) > 3:
        return None
    without_year, n_years = _YEAR.subn("", text, count=1)
    has_year_and_day = n_years == 1 and _DAY.search(without_year)
    has_month = len(words) == 1 and words[0][:3] in _MONTHS and _DIGIT.search(text)
    if has_year_and_day or has_month:
        return words
    return None


def _other_dates(counts: Mapping[str, int], n_rows: int) -> Note | None:
    """Dates with few different words: months of another language, days of the week, weeks, zones."""
    seen: set[str] = set()

    def fits(text: str) -> bool:
        words = _date_words(text)
        if words is None:
            return False
        seen.update(words)
        return len(seen) <= _MOST_DATE_WORDS

    if _share(counts, n_rows, fits) < _MOSTLY:
        return None
    unread = [text for text, day in zip(counts, _days(counts), strict=True) if np.isnan(day) and fits(text)]
    if not unread:
        return None
    return Note("other dates", example=_most_frequent(counts, unread))


_STARTS_WITH_DIGIT = re.compile(r"[\W_]*[0-9]")


def _more_than_numbers(counts: Mapping[str, int], n_rows: int) -> Note | None:
    """A number and more, with few different words: 120/80, 5'11", 85 m2, 1 1/2, 12,34,567."""
    seen: set[str] = set()

    def fits(text: str) -> bool:
        if len(text) > _LONGEST or not _STARTS_WITH_DIGIT.match(text):
            return False
        seen.update(_WORD.findall(text))
        return len(seen) <= _MOST_UNIT_WORDS

    if len(counts) <= _MOST_CATEGORIES or _share(counts, n_rows, fits) < _MOSTLY:
        return None
    with_more = [text for text in counts if fits(text) and not text.isdigit()]
    if 2 * sum(counts[text] for text in with_more) < n_rows:
        return None  # codes, such as 01067
    return Note("more than numbers", example=_most_frequent(counts, with_more))


_CHECKS: tuple[Check, ...] = (
    _several_units,
    _other_minus,
    _nearly_numbers,
    _short_dates,
    _nearly_dates,
    _other_dates,
    _more_than_numbers,
)
"""In the order of their precedence."""

_CHECKS_OF_SAMPLE = (_other_minus, _other_dates, _more_than_numbers)
"""Checks that count no rows, so that a sample of the texts is enough."""
