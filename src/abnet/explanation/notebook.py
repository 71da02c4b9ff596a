"""Explanations in notebooks: a waterfall for each row, and bars of the columns that matter to a model."""

from collections.abc import Sequence
from typing import Any

from abnet.explanation.model_explanation import ModelExplanation
from abnet.explanation.row_explanation import Explanation, RowExplanation
from abnet.explanation.units import change_text, value_text
from abnet.utils.plots import LOWERS, RAISES
from abnet.utils.templates import templates
from abnet.utils.wording import number_of, printable

__all__ = ["model_html", "row_html", "rows_html"]

MOST_COLUMNS = 10
MOST_ROWS = 5
GREY = "#8c96a0"


def row_html(row: RowExplanation) -> str:
    """One row as a waterfall, with all texts escaped."""
    return _rows_page([row], more="")


def rows_html(explanation: Explanation) -> str:
    """The first rows as waterfalls."""
    more = ""
    n_others = len(explanation) - MOST_ROWS
    if n_others > 0:
        more = f"{number_of(n_others, 'more row')} not shown: index the explanation to see them."
    return _rows_page(explanation.rows[:MOST_ROWS], more)


def _rows_page(rows: Sequence[RowExplanation], more: str) -> str:
    template = templates("abnet.explanation").get_template("rows.html")
    return template.render(rows=[_row_fields(row) for row in rows], more=more)


def _row_fields(row: RowExplanation) -> dict[str, Any]:
    """One row as the template takes it."""
    method = "sampled orders"
    if row.exact:
        method = "exact"
    return {
        "number": row.number,
        "predicted": f"{row.prediction}.",
        "quantity": row.waterfall.quantity,
        "lines": _waterfall_lines(row),
        "method": f"Shapley values ({method}), compared with {number_of(row.n_background, 'background row')}.",
    }


def _waterfall_lines(row: RowExplanation) -> list[dict[str, Any]]:
    """The average, the columns that moved most, the other columns together, and the row."""
    waterfall = row.waterfall
    ranked = row.ranked()
    steps = []
    for j in ranked[:MOST_COLUMNS]:
        steps.append((printable(row.columns[j]), printable(row.cells[j], 24), float(waterfall.contributions[j])))
    others = ranked[MOST_COLUMNS:]
    if others:
        steps.append((number_of(len(others), "other column"), "", float(waterfall.contributions[others].sum())))
    levels = [waterfall.base]
    for _, _, change in steps:
        levels.append(levels[-1] + change)
    low = min(0.0, *levels)
    high = max(0.0, *levels)

    lines = [
        {
            "name": "average over the background",
            "cell": "",
            "colour": GREY,
            "text": value_text(waterfall.base, row.unit),
            **_bar(0.0, waterfall.base, low, high),
        }
    ]
    for (name, cell, change), start in zip(steps, levels[:-1], strict=True):
        colour = LOWERS
        if change >= 0:
            colour = RAISES
        text = change_text(change, row.unit)
        bar = _bar(start, start + change, low, high)
        lines.append({"name": name, "cell": cell, "colour": colour, "text": text, **bar})
    lines.append(
        {
            "name": "this row",
            "cell": "",
            "colour": GREY,
            "text": value_text(waterfall.value, row.unit),
            **_bar(0.0, waterfall.value, low, high),
        }
    )
    return lines


def _bar(start: float, end: float, low: float, high: float) -> dict[str, float]:
    """Where a bar begins and how long it is, in percent of the width from low to high."""
    span = (high - low) or 1.0
    left = min(start, end)
    right = max(start, end)
    return {
        "start": round(100 * (left - low) / span, 2),
        "length": round(max(100 * (right - left) / span, 0.4), 2),
    }


def model_html(explanation: ModelExplanation) -> str:
    """The columns as bars, by how much they move the answers."""
    ranked = explanation.ranked()
    largest = max((column.contribution for column in ranked), default=0.0) or 1.0
    lines = []
    for column in ranked[:MOST_COLUMNS]:
        lines.append(
            {
                "name": printable(column.column),
                "length": round(max(100 * column.contribution / largest, 0.4), 2),
                "text": value_text(column.contribution, explanation.unit),
            }
        )
    more = ""
    n_others = len(ranked) - MOST_COLUMNS
    if n_others > 0:
        more = f"{number_of(n_others, 'other column')} move it less."
    n_explained = number_of(explanation.n_explained, "row")
    return (
        templates("abnet.explanation")
        .get_template("model.html")
        .render(
            title=f"Importance: mean size of a column’s contribution to {explanation.quantity}, over {n_explained}",
            lines=lines,
            colour=RAISES,
            more=more,
        )
    )
