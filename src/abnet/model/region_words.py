"""`RegionWords`: a region of a narrow network in the plain values of the table's columns."""

import msgspec

__all__ = ["RegionWords"]

EXACT = 0.995
"""Words that fit at least this share of the rows need no "mostly"."""


class RegionWords(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A region in words, found on training rows. The words are a summary: a region has a boundary of its own.

    Attributes
    ----------
    signs : str
        Most probable output of each leading neuron, such as ``-++``.
    words : str
        Conditions on a few columns.
    n_rows : int
        Training rows in the region.
    covered : float
        Share of these rows that meet the conditions.
    pure : float
        Share of the training rows meeting the conditions that are in the region.
    """

    signs: str
    words: str
    n_rows: int
    covered: float
    pure: float

    def __str__(self) -> str:
        """The words, with "mostly" unless they fit nearly all rows.

        Examples
        --------
        >>> print(RegionWords(signs="+-", words="age above 40", n_rows=120, covered=0.96, pure=0.91))
        mostly age above 40
        """
        if min(self.covered, self.pure) >= EXACT:
            return self.words
        return f"mostly {self.words}"
