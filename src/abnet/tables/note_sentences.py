"""The sentences of notes: one for a single column (or none), and one for several columns with the same note."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from abnet.tables.table_errors import listed, quoted
from abnet.utils.errors import Parameter
from abnet.utils.wording import number_of

if TYPE_CHECKING:
    from abnet.tables.notes import Note

__all__ = [
    "CELLS",
    "COLUMNS",
    "LABELS",
    "LEAKS",
    "OPTIONS",
    "Spelling",
    "WORDINGS",
    "Wording",
    "named_option",
    "note_sentence",
]


class Wording(NamedTuple):
    """The sentence of a note about one column, that of a note about several, and whether it says they are left out.

    A sentence has places for the facts of the note, and for

    - ``{columns}`` (their names) and ``{n}`` (how many they are),
    - the note's rows: ``{rows}`` (3 rows), ``{training_rows}``, ``{cells}`` and ``{count}`` (the number alone),
    - words that agree with them: ``{are}``, ``{were}``, ``{counts}``, ``{them}``, ``{a_number}``, ``{a_date}``,
    - the note's example: ``{example}`` (quoted), ``{such_as}`` (as one of several) and ``{value}`` (as it is),
    - the parameters that change it: ``{use}``, ``{groups}``, ``{time}``, ``{numeric}``, ``{categorical}``, ``{dates}``.
    """

    one: str
    several: str = ""
    left_out: bool = False


LEAKS = {
    "shared identifier": Wording(
        "column {columns} was left out: rows share its values ({values:,} in {training_rows}); if these are the same "
        "patients, customers or the like, use {groups}, because the certificate is otherwise about new rows of the "
        "same ones; {use} keeps the column",
        left_out=True,
    ),
    "measured groups": Wording(
        "column {columns} was left out: rows share its values ({values:,} in {training_rows}); if these are the same "
        "patients, customers or the like, use {groups}, because the certificate is otherwise about new rows of the "
        "same ones (a quick forest is wrong on {within} of held-back training rows, and on {apart} if it knows no "
        "other row with the same {columns}); {use} keeps the column",
        left_out=True,
    ),
    "one value per label": Wording(
        "column {columns} gives the label away: it has one value for each label in all {training_rows}; if it is "
        "only known afterwards, leave the column out",
        several="{n} columns have one value for each label in all {rows} they were fitted on; leave out those that "
        "are only known afterwards: {columns}",
    ),
    "gaps tell the label": Wording(
        "column {columns} gives the label away: it is empty for one of the two labels only, in all {training_rows}; "
        "if it is only known afterwards, leave the column out",
        several="{n} columns are empty exactly where the label is one of the two, in all {rows} they were fitted on; "
        "leave out those that are only known afterwards: {columns}",
    ),
    "values tell the label": Wording(
        "column {columns} gives the label away: each of its {values:,} values has one label only, in all "
        "{training_rows}; if it is only known afterwards, leave the column out",
        several="{n} columns have values that each occur with one label only, in all {rows} they were fitted on; "
        "leave out those that are only known afterwards: {columns}",
    ),
    "values of one label": Wording(
        "column {columns} gives the label away: all {training_rows} in which it has a value have the same label; if "
        "it is only known afterwards, leave the column out",
        several="{n} columns have values in rows of one label only; leave out those that are only known afterwards: "
        "{columns}",
    ),
    "gaps of one label": Wording(
        "column {columns} gives the label away: all {training_rows} in which it is empty have the same label; if it "
        "is only known afterwards, leave the column out",
        several="{n} columns are empty in rows of one label only; leave out those that are only known afterwards: "
        "{columns}",
    ),
    "cut tells the label": Wording(
        "column {columns} gives the label away: it separates the labels at {cut} in all {training_rows}; if it is "
        "only known afterwards, leave the column out",
        several="{n} columns of numbers separate the labels, in all {rows} they were fitted on; leave out those that "
        "are only known afterwards: {columns}",
    ),
    "column alone": Wording(
        "column {columns} alone predicts nearly as well as all columns together: {alone} of held-back training rows "
        "are wrong, and {together} with all columns; if it is only known afterwards, leave the column out",
        several="{n} columns each predict nearly as well alone as all columns together; leave out those that are "
        "only known afterwards: {columns}",
    ),
    "identifier": Wording(
        "column {columns} was left out: it looks like a row identifier ({why}); {use} keeps it",
        several="{n} columns were left out because they look like row identifiers: {columns}; {use} keeps one",
        left_out=True,
    ),
    "perhaps identifier": Wording(
        "column {columns} may be a row identifier ({why}); if it is, leave the column out",
        several="{n} columns may be row identifiers; leave out those that are: {columns}",
    ),
    "times tell the label": Wording(
        "column {columns}: the labels follow each other in time without overlap, as in a table sorted by label; if "
        "it records when a row was written, leave the column out",
        several="{n} columns of dates put the labels one after the other, as in a table sorted by label; leave out "
        "those that record when a row was written: {columns}",
    ),
}
"""Columns that determine the label, and identifiers."""

LABELS = {
    "errors by position": Wording(
        "errors are more frequent in the {where} held-out rows of the table (p = {p}{looked_at}), so the rows may not "
        "be independent draws from one source: if they were recorded over time, use {time}; if some belong "
        "together, use {groups}"
    ),
    "errors by time": Wording(
        "errors are more frequent in the {where} part of the period that was held out (p = {p}{looked_at}): the "
        "certificate is about the period as a whole, and the future may differ from it"
    ),
    "missing labels": Wording(
        "{rows} without a label in column {columns} {were} left out",
    ),
    "binned": Wording(
        "column {columns} was cut into {bins} classes at {cuts}: quantiles of {rows} that were set aside for it and "
        "are not used otherwise",
    ),
    "cut": Wording(
        "column {columns} was cut into {bins} classes at {cuts}",
    ),
    "several labels": Wording(
        "{rows} of column {columns} hold several labels in one cell, such as {example}; each combination counts as a "
        "class of its own",
    ),
    "labels alike": Wording(
        "column {columns} has the labels {alike}, which count as different classes; if they are one, write them alike",
    ),
    "label or gap": Wording(
        "column {columns} has the label {example} ({rows}), which counts as a class; if it stands for a missing "
        "label, remove these rows",
    ),
    "one number": Wording(
        "column {columns} has the labels {alike}, which are one number and count as one class",
    ),
    "networks fall short": Wording(
        "on {count} training rows kept apart, the networks make clearly more errors ({networks}) than the models they "
        "were distilled from ({teachers}); another kind of model may suit this table better: abnet compare shows",
    ),
}
"""The column with the labels, and how well they are predicted."""

COLUMNS = {
    "no header": Wording(
        "the first line was read as the header, but its cells look like data ({cells}); if it is a row, add a line "
        "with the column names above it",
    ),
    "repeated name": Wording(
        "column {columns} is a second column {example} of the file, under another name",
        several="{n} columns repeat a name of the file and got another one: {columns}",
    ),
    "repeated header": Wording(
        "{file} repeats its header in {rows}, first in line {line}; they were left out",
    ),
    "constant": Wording(
        "column {columns} was left out: it is constant ({value})",
        several="{n} constant columns were left out: {columns}",
        left_out=True,
    ),
    "empty": Wording(
        "column {columns} was left out: it has no value in the training rows",
        several="{n} columns without a value in the training rows were left out: {columns}",
        left_out=True,
    ),
    "no name": Wording(
        "column {columns} was left out: it has no name; {use} keeps it",
        several="{n} columns without a name were left out: {columns}; {use} keeps one",
        left_out=True,
    ),
    "text that does not help": Wording(
        "column {columns} was left out: its {values:,} different texts do not help to predict held-back training "
        "rows; {use} keeps it",
        several="{n} columns of text were left out because their values do not help to predict held-back training "
        "rows: {columns}; {use} keeps one",
        left_out=True,
    ),
    "columns that do not help": Wording(
        "column {columns} was left out: it does not help to predict held-back training rows; {use} keeps it",
        several="{n} of {all:,} columns were left out, because the other {kept:,} predict held-back training rows "
        "better without them: {columns}; {use} keeps one",
        left_out=True,
    ),
    "words": Wording(
        "column {columns} has {values:,} different texts; its {words} most common words are the features",
        several="{n} columns of text are represented by their most common words: {columns}",
    ),
    "hashed": Wording(
        "column {columns} has {values:,} different texts; their words and letters are hashed into {buckets} features",
        several="{n} columns of text are represented by hashed words and letters: {columns}",
    ),
    "merged categories": Wording(
        "column {columns}: the {merged:,} rarest of {values:,} categories ({training_rows}) were merged into one",
        several="{n} columns have rare categories that were merged into one: {columns}",
    ),
    "outside range": Wording(
        "column {columns}: {count} of {total} values are outside the training range ({range}; here {here}){check}",
    ),
    "narrow range": Wording(
        "column {columns}: all {total} values are in a small part of the training range ({range}; here {here}){check}",
    ),
    "more missing": Wording(
        "column {columns}: {count} of {total} cells are missing or cannot be read; in training, {before} were",
    ),
}
"""Whole columns: names, types, what they are represented by."""

CELLS = {
    "labels by position": Wording(
        "the labels depend on the position of the rows (p = {p}{looked_at}), as in a table that is sorted by label. "
        "That is harmless, because rows are split by their content; but if they were recorded over time, the mix of "
        "classes changes, and {time} certifies on the latest rows"
    ),
    "labels by time": Wording(
        "the mix of classes changes within the period that was held out (p = {p}{looked_at}): the certificate is about "
        "the period as a whole, and the future may differ from it"
    ),
    "odd number": Wording(
        "column {columns}: {cells} {are} not {a_number}{form} ({such_as}) and {counts} as missing",
        several="{n} numeric columns have cells that cannot be used as numbers, such as {example}, which count as "
        "missing: {columns}",
    ),
    "odd date": Wording(
        "column {columns}: {cells} {are} not {a_date}{form} ({such_as}) and {counts} as missing",
        several="{n} date columns have cells that are not dates, such as {example}, which count as missing: {columns}",
    ),
    "odd truth": Wording(
        "column {columns}: {cells} {are} neither true nor false ({such_as}) and {counts} as missing",
        several="{n} true-or-false columns have other cells, such as {example}, which count as missing: {columns}",
    ),
    "odd cell": Wording(
        "column {columns}: {cells} {are} not {read_as} ({such_as}) and {counts} as missing",
        several="{n} columns have cells that cannot be read, such as {example}, which count as missing: {columns}",
    ),
    "unseen category": Wording(
        "column {columns}: {values} not seen in training; treated as an unknown category",
        several="{n} columns have categories not seen in training, such as {example}, treated as unknown: {columns}",
    ),
    "far cell": Wording(
        "column {columns}: {cells} {are} very far from all others ({such_as}), so the column was scaled by the "
        "others alone; correct {them}, or leave {them} empty",
        several="{n} columns have cells very far from all others, such as {example}, and were scaled by the others "
        "alone; correct these cells, or leave them empty: {columns}",
    ),
    "sentinel": Wording(
        "column {columns} has the value {value} in {training_rows}, far from its other values; if it marks missing "
        "values, leave these cells empty",
        several="{n} columns have values such as {value} far from their other values; if they mark missing values, "
        "leave these cells empty: {columns}",
    ),
    "code for missing": Wording(
        "column {columns} has the value {value} in {training_rows}, while the others go from {span}; if it marks "
        "missing values, leave these cells empty, or use {categorical}",
        several="{n} columns have values such as {value} apart from their other values; if they mark missing values, "
        "leave these cells empty: {columns}",
    ),
    "limits": Wording(
        "column {columns}: {cells} ({such_as}) with a limit of measurement {are} read as the number itself ({value})",
        several="{n} columns have limits such as {example}, read as the number itself: {columns}",
    ),
    "gap words": Wording(
        "column {columns}: {cells} such as {words} {counts} as missing",
        several="{n} columns have words for missing values among their numbers or dates: {columns}",
    ),
    "number form": Wording(
        "column {columns} has numbers written as {example}, read as {value}",
        several="{n} columns have numbers with marks, such as {example}, read as {value}: {columns}",
    ),
    "decimal mark": Wording(
        "column {columns} has numbers such as {example}, read with a decimal {mark} like those of other columns",
        several="{n} columns have numbers such as {example}, read with a decimal {mark} like those of other columns: "
        "{columns}",
    ),
    "decimal point": Wording(
        "column {columns} has numbers such as {example} with a point that can only be decimal",
        several="{n} columns have numbers with a point that can only be decimal: {columns}",
    ),
    "date order": Wording(
        "column {columns} has dates such as {example}, read as {order} because {why}; if that is wrong, write them "
        "as year-month-day",
        several="{n} columns have dates such as {example} whose order is uncertain; if {order} is wrong, write them "
        "as year-month-day: {columns}",
    ),
    "short years": Wording(
        "column {columns} has dates with two-digit years, such as {example}, read as 1969 to 2068 (this one as "
        "{day}); if that is wrong, write all digits",
        several="{n} columns have dates with two-digit years, such as {example}, read as 1969 to 2068: {columns}",
    ),
    "months": Wording(
        "column {columns} has dates without a day, such as {example}, read as the first of the month; if they are "
        "something else, use {categorical}",
        several="{n} columns have dates without a day, such as {example}, read as the first of the month: {columns}",
    ),
    "several units": Wording(
        "column {columns} is read as text because its numbers have several units ({units}); if it should be numeric, "
        "write all with one unit",
        several="{n} columns are read as text because their numbers have several units: {columns}",
    ),
    "other minus": Wording(
        "column {columns} is read as text because a minus as in {example} is not recognised; if it should be "
        "numeric, write {usual}",
        several="{n} columns are read as text because a minus as in {example} is not recognised: {columns}",
    ),
    "nearly numbers": Wording(
        "column {columns} is read as text because {rows} of {total:,} are not numbers, such as {example}; if it "
        "should be numeric, use {numeric}",
        several="{n} columns are read as text because some of their cells are not numbers, such as {example}: "
        "{columns}",
    ),
    "year unclear": Wording(
        "column {columns} is read as text because dates such as {example} do not show where the year is; if they are "
        "dates, write all digits of the year",
        several="{n} columns are read as text because dates such as {example} do not show where the year is: {columns}",
    ),
    "nearly dates": Wording(
        "column {columns} is read as text because {rows} of {total:,} are not dates, such as {example}; if it should "
        "be a date, use {dates}",
        several="{n} columns are read as text because some of their cells are not dates, such as {example}: {columns}",
    ),
    "other dates": Wording(
        "column {columns} is read as text because dates such as {example} are not recognised; if they are dates, "
        "write them as 2020-12-31",
        several="{n} columns are read as text because dates such as {example} are not recognised: {columns}",
    ),
    "more than numbers": Wording(
        "column {columns} is read as text because values such as {example} are not recognised as numbers; if they "
        "measure something, write one plain number each",
        several="{n} columns are read as text because values such as {example} are not recognised as numbers: "
        "{columns}",
    ),
}
"""Cells, and how they are read."""

WORDINGS = LEAKS | LABELS | COLUMNS | CELLS

_ONE_ROW = {
    "are": "is",
    "were": "was",
    "counts": "counts",
    "them": "it",
    "a_number": "a number",
    "a_date": "a date",
}
_SEVERAL_ROWS = {
    "are": "are",
    "were": "were",
    "counts": "count",
    "them": "them",
    "a_number": "numbers",
    "a_date": "dates",
}

Spelling = Callable[[Parameter], str]
"""Writes a parameter, such as ``use='id'`` in Python and ``--use id`` on the command line."""


def note_sentence(note: "Note", spell: Spelling = str) -> str:
    """A note in words.

    Parameters
    ----------
    note : Note
    spell : callable
        How parameters are written; as in Python, unless given.

    Examples
    --------
    >>> from abnet.tables.notes import Note
    >>> note_sentence(Note("no name", ("",)), lambda parameter: "--use ''")
    "column '' was left out: it has no name; --use '' keeps it"
    """
    wording = WORDINGS[note.code]
    template = wording.one
    if len(note.columns) > 1 and wording.several:
        template = wording.several
    return template.format_map(_fields(note, spell))


def _fields(note: "Note", spell: Spelling) -> dict[str, Any]:
    """The values of the places in a sentence; a fact of the note comes before anything else of that name."""
    rows = note.rows or 0
    first_column = "COLUMN"
    if note.columns:
        first_column = note.columns[0]
    parameters = ("use", "groups", "time", "numeric", "categorical", "dates")
    such_as = quoted(note.example)
    if rows > 1:
        such_as = f"such as {such_as}"
    agreeing = _SEVERAL_ROWS
    if rows == 1:
        agreeing = _ONE_ROW
    return {
        "columns": listed(note.columns, most=5),
        "n": len(note.columns),
        "rows": number_of(rows, "row"),
        "training_rows": number_of(rows, "training row"),
        "cells": number_of(rows, "cell"),
        "count": f"{rows:,}",
        "example": quoted(note.example),
        "such_as": such_as,
        "value": note.example,
        "form": "",
        **agreeing,
        **{name: spell(Parameter(name, first_column)) for name in parameters},
        **note.facts,
    }


OPTIONS = {"dates": "date", "groups": "group"}
"""Parameters of Python that the command line calls by another name."""


def named_option(parameter: Parameter) -> str:
    """Name of a parameter for readers of a model, independent of whether it was made in Python or by a command.

    Examples
    --------
    >>> from abnet.tables.notes import Note
    >>> note_sentence(Note("no name", ("",)), named_option)
    "column '' was left out: it has no name; the option 'use' keeps it"
    """
    name = OPTIONS.get(parameter.name, parameter.name)
    return f"the option {name!r}"
