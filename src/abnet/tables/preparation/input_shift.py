"""Do new rows look like the training rows? Counts for every column, exact tests, notes, and what is refused."""

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.tables.columns.column import Column
from abnet.tables.columns.encoded import Encoded
from abnet.tables.notes import Note, NoteWarning
from abnet.tables.preparation.preparation import OBSERVED_ROWS
from abnet.tables.preparation.shift_tests import absent_p, beyond_p, new_value_p, scarce_p
from abnet.tables.preparation.training_inputs import NumberRange, TrainingColumn, TrainingInputs, rank_of
from abnet.tables.table_errors import TableError, quoted
from abnet.tables.unseen import Unseen
from abnet.utils.errors import NamesParameters, Parameter

__all__ = [
    "ColumnCheck",
    "InputShiftError",
    "InputShiftWarning",
    "InputTally",
    "LEAST_ROWS",
    "refuse_shift",
    "shift_notes",
    "shifted",
    "number_of_tests",
    "warn_of_array_shift",
    "warn_of_shift",
]

LEAST_ROWS = 30
"""With fewer values than this, a column is not refused, however far its values are from the training range."""
LEAST_UNREADABLE = 10
"""With fewer cells than this, a column is not refused if none of them can be read."""
CERTAIN = 1e-6
"""A column of rows that are exchangeable with the training rows is refused with at most this probability."""
NOTED = 1e-3
"""A table of such rows gets a note with at most this probability."""
NOTABLE = 0.05
"""Share of values outside the training range from which on they are worth a note, however many rows there are."""
MORE_MISSING = 0.5
"""Share of the rows that have to be missing beyond the share in training for a note."""
NARROW = 0.05
"""Share of the training range. Numbers of another unit that stay within the range fill less of it."""


class InputShiftWarning(NoteWarning):
    """A column of the rows to predict does not look like that of the training rows."""


class InputShiftError(NamesParameters, TableError):
    """A column of a table is far outside its training range in most rows."""


@dataclass
class _Counts:
    """Counts of one column; numbers beyond, at and between the four training values of its range."""

    n_rows: int = 0
    n_missing: int = 0
    n_outside: int = 0
    n_far: int = 0
    n_lower: int = 0
    n_upper: int = 0
    low: float = np.inf
    high: float = -np.inf

    def add(self, column: Encoded, numbers: NumberRange | None) -> None:
        """Count further rows."""
        self.n_rows += column.n_rows
        self.n_missing += column.n_missing
        x = column.numbers
        if x is None or column.n_missing == column.n_rows:
            return
        low = float(np.fmin.reduce(x))
        high = float(np.fmax.reduce(x))
        self.low = min(self.low, low)
        self.high = max(self.high, high)
        if numbers is None:
            return
        self.n_lower += _count(x <= numbers.lower)
        self.n_upper += _count(x >= numbers.upper)
        self.n_outside += _outside(x, (low, high), (numbers.low, numbers.high))
        self.n_far += _outside(x, (low, high), numbers.near)


def _outside(x: NDArray[np.float64], found: tuple[float, float], limits: tuple[float, float]) -> int:
    """How many numbers are outside of limits; `found` are the smallest and the largest number.

    If both are inside the limits, which is usual, no number is compared.
    """
    n_outside = 0
    if found[0] < limits[0]:
        n_outside += _count(x < limits[0])
    if found[1] > limits[1]:
        n_outside += _count(x > limits[1])
    return n_outside


def _count(where: NDArray[np.bool_]) -> int:
    return int(np.count_nonzero(where))


@dataclass
class InputTally:
    """Counts of the columns of new rows, batch by batch.

    Parameters
    ----------
    training : TrainingInputs
    columns : sequence of Column
        The columns of the preparation; empty for a preparation of arrays.

    Examples
    --------
    >>> training = TrainingInputs.of_array(["ltv"], np.linspace(0.2, 1.0, 200)[:, None])
    >>> tally = InputTally(training)
    >>> tally.add([Encoded.of_numbers(np.linspace(20.0, 100.0, 60))])
    >>> print(*shift_notes(tally.check()))
    column 'ltv': 60 of 60 values are outside the training range (0.2 to 1; here 20 to 100); check the units
    """

    training: TrainingInputs
    columns: Sequence[Column] = ()
    counts: list[_Counts] = field(init=False)

    def __post_init__(self) -> None:
        self.counts = [_Counts() for _ in self.training.columns]

    def add(self, columns: Sequence[Encoded]) -> None:
        """Count the values of further rows; columns whose values are unknown count nothing."""
        if not columns:
            return
        for counts, column, known in zip(self.counts, columns, self.training.columns, strict=True):
            counts.add(column, known.numbers)

    def check(self, unseen: Iterable[Unseen] = ()) -> "list[ColumnCheck]":
        """Compare every column with the training rows; `unseen` are the reports on the same rows."""
        reports = {report.column: report for report in unseen}
        columns: Sequence[Column | None] = self.columns or [None] * len(self.counts)
        checks = []
        for training, counts, column in zip(self.training.columns, self.counts, columns, strict=True):
            report = reports.get(training.name)
            checks.append(ColumnCheck(training, self.training.n_rows, counts, report, column))
        return checks


