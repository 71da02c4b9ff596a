"""Numbers without what may surround them: brackets of negative numbers, and marks of limits of measurement."""

import re

import msgspec

from abnet.tables.cells import to_text
from abnet.tables.column_cells import Cells, DateCells, Distinct, DistinctCells, NumberCells
from abnet.tables.columns.infer_form import AmbiguousMark, infer_form, unit_around
from abnet.tables.number_forms import BRACKETS, LIMIT, PLAIN, NumberForm

__all__ = ["FEW_VALUES", "RECURRING", "bare_cells", "infer_bare_form", "is_limit"]

_WITH_MARKS = NumberForm(brackets=True, limits=True)

RECURRING = 5
"""From this many rows on, an odd or marked value recurs."""

FEW_VALUES = 20
"""Up to this many different values, those of a column with recurring odd or marked values are categories."""


def bare_cells(cells: Cells, *, requested: bool) -> tuple[Cells, NumberForm]:
    """The cells without brackets and marks of limits, and a form that says which of them numbers may have.

    Brackets are read only beside numbers without them. Marks of limits are read if most of the different numbers have
    none. If a column has few different values and a marked one recurs, such as ">2" after 0, 1 and 2, they are
    categories.

    Parameters
    ----------
    cells : Cells
    requested : bool
        Whether the user wants the column to be read as numbers.
    """
    texts = cells.sample()
    n_numbers = sum(unit_around(_WITH_MARKS.bare(text)) is not None for text in texts)
    if isinstance(cells, NumberCells | DateCells) or 2 * n_numbers < len(texts):
        return cells, PLAIN
    counts = cells.counts()
    unmarked = [text for text in counts if unit_around(text) is not None]
    in_brackets = [text for text in counts if re.search(BRACKETS, text)]
    rows_of_limits = [count for text, count in counts.items() if is_limit(text, _WITH_MARKS)]
    are_categories = len(counts) <= FEW_VALUES and max(rows_of_limits, default=0) >= RECURRING
    mostly_unmarked = len(unmarked) > len(rows_of_limits) and not are_categories
    form = NumberForm(
        brackets=bool(in_brackets and unmarked),
        limits=bool(rows_of_limits) and (requested or mostly_unmarked),
    )
    if form.plain:
        return cells, PLAIN
    codes, values = cells.distinct()
    bare_values = [form.bare(to_text(value)) for value in values[:-1]]
    return DistinctCells(Distinct(codes, [*bare_values, None])), form


def is_limit(text: str, form: NumberForm) -> bool:
    """Whether a text is a number with the mark of a limit.

    Examples
    --------
    >>> form = NumberForm(limits=True)
    >>> is_limit("<0.5", form), is_limit("0.5", form), is_limit("<mean>", form)
    (True, False, False)
    """
    return re.search(LIMIT, text) is not None and unit_around(form.bare(text)) is not None


def infer_bare_form(cells: Cells, marks: NumberForm, decimal: str) -> NumberForm | AmbiguousMark | None:
    """The form of the numbers of `bare_cells`, with the marks that were removed."""
    form = infer_form(cells, decimal)
    if form is None or isinstance(form, AmbiguousMark):
        return form
    if form.duration and not marks.plain:
        return None
    return msgspec.structs.replace(form, brackets=marks.brackets, limits=marks.limits)
