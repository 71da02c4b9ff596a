"""One column of a table, from any library.

There are four kinds: text in a Polars series (as read from files), numbers and dates in NumPy arrays (by their type),
and anything else as distinct values and a code for every row. The result for a cell does not depend on other rows, so a
table in batches gives the same results as the whole table.

Dates are converted to days since 1970-01-01.
"""

import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from abnet.tables.cells import MISSING, is_gap, is_missing, to_text
from abnet.tables.date_shapes import WIDTH, WrittenDates, in_days, matrix, read_matrix
from abnet.tables.number_forms import PLAIN, NumberForm

if TYPE_CHECKING:
    import polars

__all__ = [
    "Cells",
    "DateCells",
    "Dates",
    "Days",
    "Distinct",
    "DistinctCells",
    "LOOK",
    "NumberCells",
    "Numbers",
    "ORDERS",
    "TextCells",
    "TextPart",
    "days",
    "days_of",
    "unreadable",
]


class Distinct(NamedTuple):
    """Every row's place among the distinct values of a column, and these values, None for missing always the last."""

    codes: NDArray[np.integer[Any]]
    values: list[Any]

    def counts(self) -> list[int]:
        """Rows of every value."""
        return np.bincount(self.codes, minlength=len(self.values)).tolist()

    def lookup(self, function: Callable[[Any], Any]) -> NDArray[Any]:
        """``function`` of every row's value, with one call per distinct value."""
        return np.array([function(value) for value in self.values])[self.codes]


class Numbers(NamedTuple):
    """Numbers of every row, NaN where they are missing, and where a cell is no number at all (NaN as well)."""

    x: NDArray[np.float64]
    strange: NDArray[np.bool_]


class Dates(NamedTuple):
    """Dates as they are written, of every row, or of distinct values with every row's place among them."""

    written: WrittenDates
    codes: NDArray[np.integer[Any]] | None = None

    def rows(self, values: NDArray[Any]) -> NDArray[Any]:
        """What holds of the dates, for every row."""
        return values if self.codes is None else values[self.codes]


class Cells(ABC):
    """The cells of a column, in order."""

    @abstractmethod
    def __len__(self) -> int:
        """Number of rows."""

    @abstractmethod
    def cell(self, position: int) -> Any:
        """One cell."""

    @abstractmethod
    def distinct(self) -> Distinct:
        """The distinct cells."""

    @abstractmethod
    def numbers(self, form: NumberForm) -> Numbers:
        """Numbers written in a form."""

    def at(self, rows: NDArray[np.intp]) -> "Cells":
        """The cells of some rows, by their places."""
        codes, values = self.distinct()
        return DistinctCells(Distinct(codes[rows], values))

    def counts(self) -> dict[str, int]:
        """Rows of every text, in the order in which they come first."""
        found: Counter[str] = Counter()
        distinct = self.distinct()
        for value, count in zip(distinct.values, distinct.counts(), strict=True):
            found[to_text(value)] += count
        return dict(+found)

    def dates(self) -> Dates | None:
        """Dates as they are written; None where the column is of another type."""
        return None

    def sample(self) -> list[str]:
        """Some different texts that are not missing: the first ones, or where there are none, any."""
        texts = dict.fromkeys(to_text(self.cell(place)) for place in range(min(len(self), 1000)))
        if all(map(is_missing, texts)):
            texts = dict.fromkeys(self.counts())
        return [text for text in texts if not is_missing(text) and not is_gap(text)][:_SAMPLE]

    def all_match(self, pattern: str) -> bool:
        """Whether every cell that is not missing matches a pattern from its start to its end."""
        found = re.compile(pattern)
        return all(is_missing(text) or is_gap(text) or found.fullmatch(text) for text in self.counts())

    def any_match(self, pattern: str) -> bool:
        """Whether a pattern is found in a cell."""
        found = re.compile(pattern)
        return any(found.search(text) for text in self.counts())


