"""Columns of text: as categories, or in another form if there are many different values."""

import re
from collections.abc import Mapping, Sequence

import numpy as np

from abnet.tables.cells import BLANK, is_blank, to_text
from abnet.tables.column_cells import Cells
from abnet.tables.columns.column import Column, UnseenRows, kind, missing_feature, unseen_rows
from abnet.tables.columns.column_options import ColumnOptions
from abnet.tables.columns.encoded import Encoded
from abnet.tables.columns.rule_registry import Chosen, constant, rule
from abnet.tables.columns.words import common_words
from abnet.tables.identifiers import NEARLY_ALL, is_identifier_name
from abnet.tables.many_texts import ManyTexts, many_texts, merged_notes
from abnet.tables.misread_text import misread_text_note
from abnet.tables.notes import Note
from abnet.tables.table import Table
from abnet.tables.table_errors import quoted

__all__ = ["TextColumn"]

_MOST_LISTED = 1000
"""Up to this many rare categories are listed; with more, a model file would hold a column of names or addresses."""

_ALWAYS = 20
"""Up to this many categories have a feature of their own, however rare they are."""

_LEAST_ROWS = 3
"""Further categories have a feature of their own if they have this many rows."""


@kind
class TextColumn(Column, frozen=True, tag="text"):
    """One 0-1 feature per category, one for all rare categories together, one for missing.

    Attributes
    ----------
    categories : tuple of str
        Those with a feature of their own.
    rare : tuple of str or None
        Those that share a feature; None if they are too many to list. A category that did not occur in fitting counts
        as a rare one; without rare categories, all its features are 0.
    missing : bool
        Whether a feature marks missing cells: if cells were missing in fitting.
    """

    unseen_code = "unseen category"
    categories: tuple[str, ...]
    rare: tuple[str, ...] | None
    missing: bool

    def __post_init__(self) -> None:
        known = [*self.categories, *(self.rare or ())]
        if len(set(known)) < len(known):
            raise ValueError("a column of text lists a category twice")
        if not self.features:
            raise ValueError("a column of text makes no feature (no category)")

    @property
    def _has_rare(self) -> bool:
        return self.rare != ()

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the features."""
        names = [f"{self.name}={category}" for category in self.categories]
        if self._has_rare:
            names.append(f"{self.name} (other)")
        if self.missing:
            names.append(missing_feature(self.name))
        return tuple(names)

    @property
    def values(self) -> tuple[str, ...] | None:
        """The categories, rare ones too; None if those are too many to list."""
        if self.rare is None:
            return None
        return (*self.categories, *self.rare)

    def encoded(self, table: Table) -> tuple[Encoded, UnseenRows]:
        """Features, and the categories that did not occur in fitting."""
        distinct = table.cells(self.name).distinct()
        texts = [to_text(value) for value in distinct.values]
        blank = [is_blank(value) for value in distinct.values]
        place_of = {category: place for place, category in enumerate(self.categories)}
        lookup = np.zeros((len(texts), len(self.features)), np.float32)
        for row, text in enumerate(texts):
            if blank[row] and self.missing:
                lookup[row, -1] = 1
            elif text in place_of and not blank[row]:
                lookup[row, place_of[text]] = 1
            elif self._has_rare:
                lookup[row, len(self.categories)] = 1
        return Encoded.looked_up(lookup, distinct, blank), unseen_rows(distinct, self._unseen(texts, blank))

    def _unseen(self, texts: Sequence[str], blank: Sequence[bool]) -> list[bool]:
        """Which texts did not occur in fitting, as far as that is known."""
        if self.rare is None:
            return [False] * len(texts)
        known = {*self.categories, *self.rare}
        return [not is_missing and text not in known for text, is_missing in zip(texts, blank, strict=True)]


@rule(90, "categorical")
def _texts(name: str, cells: Cells, options: ColumnOptions) -> Chosen | ManyTexts:
    """A column of categories, or what text with many values may become.

    A text that differs in every row and has no recurring words is an identifier: its characters might count the rows as
    a number does.
    """
    counts = {text: count for text, count in cells.counts().items() if text.lower() not in BLANK}
    total = sum(counts.values())
    some_missing = len(cells) > total
    if len(counts) == 1 and not some_missing:
        return _constant_text(name, next(iter(counts)))
    by_frequency = sorted(counts, key=lambda category: (-counts[category], category))
    column = _fitted(name, by_frequency, counts, options.max_categories, some_missing=some_missing)
    has_many_values = _has_many_values(by_frequency, counts, options.max_categories)
    requested = options.requested_kind(name) == "categorical"
    wanted = options.is_named(name)
    notes: tuple[Note, ...] = ()
    if not requested:
        notes = _misreading_notes(name, counts)

    why = _why_identifier(name, counts)
    if why and column.rare != () and not wanted:
        is_prose = has_many_values and bool(common_words(counts))
        if not is_prose:
            return Chosen(None, (Note("identifier", (name,), facts={"why": why}), *notes))
    if has_many_values and not requested:
        return many_texts(name, counts, column, wanted=wanted, notes=notes)
    return Chosen(column, (*notes, *merged_notes(column, counts)))


def _constant_text(name: str, text: str) -> Chosen:
    """A column with the same text in all rows; a long text is shortened in the note."""
    in_quotes = quoted(text)
    if len(in_quotes) <= len(text):
        return constant(name, in_quotes)
    return constant(name, text)


def _fitted(
    name: str, by_frequency: list[str], counts: Mapping[str, int], max_categories: int, *, some_missing: bool
) -> TextColumn:
    """Categories, the most frequent first, as a column."""
    n_own = _number_with_own_feature(by_frequency, counts, max_categories)
    own = by_frequency[:n_own]
    rare = by_frequency[n_own:]
    listed = None
    if len(rare) <= _MOST_LISTED:
        listed = tuple(sorted(rare))
    return TextColumn(name, tuple(sorted(own)), listed, some_missing)


def _number_with_own_feature(by_frequency: list[str], counts: Mapping[str, int], max_categories: int) -> int:
    """How many of the categories, the most frequent first, have a feature of their own.

    The feature for the rare ones counts as a category, so that `max_categories` limits the width.
    """
    n_categories = len(by_frequency)
    n_frequent = sum(counts[category] >= _LEAST_ROWS for category in by_frequency)
    n_rare = n_categories - n_frequent
    # A single rare category has none to share a feature with.
    if n_categories <= max_categories and (n_rare < 2 or n_categories <= _ALWAYS):
        return n_categories
    return min(max(n_frequent, _ALWAYS - 1), max_categories - 1)


def _has_many_values(by_frequency: list[str], counts: Mapping[str, int], max_categories: int) -> bool:
    """Whether the categories that always have a feature of their own make up less than half of the rows."""
    most = min(_ALWAYS, max_categories)
    if len(by_frequency) > most:
        by_frequency = by_frequency[: most - 1]
    n_covered = sum(counts[category] for category in by_frequency)
    return 2 * n_covered < sum(counts.values())


def _misreading_notes(name: str, counts: Mapping[str, int]) -> tuple[Note, ...]:
    """A note if the text may be meant as numbers or dates."""
    if not any(re.search("[0-9]", text) for text in counts):
        return ()
    note = misread_text_note(name, counts)
    if note is None:
        return ()
    return (note,)


def _why_identifier(name: str, counts: Mapping[str, int]) -> str:
    """Why a text may name the rows; empty if it repeats too often."""
    total = sum(counts.values())
    if len(counts) == total:
        return f"all {total} values differ"
    if is_identifier_name(name) and len(counts) >= NEARLY_ALL * total:
        return f"{len(counts)} of {total} values differ"
    return ""
