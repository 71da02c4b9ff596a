"""`Preparation`: a fitted map from input rows to the inputs of a network, and the interface of all its kinds."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import msgspec
import numpy as np

from abnet.utils.coded_rows import Inputs

if TYPE_CHECKING:
    from abnet.tables.columns.column import Column
    from abnet.tables.columns.encoded import Encoded
    from abnet.tables.notes import Note
    from abnet.tables.table import Table
    from abnet.tables.unseen import Unseen

__all__ = ["OBSERVED_ROWS", "ColumnByColumn", "Preparation", "Read", "Unprepared"]


class Read(NamedTuple):
    """Rows of a table that a preparation has read.

    Attributes
    ----------
    inputs : Inputs
        Of the network; codes are not written out.
    unseen : list of Unseen
        A report per column with values that did not occur in fitting.
    columns : tuple of Encoded
        The values of every column that the model takes; empty if they are unknown.
    """

    inputs: Inputs
    unseen: "list[Unseen]"
    columns: "tuple[Encoded, ...]" = ()


class Preparation(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind"):
    """A fitted map from input rows to the inputs of a network.

    The kinds in model files are plain values: `TableMap`, `StandardMap`, `MinMaxMap`, `ThermometerMap`, and `CodedMap`
    around one of these. `Unprepared` leaves rows unchanged, and `Foreign` wraps a transformer of another library.
    Attributes that do not apply to a kind are None or empty.
    """

    scaling: ClassVar[str] = ""
    """How every column of an array is scaled, in words."""

    @property
    @abstractmethod
    def n_features_in(self) -> int | None:
        """Number of columns taken; None if unknown."""

    @property
    @abstractmethod
    def n_features_out(self) -> int:
        """Number of features made of a row, with codes."""

    @abstractmethod
    def transform(self, X: Any) -> Any:
        """Features of every row, with codes written out."""

    @property
    @abstractmethod
    def owners(self) -> tuple[int, ...] | None:
        """For each feature before the codes, the place of the column that it comes from; None if unknown."""

    def inputs(self, X: Any) -> Inputs:
        """`transform`, with codes that are not written out."""
        found: Inputs = self.transform(X)
        return found

    def observed(self, X: Any) -> "tuple[Inputs, tuple[Encoded, ...]]":
        """`inputs`, and the values of every column: of some rows if there are many, none if they are unknown."""
        rows = X
        if not hasattr(X, "shape"):
            rows = np.asarray(X)
        if hasattr(X, "tocsr") or len(rows.shape) != 2:
            return self.inputs(X), ()
        step = max(len(rows) // OBSERVED_ROWS, 1)
        return self.inputs(X), _number_columns(rows[::step])

    def read(self, table: "Table", names: Sequence[str] | None) -> Read:
        """`inputs` of a table, and its values that did not occur in fitting.

        Columns are found by name; their order and further columns do not matter. A missing one is an error.

        Parameters
        ----------
        table : Table
        names : sequence of str or None
            Columns in the order of training, for a preparation of arrays.
        """
        from abnet.tables.preparation.numeric_rows import numeric_rows

        rows = numeric_rows(table, names, self.n_features_in)
        return Read(self.inputs(rows), [], _number_columns(rows))

    @property
    def base(self) -> "Preparation":
        """The preparation without codes."""
        return self

    @property
    def codes(self) -> tuple[tuple[float, ...], ...]:
        """The thresholds of the codes beside each feature of the base; empty without codes."""
        return ()

    def with_codes(self, features: Any) -> Inputs:
        """Inputs of rows that the base has prepared; codes are not written out."""
        found: Inputs = features
        return found

    @property
    def columns(self) -> "tuple[Column, ...]":
        """The columns of a table that are used; empty for a preparation of arrays."""
        return ()

    @property
    def notes(self) -> "tuple[Note, ...]":
        """Notes about the columns for the user."""
        return ()

    @property
    def left_out(self) -> tuple[str, ...]:
        """Columns of a table that are left out; the notes say why."""
        return tuple(name for note in self.notes if note.left_out for name in note.columns)

    @property
    def by_name(self) -> bool:
        """Whether columns are found by their names."""
        return bool(self.columns)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the features before the codes; empty if these are the columns."""
        return ()

    def extra_columns(self, table: "Table") -> list[str]:
        """Columns of a table that were not used in fitting, and are ignored."""
        if not self.columns:
            return []
        known = {column.name for column in self.columns}
        known |= set(self.left_out)
        return [name for name in table.columns if name not in known]

    def empty_columns(self, table: "Table", among: Sequence[str] | None = None) -> list[str]:
        """Columns that hold no value in any row of a table, all or `among` some."""
        return []

    def column_words(self, names: Sequence[str] = ()) -> list[tuple[str, str]]:
        """Every column's name, and how it is read, in words; `names` are those of an array's columns."""
        words = "numeric"
        if self.scaling:
            words = f"numeric, {self.scaling}"
        return [(name, words) for name in names]

    def remarks(self) -> list[str]:
        """Sentences about the columns."""
        return []

    def describe(self, names: Sequence[str] = ()) -> list[str]:
        """A line per column and remark, for a person."""
        lines = [f"{name}: {words}" for name, words in self.column_words(names)]
        return lines + self.remarks()

    @property
    def why_not_stored(self) -> str:
        """Why it cannot be stored in a model file or exported; empty if it can."""
        return ""


OBSERVED_ROWS = 2_000
"""Rows of an array whose values are enough to compare them with training rows."""


def _number_columns(X: Any) -> "tuple[Encoded, ...]":
    from abnet.tables.columns.encoded import Encoded

    return tuple(map(Encoded.of_numbers, np.asarray(X, np.float64).T))


class ColumnByColumn(Preparation, frozen=True):
    """A preparation that makes one feature of each column."""

    @property
    @abstractmethod
    def n_features_in(self) -> int:
        """Number of columns taken."""

    @property
    def n_features_out(self) -> int:
        """Number of features made of a row."""
        return self.n_features_in

    @property
    def owners(self) -> tuple[int, ...]:
        """The place of each feature's column."""
        return tuple(range(self.n_features_in))


class Unprepared(ColumnByColumn, frozen=True, tag="unprepared"):
    """Rows without preparation. It is null in a model file.

    Examples
    --------
    >>> Unprepared(2).transform([[1.0, 2.0]])
    [[1.0, 2.0]]
    """

    n_columns: int

    @property
    def n_features_in(self) -> int:
        """Number of columns taken."""
        return self.n_columns

    def transform(self, X: Any) -> Any:
        """The rows."""
        return X
