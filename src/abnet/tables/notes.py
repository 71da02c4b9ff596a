"""Notes on a table, as data, and the sentences in which they are printed."""

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal

import msgspec

from abnet.tables.table_errors import listed, quoted
from abnet.utils.errors import Parameter
from abnet.utils.wording import number_of

__all__ = [
    "KINDS",
    "Kind",
    "Note",
    "NoteWarning",
    "OPTIONS",
    "Severity",
    "SEVERITIES",
    "named_option",
    "note_lines",
    "note_records",
    "sentence",
    "warn_of",
]

Severity = Literal["leak", "label", "column", "cell"]
SEVERITIES: tuple[Severity, ...] = ("leak", "label", "column", "cell")
"""Severities of notes, the most important first: columns that determine the label, labels, columns, cells."""


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
        The kind of note, a key of `KINDS`.
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
        if self.code not in KINDS:
            raise ValueError(f"unknown note {self.code!r}.")

    @property
    def severity(self) -> Severity:
        """What it is about."""
        return KINDS[self.code].severity

    @property
    def left_out(self) -> bool:
        """Whether it says that columns are left out."""
        return KINDS[self.code].left_out

    def __str__(self) -> str:
        """One line for a person."""
        return sentence(self)


@dataclass(frozen=True)
class Kind:
    """The sentence of a note about one column (or none), and of one about several.

    Fields are those of the note: ``{columns}``, ``{rows}``, ``{cells}``, ``{are}``, ``{example}``, its facts, and
    ``{use}``, ``{drop}``, ``{numeric}``, ``{categorical}`` for the parameter that changes it.
    """

    severity: Severity
    one: str
    several: str = ""
    left_out: bool = False


_LATER = "in all {training}; if it is only known afterwards, {drop}"
_SHARED = (
    "column {columns} was left out: rows share its values ({values:,} in {training}); if these are the same patients, "
    "customers or the like, use {groups}, because the certificate is otherwise about new rows of the same ones"
)

