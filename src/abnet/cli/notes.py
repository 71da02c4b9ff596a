"""Notes on a table in the words of the command line."""

import shlex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from abnet.tables import Note

__all__ = ["described", "in_options"]


def in_options(note: "Note") -> str:
    """A note, with options in place of parameters.

    Examples
    --------
    >>> from abnet.tables import Note
    >>> in_options(Note("row id", "is left out: it has no name; use='row id' takes it in"))
    "column 'row id' is left out: it has no name; --use 'row id' takes it in"
    """
    return described(note.column, str(note))


def described(column: str, line: str) -> str:
    """What is said about a column, with options in place of parameters."""
    return line.replace(f"use={column!r} takes", f"--use {shlex.quote(column)} takes")
