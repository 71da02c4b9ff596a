"""Values met in prediction that training never saw."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["Unseen", "UnseenWarning", "merge"]

_SHOWN = 3


class UnseenWarning(UserWarning):
    """A table to predict holds categories that the training table did not have."""


@dataclass(frozen=True)
class Unseen:
    """Categories of one column that training never saw, with the number of rows that hold them.

    Examples
    --------
    >>> print(Unseen("city", {"Oslo": 3, "Bergen": 1}))
    column 'city': 'Oslo' (3 rows), 'Bergen' (1 row) not seen in training; treated as an unknown category
    """

    column: str
    rows: dict[str, int]

    def __str__(self) -> str:
        """One line for a person."""
        most = Counter(self.rows).most_common(_SHOWN)
        shown = ", ".join(f"{value!r} ({count} row{'s' * (count != 1)})" for value, count in most)
        more = len(self.rows) - len(most)
        also = f" and {more} more" if more else ""
        return f"column {self.column!r}: {shown}{also} not seen in training; treated as an unknown category"


def merge(reports: Iterable[Unseen], *, most: int = 1000) -> list[Unseen]:
    """One report per column from those of many chunks, with at most `most` categories each.

    Examples
    --------
    >>> merge([Unseen("a", {"x": 1}), Unseen("b", {"z": 1}), Unseen("a", {"x": 1, "y": 1})])
    [Unseen(column='a', rows={'x': 2, 'y': 1}), Unseen(column='b', rows={'z': 1})]
    """
    columns: dict[str, dict[str, int]] = {}
    for report in reports:
        rows = columns.setdefault(report.column, {})
        for value, count in report.rows.items():
            if value in rows or len(rows) < most:
                rows[value] = rows.get(value, 0) + count
    return [Unseen(column, rows) for column, rows in columns.items()]
