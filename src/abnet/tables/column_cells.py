"""The cells of one column, from any library.

There are four kinds: text in a Polars series (`text_cells`), numbers and dates in NumPy arrays (by their type), and
anything else as distinct values and a code for every row. The result for a cell does not depend on other rows, so a
table in batches gives the same results as the whole table.
"""

import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from abnet.tables.cells import MISSING, is_gap, is_missing, to_text
from abnet.tables.date_grammar import WrittenDates, in_days, matrix, read_matrix
from abnet.tables.number_forms import NumberForm

__all__ = [
    "BLANKS",
    "Cells",
    "DateCells",
    "Dates",
    "Distinct",
    "DistinctCells",
    "NumberCells",
    "Numbers",
    "odd_texts",
]

BLANKS = " \t\n\r\v\f\u00a0\u2009\u202f"
"""Blanks that may surround a date. They are listed because Python and Polars know different ones."""
_SAMPLE = 300
"""Texts looked at before a whole column is searched."""
_SAMPLED_ROWS = 1000
"""Rows that the sample is taken from."""


class Distinct(NamedTuple):
    """The place of every row's value among the distinct values of a column; the last value is None, for missing."""

    codes: NDArray[np.integer[Any]]
    values: list[Any]

    def counts(self) -> list[int]:
        """Number of rows of every value."""
        return np.bincount(self.codes, minlength=len(self.values)).tolist()

    def lookup(self, function: Callable[[Any], Any]) -> NDArray[Any]:
        """``function`` of every row's value, with one call per distinct value."""
        return np.array([function(value) for value in self.values])[self.codes]


class Numbers(NamedTuple):
    """The number of every row, NaN if there is none, and which cells are neither a number nor missing."""

    x: NDArray[np.float64]
    odd: NDArray[np.bool_]


class Dates(NamedTuple):
    """Dates as they are written: of every row, or of distinct values, with the place of every row's value."""

    written: WrittenDates
    codes: NDArray[np.integer[Any]] | None = None

    def rows(self, values: NDArray[Any]) -> NDArray[Any]:
        """Values of the dates as values of the rows."""
        if self.codes is None:
            return values
        return values[self.codes]


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
        """The cells of some rows, by their positions."""
        codes, values = self.distinct()
        return DistinctCells(Distinct(codes[rows], values))

    def counts(self) -> dict[str, int]:
        """Number of rows of every text, in the order of their first rows."""
        counts: Counter[str] = Counter()
        distinct = self.distinct()
        for value, count in zip(distinct.values, distinct.counts(), strict=True):
            counts[to_text(value)] += count
        return {text: count for text, count in counts.items() if count}

    def dates(self) -> Dates | None:
        """Dates as they are written; None if the column is of another type."""
        return None

    def sample(self) -> list[str]:
        """Some different texts that are not missing: of the first rows, or of any if all of these are missing."""
        n_rows = min(len(self), _SAMPLED_ROWS)
        texts = dict.fromkeys(to_text(self.cell(row)) for row in range(n_rows))
        if all(map(is_missing, texts)):
            texts = dict.fromkeys(self.counts())
        present = [text for text in texts if not is_missing(text) and not is_gap(text)]
        return present[:_SAMPLE]

    def all_match(self, pattern: str) -> bool:
        """Whether every cell that is not missing matches a pattern from its start to its end."""
        compiled = re.compile(pattern)
        return all(is_missing(text) or is_gap(text) or compiled.fullmatch(text) for text in self.counts())

    def any_match(self, pattern: str) -> bool:
        """Whether a pattern is found in a cell."""
        compiled = re.compile(pattern)
        return any(compiled.search(text) for text in self.counts())


