"""Some rows of a column of text whose other rows are of use too.

A preparation is fitted on a part of the rows, and then turns all of them into features. A cell is the same number
whatever rows stand beside it, so numbers are read once, of all rows, and the part has its own of them. Its text is
copied only where more is asked of it, as of categories and dates; numbers of the other rows are never looked at.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from abnet.data.tables.cells import NumberForm
from abnet.data.tables.series import LOOK, Cells, Dates, Distinct, Numbers, TextCells

if TYPE_CHECKING:
    import polars

__all__ = ["TextPart", "marked_rows"]


def marked_rows(rows: NDArray[np.intp], n_rows: int) -> "polars.Series":
    """Which of so many rows are among some.

    Examples
    --------
    >>> marked_rows(np.array([2, 0]), 4).to_list()
    [True, False, True, False]
    """
    import polars as pl

    among = np.zeros(n_rows, bool)
    among[rows] = True
    return pl.Series(among)


@dataclass(frozen=True)
class TextPart(Cells):
    """Some cells of a column of text.

    Attributes
    ----------
    whole : TextCells
    rows : array (n,)
        Their places in the column, in any order.
    among : polars.Series
        Which cells of the column these are.

    Examples
    --------
    >>> import polars as pl
    >>> rows = np.array([2, 0])
    >>> part = TextPart(TextCells(pl.Series(["1", "many", "3"])), rows, marked_rows(rows, 3))
    >>> part.numbers(NumberForm()).x.tolist(), part.any_match("m"), part.counts()
    ([3.0, 1.0], False, {'3': 1, '1': 1})
    """

    whole: TextCells
    rows: NDArray[np.intp]
    among: "polars.Series"

    def __len__(self) -> int:
        return len(self.rows)

    def cell(self, position: int) -> Any:
        """One cell."""
        return self.whole.cell(int(self.rows[position]))

    def numbers(self, form: NumberForm) -> Numbers:
        """Numbers written in a form."""
        x, strange = self.whole.numbers(form)
        odd = np.take(strange, self.rows) if strange.any() else np.zeros(len(self), bool)
        return Numbers(np.take(x, self.rows), odd)

    def at(self, rows: NDArray[np.intp]) -> Cells:
        """Some of the cells."""
        return self.whole.at(self.rows[rows])

    @cached_property
    def _copied(self) -> TextCells:
        return self.whole.at(self.rows)

    def distinct(self) -> Distinct:
        """The distinct texts."""
        return self._copied.distinct()

    def counts(self) -> dict[str, int]:
        """Rows of every text, in the order in which they come first."""
        return self._copied.counts()

    def dates(self) -> Dates:
        """Dates as they are written."""
        return self._copied.dates()

    def all_match(self, pattern: str) -> bool:
        """Whether every cell that is not missing matches a pattern from its start to its end."""
        return TextCells(self.whole.series.filter(self.among)).all_match(pattern)

    def any_match(self, pattern: str) -> bool:
        """Whether a pattern is found in a cell; where the first rows have it, the others are not searched."""
        series, among = self.whole.series, self.among
        pieces = ((series[:LOOK], among[:LOOK]), (series[LOOK:], among[LOOK:]))
        return any(piece.filter(own).str.contains(pattern).any() for piece, own in pieces)
