"""What all kinds of columns share: how they are stored, registered and turned into features."""

from abc import abstractmethod
from collections import Counter
from collections.abc import Sequence
from typing import Any, ClassVar, TypeVar, cast

import msgspec
import numpy as np
from numpy.typing import NDArray

from abnet.tables.cells import to_text
from abnet.tables.column_cells import Distinct
from abnet.tables.columns.encoded import Encoded, Features
from abnet.tables.table import Table

__all__ = ["KINDS", "Column", "UnseenRows", "kind", "missing_feature", "unseen_rows"]

UnseenRows = dict[str, int]
"""Number of rows of each cell text that a column cannot represent."""


class Column(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind"):
    """A fitted column of a table: plain values, and how its cells become features.

    A subclass is registered with `kind`, and its ``tag`` is its name in model files. It checks its values in
    ``__post_init__``, so that a model file is checked when it is read.
    """

    name: str
    takes: ClassVar[str] = "text"
    """The type of a cell in C, ONNX and forms: "number", "truth", "date" or "text"."""
    unseen_code: ClassVar[str] = "odd cell"
    """The code of the note on cells that the column cannot represent."""

    @property
    def kind(self) -> str:
        """The name of the kind."""
        return str(self.__struct_config__.tag)

    @property
    @abstractmethod
    def features(self) -> tuple[str, ...]:
        """Names of the features."""

    @abstractmethod
    def encoded(self, table: Table) -> tuple[Encoded, UnseenRows]:
        """Features of a table, computed on demand, and the cells that the column cannot represent."""

    def encode(self, table: Table) -> tuple[Features, UnseenRows]:
        """Features (n, width) of a table, and the cells that the column cannot represent."""
        encoded, unseen = self.encoded(table)
        return encoded.toarray(), unseen

    def shown(self, value: float) -> str:
        """One of the numbers of `raw` as text for a reader."""
        return f"{value:.5g}"

    def raw(self, table: Table) -> NDArray[np.float64] | None:
        """The cells as numbers before scaling, NaN where missing; None if the column has no numbers."""
        return None

    @property
    def values(self) -> tuple[Any, ...] | None:
        """All values that occurred in fitting, if the column lists them."""
        return None

    @property
    def read_as(self) -> str:
        """How cells must be written, in words; empty if any text will do."""
        return ""

    def described(self) -> str:
        """The kind in words."""
        return self.kind


def missing_feature(name: str) -> str:
    """Name of the feature that marks missing cells of a column."""
    return f"{name} (missing)"


def unseen_rows(distinct: Distinct, unseen: Sequence[bool]) -> UnseenRows:
    """Number of rows of each distinct value that is marked as unseen, by its text."""
    if not any(unseen):
        return {}
    rows: Counter[str] = Counter()
    for value, count, is_unseen in zip(distinct.values, distinct.counts(), unseen, strict=True):
        if is_unseen and count:
            rows[to_text(value)] += count
    return dict(rows)


KINDS: dict[str, type[Column]] = {}
"""Kinds of columns by their name in model files."""

_Kind = TypeVar("_Kind", bound=type[Column])


def kind(cls: _Kind) -> _Kind:
    """Register a kind of column, so that model files can hold it."""
    tag = cast(Any, cls).__struct_config__.tag
    KINDS[str(tag)] = cls
    return cls
