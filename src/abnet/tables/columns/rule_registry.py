"""Rules that recognise the kind of a column, and what they return."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from abnet.tables.column_cells import Cells
from abnet.tables.columns.column import Column
from abnet.tables.columns.column_options import ColumnOptions
from abnet.tables.notes import Note

__all__ = ["RULES", "Chosen", "Open", "constant", "rule"]


@dataclass(frozen=True)
class Chosen:
    """A column whose kind is decided.

    Attributes
    ----------
    column : Column or None
        The fitted column; None if it is left out.
    notes : tuple of Note
        One of them says why a column is left out.
    """

    column: Column | None
    notes: tuple[Note, ...] = ()


class Open:
    """A column whose kind depends on the other columns; `abnet.tables.preparation.column_kinds` decides it."""


def constant(name: str, value: str) -> Chosen:
    """A column that is left out because all its cells have this value."""
    return Chosen(None, (Note("constant", (name,), facts={"value": value}),))


Recognise = Callable[[str, Cells, ColumnOptions], Chosen | Open | None]
"""From name, cells of the training rows and options to a choice; None if the column is of another kind."""


class Rule(NamedTuple):
    """A rule that recognises a kind of column.

    Attributes
    ----------
    rank : int
        Rules are tried in the order of their ranks.
    recognise : callable
    parameter : str
        The parameter by which users request this kind; empty if they cannot.
    """

    rank: int
    recognise: Recognise
    parameter: str


RULES: list[Rule] = []
"""All rules, by rank; the first that does not return None decides."""


def rule(rank: int, parameter: str = "") -> Callable[[Recognise], Recognise]:
    """Register a rule that recognises a kind of column.

    Parameters
    ----------
    rank : int
        Rules are tried in the order of their ranks.
    parameter : str
        The parameter of `TablePreparation` by which users request this kind; for its columns, no rule of another
        parameter is tried.
    """

    def register(recognise: Recognise) -> Recognise:
        RULES.append(Rule(rank, recognise, parameter))
        RULES.sort(key=lambda known: known.rank)
        return recognise

    return register