KINDS = {
    "shared identifier": Kind("leak", f"{_SHARED}; {{use}} keeps the column", left_out=True),
    "measured groups": Kind(
        "leak",
        f"{_SHARED} (a quick forest is wrong on {{within}} of held-back training rows, and on {{apart}} if it knows no "
        "other row with the same {columns}); {use} keeps the column",
        left_out=True,
    ),
    "one value per label": Kind(
        "leak",
        f"column {{columns}} gives the label away: it has one value for each label {_LATER}",
        "{n} columns have one value for each label in all {rows} they were fitted on; leave out those that are only "
        "known afterwards: {columns}",
    ),
    "gaps tell the label": Kind(
        "leak",
        f"column {{columns}} gives the label away: it is empty for one of the two labels only, {_LATER}",
        "{n} columns are empty exactly where the label is one of the two, in all {rows} they were fitted on; leave out "
        "those that are only known afterwards: {columns}",
    ),
    "values tell the label": Kind(
        "leak",
        f"column {{columns}} gives the label away: each of its {{values:,}} values has one label only, {_LATER}",
        "{n} columns have values that each occur with one label only, in all {rows} they were fitted on; leave out "
        "those that are only known afterwards: {columns}",
    ),
    "values of one label": Kind(
        "leak",
        "column {columns} gives the label away: all {training} in which it has a value have the same label; if it is "
        "only known afterwards, {drop}",
        "{n} columns have values in rows of one label only; leave out those that are only known afterwards: {columns}",
    ),
    "gaps of one label": Kind(
        "leak",
        "column {columns} gives the label away: all {training} in which it is empty have the same label; if it is only "
        "known afterwards, {drop}",
        "{n} columns are empty in rows of one label only; leave out those that are only known afterwards: {columns}",
    ),
    "cut tells the label": Kind(
        "leak",
        f"column {{columns}} gives the label away: it separates the labels at {{cut}} {_LATER}",
        "{n} columns of numbers separate the labels, in all {rows} they were fitted on; leave out those that are only "
        "known afterwards: {columns}",
    ),
    "column alone": Kind(
        "leak",
        "column {columns} alone predicts nearly as well as all columns together: {alone} of held-back training rows "
        "are wrong, and {together} with all columns; if it is only known afterwards, {drop}",
        "{n} columns each predict nearly as well alone as all columns together; leave out those that are only known "
        "afterwards: {columns}",
    ),
    "identifier": Kind(
        "leak",
        "column {columns} was left out: it looks like a row identifier ({why}); {use} keeps it",
        "{n} columns were left out because they look like row identifiers: {columns}; {use} keeps one",
        left_out=True,
    ),
    "perhaps identifier": Kind(
        "leak",
        "column {columns} may be a row identifier ({why}); if it is, {drop}",
        "{n} columns may be row identifiers; leave out those that are: {columns}",
    ),
    "times tell the label": Kind(
        "leak",
        "column {columns}: the labels follow each other in time without overlap, as in a table sorted by label; if it "
        "records when a row was written, {drop}",
        "{n} columns of dates put the labels one after the other, as in a table sorted by label; leave out those that "
        "record when a row was written: {columns}",
    ),
    "missing labels": Kind("label", "{rows} without a label in column {columns} {were} left out"),
    "binned": Kind(
        "label",
        "column {columns} was cut into {bins} classes at {cuts}: quantiles of {rows} that were set aside for it "
        "and are not used otherwise"
    ),
    "cut": Kind("label", "column {columns} was cut into {bins} classes at {cuts}"),
    "several labels": Kind(
        "label",
        "{rows} of column {columns} hold several labels in one cell, such as {example}; each combination counts as a "
        "class of its own",
    ),
    "labels alike": Kind(
        "label",
        "column {columns} has the labels {alike}, which count as different classes; if they are one, write them "
        "alike"
    ),
    "label or gap": Kind(
        "label",
        "column {columns} has the label {example} ({rows}), which counts as a class; if it stands for a missing "
        "label, remove these rows"
    ),
    "one number": Kind(
        "label",
        "column {columns} has the labels {alike}, which are one number and count as one class"
    ),
    "no header": Kind(
        "column",
        "the first line was read as the header, but its cells look like data ({cells}); if it is a row, add a line "
        "with the column names above it",
    ),
    "repeated name": Kind(
        "column",
        "column {columns} is a second column {example} of the file, under another name",
        "{n} columns repeat a name of the file and got another one: {columns}",
    ),
    "repeated header": Kind("column", "{file} repeats its header in {rows}, first in line {line}; they were left out"),
    "constant": Kind(
        "column", "column {columns} was left out: it is constant ({value})",
        "{n} constant columns were left out: {columns}", left_out=True,
    ),
    "empty": Kind(
        "column", "column {columns} was left out: it has no value in the training rows",
        "{n} columns without a value in the training rows were left out: {columns}", left_out=True,
    ),
    "no name": Kind(
        "column", "column {columns} was left out: it has no name; {use} keeps it",
        "{n} columns without a name were left out: {columns}; {use} keeps one", left_out=True,
    ),
    "text that does not help": Kind(
        "column",
        "column {columns} was left out: its {values:,} different texts do not help to predict held-back training rows; "
        "{use} keeps it",
        "{n} columns of text were left out because their values do not help to predict held-back training rows: "
        "{columns}; {use} keeps one",
        left_out=True,
    ),
    "words": Kind(
        "column", "column {columns} has {values:,} different texts; its {words} most common words are the features",
        "{n} columns of text are represented by their most common words: {columns}",
    ),
    "hashed": Kind(
        "column",
        "column {columns} has {values:,} different texts; their words and letters are hashed into {buckets} features",
        "{n} columns of text are represented by hashed words and letters: {columns}",
    ),
    "merged categories": Kind(
        "column",
        "column {columns}: the {merged:,} rarest of {values:,} categories ({training}) were merged into one",
        "{n} columns have rare categories that were merged into one: {columns}",
    ),
    "odd number": Kind(
        "cell",
        "column {columns}: {cells} {are} not {number}{form} ({shown}) and {count} as missing",
        "{n} numeric columns have cells that cannot be used as numbers, such as {example}, which count as missing: "
        "{columns}",
    ),
    "odd date": Kind(
        "cell",
        "column {columns}: {cells} {are} not {date}{form} ({shown}) and {count} as missing",
        "{n} date columns have cells that are not dates, such as {example}, which count as missing: {columns}",
    ),
    "odd truth": Kind(
        "cell",
        "column {columns}: {cells} {are} neither true nor false ({shown}) and {count} as missing",
        "{n} true-or-false columns have other cells, such as {example}, which count as missing: {columns}",
    ),
    "odd cell": Kind(
        "cell",
        "column {columns}: {cells} {are} not {read_as} ({shown}) and {count} as missing",
        "{n} columns have cells that cannot be read, such as {example}, which count as missing: {columns}",
    ),
    "unseen category": Kind(
        "cell",
        "column {columns}: {values} not seen in training; treated as an unknown category",
        "{n} columns have categories not seen in training, such as {example}, treated as unknown: {columns}",
    ),
    "outside range": Kind(
        "column",
        "column {columns}: {count_of} of {total} values are outside the training range ({range}; here {here}){check}",
    ),
    "narrow range": Kind(
        "column",
        "column {columns}: all {total} values are in a small part of the training range ({range}; here {here}){check}",
    ),
    "more missing": Kind(
        "column",
        "column {columns}: {count_of} of {total} cells are missing or cannot be read; in training, {before} were",
    ),
    "far cell": Kind(
        "cell",
        "column {columns}: {cells} {are} very far from all others ({shown}), so the column was scaled by the others "
        "alone; correct {them}, or leave {them} empty",
        "{n} columns have cells very far from all others, such as {example}, and were scaled by the others alone; "
        "correct these cells, or leave them empty: {columns}",
    ),
    "sentinel": Kind(
        "cell",
        "column {columns} has the value {value} in {training}, far from its other values; if it marks missing values, "
        "leave these cells empty",
        "{n} columns have values such as {value} far from their other values; if they mark missing values, leave these "
        "cells empty: {columns}",
    ),
    "code for missing": Kind(
        "cell",
        "column {columns} has the value {value} in {training}, while the others go from {span}; if it marks missing "
        "values, leave these cells empty, or use {categorical}",
        "{n} columns have values such as {value} apart from their other values; if they mark missing values, leave "
        "these cells empty: {columns}",
    ),
    "limits": Kind(
        "cell",
        "column {columns}: {cells} ({shown}) with a limit of measurement {are} read as the number itself ({value})",
        "{n} columns have limits such as {example}, read as the number itself: {columns}",
    ),
    "gap words": Kind(
        "cell",
        "column {columns}: {cells} such as {words} {count} as missing",
        "{n} columns have words for missing values among their numbers or dates: {columns}",
    ),
    "number form": Kind(
        "cell",
        "column {columns} has numbers written as {example}, read as {value}",
        "{n} columns have numbers with marks, such as {example}, read as {value}: {columns}",
    ),
    "decimal mark": Kind(
        "cell",
        "column {columns} has numbers such as {example}, read with a decimal {mark} like those of other columns",
        "{n} columns have numbers such as {example}, read with a decimal {mark} like those of other columns: {columns}",
    ),
    "decimal point": Kind(
        "cell",
        "column {columns} has numbers such as {example} with a point that can only be decimal",
        "{n} columns have numbers with a point that can only be decimal: {columns}",
    ),
    "date order": Kind(
        "cell",
        "column {columns} has dates such as {example}, read as {order} because {why}; if that is wrong, write them as "
        "year-month-day",
        "{n} columns have dates such as {example} whose order is uncertain; if {order} is wrong, write them as "
        "year-month-day: {columns}",
    ),
    "short years": Kind(
        "cell",
        "column {columns} has dates with two-digit years, such as {example}, read as 1969 to 2068 (this one as {day}); "
        "if that is wrong, write all digits",
        "{n} columns have dates with two-digit years, such as {example}, read as 1969 to 2068: {columns}",
    ),
    "months": Kind(
        "cell",
        "column {columns} has dates without a day, such as {example}, read as the first of the month; if they are "
        "something else, use {categorical}",
        "{n} columns have dates without a day, such as {example}, read as the first of the month: {columns}",
    ),
    "several units": Kind(
        "cell",
        "column {columns} is read as text because its numbers have several units ({units}); if it should be "
        "numeric, write all with one unit",
        "{n} columns are read as text because their numbers have several units: {columns}",
    ),
    "other minus": Kind(
        "cell",
        "column {columns} is read as text because a minus as in {example} is not recognised; if it should be "
        "numeric, write {usual}",
        "{n} columns are read as text because a minus as in {example} is not recognised: {columns}",
    ),
    "nearly numbers": Kind(
        "cell",
        "column {columns} is read as text because {rows} of {total:,} are not numbers, such as {example}; if it "
        "should be numeric, use {numeric}",
        "{n} columns are read as text because some of their cells are not numbers, such as {example}: {columns}",
    ),
    "year unclear": Kind(
        "cell",
        "column {columns} is read as text because dates such as {example} do not show where the year is; if they "
        "are dates, write all digits of the year",
        "{n} columns are read as text because dates such as {example} do not show where the year is: {columns}",
    ),
    "nearly dates": Kind(
        "cell",
        "column {columns} is read as text because {rows} of {total:,} are not dates, such as {example}; if it "
        "should be a date, use {dates}",
        "{n} columns are read as text because some of their cells are not dates, such as {example}: {columns}",
    ),
    "other dates": Kind(
        "cell",
        "column {columns} is read as text because dates such as {example} are not recognised; if they are dates, "
        "write them as 2020-12-31",
        "{n} columns are read as text because dates such as {example} are not recognised: {columns}",
    ),
    "more than numbers": Kind(
        "cell",
        "column {columns} is read as text because values such as {example} are not recognised as numbers; if they "
        "measure something, write one plain number each",
        "{n} columns are read as text because values such as {example} are not recognised as numbers: {columns}",
    ),
}  # fmt: skip
"""Every note, with its sentences: the only place where they are written."""