@dataclass(frozen=True)
class ColumnCheck:
    """One column of new rows, compared with that of the training rows.

    Attributes
    ----------
    training : TrainingColumn
    n_training : int
        Number of training rows.
    counts : _Counts
    unseen : Unseen or None
    kind : Column or None
    """

    training: TrainingColumn
    n_training: int
    counts: _Counts
    unseen: Unseen | None
    kind: Column | None

    @property
    def name(self) -> str:
        """The name of the column."""
        return self.training.name

    @property
    def n_values(self) -> int:
        """Rows with a value."""
        return self.counts.n_rows - self.counts.n_missing

    @property
    def n_unreadable(self) -> int:
        """Rows with a cell that cannot be read."""
        if self.unseen is None or not self.unseen.read_as:
            return 0
        return self.unseen.n_rows

    @property
    def n_unseen(self) -> int:
        """Rows with a category that did not occur in training."""
        if self.unseen is None or self.unseen.read_as:
            return 0
        return self.unseen.n_rows

    @property
    def p_values(self) -> dict[str, float]:
        """The p-value of every test of this column, by its name."""
        counts = self.counts
        m = counts.n_rows
        n = self.n_training
        n_missing = self.training.n_missing
        p_missing = absent_p(counts.n_missing, m, n_missing, n)
        if self.training.numbers is None:
            return {"missing": p_missing, "unseen": new_value_p(self._most_unseen, m, n)}
        n_values = n - n_missing
        rank = rank_of(n_values)
        return {
            "missing": p_missing,
            "outside": beyond_p(counts.n_outside, self.n_values, n_values),
            "lower quarter": scarce_p(counts.n_lower, self.n_values, rank, n_values),
            "upper quarter": scarce_p(counts.n_upper, self.n_values, rank, n_values),
        }

    @property
    def _most_unseen(self) -> int:
        """Rows of the most frequent category that did not occur in training."""
        if self.unseen is None or not self.n_unseen:
            return 0
        return max(self.unseen.rows.values())

    @property
    def n_tests(self) -> int:
        """Number of tests of this column."""
        return _number_of_tests(self.training)

    def differs(self, level: float) -> list[str]:
        """The tests with a p-value of at most `level`."""
        return [name for name, p in self.p_values.items() if p <= level]

    @property
    def unreadable(self) -> bool:
        """Whether no cell can be read, although training rows had values."""
        if self.n_values or self.n_unreadable < LEAST_UNREADABLE:
            return False
        return self.p_values["missing"] <= CERTAIN

    @property
    def far(self) -> bool:
        """Whether most values are far outside the training range; dates go on and are never too far."""
        if self.n_values < LEAST_ROWS or 2 * self.counts.n_far <= self.n_values or self._takes_dates:
            return False
        return self.p_values["outside"] <= CERTAIN

    @property
    def _takes_dates(self) -> bool:
        return self.kind is not None and self.kind.takes == "date"

    def shown(self, value: float) -> str:
        """A number for a reader."""
        if self.kind is None:
            return f"{value:.5g}"
        return self.kind.shown(value)

    def ranges(self) -> tuple[str, str] | None:
        """The range of the new values and of the training values, for a reader; None for other kinds of columns."""
        numbers = self.training.numbers
        if numbers is None:
            return None
        here = ""
        if self.n_values:
            here = f"{self.shown(self.counts.low)} to {self.shown(self.counts.high)}"
        return here, f"{self.shown(numbers.low)} to {self.shown(numbers.high)}"

    def _range_note(self, code: str, rows: int) -> Note:
        here, training = self.ranges() or ("", "")
        check = "; check the units"
        if self._takes_dates:
            check = ""
        facts: dict[str, str | int | float] = {
            "total": f"{self.n_values:,}",
            "range": training,
            "here": here,
            "check": check,
        }
        return Note(code, (self.name,), rows, facts=facts)

    def note(self, level: float) -> Note | None:
        """A note if the column clearly differs from the training rows, and chance does not explain it."""
        counts = self.counts
        numbers = self.training.numbers
        before = self.training.n_missing / max(self.n_training, 1)
        many_missing = counts.n_missing >= (before + MORE_MISSING) * counts.n_rows
        if many_missing and self.n_values and self.p_values["missing"] <= level:
            facts: dict[str, str | int | float] = {"total": f"{counts.n_rows:,}", "before": f"{before:.0%}"}
            return Note("more missing", (self.name,), counts.n_missing, facts=facts)
        if numbers is None or not self.n_values:
            return None
        if counts.n_outside >= NOTABLE * self.n_values and self.p_values["outside"] <= level:
            return self._range_note("outside range", counts.n_outside)
        narrow = 0 < counts.high - counts.low <= NARROW * (numbers.high - numbers.low)
        if narrow and min(self.p_values["lower quarter"], self.p_values["upper quarter"]) <= level:
            return self._range_note("narrow range", self.n_values)
        return None

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        record: dict[str, Any] = {
            "column": self.name,
            "rows": self.counts.n_rows,
            "missing": self.counts.n_missing,
            "unreadable": self.n_unreadable,
            "unseen": self.n_unseen,
            "outside": self.counts.n_outside,
        }
        return record


