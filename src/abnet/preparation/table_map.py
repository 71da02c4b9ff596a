"""A fitted preparation of tables: plain values, and NumPy alone."""

import dataclasses
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet import checks
from abnet.preparation.columns import BLOCK, BooleanColumn, DateColumn, Encoded, NumericColumn, TextColumn
from abnet.preparation.unseen import Unseen, UnseenWarning, refuse_unseen
from abnet.preparation.words import HashedColumn, WordsColumn
from abnet.tables.cells import Note, TableError, is_blank, listed
from abnet.tables.frames import Table, as_table
from abnet.tables.series import Cells
from abnet.threads import mapped, threads_for
from abnet.words import number_of

__all__ = ["Column", "TableMap", "column_from_dict"]

VERSION = 2
"""Of the stored form."""


Column = NumericColumn | BooleanColumn | DateColumn | TextColumn | WordsColumn | HashedColumn
"""Each has a `name`, the names of its `features`, `encode` for them, and `raw` for the numbers behind them, if any."""


_KINDS: dict[str, type[Column]] = {
    kind.kind: kind for kind in (NumericColumn, BooleanColumn, DateColumn, TextColumn, WordsColumn, HashedColumn)
}  # fmt: skip


def column_from_dict(record: Any, where: str) -> Column:
    """The column of the kind that a record names."""
    kind = record.get("kind") if isinstance(record, dict) else None
    if not isinstance(kind, str) or kind not in _KINDS:
        raise checks.refusal(f"{where}.kind", f"be one of {sorted(_KINDS)}", kind)
    return _KINDS[kind].from_dict({key: value for key, value in record.items() if key != "kind"}, where)


@dataclass(frozen=True)
class TableMap:
    """Columns kept, in order, those dropped with the reason, and remarks on those kept.

    The only code that turns a table into features: `TablePreparation` uses it after fitting, and a loaded model uses it
    too, so that both give the same bits.
    """

    columns: tuple[Column, ...]
    dropped: Mapping[str, str]
    remarks: tuple[Note, ...] = ()

    @property
    def n_features_in(self) -> int:
        """Number of columns taken."""
        return len(self.columns)

    @property
    def n_features_out(self) -> int:
        """Number of features made of a row."""
        return sum(len(column.features) for column in self.columns)

    @property
    def notes(self) -> tuple[Note, ...]:
        """What a user should know: columns left out, and columns that may not be what they seem."""
        return (*(Note(name, f"is left out: {reason}") for name, reason in self.dropped.items()), *self.remarks)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the features, in order."""
        return np.array([feature for column in self.columns for feature in column.features], object)

    def transform(self, X: Any, *, unseen: str = "warn", places: NDArray[np.intp] | None = None) -> NDArray[np.float32]:
        """Features (n, d) of a table.

        Parameters
        ----------
        X : frame of Polars or pandas, record of columns, or array
        unseen : {"warn", "error"}
            New categories and dates that cannot be read: an `UnseenWarning` per column, or a `TableError` that names
            the first of them.
        places : array (n,), optional
            Where each row goes; they stay in their order if left out.
        """
        if unseen not in ("warn", "error"):
            raise ValueError(f"unseen must be one of 'warn', 'error'; got {unseen!r}.")
        table = self._table(X)
        features, reports = self.transform_reporting(table, places=places)
        if unseen == "error":
            refuse_unseen(table, reports)
        for report in reports:
            warnings.warn(str(report), UnseenWarning, stacklevel=2)
        return features

    def transform_reporting(
        self, X: Any, *, before: int = 0, places: NDArray[np.intp] | None = None
    ) -> tuple[NDArray[np.float32], list[Unseen]]:
        """Features (n, d) of a table and a report per column with new categories or unreadable dates.

        Columns are found by name; their order and further columns do not matter. A missing one is an error. `before`
        is the number of rows that came before those of X, for the words of an error; `places` as in `transform`.
        """
        table = self._table(X, before)
        threads = threads_for(table.n_rows)
        encoded = mapped(lambda column: column.encoded(table), self.columns, threads)
        reports = [
            Unseen(column.name, unseen, _read_as(column))
            for column, (_, unseen) in zip(self.columns, encoded, strict=True)
            if unseen
        ]
        return _beside([features for features, _ in encoded], table.n_rows, places), reports

    def _table(self, X: Any, before: int = 0) -> Table:
        """A table that has all columns."""
        table = as_table(X, before=before)
        absent = [column.name for column in self.columns if column.name not in table.columns]
        if absent:
            raise TableError(
                f"the table lacks {listed(absent)}, which the model was trained on; "
                f"its columns are {listed(table.columns)}."
            )
        return table

    def extra_columns(self, X: Any) -> list[str]:
        """Columns of a table that fitting never met; `transform` passes them over."""
        known = {column.name for column in self.columns} | set(self.dropped)
        return [name for name in as_table(X).columns if name not in known]

    def empty_columns(self, X: Any, among: Sequence[str] | None = None) -> list[str]:
        """Columns that hold no value in any row of a table, all or `among` some; those that have one cost nothing."""
        table = self._table(X)
        names = [column.name for column in self.columns if among is None or column.name in among]
        return [name for name in names if _is_empty(table.cells(name))]

    def describe(self) -> list[str]:
        """A line per column, for a person."""
        remarks: dict[str, str] = {}
        for name, text in self.remarks:
            remarks[name] = f"{remarks.get(name, '')}; {text}"
        kept = [
            f"{column.name}: {_kind_of(column)}, {number_of(len(column.features), 'feature')}"
            f"{remarks.get(column.name, '')}"
            for column in self.columns
        ]
        return kept + [f"{name}: left out, {reason}" for name, reason in self.dropped.items()]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON; floats come back exactly."""
        columns = [{"kind": column.kind, **_listed(dataclasses.asdict(column))} for column in self.columns]
        remarks = [note._asdict() for note in self.remarks]
        return {
            "kind": "table", "version": VERSION, "columns": columns, "dropped": dict(self.dropped), "remarks": remarks,
        }  # fmt: skip

    @classmethod
    def from_dict(cls, record: Any) -> "TableMap":
        """The map stored in a record; ValueError if anything in it is not as `to_dict` writes it."""
        where = "stored preparation: table"
        remarks = checks.list_of(_note)
        fields = checks.take(
            where, record, kind=_kind, version=_version, columns=_list, dropped=_dropped, remarks=remarks
        )
        columns = tuple(column_from_dict(column, f"{where}.columns[{i}]") for i, column in enumerate(fields["columns"]))
        names = [column.name for column in columns]
        if len(set(names)) < len(names) or set(names) & set(fields["dropped"]):
            raise ValueError(f"{where}.columns and {where}.dropped name a column twice.")
        return cls(columns, fields["dropped"], fields["remarks"])


