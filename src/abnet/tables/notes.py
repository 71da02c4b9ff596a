"""Notes on a table, as data: what was found, how important it is, and which notes share a line."""

import warnings
from collections.abc import Iterable
from typing import Any, Literal

import msgspec

from abnet.tables.note_sentences import CELLS, COLUMNS, LABELS, LEAKS, WORDINGS, Spelling, note_sentence
from abnet.utils.errors import Parameter

__all__ = ["Note", "NoteWarning", "SEVERITIES", "Severity", "note_lines", "note_records", "warn_of"]

Severity = Literal["leak", "label", "column", "cell"]
SEVERITIES: tuple[Severity, ...] = ("leak", "label", "column", "cell")
"""Severities of notes, the most important first: columns that determine the label, labels, columns, cells."""

_SEVERITY: dict[str, Severity] = {
    **dict.fromkeys(LEAKS, "leak"),
    **dict.fromkeys(LABELS, "label"),
    **dict.fromkeys(COLUMNS, "column"),
    **dict.fromkeys(CELLS, "cell"),
}
"""By the code of the note."""

_URGENT_CODES = ("far cell", "networks fall short", "errors by position", "errors by time")
"""Codes of further notes that are warnings too."""


class NoteWarning(UserWarning):
    """A note raised as a warning while a table is read or prepared.

    Attributes
    ----------
    note : Note
        The first of them.
    notes : tuple of Note
        Several if they are of one kind and share a line.
    """

    def __init__(self, note: "Note", *others: "Note") -> None:
        super().__init__(" ".join(note_lines((note, *others))))
        self.note = note
        self.notes = (note, *others)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self.notes


class Note(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A note on a table.

    Attributes
    ----------
    code : str
        The kind of note, a key of `abnet.tables.note_sentences.WORDINGS`.
    columns : tuple of str
        The columns that it is about.
    rows : int or None
        Number of rows that it is about, if they were counted.
    example : str
        An example cell.
    facts : dict
        Further values in the sentence.

    Examples
    --------
    >>> note = Note("odd number", ("cylinders",), 1, "rotary")
    >>> print(note)
    column 'cylinders': 1 cell is not a number ('rotary') and counts as missing
    >>> note.severity
    'cell'
    """

    code: str
    columns: tuple[str, ...] = ()
    rows: int | None = None
    example: str = ""
    facts: dict[str, str | int | float] = {}

    def __post_init__(self) -> None:
        if self.code not in WORDINGS:
            raise ValueError(f"unknown note {self.code!r}.")

    @property
    def severity(self) -> Severity:
        """What it is about."""
        return _SEVERITY[self.code]

    @property
    def left_out(self) -> bool:
        """Whether it says that columns are left out."""
        return WORDINGS[self.code].left_out

    @property
    def shares_a_line(self) -> bool:
        """Whether there is one sentence for all columns with this note."""
        return bool(WORDINGS[self.code].several)

    def __str__(self) -> str:
        """One line for a person."""
        return note_sentence(self)


def _by_severity(notes: Iterable[Note]) -> list[Note]:
    return sorted(notes, key=lambda note: SEVERITIES.index(note.severity))


def _distinct(notes: Iterable[Note]) -> list[Note]:
    """Each note once, the most important first; of several notes about the same column, the one with the most rows."""
    found: dict[tuple[str, tuple[str, ...], str], Note] = {}
    for note in notes:
        facts = ""
        if note.rows is None:  # otherwise facts change with the number of rows, as from batch to batch of a file
            facts = str(note.facts)
        key = (note.code, note.columns, facts)
        known = found.get(key)
        if known is None or (note.rows or 0) > (known.rows or 0):
            found[key] = note
    return _by_severity(found.values())


def _line_groups(notes: Iterable[Note]) -> list[list[Note]]:
    """The notes that share a line, line by line."""
    groups: dict[str, list[Note]] = {}
    for place, note in enumerate(notes):
        key = note.code
        if not note.shares_a_line:
            key = f"{note.code} {place}"
        groups.setdefault(key, []).append(note)
    return list(groups.values())


def _joined(notes: list[Note]) -> Note:
    """One note for all columns of notes that share a line; it has the example and the facts of the first."""
    first = notes[0]
    columns = tuple(name for note in notes for name in note.columns)
    counts = [note.rows for note in notes if note.rows is not None]
    return msgspec.structs.replace(first, columns=columns, rows=max(counts, default=None))


def note_lines(notes: Iterable[Note], *, every: bool = False, most: int = 10, spell: Spelling = str) -> list[str]:
    """Notes as lines of text, the most important first, with one line for all columns with the same note.

    Parameters
    ----------
    notes : iterable of Note
    every : bool
        Whether to print a line for every note.
    most : int
        Maximum number of lines, unless `every`; the last line says how many notes are not shown.
    spell : callable
        How parameters are spelled, as in `abnet.tables.note_sentences.note_sentence`.

    Examples
    --------
    >>> constant = [Note("constant", (name,), facts={"value": "0"}) for name in "abcdefg"]
    >>> print(*note_lines([*constant, Note("identifier", ("id",), facts={"why": "never repeats"})]), sep="\\n")
    column 'id' was left out: it looks like a row identifier (never repeats); use='id' keeps it
    7 constant columns were left out: 'a', 'b', 'c', 'd', 'e' and 2 more
    """
    distinct = _distinct(notes)
    if every:
        return [note_sentence(note, spell) for note in distinct]
    lines = [note_sentence(_joined(group), spell) for group in _line_groups(distinct)]
    if len(lines) <= most:
        return lines
    hidden = len(lines) - most + 1
    lists_them = spell(Parameter("notes", "all"))
    return [*lines[: most - 1], f"{hidden} more notes are not shown; {lists_them} lists them"]


def warn_of(notes: Iterable[Note], *, stacklevel: int) -> None:
    """Warn of notes that change what a certificate or a model is worth, or that leave columns out: one for each line.

    Parameters
    ----------
    notes : iterable of Note
    stacklevel : int
        As for `warnings.warn`, counted from the caller of this function.
    """
    urgent = []
    for note in _distinct(notes):
        if note.severity == "leak" or note.left_out or note.code in _URGENT_CODES:
            urgent.append(note)
    for group in _line_groups(urgent):
        warnings.warn(NoteWarning(*group), stacklevel=stacklevel + 1)


def note_records(notes: Iterable[Note], spell: Spelling = str) -> list[dict[str, Any]]:
    """Notes as dicts for JSON: fields, severity and sentence, the most important first.

    Examples
    --------
    >>> note_records([Note("missing labels", ("left",), 3)])[0]["text"]
    "3 rows without a label in column 'left' were left out"
    """
    records = []
    for note in _distinct(notes):
        record = msgspec.to_builtins(note)
        records.append({**record, "severity": note.severity, "text": note_sentence(note, spell)})
    return records
