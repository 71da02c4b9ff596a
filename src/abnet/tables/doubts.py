"""Detect text that may be meant as numbers or dates in an unsupported format, and labels that may be the same class."""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping
from itertools import islice

import msgspec
import numpy as np
from numpy.typing import NDArray

from abnet.tables.cells import DOUBTFUL, GAPS, is_gap, is_missing, to_number
from abnet.tables.date_shapes import MONTHS, read_dates
from abnet.tables.notes import Note
from abnet.tables.number_forms import MARKED, are_codes, unit_of
from abnet.tables.series import ORDERS
from abnet.tables.table_errors import listed, quoted  # fmt: skip

__all__ = ["label_doubts", "perhaps_no_text"]

_MOSTLY = 0.9
_FIRST = 300  # texts looked at before all are
_SOME = 20_000  # texts that are enough to judge by their looks
_FEW = 20  # values that are categories, whatever they look like: 18-25, 26-35, …


def perhaps_no_text(column: str, counts: Mapping[str, int]) -> Note | None:
    """A note if a column of text, given as counts of its values, may be meant as numbers or dates; usually None.

    Examples
    --------
    >>> print(perhaps_no_text("c", {"12 kg": 3, "7": 5}))
    column 'c' is read as text because its numbers have several units ('kg' and none); if it should be numeric, write \
all with one unit
    >>> [perhaps_no_text("c", counts).code for counts in ({"20-05-31": 1, "20-06-01": 2}, {"5.20-": 3, "7.10": 5})]
    ['year unclear', 'other minus']
    """
    if are_codes(counts):
        return None
    some = dict(islice(counts.items(), 0, None, -(-len(counts) // _SOME)))  # from top to bottom
    cases = ((look, some if look in _BY_LOOKS else counts) for look in _LOOKS)
    found = (look(texts, sum(texts.values())) for look, texts in cases)
    return next((msgspec.structs.replace(note, columns=(column,)) for note in found if note is not None), None)


def _share(counts: Mapping[str, int], total: int, fits: Callable[[str], object]) -> float:
    """Share of the rows whose text fits, among those that have one; 0 where that is seldom so in the first texts."""
    if 2 * sum(bool(fits(text)) for text in islice(counts, _FIRST)) < min(len(counts), _FIRST):
        return 0.0
    odd = {text: count for text, count in counts.items() if not fits(text)}
    gaps = sum(count for text, count in odd.items() if is_missing(text) or is_gap(text))
    return 1 - (sum(odd.values()) - gaps) / max(total - gaps, 1) if len(odd) < len(counts) else 0.0


def _commonest(counts: Mapping[str, int], texts: Mapping[str, object] | list[str]) -> str:
    return max(texts, key=lambda text: (counts[text], text))


def _many_units(counts: Mapping[str, int], total: int) -> Note | None:
    matches = {text: MARKED.fullmatch(text) for text in counts}
    found = {
        text: (match["before"] or "") + (match["after"] or "").rstrip() for text, match in matches.items() if match
    }
    units = sorted(set(found.values()) - {""})
    bare = "" in found.values()
    if not 2 <= len(units) + bare <= 5 or not units:
        return None
    if sum(counts[text] for text, unit in found.items()) < _MOSTLY * total:
        return None
    shown = listed(units) + " and none" * bare
    return Note("several units", facts={"units": shown})


_BELOW = re.compile(r"[\u2212\u2013\u2012] ?(.*)|([^-]*[0-9][^-]*?) ?[-\u2212]")


def _other_signs(counts: Mapping[str, int], total: int) -> Note | None:
    """Numbers below zero with the sign at their end, or with a dash for it."""

    def usual(text: str) -> str:
        match = _BELOW.fullmatch(text)
        return text if match is None else f"-{match[1] or match[2] or ''}"

    if _share(counts, total, lambda text: MARKED.fullmatch(usual(text))) < _MOSTLY:
        return None
    odd = [text for text in counts if usual(text) != text and MARKED.fullmatch(usual(text))]
    if not odd:
        return None
    example = _commonest(counts, odd)
    return Note("other minus", example=example, facts={"usual": quoted(usual(example))})


def _nearly_numbers(counts: Mapping[str, int], total: int) -> Note | None:
    units = Counter(unit for text in counts if (unit := unit_of(text)))
    commonest = max(units, key=lambda unit: (units[unit], unit), default="")
    words = {
        text: count
        for text, count in counts.items()
        if to_number(text) is None and not (commonest and unit_of(text) == commonest)
    }
    if not words or 2 * sum(words.values()) > total:
        return None
    return Note("nearly numbers", (), sum(words.values()), _commonest(counts, words), {"total": total})


def _short_dates(counts: Mapping[str, int], total: int) -> Note | None:
    short = [text for text in counts if re.fullmatch(r"[0-9]{1,2}-[0-9]{1,2}-[0-9]{1,2}", text)]
    if sum(counts[text] for text in short) < _MOSTLY * total:
        return None
    return Note("year unclear", example=short[0])


def _days(counts: Mapping[str, int]) -> NDArray[np.float64]:
    """The day of every text in the order that reads most rows, NaN where there is none."""
    written, rows = read_dates(list(counts)), np.array(list(counts.values()))
    return max((written.days(order) for order in ORDERS), key=lambda days: int(rows[np.isfinite(days)].sum()))


def _nearly_dates(counts: Mapping[str, int], total: int) -> Note | None:
    """Some cells are no dates, or there is no such day in the order of the others."""
    odd = {text: count for (text, count), day in zip(counts.items(), _days(counts), strict=True) if np.isnan(day)}
    if not odd or 2 * sum(odd.values()) > total:
        return None
    return Note("nearly dates", (), sum(odd.values()), _commonest(counts, odd), {"total": total})


_YEAR = re.compile(r"(?<![0-9])(?:1[89]|20)[0-9]{2}(?![0-9])")
_WORD = re.compile(r"[^\W\d_]+")
_WORDS_OF_DATES = 40  # months, days of the week, zones


def _other_dates(counts: Mapping[str, int], total: int) -> Note | None:
    """A year and another number, or a month and a number, and few words: months of another language, weeks, zones."""
    months = {month[:3] for month in MONTHS}
    words: set[str] = set()

    def fits(text: str) -> bool:
        mine = [word.lower() for word in _WORD.findall(text)] if len(text) <= 60 else []
        rest, years = _YEAR.subn("", text, count=1)
        dated = years and re.search("(?<![0-9])[0-9]{1,2}(?![0-9])", rest)
        named = len(mine) == 1 and mine[0][:3] in months and re.search("[0-9]", text)
        if len(text) > 60 or len(mine) > 3 or not (dated or named):
            return False
        words.update(mine)
        return len(words) <= _WORDS_OF_DATES

    if _share(counts, total, fits) < _MOSTLY:
        return None
    odd = [text for text, day in zip(counts, _days(counts), strict=True) if np.isnan(day) and fits(text)]
    if not odd:
        return None
    return Note("other dates", example=_commonest(counts, odd))


_WORDS_OF_UNITS = 6


def _more_than_numbers(counts: Mapping[str, int], total: int) -> Note | None:
    """Digits come first, and there is more: 120/80, 5'11", 85 m2, 1 1/2, 12,34,567."""
    words: set[str] = set()

    def fits(text: str) -> bool:
        if len(text) > 60 or re.match(r"[\W_]*[0-9]", text) is None:
            return False
        words.update(_WORD.findall(text))
        return len(words) <= _WORDS_OF_UNITS

    if len(counts) <= _FEW or _share(counts, total, fits) < _MOSTLY:
        return None
    more = [text for text in counts if fits(text) and not text.isdigit()]
    if 2 * sum(counts[text] for text in more) < total:
        return None  # codes, such as 01067
    return Note("more than numbers", example=_commonest(counts, more))


_BY_LOOKS = (_other_signs, _other_dates, _more_than_numbers)
_LOOKS = (_many_units, _other_signs, _nearly_numbers, _short_dates, _nearly_dates, _other_dates, _more_than_numbers)


def label_doubts(counts: Mapping[str, int], column: str) -> list[Note]:
    """Notes on labels that may be the same class, several labels in one, or missing; two classes may be called NA and
    EU.

    Examples
    --------
    >>> [note.code for note in label_doubts({"yes": 40, "Yes": 3, "no": 60, "?": 2}, "left")]
    ['labels alike', 'label or gap']
    >>> label_doubts({"rain": 4, "snow": 5, "wind": 2, "rain;wind": 3, "snow;wind": 1}, "w")[0].example
    'rain;wind'
    """
    alike: dict[str, list[str]] = {}
    for label in sorted(counts):
        same = "".join(char for char in unicodedata.normalize("NFKC", label).casefold() if char.isprintable())
        number = to_number(same)
        alike.setdefault(" ".join(same.split()) if number is None else repr(number), []).append(label)
    several = len(counts) > 2
    notes = _several_labels(counts, column) if several else []
    for labels in alike.values():
        if len(labels) > 1:
            composed = {unicodedata.normalize("NFC", label) for label in labels}
            spelled = repr if len(composed) == len(labels) else ascii
            notes.append(Note("labels alike", (column,), facts={"alike": " and ".join(map(spelled, labels[:4]))}))
    notes += [
        Note("label or gap", (column,), count, label)
        for label, count in counts.items()
        if several and label.lower() in DOUBTFUL | GAPS
    ]
    return notes[:3]


def _several_labels(counts: Mapping[str, int], column: str) -> list[Note]:
    """A note if cells hold several labels: parts between marks that stand alone, or in several cells, elsewhere."""
    for mark in ";|,/+&":
        joined = {label: label.split(mark) for label in counts if mark in label}
        parts = Counter(part.strip() for label in joined for part in set(joined[label]))
        known = {part for part, n in parts.items() if part and (part in counts or n > 1)}
        several = [label for label, own in joined.items() if all(part.strip() in known for part in own)]
        if len(several) > 1 or (several and any(part.strip() in counts for part in joined[several[0]])):
            rows = sum(counts[label] for label in several)
            return [Note("several labels", (column,), rows, _commonest(counts, several))]
    return []
