"""What each column of a table holds: the decision, and the numbers that its preparation needs."""

import re
from collections.abc import Mapping
from dataclasses import replace

from abnet.data.preparation.choose_dates import MOSTLY, choose_dates
from abnet.data.preparation.choose_numbers import choose_numbers, settled_mark, unit_of
from abnet.data.preparation.chosen import Chosen, Rules, Undecided
from abnet.data.preparation.columns import BooleanColumn, NumericColumn, TextColumn
from abnet.data.preparation.words import WordsColumn, common_words
from abnet.data.tables.cells import BLANK, MISSING, TRUTH, to_number
from abnet.data.tables.csv_text import UNNAMED
from abnet.data.tables.error import TableError, listed
from abnet.data.tables.frames import Table
from abnet.data.tables.series import Cells, DateCells
from abnet.errors import NamesParameters, Parameter

__all__ = ["DecimalMarkError", "choose_all"]

_RARE_LISTED = 1000  # beyond, a model file would carry a whole column of names or addresses


class DecimalMarkError(NamesParameters, TableError):
    """Numbers whose marks can be read in two ways."""


def choose_all(table: Table, rules: Rules) -> dict[str, Chosen]:
    """The decisions on all columns.

    Numbers in which a mark may be the decimal one or one for thousands are read as the other columns are written; where
    these do not tell either, that is an error which asks for `decimal`.
    """
    found = {name: _choose(name, table, rules) for name in table.columns}
    undecided = {name: choice for name, choice in found.items() if isinstance(choice, Undecided)}
    chosen = {name: choice for name, choice in found.items() if isinstance(choice, Chosen)}
    marks = _marks(table, chosen) if undecided else set()
    for name, doubt in undecided.items():
        if len(marks) != 1:
            raise DecimalMarkError(
                "column {!r}: numbers such as {!r} beside {!r} may have a decimal mark or one for thousands, and no "
                "other column tells; say which mark is the decimal one with {} or {}.",
                name, doubt.marked, doubt.plain, Parameter("decimal", "comma"), Parameter("decimal", "point"),
            )  # fmt: skip
        settled = _choose(name, table, replace(rules, decimal=next(iter(marks))))
        assert isinstance(settled, Chosen)  # with the mark given, nothing is undecided
        word = {".": "point", ",": "comma"}[next(iter(marks))]
        remark = f"has numbers such as {doubt.marked!r}, read with a decimal {word} as those of other columns are"
        chosen[name] = replace(settled, remarks=(remark, *settled.remarks))
    return {name: chosen[name] for name in table.columns}


def _marks(table: Table, chosen: Mapping[str, Chosen]) -> set[str]:
    """The decimal marks that columns show beyond doubt."""
    columns = [choice.column for choice in chosen.values() if isinstance(choice.column, NumericColumn)]
    return {settled_mark(table.cells(column.name), column) for column in columns} - {""}


def _choose(name: str, table: Table, rules: Rules) -> Chosen | Undecided:
    """Decide the kind of a column and fit it, by the first of these rules that applies.

    1. No name in the header, or no value at all: dropped.
    2. Only numbers, perhaps with marks, a unit, or words for missing values: numeric. A number written with a leading
       zero, such as ``00123``, is a code, and its column text.
    3. Only true/false or yes/no, or a boolean type: boolean.
    4. Dates, nine in ten of the values or more, or a type of dates: date.
    5. Anything else: text, as categories or words.

    Columns of one value are dropped, unless some cells are missing; so are those that only name the rows.
    """
    if name not in rules.use and (name.endswith(UNNAMED) or re.fullmatch(r"(?:Unnamed: \d+.*)?", name)):
        return Chosen(None, f"it has no name; use={name!r} takes it in")
    cells = table.cells(name)
    if _all_missing(cells):
        return Chosen(None, "no value in the rows it was fitted on")
    return (
        choose_numbers(name, table, cells, rules)
        or _boolean(name, cells)
        or choose_dates(name, cells)
        or _text(name, cells, rules)
    )


