"""Notes on labels that may be the same class, several labels in one cell, or a missing label."""

import unicodedata
from collections import Counter
from collections.abc import Mapping

from abnet.tables.cells import DOUBTFUL, GAPS, to_number
from abnet.tables.notes import Note

__all__ = ["doubtful_labels"]

_SEPARATORS = ";|,/+&"
"""Characters between several labels in one cell."""

_MOST_NOTES = 3
_MOST_SPELLINGS = 4


def doubtful_labels(counts: Mapping[str, int], column: str) -> list[Note]:
    """Notes on labels that may be the same class, several labels in one, or missing.

    Two classes may be called NA and EU, so words for missing values are noted only if there are more classes.

    Examples
    --------
    >>> [note.code for note in doubtful_labels({"yes": 40, "Yes": 3, "no": 60, "?": 2}, "left")]
    ['labels alike', 'label or gap']
    >>> doubtful_labels({"rain": 4, "snow": 5, "wind": 2, "rain;wind": 3, "snow;wind": 1}, "w")[0].example
    'rain;wind'
    """
    notes = []
    if len(counts) > 2:
        notes += _several_labels(counts, column)
    notes += _labels_alike(counts, column)
    if len(counts) > 2:
        notes += _missing_labels(counts, column)
    return notes[:_MOST_NOTES]


def _labels_alike(counts: Mapping[str, int], column: str) -> list[Note]:
    """Notes on labels that differ only in capitals, spaces, invisible characters, or in how a number is written."""
    spellings: dict[str, list[str]] = {}
    for label in sorted(counts):
        spellings.setdefault(_folded(label), []).append(label)
    notes = []
    for labels in spellings.values():
        if len(labels) == 1:
            continue
        shown = labels[:_MOST_SPELLINGS]
        if _look_equal(labels):
            alike = " and ".join(map(ascii, shown))
        else:
            alike = " and ".join(map(repr, shown))
        notes.append(Note("labels alike", (column,), facts={"alike": alike}))
    return notes


def _folded(label: str) -> str:
    """One text for all spellings of a label."""
    folded = unicodedata.normalize("NFKC", label).casefold()
    printable = "".join(character for character in folded if character.isprintable())
    number = to_number(printable)
    if number is not None:
        return repr(number)
    return " ".join(printable.split())


def _look_equal(labels: list[str]) -> bool:
    """Whether two labels have the same characters, composed in different ways."""
    return len({unicodedata.normalize("NFC", label) for label in labels}) < len(labels)


def _missing_labels(counts: Mapping[str, int], column: str) -> list[Note]:
    """Notes on labels that are words for a missing value."""
    words = DOUBTFUL | GAPS
    return [Note("label or gap", (column,), count, label) for label, count in counts.items() if label.lower() in words]


def _several_labels(counts: Mapping[str, int], column: str) -> list[Note]:
    """A note if cells hold several labels, each of which occurs elsewhere: alone, or in another such cell."""
    for separator in _SEPARATORS:
        parts = {label: _parts(label, separator) for label in counts if separator in label}
        occurrences = Counter(part for own in parts.values() for part in own)
        known = {part for part, count in occurrences.items() if part and (part in counts or count > 1)}
        several = [label for label, own in parts.items() if own <= known]
        if not several:
            continue
        has_part_alone = any(part in counts for part in parts[several[0]])
        if len(several) > 1 or has_part_alone:
            n_rows = sum(counts[label] for label in several)
            example = max(several, key=lambda label: (counts[label], label))
            return [Note("several labels", (column,), n_rows, example)]
    return []


def _parts(label: str, separator: str) -> set[str]:
    return {part.strip() for part in label.split(separator)}