Spelling = Callable[[Parameter], str]


def sentence(note: Note, spell: Spelling = str) -> str:
    """A note in words, its parameters spelled by a function (as in Python, unless given).

    Examples
    --------
    >>> sentence(Note("no name", ("",)), lambda parameter: "--use ''")
    "column '' was left out: it has no name; --use '' keeps it"
    """
    kind, names, rows = KINDS[note.code], note.columns, note.rows or 0
    first = names[0] if names else ""
    given = {name: spell(Parameter(name, first)) for name in ("use", "groups", "numeric", "categorical", "dates")}
    fields: dict[str, Any] = {
        **given,
        "drop": "leave the column out",
        "n": len(names),
        "columns": listed(names, most=5),
        "rows": number_of(rows, "row"),
        "count_of": f"{rows:,}",
        "training": number_of(rows, "training row"),
        "value": note.example,
        "cells": number_of(rows, "cell"),
        "are": "is" if rows == 1 else "are",
        "them": "it" if rows == 1 else "them",
        "were": "was" if rows == 1 else "were",
        "number": "a number" if rows == 1 else "numbers",
        "date": "a date" if rows == 1 else "dates",
        "count": "counts" if rows == 1 else "count",
        "example": quoted(note.example),
        "shown": f"{'such as ' * (rows > 1)}{quoted(note.example)}",
        "form": "",
        **note.facts,
    }
    return (kind.several if len(names) > 1 and kind.several else kind.one).format_map(fields)


