"""The cells of a column of text in a Polars series, whole or a part of it."""

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from abnet.tables.cells import to_text
from abnet.tables.column_cells import BLANKS, Cells, Dates, Distinct, DistinctCells, Numbers
from abnet.tables.date_grammar import WIDTH, read_matrix
from abnet.tables.number_forms import PLAIN, NumberForm

if TYPE_CHECKING:
    import polars

__all__ = ["FIRST_ROWS", "TextCells", "TextPart"]

FIRST_ROWS = 4096
"""Rows looked at first, to see whether texts repeat, or have what a column is searched for."""
_FEW = 256
"""Different texts that are looked up before it is known that there are no others."""


@dataclass(frozen=True)
class TextCells(Cells):
    """A column of text in a Polars series."""

    series: "polars.Series"

    def __len__(self) -> int:
        return len(self.series)

    def cell(self, position: int) -> Any:
        """One cell."""
        return self.series[position]

    @cached_property
    def _distinct(self) -> Distinct:
        import polars as pl

        # The few texts of the first rows are often all there are, which a look-up of every row shows.
        for rows in (self.series.head(FIRST_ROWS), self.series):
            present = rows.drop_nulls().unique(maintain_order=True)
            if len(present) <= _FEW or len(rows) == len(self.series):
                encoded = self.series.cast(pl.Enum(present), strict=False)
                if encoded.null_count() == self.series.null_count():
                    break
        codes = encoded.to_physical().cast(pl.Int64).fill_null(len(present))
        return Distinct(codes.to_numpy(), [*present.to_list(), None])

    def distinct(self) -> Distinct:
        """The distinct texts."""
        return self._distinct

    @cached_property
    def _counts(self) -> dict[str, int]:
        counts: Counter[str] = Counter()
        groups = self.series.alias("text").to_frame().group_by("text", maintain_order=True).len()
        for value, count in zip(groups["text"].to_list(), groups["len"].to_list(), strict=True):
            counts[to_text(value)] += count
        return dict(counts)

    def counts(self) -> dict[str, int]:
        """Number of rows of every text, in the order of their first rows."""
        return self._counts

    def at(self, rows: NDArray[np.intp]) -> "TextCells":
        """The cells of some rows."""
        return TextCells(self.series.rechunk().gather(rows))  # several times as fast as from many chunks

    def numbers(self, form: NumberForm) -> Numbers:
        """Numbers written in a form."""
        if form == PLAIN:
            return self._plain_numbers
        return self._numbers(form)

    @cached_property
    def _plain_numbers(self) -> Numbers:
        return self._numbers(PLAIN)

    def _numbers(self, form: NumberForm) -> Numbers:
        """Those that Polars reads at once, then the others one by one."""
        regular = form.read_regular(self.series)
        x = regular.to_numpy(writable=True)
        odd = np.zeros(len(x), bool)
        if regular.null_count():
            others = np.flatnonzero(regular.is_null().to_numpy())
            read = DistinctCells(self.at(others).distinct()).numbers(form)
            x[others] = read.x
            odd[others] = read.odd
        x.flags.writeable = False  # the array is shared
        return Numbers(x, odd)

    def dates(self) -> Dates:
        """Dates as they are written."""
        head = self.series.head(FIRST_ROWS)
        few_distinct = head.n_unique() < FIRST_ROWS // 2
        if few_distinct or len(self.series) < FIRST_ROWS:
            return DistinctCells(self.distinct()).dates()
        text = self.series.fill_null("").str.strip_chars(BLANKS)
        n_bytes = text.str.len_bytes()
        width = min(int(n_bytes.max() or 0), WIDTH)  # type: ignore[arg-type]
        not_ascii = n_bytes != text.str.len_chars()
        text = text.set((n_bytes > width) | not_ascii, "")
        joined = text.str.pad_end(width, "\0").str.join("").item()
        return Dates(read_matrix(np.frombuffer(joined.encode(), np.uint8).reshape(len(text), width)))

    def all_match(self, pattern: str) -> bool:
        """Whether every cell that is not missing matches a pattern from its start to its end."""
        matches = self.series.str.contains(f"^(?:{pattern})$").fill_null(True)
        others = TextCells(self.series.filter(~matches))
        return DistinctCells(others.distinct()).all_match(pattern)  # some of them may be missing

    def any_match(self, pattern: str) -> bool:
        """Whether a pattern is found in a cell; if the first rows have it, the others are not searched."""
        return any(part.str.contains(pattern).any() for part in (self.series[:FIRST_ROWS], self.series[FIRST_ROWS:]))


@dataclass(frozen=True)
class TextPart(Cells):
    """A part of a column of text that shares parsed numbers with the whole column.

    The number in a cell does not depend on other rows, so numbers are parsed once for all rows, and the part selects
    its own. Text is copied only if it is needed; the part never uses numbers of other rows.

    Attributes
    ----------
    whole : TextCells
    rows : array (n,)
        Positions of the cells in the column, in any order.
    among : polars.Series
        Which cells of the column these are.

    Examples
    --------
    >>> import polars as pl
    >>> among = pl.Series([True, False, True])
    >>> part = TextPart(TextCells(pl.Series(["1", "many", "3"])), np.array([2, 0]), among)
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
        x, odd = self.whole.numbers(form)
        own_odd = np.zeros(len(self), bool)
        if odd.any():
            own_odd = np.take(odd, self.rows)
        return Numbers(np.take(x, self.rows), own_odd)

    def at(self, rows: NDArray[np.intp]) -> Cells:
        """The cells of some rows, by their positions in this part."""
        return self.whole.at(self.rows[rows])

    @cached_property
    def _copied(self) -> TextCells:
        return self.whole.at(self.rows)

    def distinct(self) -> Distinct:
        """The distinct texts."""
        return self._copied.distinct()

    def counts(self) -> dict[str, int]:
        """Number of rows of every text, in the order of their first rows."""
        return self._copied.counts()

    def dates(self) -> Dates:
        """Dates as they are written."""
        return self._copied.dates()

    def all_match(self, pattern: str) -> bool:
        """Whether every cell that is not missing matches a pattern from its start to its end."""
        return TextCells(self.whole.series.filter(self.among)).all_match(pattern)

    def any_match(self, pattern: str) -> bool:
        """Whether a pattern is found in a cell; if the first rows have it, the others are not searched."""
        series = self.whole.series
        for block in (slice(FIRST_ROWS), slice(FIRST_ROWS, None)):
            own = series[block].filter(self.among[block])
            if own.str.contains(pattern).any():
                return True
        return False