def _all_missing(cells: Cells) -> bool:
    first = cells.cell(0)
    if first is not None and str(first).strip().lower() not in MISSING:
        return False  # most columns are spared the work
    return all(text.lower() in MISSING for text in cells.counts())


_TRUTHS = set(TRUTH) - {"0", "1"}  # these beside words are categories


def _boolean(name: str, cells: Cells) -> Chosen | None:
    if isinstance(cells, DateCells) or not all(text.lower() in _TRUTHS for text in cells.sample()):
        return None
    texts = {text.lower() for text in cells.counts()}
    present = texts - MISSING
    if not present or not present <= _TRUTHS:
        return None
    if len({TRUTH[text] for text in present}) == 1 and present == texts:
        return Chosen(None, f"constant ({next(iter(cells.counts()))})")
    return Chosen(BooleanColumn(name, present != texts))


def _text(name: str, cells: Cells, rules: Rules) -> Chosen:
    counts = {text: count for text, count in cells.counts().items() if text.lower() not in BLANK}
    total = sum(counts.values())
    blanks = len(cells) > total
    if len(counts) == 1 and not blanks:
        return Chosen(None, f"constant ({next(iter(counts))})")
    ordered = sorted(counts, key=lambda category: (-counts[category], category))
    # The feature for the rare ones counts as a category, so that max_categories limits the width.
    kept = ordered if len(ordered) <= rules.max_categories else ordered[: rules.max_categories - 1]
    if 2 * sum(counts[category] for category in kept) < total:
        words = common_words(counts)
        if words:
            remark = f"has {len(counts)} different texts; its {len(words)} commonest words are the features"
            return Chosen(WordsColumn(name, tuple(words), blanks), remarks=(remark,))
    if name not in rules.use and len(counts) == total > rules.max_categories:
        return Chosen(None, f"an identifier: all {len(counts)} values differ; use={name!r} takes it in")
    rare = ordered[len(kept) :]
    shared = tuple(sorted(rare)) if len(rare) <= _RARE_LISTED else None
    return Chosen(TextColumn(name, tuple(sorted(kept)), shared, blanks), remarks=_nearly_something(counts, total))


def _nearly_something(counts: Mapping[str, int], total: int) -> tuple[str, ...]:
    """A remark on a column of text that was perhaps meant to be numbers or dates."""
    for told in (_nearly_numbers(counts, total), _many_units(counts, total), _short_dates(counts, total)):
        if told:
            return (f"is treated as text, since {told}",)
    return ()


def _nearly_numbers(counts: Mapping[str, int], total: int) -> str:
    words = {text: count for text, count in counts.items() if to_number(text) is None}
    if not words or sum(words.values()) > (1 - MOSTLY) * total:
        return ""
    example = max(words, key=lambda text: words[text])
    return (
        f"{sum(words.values())} of its {total} values are not numbers (such as {example!r}); if it should be numeric, "
        "correct these cells or leave them empty"
    )


def _many_units(counts: Mapping[str, int], total: int) -> str:
    found = {text: unit_of(text) for text in counts}
    units = sorted({unit for unit in found.values() if unit})
    if not 2 <= len(units) <= 5 or sum(counts[text] for text, unit in found.items() if unit) < MOSTLY * total:
        return ""
    return f"its numbers have several units ({listed(units)}); if it should be numeric, write all with one unit"


def _short_dates(counts: Mapping[str, int], total: int) -> str:
    short = [text for text in counts if re.fullmatch(r"[0-9]{1,2}-[0-9]{1,2}-[0-9]{1,2}", text)]
    if sum(counts[text] for text in short) < MOSTLY * total:
        return ""
    return f"dates such as {short[0]!r} do not tell where the year stands; if they are dates, write all its digits"