OPTIONS = {"dates": "date", "groups": "group"}
"""Parameters of Python that the command line calls by another name."""


def named_option(parameter: Parameter) -> str:
    """Name of a parameter for readers of a model, independent of whether it was made in Python or by a command.

    Examples
    --------
    >>> sentence(Note("no name", ("",)), named_option)
    "column '' was left out: it has no name; the option 'use' keeps it"
    """
    return f"the option {OPTIONS.get(parameter.name, parameter.name)!r}"


def _distinct(notes: Iterable[Note]) -> list[Note]:
    """Each note once, the most important first; of several notes about the same column, the one with the most rows."""
    found: dict[tuple[str, tuple[str, ...], str], Note] = {}
    for note in notes:
        key = (note.code, note.columns, "" if note.rows is not None else str(note.facts))
        if key not in found or (note.rows or 0) > (found[key].rows or 0):
            found[key] = note
    return sorted(found.values(), key=lambda note: SEVERITIES.index(note.severity))


def _grouped(notes: Iterable[Note]) -> list[Note]:
    """One note for all columns with the same note."""
    groups: dict[str, Note] = {}
    for place, note in enumerate(_distinct(notes)):
        if not KINDS[note.code].several:
            groups[f"{note.code} {place}"] = note
            continue
        first = groups.setdefault(note.code, msgspec.structs.replace(note, columns=(), rows=None))
        rows = None if note.rows is None else max(first.rows or 0, note.rows)
        groups[note.code] = msgspec.structs.replace(first, columns=(*first.columns, *note.columns), rows=rows)
    return sorted(groups.values(), key=lambda note: SEVERITIES.index(note.severity))


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
        How parameters are spelled, as in `sentence`.

    Examples
    --------
    >>> constant = [Note("constant", (name,), facts={"value": "0"}) for name in "abcdefg"]
    >>> print(*note_lines([*constant, Note("identifier", ("id",), facts={"why": "never repeats"})]), sep="\\n")
    column 'id' was left out: it looks like a row identifier (never repeats); use='id' keeps it
    7 constant columns were left out: 'a', 'b', 'c', 'd', 'e' and 2 more
    """
    shown = _distinct(notes) if every else _grouped(notes)
    lines = [sentence(note, spell) for note in shown]
    if every or len(lines) <= most:
        return lines
    return [*lines[: most - 1], f"{len(lines) - most + 1} more notes are not shown; {spell(Parameter('notes', 'all'))} "
            "lists them"]  # fmt: skip


def warn_of(notes: Iterable[Note], *, stacklevel: int) -> None:
    """Warn of notes that change what a certificate is worth, or that say that a column is left out: one for each line.

    Parameters
    ----------
    notes : iterable of Note
    stacklevel : int
        As for `warnings.warn`, counted from the caller of this function.
    """
    lines: dict[str, list[Note]] = {}
    for place, note in enumerate(_distinct(notes)):
        if note.severity == "leak" or note.left_out or note.code == "far cell":
            lines.setdefault(note.code if KINDS[note.code].several else f"{note.code} {place}", []).append(note)
    for together in lines.values():
        warnings.warn(NoteWarning(*together), stacklevel=stacklevel + 1)


def note_records(notes: Iterable[Note], spell: Spelling = str) -> list[dict[str, Any]]:
    """Notes as dicts for JSON: fields, severity and sentence, the most important first.

    Examples
    --------
    >>> note_records([Note("missing labels", ("left",), 3)])[0]["text"]
    "3 rows without a label in column 'left' were left out"
    """
    return [
        {**msgspec.to_builtins(note), "severity": note.severity, "text": sentence(note, spell)}
        for note in _distinct(notes)
    ]
