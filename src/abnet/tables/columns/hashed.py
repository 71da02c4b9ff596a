"""Columns of text that differs in most rows, as hashed words and characters."""

import re
import zlib

import numpy as np

from abnet.tables.cells import is_blank, to_text
from abnet.tables.columns.column import Column, UnseenRows, kind, missing_feature
from abnet.tables.columns.encoded import Encoded
from abnet.tables.columns.words import words_in
from abnet.tables.table import Table

__all__ = ["BUCKETS", "HashedColumn", "tokens_of"]

BUCKETS = 64
"""Number of features of hashed text."""

_MOST_BUCKETS = 4096
_DIGIT = re.compile(r"\d")


def tokens_of(text: str) -> set[str]:
    """The words of a text and all its triples of characters, in lower case and with 0 for every digit.

    A number inside a text may count the rows of a table. In a sorted table it would predict the label, but not for new
    rows.

    Examples
    --------
    >>> sorted(tokens_of("No 17"))
    [' 00', ' no', '00 ', 'no', 'no ', 'o 0']
    """
    with_single_blanks = " ".join(text.casefold().split())
    plain = _DIGIT.sub("0", with_single_blanks)
    padded = f" {plain} "
    triples = {padded[start : start + 3] for start in range(len(padded) - 2)}
    return words_in(plain) | triples


@kind
class HashedColumn(Column, frozen=True, tag="hashed"):
    """0-1 features: whether one of the tokens of the text falls into the bucket.

    The bucket of a token is ``crc32(token in UTF-8) mod buckets``, the same in every release and on every machine.

    Attributes
    ----------
    buckets : int
    missing : bool
        Whether a further 0-1 feature marks missing cells: if cells were missing in fitting.

    Examples
    --------
    >>> from abnet.tables.table import as_table
    >>> features, _ = HashedColumn("t", 8, False).encode(as_table({"t": ["ab", "AB", ""]}))
    >>> features.astype(int).tolist()
    [[1, 0, 0, 0, 0, 1, 0, 0], [1, 0, 0, 0, 0, 1, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0]]
    """

    unseen_code = "unseen category"
    buckets: int
    missing: bool

    def __post_init__(self) -> None:
        if not 1 <= self.buckets <= _MOST_BUCKETS:
            raise ValueError(f"the buckets of hashed text must be 1 to {_MOST_BUCKETS}")

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the features."""
        names = [f"{self.name} (bucket {place})" for place in range(self.buckets)]
        if self.missing:
            names.append(missing_feature(self.name))
        return tuple(names)

    def encoded(self, table: Table) -> tuple[Encoded, UnseenRows]:
        """Features; new words are to be expected, and not reported."""
        distinct = table.cells(self.name).distinct()
        blank = [is_blank(value) for value in distinct.values]
        lookup = np.zeros((len(distinct.values), len(self.features)), np.float32)
        for row, value in enumerate(distinct.values):
            if blank[row]:
                lookup[row, self.buckets :] = 1  # the feature for missing, if there is one
                continue
            buckets = [zlib.crc32(token.encode()) % self.buckets for token in tokens_of(to_text(value))]
            lookup[row, buckets] = 1
        return Encoded.looked_up(lookup, distinct, blank), {}
