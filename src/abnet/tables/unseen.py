"""Values in prediction that did not occur in training, or cannot be read."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from abnet.tables.cells import to_text
from abnet.tables.columns.numeric import allowed_range
from abnet.tables.frames import Table
from abnet.tables.notes import Note, NoteWarning
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
    """Values of one column that its preparation has no place for, with the number of rows that hold them.

    Attributes
    ----------
    column : str
    rows : dict of str to int
    read_as : str
        How cells have to be written in a column of numbers or dates; empty where the values are categories.
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
        """Rows in all."""
        return sum(self.rows.values()) + self.others

    @property
    def note(self) -> Note:
        """What is to be said of them."""
        most = Counter(self.rows).most_common(_SHOWN)
        shown = ", ".join(f"{quoted(value)} ({number_of(count, 'row')})" for value, count in most)
        also = f" and {len(self.rows) - len(most)} more" if len(self.rows) > len(most) else ""
        form = f" written as {self.read_as}" if self.read_as else ""
        if self.code == "odd number":
            form = allowed_range(most[0][0]) or self.read_as.removeprefix("a number")
        facts: dict[str, str | int | float] = {"values": shown + also, "form": form, "read_as": self.read_as}
        return Note(self.code, (self.column,), self.n_rows, most[0][0], facts)

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
    """An error for the first category that training never saw, or date that cannot be read, with its place."""
    for report in reports:
        value = next(iter(report.rows))
        codes, values = table.cells(report.column).distinct()
        position = int(np.isin(codes, [i for i, cell in enumerate(values) if to_text(cell) == value]).argmax())
        wrong = f"cannot be read as {report.read_as}" if report.read_as else "was not seen in training"
        if report.code == "odd number" and (limits := allowed_range(value)):
            wrong = f"is not a number{limits}"
        rest = "missing" if report.read_as else "unknown"
        raise UnseenValueError(
            "column {!r}, {}: {} {}; correct it, or use {} to treat such values as {}: a certificate is about all "
            "rows, those with new values included.",
            report.column, table.row(position), quoted(value), wrong, Parameter("unseen", "warn"), rest,
        )  # fmt: skip


def _added(first: Unseen, second: Unseen, most: int) -> Unseen:
    rows, others = dict(first.rows), first.others + second.others
    for value, count in second.rows.items():
        if value in rows or len(rows) < most:
            rows[value] = rows.get(value, 0) + count
        else:
            others += count
    return replace(first, rows=rows, others=others)