@dataclass(frozen=True)
class NumberCells(Cells):
    """A column whose type says that it holds numbers."""

    values: NDArray[Any]
    missing: NDArray[np.bool_] | None = None

    def __len__(self) -> int:
        return len(self.values)

    def cell(self, position: int) -> Any:
        """One cell."""
        if self._is_missing()[position]:
            return None
        return self.values[position].item()

    def _is_missing(self) -> NDArray[np.bool_]:
        missing = self.missing
        if missing is None:
            missing = np.zeros(len(self.values), bool)
        if self.values.dtype.kind == "f":
            return missing | np.isnan(self.values)
        return missing

    def distinct(self) -> Distinct:
        """The distinct numbers."""
        values, codes = np.unique(self.values, return_inverse=True)
        return Distinct(np.where(self._is_missing(), len(values), codes), [*values.tolist(), None])

    def numbers(self, form: NumberForm) -> Numbers:
        """The numbers, less the offset of the form."""
        missing = self._is_missing()
        if form.offset:
            x = _read_numbers(np.where(missing, 0, self.values).tolist(), form)  # whole numbers of Python are exact
        else:
            x = self.values.astype(np.float64)
        return Numbers(np.where(missing, np.nan, x), np.zeros(len(x), bool))


def _read_numbers(values: list[Any], form: NumberForm) -> NDArray[np.float64]:
    """Values as numbers, NaN for what is no number."""
    numbers = np.full(len(values), np.nan)
    for place, value in enumerate(values):
        number = form.read(value)
        if number is not None:
            numbers[place] = number
    return numbers


@dataclass(frozen=True)
class DateCells(Cells):
    """A column whose type says that it holds dates or times, in UTC; NaT if missing."""

    values: NDArray[np.datetime64]

    def __len__(self) -> int:
        return len(self.values)

    def cell(self, position: int) -> Any:
        """One cell."""
        return _stamp_text(self.values[position])

    def distinct(self) -> Distinct:
        """The distinct moments as text."""
        values, codes = np.unique(self.values, return_inverse=True)
        texts = [_stamp_text(stamp) for stamp in values]
        return Distinct(np.where(np.isnat(self.values), len(values), codes), [*texts, None])

    def numbers(self, form: NumberForm) -> Numbers:
        """No numbers: a date is not one."""
        missing = np.isnat(self.values)
        return Numbers(np.full(len(missing), np.nan), ~missing)

    def days(self) -> NDArray[np.float64]:
        """Days since 1970-01-01."""
        stamps = self.values.astype("datetime64[us]")
        missing = np.isnat(stamps)
        microseconds = np.where(missing, 0, stamps.astype(np.int64))
        return np.where(missing, np.nan, in_days(microseconds))


def _stamp_text(stamp: np.datetime64) -> str | None:
    """A moment as text, without the time at midnight; None for NaT."""
    if np.isnat(stamp):
        return None
    return str(stamp).removesuffix("T00:00:00.000000")


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
        x = np.full(len(self.found.values), np.nan)
        odd = np.zeros(len(x), bool)
        for place, value in enumerate(self.found.values):
            number = form.read(value)
            if number is None:
                odd[place] = True
            else:
                x[place] = number
        return Numbers(x[self.found.codes], odd[self.found.codes])

    def dates(self) -> Dates:
        """Dates as they are written."""
        texts = [_date_text(value) for value in self.found.values]
        return Dates(read_matrix(matrix(texts)), self.found.codes)


def _date_text(value: Any) -> str:
    """A text that reads as the date in a cell; empty if there is none."""
    if isinstance(value, str):
        return value.strip(BLANKS)
    if isinstance(value, datetime):
        offset = value.utcoffset()
        if offset is not None:
            value = value.replace(tzinfo=None) - offset
        return value.isoformat(timespec="microseconds")[:26]
    if isinstance(value, date):
        return value.isoformat()
    return ""


def odd_texts(cells: Cells, is_odd: NDArray[np.bool_]) -> dict[str, int]:
    """The texts of odd cells with their numbers of rows, without those that are missing."""
    if not is_odd.any():
        return {}
    counts = cells.at(np.flatnonzero(is_odd)).counts()
    return {text: count for text, count in counts.items() if text.lower() not in MISSING}
