"""Values in prediction that did not occur in training, or cannot be read."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from abnet.tables.cells import to_text
from abnet.tables.columns.numeric import allowed_range
from abnet.tables.notes import Note, NoteWarning
from abnet.tables.table import Table
from abnet.tables.table_errors import TableError, quoted
from abnet.utils.errors import NamesParameters, Parameter
from abnet.utils.wording import number_of

__all__ = ["Unseen", "UnseenValueError", "UnseenWarning", "merge", "refuse_unseen"]

_SHOWN = 3


class UnseenWarning(NoteWarning):
    """A table to predict has categories that did not occur in training, or cells that cannot be read."""


class UnseenValueError(NamesParameters, TableError):
    """A value did not occur in training, and such values are set to raise an error."""


@dataclass(frozen=True)
class Unseen:
    """Values of one column that its preparation does not know or cannot read, with their numbers of rows.

    Attributes
    ----------
    column : str
    rows : dict of str to int
    read_as : str
        How cells have to be written in a column of numbers or dates; empty if the values are categories.
    others : int
        Rows with further values, which are not listed.
    code : str
        Of the note on them.

    Examples
    --------
    >>> print(Unseen("city", {"Oslo": 3, "Bergen": 1}))
    column 'city': 'Oslo' (3 rows), 'Bergen' (1 row) not seen in training; treated as an unknown category
    >>> print(Unseen("born", {"soon": 2}, "day/month/year", code="odd date"))
    column 'born': 2 cells are not dates written as day/month/year (such as 'soon') and count as missing
    """

    column: str
    rows: dict[str, int]
    read_as: str = ""
    others: int = 0
    code: str = "unseen category"

    @property
    def n_rows(self) -> int:
        """Total number of rows."""
        return sum(self.rows.values()) + self.others

    @property
    def note(self) -> Note:
        """The note on them."""
        most_frequent = Counter(self.rows).most_common(_SHOWN)
        example = most_frequent[0][0]
        values = ", ".join(f"{quoted(value)} ({number_of(count, 'row')})" for value, count in most_frequent)
        n_others = len(self.rows) - len(most_frequent)
        if n_others:
            values += f" and {n_others} more"
        facts: dict[str, str | int | float] = {"values": values, "form": self._form(example), "read_as": self.read_as}
        return Note(self.code, (self.column,), self.n_rows, example, facts)

    def _form(self, example: str) -> str:
        """How such a cell would have to be written."""
        if self.code == "odd number":
            return allowed_range(example) or self.read_as.removeprefix("a number")
        if self.read_as:
            return f" written as {self.read_as}"
        return ""

    def __str__(self) -> str:
        """One line for a person."""
        return str(self.note)


def merge(reports: Iterable[Unseen], *, most: int = 1000) -> list[Unseen]:
    """One report per column from those of many chunks, with at most `most` values each.

    Examples
    --------
    >>> merge([Unseen("a", {"x": 1}), Unseen("a", {"x": 1, "y": 1})])
    [Unseen(column='a', rows={'x': 2, 'y': 1}, read_as='', others=0, code='unseen category')]
    """
    columns: dict[str, Unseen] = {}
    for report in reports:
        before = columns.get(report.column, replace(report, rows={}, others=0))
        columns[report.column] = _added(before, report, most)
    return list(columns.values())


def refuse_unseen(table: Table, reports: Iterable[Unseen]) -> None:
    """Raise an error for the first category that did not occur in training, or cell that cannot be read."""
    for report in reports:
        value = next(iter(report.rows))
        codes, values = table.cells(report.column).distinct()
        codes_of_value = [code for code, cell in enumerate(values) if to_text(cell) == value]
        position = int(np.isin(codes, codes_of_value).argmax())
        problem = "was not seen in training"
        treated_as = "unknown"
        if report.read_as:
            problem = f"cannot be read as {report.read_as}"
            treated_as = "missing"
        limits = allowed_range(value)
        if report.code == "odd number" and limits:
            problem = f"is not a number{limits}"
        raise UnseenValueError(
            "column {!r}, {}: {} {}; correct it, or use {} to treat such values as {}: a certificate is about all "
            "rows, those with new values included.",
            report.column,
            table.row(position),
            quoted(value),
            problem,
            Parameter("unseen", "warn"),
            treated_as,
        )


def _added(first: Unseen, second: Unseen, most: int) -> Unseen:
    rows = dict(first.rows)
    others = first.others + second.others
    for value, count in second.rows.items():
        if value in rows or len(rows) < most:
            rows[value] = rows.get(value, 0) + count
        else:
            others += count
    return replace(first, rows=rows, others=others)