def shifted(checks: Sequence[ColumnCheck], alpha: float) -> list[ColumnCheck]:
    """The columns that differ from the training rows more than chance explains.

    If the rows are exchangeable with the training rows, any column is found with a probability of at most `alpha`. This
    takes the kinds of the columns as given.
    """
    level = alpha / max(number_of_tests(checks), 1)
    return [check for check in checks if check.differs(level)]


def number_of_tests(checks: Iterable[ColumnCheck]) -> int:
    """Number of tests of all columns together."""
    return sum(check.n_tests for check in checks)


def _number_of_tests(column: TrainingColumn) -> int:
    if column.numbers is None:
        return 2
    return 4


def shift_notes(checks: Sequence[ColumnCheck], level: float = NOTED, *, n_tests: int | None = None) -> list[Note]:
    """Notes on columns that clearly differ from the training rows.

    Rows that are exchangeable with the training rows get any note with a probability of at most `level`.

    Parameters
    ----------
    checks : sequence of ColumnCheck
    level : float
    n_tests : int, optional
        Number of tests of all columns, if `checks` are those of some columns.
    """
    if n_tests is None:
        n_tests = number_of_tests(checks)
    level /= max(n_tests, 1)
    found = [check.note(level) for check in checks]
    return [note for note in found if note is not None]


def refuse_shift(checks: Iterable[ColumnCheck], *, allow_shift: bool) -> None:
    """An error for a column that cannot be read at all, or that is far outside its training range in most rows."""
    for check in checks:
        if check.unreadable and check.unseen is not None:
            example = next(iter(check.unseen.rows))
            raise TableError(
                f"column {check.name!r} cannot be read: none of its {check.n_unreadable:,} values (such as "
                f"{quoted(example)}) is {check.unseen.read_as}, as in training; correct the column."
            )
        if check.far and not allow_shift:
            here, training = check.ranges() or ("", "")
            raise InputShiftError(
                "column {!r}: {:,} of {:,} values are far outside the training range ({}; here {}), so the column "
                "probably has another unit; correct it, or use {} to predict these rows anyway.",
                check.name,
                check.counts.n_far,
                check.n_values,
                training,
                here,
                Parameter("allow_shift", True),
            )


def warn_of_shift(training: TrainingInputs, kinds: Sequence[Column], columns: Sequence[Encoded]) -> None:
    """Warn of columns that clearly differ from the training rows; the network refuses another number of columns."""
    if len(columns) != len(training.columns):
        return
    tally = InputTally(training, kinds)
    tally.add(columns)
    for note in shift_notes(tally.check()):
        warnings.warn(InputShiftWarning(note), stacklevel=4)


def _limits(column: TrainingColumn) -> tuple[float, float]:
    if column.numbers is None:
        return np.nan, np.nan
    return column.numbers.low, column.numbers.high


def warn_of_array_shift(training: TrainingInputs, X: NDArray[Any]) -> None:
    """`warn_of_shift` for the columns of an array, of which at most a few thousand rows are looked at.

    Counting the values of hundreds of columns one by one takes longer than predicting. So only columns that can get a
    note are counted: those with missing values, a narrow range, or many values outside the training range.
    """
    if X.ndim != 2 or X.shape[1] != len(training.columns):
        return
    rows = np.asarray(X[:: max(len(X) // OBSERVED_ROWS, 1)], np.float64)
    low = rows.min(axis=0)  # NaN in a column with missing values
    high = rows.max(axis=0)
    limits = np.array([_limits(column) for column in training.columns]).reshape(-1, 2)
    known_low = limits[:, 0]
    known_high = limits[:, 1]
    width = high - low
    narrow = (width > 0) & (width <= NARROW * (known_high - known_low))
    outside = np.count_nonzero((rows < known_low) | (rows > known_high), axis=0)
    unknown = np.isnan(low) | np.isnan(known_low)
    doubtful = np.flatnonzero(unknown | narrow | (outside >= NOTABLE * len(rows)))
    known = TrainingInputs(training.n_rows, tuple(training.columns[place] for place in doubtful))
    tally = InputTally(known)
    tally.add([Encoded.of_numbers(rows[:, place]) for place in doubtful])
    n_tests = sum(_number_of_tests(column) for column in training.columns)
    for note in shift_notes(tally.check(), n_tests=n_tests):
        warnings.warn(InputShiftWarning(note), stacklevel=4)
