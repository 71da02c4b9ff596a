"""What a column is, decided once from the rows it is fitted on."""

import re
from collections import Counter
from typing import Any

import numpy as np
import pandas as pd

from abnet.data.preparation.choice import MOSTLY, Choice, centre
from abnet.data.preparation.choose_date import choose_date
from abnet.data.preparation.columns import BooleanColumn, NumericColumn, TextColumn, numbers
from abnet.data.tables.cells import TRUTH, distinct, is_blank, is_missing, missing, to_number, to_numbers, to_text
from abnet.data.tables.error import TableError, row_name

__all__ = ["choose"]

_RARE_LISTED = 1000  # beyond, a model file would carry a whole column of names or addresses
_CODE = re.compile(r"\n\s*[+-]?0[0-9]")
_COMMA = re.compile(r"[+-]?[0-9][0-9.]*,[0-9]+")


def choose(name: str, column: pd.Series, max_categories: int) -> Choice:
    """Decide the kind of a column and fit it, by the first of these rules that applies.

    1. No value at all: dropped.
    2. Only true/false or yes/no, or a boolean type: boolean.
    3. Only numbers: numeric. A number written with a leading zero, such as ``00123``, is a code, and its column text.
    4. Dates, nine in ten of the values or more, or a type of dates: date.
    5. Anything else: text. A text column whose values all differ (more than `max_categories` of them) is an identifier
       and dropped; a column of numbers with decimal commas is an error.

    Columns of one value are dropped, unless some cells are missing.
    """
    if is_missing(column.iloc[0]) and missing(column).all():
        return Choice(None, "no value in the rows it was fitted on")
    if pd.api.types.is_numeric_dtype(column.dtype) and not pd.api.types.is_bool_dtype(column.dtype):
        return _numeric(name, column)
    _, values = distinct(column)
    parsed = to_numbers(values)
    if None not in parsed and not _CODE.search("\n".join(["", *map(str, values)])):
        return _numeric(name, column)
    words = [value for value, number in zip(values, parsed, strict=True) if number is None]
    if all(number is None or np.isnan(number) for number in parsed) and all(map(_is_truth, words)):
        return _boolean(name, words, bool(missing(column).any()))
    return choose_date(name, column) or _text(name, column, max_categories)


def _is_truth(value: Any) -> bool:
    return to_text(value).lower() in TRUTH


def _numeric(name: str, column: pd.Series) -> Choice:
    found = centre(numbers(column))
    if found.constant:
        return Choice(None, f"constant ({to_text(found.fill)})")
    return Choice(NumericColumn(name, *found))


def _boolean(name: str, present: list[Any], any_missing: bool) -> Choice:
    if len({TRUTH[to_text(value).lower()] for value in present}) == 1 and not any_missing:
        return Choice(None, f"constant ({to_text(present[0])})")
    return Choice(BooleanColumn(name, any_missing))


def _text(name: str, column: pd.Series, max_categories: int) -> Choice:
    codes, values = distinct(column)
    counts: Counter[str] = Counter()
    for value, count in zip(values, np.bincount(codes, minlength=len(values)).tolist(), strict=True):
        if count and not is_blank(value):
            counts[to_text(value)] += count
    blanks = len(column) - counts.total()
    _refuse_decimal_commas(name, column, counts)
    if len(counts) == 1 and not blanks:
        return Choice(None, f"constant ({next(iter(counts))})")
    if len(counts) == counts.total() > max_categories:
        return Choice(None, f"an identifier: all {len(counts)} values differ")
    ordered = sorted(counts, key=lambda category: (-counts[category], category))
    # The feature for the rare ones counts as a category, so that max_categories limits the width.
    kept = ordered if len(ordered) <= max_categories else ordered[: max_categories - 1]
    rare = ordered[len(kept) :]
    listed = tuple(sorted(rare)) if len(rare) <= _RARE_LISTED else None
    return Choice(
        TextColumn(name, tuple(sorted(kept)), listed, blanks > 0), notice=_nearly_numeric(name, column, counts)
    )


def _refuse_decimal_commas(name: str, column: pd.Series, counts: Counter[str]) -> None:
    written = [text for text in counts if to_number(text) is None]
    if written and all(_COMMA.fullmatch(text) for text in written):
        first = int(np.argmax([to_text(value) == written[0] for value in column.tolist()]))
        raise TableError(
            f"column {name!r}, {row_name(column.index, first)}: numbers such as {written[0]!r} have a comma; "
            "write them with a decimal point, and without marks for thousands."
        )


def _nearly_numeric(name: str, column: pd.Series, counts: Counter[str]) -> str:
    """A remark on a column that a few stray words keep from being numeric."""
    words = {text: count for text, count in counts.items() if to_number(text) is None}
    if not words or sum(words.values()) > (1 - MOSTLY) * counts.total():
        return ""
    example = max(words, key=lambda text: words[text])
    return (
        f"column {name!r} is treated as text, since {sum(words.values())} of its {counts.total()} values are not "
        f"numbers (such as {example!r}); if it should be numeric, correct these cells or leave them empty"
    )