@dataclass(frozen=True)
class NumberCells(Cells):
    """A column whose type says that it holds numbers."""

    values: NDArray[Any]
    missing: NDArray[np.bool_] | None = None

    def __len__(self) -> int:
        return len(self.values)

    def cell(self, position: int) -> Any:
        """One cell."""
        return None if self._absent()[position] else self.values[position].item()

    def _absent(self) -> NDArray[np.bool_]:
        absent = np.zeros(len(self.values), bool) if self.missing is None else self.missing
        return absent | np.isnan(self.values) if self.values.dtype.kind == "f" else absent

    def distinct(self) -> Distinct:
        """The distinct numbers."""
        values, codes = np.unique(self.values, return_inverse=True)
        return Distinct(np.where(self._absent(), len(values), codes), [*values.tolist(), None])

    def numbers(self, form: NumberForm) -> Numbers:
        """The numbers, less the offset of the form."""
        absent = self._absent()
        if form.offset:
            values = np.where(absent, 0, self.values).tolist()  # Python's whole numbers are exact
            x = np.array([np.nan if (number := form.read(value)) is None else number for value in values], np.float64)
        else:
            x = self.values.astype(np.float64)
        return Numbers(np.where(absent, np.nan, x), np.zeros(len(x), bool))


@dataclass(frozen=True)
class DateCells(Cells):
    """A column whose type says that it holds dates or times, in UTC; NaT where missing."""

    values: NDArray[np.datetime64]

    def __len__(self) -> int:
        return len(self.values)

    def cell(self, position: int) -> Any:
        """One cell."""
        stamp = self.values[position]
        return None if np.isnat(stamp) else str(stamp).removesuffix("T00:00:00.000000")

    def distinct(self) -> Distinct:
        """The distinct moments as text."""
        values, codes = np.unique(self.values, return_inverse=True)
        texts = [None if np.isnat(stamp) else str(stamp).removesuffix("T00:00:00.000000") for stamp in values]
        return Distinct(np.where(np.isnat(self.values), len(values), codes), [*texts, None])

    def numbers(self, form: NumberForm) -> Numbers:
        """No number at all."""
        absent = np.isnat(self.values)
        return Numbers(np.full(len(absent), np.nan), ~absent)

    def days(self) -> NDArray[np.float64]:
        """Days since 1970-01-01."""
        stamps = self.values.astype("datetime64[us]")
        absent = np.isnat(stamps)
        return np.where(absent, np.nan, in_days(np.where(absent, 0, stamps.astype(np.int64))))


@dataclass(frozen=True)
class DistinctCells(Cells):
    """A column of anything, as its distinct values."""

    found: Distinct

    def __len__(self) -> int:
        return len(self.found.codes)

    def cell(self, position: int) -> Any:
        """One cell."""
        return self.found.values[self.found.codes[position]]

    def distinct(self) -> Distinct:
        """The distinct values."""
        return self.found

    def numbers(self, form: NumberForm) -> Numbers:
        """Numbers written in a form."""
        read = [form.read(value) for value in self.found.values]
        x = np.array([np.nan if number is None else number for number in read])
        return Numbers(x[self.found.codes], np.array([number is None for number in read])[self.found.codes])

    def dates(self) -> Dates:
        """Dates as they are written."""
        return Dates(read_matrix(matrix([_date_text(value) for value in self.found.values])), self.found.codes)