def _beside(parts: list[Encoded], n: int, places: NDArray[np.intp] | None = None) -> NDArray[np.float32]:
    """Features of all columns side by side, the rows in their order or each in its place.

    Some rows at a time: column by column over all of them, every row would come from memory once per column.
    """
    ends = np.cumsum([part.width for part in parts])
    out = np.empty((n, ends[-1]), np.float32)

    def write(first: int) -> None:
        rows = slice(first, first + BLOCK)
        block = out[rows] if places is None else np.empty_like(out[rows])
        for part, end in zip(parts, ends, strict=True):
            block[:, end - part.width : end] = part.block(rows)
        if places is not None:
            out[places[rows]] = block

    mapped(write, range(0, n, BLOCK), threads_for(n))
    return out


def _is_empty(cells: Cells) -> bool:
    return len(cells) == 0 or (is_blank(cells.cell(0)) and all(map(is_blank, cells.counts())))


def _read_as(column: Column) -> str:
    """What the cells of a column are read as; empty for categories."""
    if isinstance(column, NumericColumn):
        return "a number" if column.form.plain else f"a number written as {column.form.example}"
    return column.order if isinstance(column, DateColumn) else ""


def _kind_of(column: Column) -> str:
    if isinstance(column, DateColumn):
        return f"{column.kind} ({column.written or column.order})"
    return column.kind


def _listed(fields: dict[str, Any]) -> dict[str, Any]:
    return {key: list(value) if isinstance(value, tuple) else value for key, value in fields.items()}


def _kind(where: str, value: Any) -> str:
    return str(checks.one_of("table")(where, value))


def _version(where: str, value: Any) -> int:
    if type(value) is not int or value != VERSION:
        raise checks.refusal(where, f"be {VERSION}, the version that this release reads", value)
    return value


def _list(where: str, value: Any) -> list[Any]:
    if not isinstance(value, list) or not value:
        raise checks.refusal(where, "be a list of at least one column", value)
    return value


def _dropped(where: str, value: Any) -> dict[str, str]:
    if not isinstance(value, dict):
        raise checks.refusal(where, "be a record of reasons", value)
    return {checks.text(where, name): checks.text(f"{where}[{name!r}]", reason) for name, reason in value.items()}


def _note(where: str, value: Any) -> Note:
    return Note(**checks.take(where, value, column=checks.text, text=checks.text))
