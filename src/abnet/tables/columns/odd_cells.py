"""Cells of a column of numbers or dates that are neither: odd cells, and words for missing values."""

from abnet.tables.columns.column import UnseenRows
from abnet.tables.notes import Note

__all__ = ["MOSTLY", "gap_notes", "most_frequent"]

MOSTLY = 0.9
"""A column holds numbers or dates if at least this share of its values can be read as such."""

_MOST_WORDS = 3
"""Words for missing values that a note lists."""


def most_frequent(rows: UnseenRows) -> str:
    """The text with the largest number of rows.

    Examples
    --------
    >>> most_frequent({"a": 1, "b": 3})
    'b'
    """
    return max(rows, key=lambda text: (rows[text], text))


def gap_notes(name: str, rows: UnseenRows) -> list[Note]:
    """A note on words for missing values, given the rows of each; none if there are no such words."""
    if not rows:
        return []
    by_frequency = sorted(rows, key=lambda word: (-rows[word], word))
    words = " or ".join(repr(word) for word in by_frequency[:_MOST_WORDS])
    return [Note("gap words", (name,), sum(rows.values()), facts={"words": words})]