def _date_text(value: Any) -> str:
    """A text that reads as the date in a cell; empty for what is none."""
    if isinstance(value, str):
        return value.strip(_AROUND)
    if isinstance(value, datetime):
        stamp = value if value.utcoffset() is None else value.replace(tzinfo=None) - (value.utcoffset() or timedelta())
        return stamp.isoformat(timespec="microseconds")[:26]
    return value.isoformat() if isinstance(value, date) else ""


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

        # The few texts that the first rows hold are often all there are: to look them up tells.
        for rows in (self.series.head(LOOK), self.series):
            present = rows.drop_nulls().unique(maintain_order=True)
            if len(present) <= _FEW or len(rows) == len(self.series):
                found = self.series.cast(pl.Enum(present), strict=False)
                if found.null_count() == self.series.null_count():
                    break
        codes = found.to_physical().cast(pl.Int64).fill_null(len(present))
        return Distinct(codes.to_numpy(), [*present.to_list(), None])

    def distinct(self) -> Distinct:
        """The distinct texts."""
        return self._distinct

    @cached_property
    def _counts(self) -> dict[str, int]:
        found: Counter[str] = Counter()
        tally = self.series.alias("text").to_frame().group_by("text", maintain_order=True).len()
        for value, count in zip(tally["text"].to_list(), tally["len"].to_list(), strict=True):
            found[to_text(value)] += count
        return dict(found)

    def counts(self) -> dict[str, int]:
        """Rows of every text, in the order in which they come first."""
        return self._counts

    def at(self, rows: NDArray[np.intp]) -> "TextCells":
        """The cells of some rows; out of many pieces they would be taken several times as slowly."""
        return TextCells(self.series.rechunk().gather(rows))

    def numbers(self, form: NumberForm) -> Numbers:
        """Numbers written in a form."""
        return self._plain_numbers if form == PLAIN else self._numbers(form)

    @cached_property
    def _plain_numbers(self) -> Numbers:
        return self._numbers(PLAIN)

    def _numbers(self, form: NumberForm) -> Numbers:
        """Those that Polars reads at once, then the others one by one."""
        fast = form.read_regular(self.series)
        x = fast.to_numpy(writable=True)
        strange = np.zeros(len(x), bool)
        if fast.null_count():
            left = np.flatnonzero(fast.is_null().to_numpy())
            x[left], strange[left] = DistinctCells(self.at(left).distinct()).numbers(form)
        x.flags.writeable = False  # others may have them too
        return Numbers(x, strange)

    def dates(self) -> Dates:
        """Dates as they are written."""
        head = self.series.head(LOOK)
        if head.n_unique() < LOOK // 2 or len(self.series) < LOOK:  # few distinct values: read each once
            return DistinctCells(self.distinct()).dates()
        text = self.series.fill_null("").str.strip_chars(_AROUND)
        size, width = text.str.len_bytes(), min(int(text.str.len_bytes().max() or 0), WIDTH)  # type: ignore[arg-type]
        text = text.set((size > width) | (size != text.str.len_chars()), "")
        joined = text.str.pad_end(width, "\0").str.join("").item()
        return Dates(read_matrix(np.frombuffer(joined.encode(), np.uint8).reshape(len(text), width)))

    def all_match(self, pattern: str) -> bool:
        """Whether every cell that is not missing matches a pattern from its start to its end."""
        rest = self.series.filter(~self.series.str.contains(f"^(?:{pattern})$").fill_null(True))
        return DistinctCells(TextCells(rest).distinct()).all_match(pattern)

    def any_match(self, pattern: str) -> bool:
        """Whether a pattern is found in a cell; where the first rows have it, the others are not searched."""
        return any(part.str.contains(pattern).any() for part in (self.series.head(LOOK), self.series[LOOK:]))


_SAMPLE = 300
"""Texts looked at before a whole column is searched."""
_FEW = 256
"""Different texts that are looked up before it is known that there are no others."""
LOOK = 4096
"""Rows looked at to see whether texts repeat, or have what a column is searched for."""
_AROUND = " \t\n\r\v\f\u00a0\u2009\u202f"
"""Blanks around a date: named, since Python and Polars know different ones."""

ORDERS = ("year-month-day", "day/month/year", "month/day/year")
"""What the numbers of a date stand for; a year of four digits that comes first, or a month's name, needs no order."""


@dataclass(frozen=True)
class TextPart(Cells):
    """A part of a column of text that shares parsed numbers with the whole column.

    The number in a cell does not depend on other rows, so numbers are parsed once for all rows, and the part selects
    its own. Text is copied only if it is needed; the part never uses numbers of other rows.

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


class Days(NamedTuple):
    """Days since 1970-01-01 of every row, NaN where there is no date, and the rows of what is neither date nor gap."""

    x: NDArray[np.float64]
    strange: dict[str, int]


def days(cells: Cells, order: str) -> Days:
    """A column as days since 1970-01-01, with a fraction for the time of the day.

    Examples
    --------
    >>> from abnet.tables.frames import cells_of
    >>> days(cells_of(["1970-01-02", "1970-01-01 06:00", "soon", ""]), "year-month-day")
    Days(x=array([1.  , 0.25,  nan,  nan]), strange={'soon': 1})
    """
    if isinstance(cells, DateCells):
        return Days(cells.days(), {})
    return days_of(cells, cells.dates(), order)


def days_of(cells: Cells, dates: Dates | None, order: str) -> Days:
    """`days` of a column whose texts have been read."""
    x = np.full(len(cells), np.nan) if dates is None else dates.rows(dates.written.days(order))
    strange = unreadable(cells, np.isnan(x))
    return Days(x, {text: count for text, count in strange.items() if not is_gap(text)})


def unreadable(cells: Cells, wrong: NDArray[np.bool_]) -> dict[str, int]:
    """The rows of every text where something is wrong, those that are missing left out."""
    if not wrong.any():
        return {}
    counts = cells.at(np.flatnonzero(wrong)).counts()
    return {text: count for text, count in counts.items() if text.lower() not in MISSING}
