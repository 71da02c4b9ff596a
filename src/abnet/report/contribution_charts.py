"""Contributions row by row: beeswarms of the columns, and each column's contribution against its value."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from abnet.explanation.direction import CategoryEffect
from abnet.explanation.model_explanation import ModelExplanation
from abnet.explanation.restored_cells import RestoredCells
from abnet.explanation.units import Unit, change_text, quantity_name
from abnet.report.date_ticks import date_ticks
from abnet.report.markup import drawn, typeset
from abnet.report.svg import Bar, Series, bar_chart, chart, nice_ticks
from abnet.utils.wording import number_of, shortened

__all__ = ["beeswarms", "dependences"]

Floats = NDArray[np.float64]

MOST_DEPENDENCES = 4
"""Maximum number of columns that are drawn against their values."""
MOST_CATEGORIES = 6
"""Maximum number of categories of a column that have a bar."""
MOST_CLASSES = 12
"""Maximum number of classes that have a beeswarm."""
SHADES = 5
"""Number of colours from low to high values."""
UNORDERED = "v"
"""Style of dots whose values are missing or have no order."""


@dataclass(frozen=True)
class _Size:
    """Size of a beeswarm.

    Attributes
    ----------
    lines : int
        Maximum number of columns.
    height : int
        Height of a line in pixels.
    step : float
        Pixels between dots that would hide each other.
    dot : float
        Width of a dot in percent.
    n_ticks : int
        About how many ticks the axis has.
    """

    lines: int
    height: int
    step: float
    dot: float
    n_ticks: int


WHOLE = _Size(lines=8, height=26, step=3.4, dot=1.0, n_ticks=9)
"""The only beeswarm of two classes."""
PANEL = _Size(lines=4, height=20, step=2.6, dot=1.6, n_ticks=6)
"""A small beeswarm for each of several classes."""


@dataclass(frozen=True)
class _Scale:
    """An axis of contributions, from `low` on the left, with so many percent of the width per unit."""

    low: float
    percent_per_unit: float
    ticks: list[tuple[str, str]]

    def place(self, contributions: Any) -> Any:
        """Places from the left in percent."""
        return (contributions - self.low) * self.percent_per_unit


def beeswarms(explanation: ModelExplanation) -> dict[str, Any] | None:
    """A line for each of the columns that matter most, with a dot for each row; for several classes a panel for each.

    None if no column moves anything.
    """
    size = PANEL
    if explanation.two_classes:
        size = WHOLE
    columns_of = {}
    for output in explanation.outputs(MOST_CLASSES):
        columns = explanation.ranked_for(output)[: size.lines]
        if columns:
            columns_of[output] = columns
    if not columns_of:
        return None
    scale = _common_scale(explanation, columns_of, size)
    panels = []
    for output, columns in columns_of.items():
        heading = ""
        if not explanation.two_classes:
            heading = shortened(explanation.class_of(output), 40)
        panels.append({"title": heading, "picture": _beeswarm(explanation, output, columns, scale, size)})
    return {"panels": panels, "words": _beeswarm_words(explanation, len(panels))}


def _common_scale(explanation: ModelExplanation, columns_of: dict[int, list[int]], size: _Size) -> _Scale:
    """One scale for all panels, so that they can be compared."""
    drawn_values = [explanation.contributions[:, columns, output].ravel() for output, columns in columns_of.items()]
    contributions = np.concatenate(drawn_values)
    low = min(float(contributions.min()), 0.0)
    high = max(float(contributions.max()), 0.0)
    margin = 0.02 * (high - low)  # otherwise the outermost dots would be cut off
    left = low - margin
    percent_per_unit = 100.0 / (high - low + 2 * margin)
    right = left + 100.0 / percent_per_unit
    ticks = []
    for tick in nice_ticks(low, high, size.n_ticks):
        if left <= tick <= right:
            ticks.append((f"{(tick - left) * percent_per_unit:.2f}", _tick_text(tick, explanation.unit)))
    return _Scale(left, percent_per_unit, ticks)


def _beeswarm(explanation: ModelExplanation, output: int, columns: list[int], scale: _Scale, size: _Size) -> Markup:
    lines = []
    for j in columns:
        x = scale.place(explanation.contributions[:, j, output])
        lines.append({"name": explanation.importance[j].column, "points": _dots(x, explanation.cells[j], size)})
    title = f"Contributions row by row to {_quantity(explanation, output)}"
    return drawn("swarms", lines, title, scale.ticks, f"{scale.place(0.0):.2f}", size.height)


def _beeswarm_words(explanation: ModelExplanation, n_panels: int) -> str:
    quantity = explanation.quantity
    if not explanation.two_classes:
        quantity = f"the {explanation.unit} of the class"
    words = (
        f"Each dot is one of {number_of(explanation.n_explained, 'row')}. Right of the line, the column raised "
        f"{quantity} for that row; left of it, the column lowered it. Red dots are high values, blue dots low "
        "ones; grey dots have no order (categories, missing values)."
    )
    if explanation.two_classes:
        return words
    words += f" Each class has the {PANEL.lines} columns that move it most."
    if n_panels < len(explanation.classes):
        words += f" The {n_panels} classes that are moved most are shown."
    return words


def _tick_text(tick: float, unit: Unit) -> str:
    if unit == "probability":
        text = f"{100 * tick:+g}%"
    else:
        text = f"{tick:+g}"
    if tick == 0:
        return text.removeprefix("+")
    return typeset(text)


def _quantity(explanation: ModelExplanation, output: int) -> str:
    return quantity_name(shortened(explanation.class_of(output), 16), explanation.unit)


def _dots(x: Floats, cells: RestoredCells, size: _Size) -> list[tuple[str, list[tuple[str, str]]]]:
    """Places of the dots by style: each dot moves up or down until it hides no other one."""
    middle = size.height / 2
    most = size.height / 2 - 3
    styles = _styles(cells, len(x))
    n_in_bin: dict[int, int] = {}
    places: dict[str, list[tuple[str, str]]] = {}
    for row in np.argsort(x, kind="stable"):
        bin_number = int(x[row] / size.dot)
        rank = n_in_bin.get(bin_number, 0)
        n_in_bin[bin_number] = rank + 1
        offset = ((rank + 1) // 2) * size.step
        if rank % 2 == 0:
            offset = -offset
        if abs(offset) > most:
            offset = offset % (2 * most) - most  # the line is full: begin again at its other edge
        places.setdefault(styles[row], []).append((f"{x[row]:.1f}", f"{middle + offset:.1f}"))
    return sorted(places.items())


def _styles(cells: RestoredCells, n_rows: int) -> list[str]:
    """A class of the style sheet for each row: from v0 for low values to v4 for high ones, or `UNORDERED`."""
    unordered = [UNORDERED] * n_rows
    if cells.numbers is None:
        return unordered
    numbers = cells.numbers[~np.isnan(cells.numbers)]
    if not len(numbers):
        return unordered
    low, high = np.quantile(numbers, [0.05, 0.95])
    if high <= low:
        return unordered
    grades = np.clip((cells.numbers - low) / (high - low) * SHADES, 0, SHADES - 1)
    styles = unordered
    for row in np.flatnonzero(~np.isnan(grades)):
        styles[row] = f"v{int(grades[row])}"
    return styles


def dependences(explanation: ModelExplanation) -> list[Markup]:
    """Contributions of the columns that matter most against their values.

    With several classes, they are contributions to the class that the column moves most.
    """
    figures: list[Markup] = []
    for column in explanation.ranked():
        if column.contribution == 0 or len(figures) == MOST_DEPENDENCES:
            break
        place = explanation.importance.index(column)
        output = explanation.most_moved(place)
        if _numbers_vary(explanation.cells[place]):
            picture = _number_chart(explanation, place, output)
        elif explanation.cells[place].categories is not None:
            effects = explanation.category_effects(column, output)
            picture = _category_chart(column.column, effects, _quantity(explanation, output), explanation.unit)
        else:
            continue
        figures.append(Markup("<figure><h4>{}</h4>{}</figure>").format(shortened(column.column, 60), picture))
    return figures


def _numbers_vary(cells: RestoredCells) -> bool:
    if cells.numbers is None:
        return False
    numbers = cells.numbers[~np.isnan(cells.numbers)]
    return len(numbers) > 0 and bool(np.ptp(numbers) > 0)


def _number_chart(explanation: ModelExplanation, place: int, output: int) -> Markup:
    """A dot for each row: the contribution of a numeric column against its value."""
    name = explanation.importance[place].column
    cells = explanation.cells[place]
    assert cells.numbers is not None
    has_number = ~np.isnan(cells.numbers)
    x = cells.numbers[has_number].tolist()
    y = explanation.contributions[:, place, output][has_number].tolist()
    quantity = _quantity(explanation, output)
    x_label = "value"
    if cells.unit:
        x_label += f" ({shortened(cells.unit, 12)})"
    x_ticks = None
    if cells.dates:
        x_ticks = date_ticks(min(x), max(x))
    return chart(
        [Series(name, x, y, "main", line=False, dots=True)],
        ident=f"dependence{place}",
        title=f"Contribution of {shortened(name, 60)}",
        description=f"{len(x)} rows: what the column contributed to {quantity}, against its value.",
        x_label=x_label,
        y_label=f"contribution to {quantity}",
        percent=(False, explanation.unit == "probability"),
        x_ticks=x_ticks,
    )


def _category_chart(name: str, effects: list[CategoryEffect], quantity: str, unit: Unit) -> Markup:
    """Mean contributions of a column's categories: the highest and the lowest."""
    shown = effects
    which = ""
    if len(effects) > MOST_CATEGORIES:
        half = MOST_CATEGORIES // 2
        shown = effects[:half] + effects[-half:]
        which = f" (the {half} highest and the {half} lowest of {len(effects)})"
    bars = []
    for effect in shown:
        style = "lowers"
        if effect.contribution > 0:
            style = "raises"
        text = typeset(change_text(effect.contribution, unit))
        bars.append(Bar(shortened(effect.name, 40) or "(empty)", text, effect.contribution, style))
    words = Markup('<p class="note">Mean contribution to {}, by category{}</p>').format(quantity, which)
    return bar_chart(bars, f"Contributions of {shortened(name, 60)}", unit == "probability") + words
