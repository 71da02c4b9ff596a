"""Text that says something different in every row: as the words that come again, or as hashed words and characters."""

import re
import zlib
from collections import Counter
from collections.abc import Mapping

import numpy as np

from abnet.tables.cells import is_blank, to_text
from abnet.tables.columns.column import Column, Encoded, UnseenRows, kind
from abnet.tables.frames import Table

__all__ = ["BUCKETS", "HashedColumn", "MOST_WORDS", "WordsColumn", "common_words", "tokens_of", "words_of"]

MOST_WORDS = 50
"""Features of a column of words, at the most."""

_WORD = re.compile(r"[^\W\d_]{2,}")


def words_of(text: str) -> set[str]:
    """The words of a text: two letters or more, in small letters.

    Examples
    --------
    >>> sorted(words_of("Braund, Mr. Owen Harris (2nd)"))
    ['braund', 'harris', 'mr', 'nd', 'owen']
    """
    return set(_WORD.findall(text.casefold()))


def common_words(counts: Mapping[str, int]) -> list[str]:
    """The commonest words of texts, given with their numbers of rows, commonest first.

    A word that fewer than one row in a hundred (or five rows) has says little, and one that as few rows lack says as
    little. None at all are given where the texts are no sentences: fewer than two words in the mean, or most rows
    without any of the words that come again.
    """
    rows, total, used = Counter[str](), 0, 0
    for text, count in counts.items():
        found = words_of(text)
        total += count
        used += len(found) * count
        for word in found:
            rows[word] += count
    least = max(5.0, total / 100)
    kept = [word for word, count in rows.items() if least <= count <= total - least]
    kept = sorted(kept, key=lambda word: (-rows[word], word))[:MOST_WORDS]
    chosen = set(kept)
    reached = sum(count for text, count in counts.items() if words_of(text) & chosen)
    return kept if used >= 2 * total and 2 * reached >= total else []


@kind
class WordsColumn(Column, frozen=True, tag="words"):
    """One 0-1 feature for each of the commonest words: whether the text has it; and one for missing."""

    odd = "unseen category"
    words: tuple[str, ...]
    missing: bool

    def __post_init__(self) -> None:
        if not self.words or len(set(self.words)) < len(self.words):
            raise ValueError("a column of words makes no feature (no word), or names one twice")

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the features."""
        return tuple(f"{self.name} has {word!r}" for word in self.words) + (f"{self.name} (missing)",) * self.missing

    def encoded(self, table: Table) -> tuple[Encoded, UnseenRows]:
        """Features of every row; new words are nothing unusual, and not reported."""
        distinct = table.cells(self.name).distinct()
        places = {word: place for place, word in enumerate(self.words)}
        lookup = np.zeros((len(distinct.values), len(self.features)), np.float32)
        for row, value in enumerate(distinct.values):
            if is_blank(value):
                lookup[row, len(self.words) :] = 1
            else:
                lookup[row, [places[word] for word in words_of(to_text(value)) if word in places]] = 1
        return Encoded.looked_up(lookup, distinct, list(map(is_blank, distinct.values))), {}


BUCKETS = 64
"""Features of hashed text: few texts fill them, and they are less than those of most tables."""

_MOST_BUCKETS = 4096
_DIGIT = re.compile(r"\d")


def tokens_of(text: str) -> set[str]:
    """The words of a text, and all triples of characters in it, in small letters and with every digit a 0.

    A number inside a text may count the rows of a table; what it counts would tell the label of a sorted table, and
    nothing of new rows.

    Examples
    --------
    >>> sorted(tokens_of("No 17"))
    [' 00', ' no', '00 ', 'no', 'no ', 'o 0']
    """
    plain = _DIGIT.sub("0", " ".join(text.casefold().split()))
    padded = f" {plain} "
    return words_of(plain) | {padded[i : i + 3] for i in range(len(padded) - 2)}


@kind
class HashedColumn(Column, frozen=True, tag="hashed"):
    """`buckets` 0-1 features: whether a word or a triple of characters falls into the bucket; and one for missing.

    The bucket of a token is ``crc32(token in UTF-8) mod buckets``, the same in every release and on every machine.

    Examples
    --------
    >>> from abnet.tables.frames import as_table
    >>> features, _ = HashedColumn("t", 8, False).encode(as_table({"t": ["ab", "AB", ""]}))
    >>> features.astype(int).tolist()
    [[1, 0, 0, 0, 0, 1, 0, 0], [1, 0, 0, 0, 0, 1, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0]]
    """

    odd = "unseen category"
    buckets: int
    missing: bool

    def __post_init__(self) -> None:
        if not 1 <= self.buckets <= _MOST_BUCKETS:
            raise ValueError(f"the buckets of hashed text must be 1 to {_MOST_BUCKETS}")

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the features."""
        own = tuple(f"{self.name} (bucket {place})" for place in range(self.buckets))
        return own + (f"{self.name} (missing)",) * self.missing

    def encoded(self, table: Table) -> tuple[Encoded, UnseenRows]:
        """Features of every row; new words are nothing unusual, and not reported."""
        distinct = table.cells(self.name).distinct()
        lookup = np.zeros((len(distinct.values), len(self.features)), np.float32)
        for row, value in enumerate(distinct.values):
            if is_blank(value):
                lookup[row, self.buckets :] = 1
            else:
                lookup[row, [zlib.crc32(token.encode()) % self.buckets for token in tokens_of(to_text(value))]] = 1
        return Encoded.looked_up(lookup, distinct, list(map(is_blank, distinct.values))), {}
