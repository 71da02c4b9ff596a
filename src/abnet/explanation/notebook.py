"""Explanations in notebooks: a waterfall for each row, and bars of the columns that matter to a model."""

from collections.abc import Iterator
from typing import Any

from abnet.explanation.model_explanation import ModelExplanation
from abnet.explanation.row_explanation import Explanation, RowExplanation, amount, shown
from abnet.utils.plots import LOWERS, RAISES
from abnet.utils.templates import templates
from abnet.utils.wording import number_of

__all__ = ["model_html", "row_html", "rows_html"]

MOST_COLUMNS, MOST_ROWS = 10, 5
GREY = "#8c96a0"


def row_html(row: RowExplanation) -> str:
    """One row as a waterfall, everything escaped."""
    return _rendered([row], "")


def rows_html(found: Explanation) -> str:
    """The first rows as waterfalls."""
    rest = len(found) - MOST_ROWS
    more = f"{number_of(rest, 'more row')} not shown: index the explanation to see them." if rest > 0 else ""
    return _rendered(found.rows[:MOST_ROWS], more)


def _rendered(rows: Any, more: str) -> str:
    return templates("abnet.explanation").get_template("rows.html").render(rows=[_row(row) for row in rows], more=more)


def _row(row: RowExplanation) -> dict[str, Any]:
    method = "exact" if row.exact else "sampled orders"
    return {
        "number": row.number, "predicted": f"{row.prediction}.", "quantity": row.moves.quantity,
        "lines": list(_lines(row)),
        "method": f"Shapley values ({method}), compared with {number_of(row.n_background, 'background row')}.",
    }  # fmt: skip


def _lines(row: RowExplanation) -> Iterator[dict[str, Any]]:
    """The average, the columns that moved most, the others together, and the row, with places of their bars."""
    moved, ranked = row.moves, row.ranked()
    listed, rest = ranked[:MOST_COLUMNS], ranked[MOST_COLUMNS:]
    moves = [(shown(row.columns[j]), shown(row.cells[j], 24), float(moved.contributions[j])) for j in listed]
    if rest:
        moves.append((number_of(len(rest), "other column"), "", float(moved.contributions[rest].sum())))
    base = moved.base
    ends = [base]
    for _, _, move in moves:
        ends.append(ends[-1] + move)
    low, high = min(0.0, *ends), max(0.0, *ends)
    span = (high - low) or 1.0

    def line(name: str, cell: str, start: float, end: float, colour: str, text: str) -> dict[str, Any]:
        left, right = sorted((start, end))
        places = {
            "start": round(100 * (left - low) / span, 2),
            "length": round(max(100 * (right - left) / span, 0.4), 2),
        }
        return {"name": name, "cell": cell, "colour": colour, "text": text, **places}

    yield line("average over the background", "", 0.0, base, GREY, amount(base, row.unit))
    for (name, cell, move), start in zip(moves, ends, strict=False):
        colour = RAISES if move >= 0 else LOWERS
        yield line(name, cell, start, start + move, colour, amount(move, row.unit, sign=True))
    yield line("this row", "", 0.0, moved.value, GREY, amount(moved.value, row.unit))


def model_html(found: ModelExplanation) -> str:
    """The columns by how much they move the answers."""
    ranked = found.ranked()
    largest = max((one.contribution for one in ranked), default=0.0) or 1.0
    lines = [
        {
            "name": shown(one.column), "length": round(max(100 * one.contribution / largest, 0.4), 2),
            "text": amount(one.contribution, found.unit),
        }
        for one in ranked[:MOST_COLUMNS]
    ]  # fmt: skip
    rest = len(ranked) - MOST_COLUMNS
    return templates("abnet.explanation").get_template("model.html").render(
        title=f"Importance: mean size of a column’s contribution to {found.quantity}, over "
        f"{number_of(found.n_explained, 'row')}",
        lines=lines, colour=RAISES, more=f"{number_of(rest, 'other column')} move it less." if rest > 0 else "",
    )  # fmt: skip
