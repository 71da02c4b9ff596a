"""A fitted preparation of tables: plain values, and NumPy alone."""

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from abnet.tables.cells import is_blank
from abnet.tables.column_cells import Cells
from abnet.tables.columns.column import Column
from abnet.tables.columns.encoded import BLOCK, Encoded
from abnet.tables.note_sentences import named_option, note_sentence
from abnet.tables.notes import Note
from abnet.tables.preparation.preparation import Preparation, Read
from abnet.tables.table import Table, as_table
from abnet.tables.table_errors import TableError, listed
from abnet.tables.unseen import Unseen, UnseenWarning, refuse_unseen
from abnet.utils.coded_rows import dense
from abnet.utils.threads import parallel_map, threads_for
from abnet.utils.wording import number_of

__all__ = ["TableMap"]

VERSION = 4
"""Version of the stored form."""

if TYPE_CHECKING:
    Columns = tuple[Column, ...]
else:  # kinds of columns register themselves; the reader of a file converts them
    Columns = tuple[Any, ...]


class TableMap(Preparation, frozen=True, tag="table"):
    """Columns kept, in order, and notes: columns left out, and columns that may not be what they seem.

    The only code that turns a table into features: `TablePreparation` uses it after fitting, and a loaded model uses it
    too, so that both give the same bits.
    """

    columns: Columns
    notes: tuple[Note, ...] = ()
    version: int = VERSION

    def __post_init__(self) -> None:
        if self.version != VERSION:
            raise ValueError(f"a table of version {self.version}; this release reads version {VERSION}")
        names = [*(column.name for column in self.columns), *self.left_out]
        if not self.columns or len(set(names)) < len(names):
            raise ValueError("a table needs at least one column, and names each once")

    @property
    def n_features_in(self) -> int:
        """Number of columns taken."""
        return len(self.columns)

    @property
    def n_features_out(self) -> int:
        """Number of features made of a row."""
        return sum(len(column.features) for column in self.columns)

    @property
    def owners(self) -> tuple[int, ...]:
        """The place of each feature's column."""
        return tuple(place for place, column in enumerate(self.columns) for _ in column.features)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the features, in order."""
        return tuple(feature for column in self.columns for feature in column.features)

    def transform(self, X: Any, *, unseen: str = "warn", places: NDArray[np.intp] | None = None) -> NDArray[np.float32]:
        """Features (n, d) of a table.

        Parameters
        ----------
        X : frame of Polars or pandas, record of columns, or array
        unseen : {"warn", "error"}
            New categories and cells that cannot be read: an `UnseenWarning` per column, or a `TableError` that names
            the first of them.
        places : array (n,), optional
            Where each row goes; they stay in their order if left out.
        """
        if unseen not in ("warn", "error"):
            raise ValueError(f"unseen must be one of 'warn', 'error'; got {unseen!r}.")
        table = self._table(X)
        read = self.read(table, places=places)
        if unseen == "error":
            refuse_unseen(table, read.unseen)
        return _warned(read)

    def observed(self, X: Any) -> tuple[NDArray[np.float32], tuple[Encoded, ...]]:
        """`transform`, and the values of every column."""
        read = self.read(X)
        return _warned(read), read.columns

    def read(self, table: Any, names: Sequence[str] | None = None, *, places: NDArray[np.intp] | None = None) -> Read:
        """Features (n, d) of a table and a report per column with new categories or cells that cannot be read.

        Columns are found by their own names, whatever `names` says; `places` as in `transform`.
        """
        table = self._table(table)
        threads = threads_for(table.n_rows)
        encoded = parallel_map(lambda column: column.encoded(table), self.columns, threads)
        reports = [
            Unseen(column.name, unseen, column.read_as, code=column.unseen_code)
            for column, (_, unseen) in zip(self.columns, encoded, strict=True)
            if unseen
        ]
        columns = tuple(features for features, _ in encoded)
        return Read(_beside(columns, table.n_rows, places), reports, columns)

    def _table(self, X: Any) -> Table:
        """A table that has all columns."""
        table = as_table(X)
        if not table.columns:
            needed = listed([column.name for column in self.columns])
            raise TableError(f"the row or table is empty: it needs the columns {needed}.")
        absent = [column.name for column in self.columns if column.name not in table.columns]
        if absent:
            raise TableError(
                f"the table lacks {listed(absent)}, which the model was trained on; "
                f"its columns are {listed(table.columns)}."
            )
        return table

    def empty_columns(self, table: Any, among: Sequence[str] | None = None) -> list[str]:
        """Columns without a value in any row of a table, all or `among` some."""
        table = self._table(table)
        names = [column.name for column in self.columns if among is None or column.name in among]
        return [name for name in names if _is_empty(table.cells(name))]

    def column_words(self, names: Sequence[str] = ()) -> list[tuple[str, str]]:
        """Every column's name, and its kind and number of features in words."""
        return [
            (column.name, f"{column.described()}, {number_of(len(column.features), 'feature')}")
            for column in self.columns
        ]

    def remarks(self) -> list[str]:
        """The notes as sentences."""
        return [note_sentence(note, named_option) for note in self.notes]


def _warned(read: Read) -> NDArray[np.float32]:
    """Features of rows, with a warning for every report."""
    for report in read.unseen:
        warnings.warn(UnseenWarning(report.note), stacklevel=3)
    return dense(read.inputs)


def _beside(parts: Sequence[Encoded], n: int, places: NDArray[np.intp] | None = None) -> NDArray[np.float32]:
    """Features of all columns side by side, with the rows in their order or each in its place.

    They are written in blocks of rows that fit into the cache.
    """
    ends = np.cumsum([part.width for part in parts])
    out = np.empty((n, ends[-1]), np.float32)

    def write_block(start: int) -> None:
        rows = slice(start, start + BLOCK)
        block = out[rows]
        if places is not None:
            block = np.empty_like(block)
        for part, end in zip(parts, ends, strict=True):
            block[:, end - part.width : end] = part.block(rows)
        if places is not None:
            out[places[rows]] = block

    parallel_map(write_block, range(0, n, BLOCK), threads_for(n))
    return out


def _is_empty(cells: Cells) -> bool:
    return len(cells) == 0 or (is_blank(cells.cell(0)) and all(map(is_blank, cells.counts())))
