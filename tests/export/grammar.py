"""What the cells of a table say, as data: for readers in other languages, which need not know Python's code."""

from typing import Any

from abnet.tables.cells import BLANK, DOUBTFUL, GAPS, TRUTH
from abnet.tables.columns import CLIP, LARGEST, YEAR
from abnet.tables.date_grammar import FORMS, MONTHS, WIDTH
from abnet.tables.durations import DURATIONS
from abnet.tables.number_forms import BRACKETS, LIMIT, THOUSANDS, NumberForm

__all__ = ["cell_grammar"]

_PLAIN = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?(?:inf|infinity|nan)"


def cell_grammar() -> dict[str, Any]:
    """The grammar of cells in plain values, ready for JSON; docs/model-format.md says what each stands for.

    Examples
    --------
    >>> grammar = cell_grammar()
    >>> grammar["true"], grammar["numbers"][0]["decimal"], grammar["months"][0]
    (['1', 'true', 'yes'], '.', 'january')
    """
    marks = {"blank": BLANK, "doubtful": DOUBTFUL, "gaps": GAPS}
    forms = [(decimal, mark) for decimal in ".," for mark in THOUSANDS if mark != decimal]
    return {
        **{name: sorted(texts) for name, texts in marks.items()},
        "true": sorted(text for text, truth in TRUTH.items() if truth),
        "false": sorted(text for text, truth in TRUTH.items() if not truth),
        "dates": FORMS,
        "word": r"[^\W\d_]{2,}",
        "digit": r"\d",
        "number": NumberForm(thousands=",", before="$", after="kg").pattern,
        "plain_number": _PLAIN,
        "numbers": [
            {"decimal": decimal, "thousands": mark, "mark": THOUSANDS[mark], "pattern": _pattern(decimal, mark)}
            for decimal, mark in forms
        ],
        "brackets": BRACKETS,
        "limit": LIMIT,
        "durations": list(DURATIONS),
        "duration_seconds": [86_400, 3_600, 60, 1],
        "months": list(MONTHS),
        "longest_date": WIDTH,
        "clip": CLIP,
        "largest": LARGEST,
        "year": YEAR,
    }


def _pattern(decimal: str, thousands: str) -> str:
    """The pattern of a number between the texts BEFORE and AFTER."""
    return NumberForm(decimal, thousands, "BEFORE", "AFTER").pattern
