"""Determine the kind of each column: the rules of all kinds in order, then decisions that depend on other columns."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from abnet.tables.cells import MISSING
from abnet.tables.column_cells import Cells
from abnet.tables.columns import NumericColumn
from abnet.tables.columns.column_options import ColumnOptions
from abnet.tables.columns.infer_form import AmbiguousMark, certain_decimal_mark
from abnet.tables.columns.rule_registry import RULES, Chosen, Open
from abnet.tables.csv_header import UNNAMED
from abnet.tables.many_texts import ManyTexts, choose_text_forms
from abnet.tables.notes import Note
from abnet.tables.shared_identifiers import shared_identifier
from abnet.tables.table import Table
from abnet.tables.table_errors import TableError, quoted
from abnet.utils.errors import NamesParameters, Parameter
from abnet.utils.threads import parallel_map, threads_for

__all__ = ["ColumnKindError", "DecimalMarkError", "choose_all"]

_MARK_NAMES = {".": "point", ",": "comma"}
"""The values of the parameter `decimal`."""

_KIND_NAMES = {"numeric": "numbers", "dates": "dates"}
"""What the cells of a requested kind are called."""


class ColumnKindError(NamesParameters, TableError):
    """A column cannot be read as the requested kind."""


class DecimalMarkError(NamesParameters, TableError):
    """The decimal mark of numbers is ambiguous."""


def choose_all(table: Table, options: ColumnOptions, y: Any = None) -> dict[str, Chosen]:
    """Determine the kinds of all columns.

    If a mark in numbers may be decimal or for thousands, the other columns decide; if they do not, an error asks for
    `decimal`. Text with many values is decided last, with the labels `y`.
    """

    def choose(name: str) -> Chosen | Open:
        return _choose(name, table, options)

    choices = parallel_map(choose, table.columns, threads_for(table.n_rows))
    by_name = dict(zip(table.columns, choices, strict=True))
    ambiguous = {name: choice for name, choice in by_name.items() if isinstance(choice, AmbiguousMark)}
    many_texts = [choice for choice in choices if isinstance(choice, ManyTexts)]
    chosen = {name: choice for name, choice in by_name.items() if isinstance(choice, Chosen)}
    if ambiguous:
        marks = _certain_marks(table, chosen)
        for name, choice in ambiguous.items():
            chosen[name] = _with_mark_of_others(name, choice, marks, table, options)
    if many_texts:
        columns = [choice.column for choice in chosen.values() if choice.column is not None]
        chosen |= choose_text_forms(many_texts, columns, table, y)
    return {name: chosen[name] for name in table.columns}


# Marks that may be decimal or for thousands


def _certain_marks(table: Table, chosen: Mapping[str, Chosen]) -> set[str]:
    """The decimal marks that the columns certainly have."""
    columns = [choice.column for choice in chosen.values() if isinstance(choice.column, NumericColumn)]
    marks = {certain_decimal_mark(table.cells(column.name), column) for column in columns}
    return marks - {""}


def _with_mark_of_others(
    name: str, ambiguous: AmbiguousMark, marks: set[str], table: Table, options: ColumnOptions
) -> Chosen:
    """A column of numbers with the only decimal mark of the other columns, and a note."""
    if len(marks) != 1:
        raise _mark_error(name, ambiguous)
    (mark,) = marks
    chosen = _choose(name, table, replace(options, decimal=mark))
    assert isinstance(chosen, Chosen)  # a column of numbers whose mark is given is not open
    note = Note("decimal mark", (name,), example=ambiguous.marked, facts={"mark": _MARK_NAMES[mark]})
    return Chosen(chosen.column, (note, *chosen.notes))


def _mark_error(name: str, ambiguous: AmbiguousMark) -> DecimalMarkError:
    beside = ""
    if ambiguous.plain:
        beside = f" beside {ambiguous.plain!r}"
    return DecimalMarkError(
        "column {!r}: in numbers such as {!r}{} the mark may be for decimals or for thousands, and no "
        "other column decides it; use {} or {}.",
        name,
        ambiguous.marked,
        beside,
        Parameter("decimal", "comma"),
        Parameter("decimal", "point"),
    )


# One column


def _choose(name: str, table: Table, options: ColumnOptions) -> Chosen | Open:
    """Determine the kind of a column and fit it.

    A column is left out if it has no name in the header or no value, or if its name and values say which rows belong
    together. Otherwise the rules of the kinds are tried in their order, or only those of the kind that the user
    requests.
    """
    may_leave_out = not options.is_named(name)
    if may_leave_out and _is_unnamed(name):
        return Chosen(None, (Note("no name", (name,)),))
    cells = table.cells(name)
    if _all_missing(cells):
        return Chosen(None, (Note("empty", (name,)),))
    if may_leave_out:
        note = shared_identifier(name, cells)
        if note is not None:
            return Chosen(None, (note,))
    requested = options.requested_kind(name)
    for rule in RULES:
        if requested and rule.parameter != requested:
            continue
        choice = rule.recognise(name, cells, options)
        if choice is not None:
            return choice
    raise _kind_error(name, requested, cells)


def _is_unnamed(name: str) -> bool:
    """Whether the header has no name for a column; pandas calls it "Unnamed: 0"."""
    return name == "" or name.endswith(UNNAMED) or re.fullmatch(r"Unnamed: \d+.*", name) is not None


def _all_missing(cells: Cells) -> bool:
    first = cells.cell(0)
    if first is not None and str(first).strip().lower() not in MISSING:
        return False  # the usual case, without reading the whole column
    return all(text.lower() in MISSING for text in cells.counts())


def _kind_error(name: str, requested: str, cells: Cells) -> ColumnKindError:
    example = next(iter(cells.sample()), "")
    return ColumnKindError(
        "column {!r} cannot be read as {} asks: its training cells are not {} of one form; the first is {}.",
        name,
        Parameter(requested, name),
        _KIND_NAMES[requested],
        quoted(example),
    )
