"""What all kinds of columns share: how they are stored, registered, recognised and turned into features."""

from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar, NamedTuple, TypeVar, cast

import msgspec
import numpy as np
from numpy.typing import NDArray

from abnet.tables.cells import to_text
from abnet.tables.frames import Table
from abnet.tables.named_columns import check_named
from abnet.tables.notes import Note
from abnet.tables.series import Cells, Distinct
from abnet.utils.errors import Parameter, ParameterError

__all__ = [
    "BLOCK",
    "BY_HAND",
    "Chosen",
    "Column",
    "Encoded",
    "Features",
    "KINDS",
    "Open",
    "RULES",
    "Rules",
    "UnseenRows",
    "counted",
    "kind",
    "rule",
    "written_out",
]

Features = NDArray[np.float32]

UnseenRows = dict[str, int]
"""Rows of every text that a column has no place for."""

BLOCK = 4096
"""Rows worked on at a time: what is computed on the way should stay in the cache."""


class Column(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind"):
    """A column of a table, fitted: plain values, and the features that they make of its cells.

    A subclass is registered with `kind`, and its ``tag`` is its name in model files. It checks its values when it is
    made, so that a file is checked when it is read.
    """

    name: str
    takes: ClassVar[str] = "text"
    """What C, ONNX and forms take for a cell: "number", "truth", "date" or "text"."""
    odd: ClassVar[str] = "odd cell"
    """The code of the note on cells that it has no place for; "odd cell" says that they are not `read_as`."""

    @property
    def kind(self) -> str:
        """The name of the kind."""
        return str(self.__struct_config__.tag)

    @property
    @abstractmethod
    def features(self) -> tuple[str, ...]:
        """Names of the features."""

    @abstractmethod
    def encoded(self, table: Table) -> tuple["Encoded", UnseenRows]:
        """`encode`, with features that are not written out."""

    def encode(self, table: Table) -> tuple[Features, UnseenRows]:
        """Features of every row, and what the column has no place for."""
        return written_out(self.encoded(table))

    def shown(self, value: float) -> str:
        """One of the numbers behind the features, for a reader."""
        return f"{value:.5g}"

    def raw(self, table: Table) -> NDArray[np.float64] | None:
        """The numbers behind the features, NaN where missing; None where there are none."""
        return None

    @property
    def read_as(self) -> str:
        """How cells have to be written, in words; empty where any text will do."""
        return ""

    def described(self) -> str:
        """The kind in words."""
        return self.kind


class Encoded(NamedTuple):
    """The features of a column, computed where they are wanted: written out they are larger than what they come from.

    `block` gives those of some rows, (rows, width). `n_missing` rows have no value that can be read; `numbers` are the
    values of a column of numbers or dates, NaN where missing.
    """

    n_rows: int
    width: int
    block: Callable[[slice], NDArray[Any]]
    n_missing: int = 0
    numbers: NDArray[np.float64] | None = None

    @staticmethod
    def looked_up(lookup: Features, distinct: Distinct, absent: Sequence[bool]) -> "Encoded":
        """A row of a table for each distinct value; `absent` says which values cannot be read or are missing."""
        codes = distinct.codes
        n_missing = sum(count for count, gap in zip(distinct.counts(), absent, strict=True) if gap)
        return Encoded(len(codes), lookup.shape[1], lambda rows: np.take(lookup, codes[rows], axis=0), n_missing)

    @staticmethod
    def of_numbers(x: NDArray[np.float64]) -> "Encoded":
        """Numbers that are their own feature."""
        return Encoded(len(x), 1, lambda rows: x[rows, None], int(np.count_nonzero(np.isnan(x))), x)


def written_out(found: tuple[Encoded, UnseenRows]) -> tuple[Features, UnseenRows]:
    """All features of a column, and what is unseen."""
    encoded, unseen = found
    out = np.empty((encoded.n_rows, encoded.width), np.float32)
    for start in range(0, len(out), BLOCK):
        rows = slice(start, start + BLOCK)
        out[rows] = encoded.block(rows)
    return out, unseen


def counted(distinct: Distinct, strange: list[bool]) -> UnseenRows:
    """Rows for every strange value, by its text."""
    if not any(strange):
        return {}
    rows: Counter[str] = Counter()
    for value, count, odd in zip(distinct.values, distinct.counts(), strange, strict=True):
        if odd and count:
            rows[to_text(value)] += count
    return dict(rows)


@dataclass(frozen=True)
class Chosen:
    """What becomes of a column: kept (or None if it is left out), and notes, one of which says why it is left out."""

    column: Column | None
    notes: tuple[Note, ...] = ()


class Open:
    """A column whose kind is open until the others are known; `abnet.tables.preparation.choose` settles it."""


BY_HAND = ("use", "numeric", "categorical", "dates")
"""Parameters that name columns."""


@dataclass(frozen=True)
class Rules:
    """What the user has said.

    Most categories, the decimal mark ("", "." or ","), columns to use in any case, and columns of a kind by hand.
    """

    max_categories: int = 20
    decimal: str = ""
    use: frozenset[str] = frozenset()
    numeric: frozenset[str] = frozenset()
    categorical: frozenset[str] = frozenset()
    dates: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        for first, second in combinations(BY_HAND[1:], 2):
            if twice := getattr(self, first) & getattr(self, second):
                raise ParameterError(
                    "column {!r} cannot be both {} and {}.", min(twice), Parameter(first), Parameter(second)
                )

    def asked(self, name: str) -> str:
        """The parameter by which the user has decided the kind of a column; empty if none."""
        return next((parameter for parameter in BY_HAND[1:] if name in getattr(self, parameter)), "")

    def wanted(self, name: str) -> bool:
        """Whether the user has named the column, so that it is not left out."""
        return any(name in getattr(self, parameter) for parameter in BY_HAND)

    def check_columns(self, names: Sequence[str]) -> None:
        """Refuse columns that are named by hand and not in the table."""
        for parameter in BY_HAND:
            check_named(parameter, sorted(getattr(self, parameter)), names)


KINDS: dict[str, type[Column]] = {}
"""Kinds of columns by their name in model files."""

Recognise = Callable[[str, Cells, Rules], Chosen | Open | None]
"""Name, cells of the first part and what the user has said; None if the column is of another kind."""


class _Rule(NamedTuple):
    rank: int
    recognise: Recognise
    by_hand: str


RULES: list[_Rule] = []
"""Rules that recognise a kind; the first that does not say None decides."""

_Kind = TypeVar("_Kind", bound=type[Column])


def kind(cls: _Kind) -> _Kind:
    """Register a kind of column, so that model files can hold it."""
    KINDS[str(cast(Any, cls).__struct_config__.tag)] = cls
    return cls


def rule(rank: int, by_hand: str = "") -> Callable[[Recognise], Recognise]:
    """Register a rule that recognises a kind of column.

    Parameters
    ----------
    rank : int
        Rules are tried from the lowest rank on.
    by_hand : str
        The parameter of `TablePreparation` by which users ask for this kind; then no other rule is tried.
    """

    def register(recognise: Recognise) -> Recognise:
        RULES.append(_Rule(rank, recognise, by_hand))
        RULES.sort(key=lambda known: known.rank)
        return recognise

    return register
