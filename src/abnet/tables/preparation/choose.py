"""Determine the kind of each column: the rules of all kinds in order, then decisions that depend on other columns."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from abnet.tables.cells import MISSING
from abnet.tables.columns import NumericColumn
from abnet.tables.columns.column import RULES, Chosen, Open, Rules
from abnet.tables.columns.numeric import Undecided, settled_mark
from abnet.tables.csv_files import UNNAMED
from abnet.tables.frames import Table
from abnet.tables.many_texts import ManyTexts, settle_texts
from abnet.tables.notes import Note
from abnet.tables.preparation.shared_ids import shared_id
from abnet.tables.series import Cells
from abnet.tables.table_errors import TableError, quoted
from abnet.utils.errors import NamesParameters, Parameter
from abnet.utils.threads import parallel_map, threads_for

__all__ = ["ColumnKindError", "DecimalMarkError", "choose_all"]


class ColumnKindError(NamesParameters, TableError):
    """A column cannot be read as the requested kind."""


class DecimalMarkError(NamesParameters, TableError):
    """The decimal mark of numbers is ambiguous."""


def choose_all(table: Table, rules: Rules, y: Any = None) -> dict[str, Chosen]:
    """Determine the kinds of all columns.

    If a mark in numbers may be decimal or for thousands, the other columns decide; if they do not, an error asks for
    `decimal`. Text with many values is decided last, with the labels `y`.
    """
    choices = parallel_map(lambda name: _choose(name, table, rules), table.columns, threads_for(table.n_rows))
    found = dict(zip(table.columns, choices, strict=True))
    undecided = {name: choice for name, choice in found.items() if isinstance(choice, Undecided)}
    chosen = {name: choice for name, choice in found.items() if isinstance(choice, Chosen)}
    marks = _marks(table, chosen) if undecided else set()
    for name, doubt in undecided.items():
        if len(marks) != 1:
            beside = f" beside {doubt.plain!r}" if doubt.plain else ""
            raise DecimalMarkError(
                "column {!r}: in numbers such as {!r}{} the mark may be for decimals or for thousands, and no "
                "other column decides it; use {} or {}.",
                name, doubt.marked, beside, Parameter("decimal", "comma"), Parameter("decimal", "point"),
            )  # fmt: skip
        settled = _choose(name, table, replace(rules, decimal=next(iter(marks))))
        assert isinstance(settled, Chosen)  # with the mark given, nothing is undecided
        word = {".": "point", ",": "comma"}[next(iter(marks))]
        note = Note("decimal mark", (name,), example=doubt.marked, facts={"mark": word})
        chosen[name] = Chosen(settled.column, (note, *settled.notes))
    if many := [choice for choice in found.values() if isinstance(choice, ManyTexts)]:
        chosen |= settle_texts(many, [choice.column for choice in chosen.values() if choice.column], table, y)
    return {name: chosen[name] for name in table.columns}


def _marks(table: Table, chosen: Mapping[str, Chosen]) -> set[str]:
    """The decimal marks that columns show beyond doubt."""
    columns = [choice.column for choice in chosen.values() if isinstance(choice.column, NumericColumn)]
    return {settled_mark(table.cells(column.name), column) for column in columns} - {""}


def _choose(name: str, table: Table, rules: Rules) -> Chosen | Open:
    """Decide the kind of a column and fit it.

    A column without a name in the header, or without any value, is left out. Then the rules of the kinds are tried in
    their order, or only those of the kind that was asked for by hand. Columns of one value are left out, unless some
    cells are missing; so are those that only name the rows, or say which of them belong together.
    """
    if not rules.wanted(name) and (name.endswith(UNNAMED) or re.fullmatch(r"(?:Unnamed: \d+.*)?", name)):
        return Chosen(None, (Note("no name", (name,)),))
    cells, asked = table.cells(name), rules.asked(name)
    if _all_missing(cells):
        return Chosen(None, (Note("empty", (name,)),))
    if not rules.wanted(name) and (note := shared_id(name, cells)) is not None:
        return Chosen(None, (note,))
    tried = (known.recognise(name, cells, rules) for known in RULES if known.by_hand == asked or not asked)
    found = next((choice for choice in tried if choice is not None), None)
    if found is None:
        what = {"numeric": "numbers", "dates": "dates"}[asked]
        raise ColumnKindError(
            "column {!r} cannot be read as {} asks: its training cells are not {} of one form; the first is {}.",
            name, Parameter(asked, name), what, quoted(next(iter(cells.sample()), "")),
        )  # fmt: skip
    return found


def _all_missing(cells: Cells) -> bool:
    first = cells.cell(0)
    if first is not None and str(first).strip().lower() not in MISSING:
        return False  # most columns are spared the work
    return all(text.lower() in MISSING for text in cells.counts())
