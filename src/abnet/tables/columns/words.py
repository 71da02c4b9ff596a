"""Columns of text that differs in most rows, as the words that recur in it."""

import re
from collections import Counter
from collections.abc import Mapping

import numpy as np

from abnet.tables.cells import is_blank, to_text
from abnet.tables.columns.column import Column, UnseenRows, kind, missing_feature
from abnet.tables.columns.encoded import Encoded
from abnet.tables.table import Table

__all__ = ["MOST_WORDS", "WordsColumn", "common_words", "words_in"]

MOST_WORDS = 150
"""Maximum number of words of a column that become features."""

_WORD = re.compile(r"[^\W\d_]{2,}")

_LEAST_ROWS = 5.0
_LEAST_SHARE = 0.01
"""A word is used if at least this number and this share of the rows have it, and as many do not."""


def words_in(text: str) -> set[str]:
    """The words of a text: two or more letters, in lower case.

    Examples
    --------
    >>> sorted(words_in("Braund, Mr. Owen Harris (2nd)"))
    ['braund', 'harris', 'mr', 'nd', 'owen']
    """
    return set(_WORD.findall(text.casefold()))


def common_words(counts: Mapping[str, int]) -> list[str]:
    """The most common words of texts, the most common first; empty if the texts are not sentences.

    Words that nearly all rows have, or nearly none, are not among them. Texts are not sentences if they have fewer than
    two words on average, or if most rows have none of the words that recur.

    Parameters
    ----------
    counts : mapping
        Number of rows of each text.
    """
    n_rows = sum(counts.values())
    n_words = 0
    rows_of_word: Counter[str] = Counter()
    for text, count in counts.items():
        words = words_in(text)
        n_words += len(words) * count
        for word in words:
            rows_of_word[word] += count
    least = max(_LEAST_ROWS, n_rows * _LEAST_SHARE)
    recurring = [word for word, rows in rows_of_word.items() if least <= rows <= n_rows - least]
    recurring.sort(key=lambda word: (-rows_of_word[word], word))
    common = recurring[:MOST_WORDS]
    n_reached = sum(count for text, count in counts.items() if not words_in(text).isdisjoint(common))
    if n_words < 2 * n_rows or 2 * n_reached < n_rows:
        return []
    return common


@kind
class WordsColumn(Column, frozen=True, tag="words"):
    """One 0-1 feature per word: whether the text contains it.

    Attributes
    ----------
    words : tuple of str
    missing : bool
        Whether a further 0-1 feature marks missing cells: if cells were missing in fitting.
    """

    unseen_code = "unseen category"
    words: tuple[str, ...]
    missing: bool

    def __post_init__(self) -> None:
        if not self.words or len(set(self.words)) < len(self.words):
            raise ValueError("a column of words makes no feature (no word), or names one twice")

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the features."""
        names = [f"{self.name} has {word!r}" for word in self.words]
        if self.missing:
            names.append(missing_feature(self.name))
        return tuple(names)

    def encoded(self, table: Table) -> tuple[Encoded, UnseenRows]:
        """Features; new words are to be expected, and not reported."""
        distinct = table.cells(self.name).distinct()
        blank = [is_blank(value) for value in distinct.values]
        places = {word: place for place, word in enumerate(self.words)}
        lookup = np.zeros((len(distinct.values), len(self.features)), np.float32)
        for row, value in enumerate(distinct.values):
            if blank[row]:
                lookup[row, len(self.words) :] = 1  # the feature for missing, if there is one
                continue
            known = [places[word] for word in words_in(to_text(value)) if word in places]
            lookup[row, known] = 1
        return Encoded.looked_up(lookup, distinct, blank), {}
