"""Columns of text: categories, or what helps to tell the labels where there are many different values."""

import re
from collections.abc import Mapping

import numpy as np

from abnet.tables.cells import BLANK, is_blank, to_text
from abnet.tables.columns.column import Chosen, Column, Encoded, Rules, UnseenRows, counted, kind, rule
from abnet.tables.columns.words import common_words
from abnet.tables.frames import Table
from abnet.tables.identifiers import NEARLY_ALL, is_identifier_name
from abnet.tables.many_texts import ManyTexts, many_texts, merged_notes
from abnet.tables.misread_text import misread_text_note
from abnet.tables.notes import Note
from abnet.tables.series import Cells
from abnet.tables.table_errors import quoted

__all__ = ["TextColumn"]


@kind
class TextColumn(Column, frozen=True, tag="text"):
    """One 0-1 feature per category, one for all rare categories together, one for missing.

    `rare` lists the categories that share a feature: empty where every category has its own, None where they are too
    many to list. `missing` is True if fitting met missing cells. What fitting never met has the value 0 in every
    feature, or that of the rare ones where there is such a feature.
    """

    odd = "unseen category"
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
    def features(self) -> tuple[str, ...]:
        """Names of the features."""
        own = tuple(f"{self.name}={category}" for category in self.categories)
        return own + (f"{self.name} (other)",) * (self.rare != ()) + (f"{self.name} (missing)",) * self.missing

    def encoded(self, table: Table) -> tuple[Encoded, UnseenRows]:
        """Features of every row, and the categories that fitting never met."""
        distinct = table.cells(self.name).distinct()
        other = len(self.categories) if self.rare != () else None
        places = {category: place for place, category in enumerate(self.categories)}
        known = set(self.categories).union(self.rare or ())
        lookup = np.zeros((len(distinct.values), len(self.features)), np.float32)
        for row, value in zip(lookup, distinct.values, strict=True):
            place = (len(row) - 1 if self.missing else other) if is_blank(value) else places.get(to_text(value), other)
            if place is not None:
                row[place] = 1
        strange = [
            self.rare is not None and not is_blank(value) and to_text(value) not in known for value in distinct.values
        ]
        blank = list(map(is_blank, distinct.values))
        return Encoded.looked_up(lookup, distinct, blank), counted(distinct, strange)


_RARE_LISTED = 1000  # beyond, a model file would carry a whole column of names or addresses


_ALWAYS = 20
"""Categories that have a feature of their own however rare they are: so few are cheap."""
_ROWS = 3
"""Rows of a category that has a feature of its own beyond the first."""


def _with_features(ordered: list[str], counts: Mapping[str, int], most: int) -> list[str]:
    """The categories, given by falling numbers of rows, that have a feature of their own.

    The feature for the rare ones counts as a category, so that `most` limits the width.
    """
    common = sum(counts[category] >= _ROWS for category in ordered)
    alone = len(ordered) - common < 2  # a single rare category has none to share with
    if len(ordered) <= most and (alone or len(ordered) <= _ALWAYS):
        return ordered
    return ordered[: min(max(common, _ALWAYS - 1), most - 1)]


@rule(90, "categorical")
def _texts(name: str, cells: Cells, rules: Rules) -> Chosen | ManyTexts:
    """A column of text, fitted, or what it may become if its values are many.

    A text that differs in every row and has no words that come again is an identifier: its characters might count the
    rows as a number does.
    """
    counts = {text: count for text, count in cells.counts().items() if text.lower() not in BLANK}
    total, wanted, asked = sum(counts.values()), rules.wanted(name), rules.asked(name) == "categorical"
    blanks = len(cells) > total
    if len(counts) == 1 and not blanks:
        text = next(iter(counts))
        value = text if len(text) < len(quoted(text)) else quoted(text)
        return Chosen(None, (Note("constant", (name,), facts={"value": value}),))
    ordered = sorted(counts, key=lambda category: (-counts[category], category))
    kept = _with_features(ordered, counts, rules.max_categories)
    rare = ordered[len(kept) :]
    shared = tuple(sorted(rare)) if len(rare) <= _RARE_LISTED else None
    categories = TextColumn(name, tuple(sorted(kept)), shared, blanks)
    digits = not asked and any(re.search("[0-9]", text) for text in counts)
    perhaps = misread_text_note(name, counts) if digits else None
    notes = () if perhaps is None else (perhaps,)
    few = min(_ALWAYS, rules.max_categories)
    commonest = ordered if len(ordered) <= few else ordered[: few - 1]
    many = 2 * sum(counts[category] for category in commonest) < total
    naming = len(counts) == total or (is_identifier_name(name) and len(counts) >= NEARLY_ALL * total)
    if rare and naming and not wanted and not (many and common_words(counts)):
        differ = f"all {total} values" if len(counts) == total else f"{len(counts)} of {total} values"
        return Chosen(None, (Note("identifier", (name,), facts={"why": f"{differ} differ"}), *notes))
    if asked or not many:
        return Chosen(categories, (*notes, *merged_notes(categories, counts)))
    return many_texts(name, counts, categories, wanted=wanted, notes=notes)
