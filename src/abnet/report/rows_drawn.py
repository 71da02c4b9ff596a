"""Contributions row by row: a beeswarm of the columns, and each column's contribution against its value."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from abnet.explanation.model_explanation import ModelExplanation
from abnet.explanation.own_cells import OwnCells
from abnet.explanation.units import Unit, change_text
from abnet.report.date_ticks import date_ticks
from abnet.report.markup import drawn, short, typeset
from abnet.report.svg import Bar, Series, bar_chart, chart, nice_ticks
from abnet.utils.wording import number_of

__all__ = ["dependences", "swarms"]

Floats = NDArray[np.float64]

MOST_DEPENDENCES, MOST_LEVELS, MOST_CLASSES = 4, 6, 12
SHADES = 5
"""Colours from low to high values."""


@dataclass(frozen=True)
class _Size:
    """Of a beeswarm: lines, height of a line, pixels between dots that would hide each other, width of a dot in %."""

    lines: int
    height: int
    step: float
    dot: float


WHOLE, PANEL = _Size(8, 26, 3.4, 1.0), _Size(4, 20, 2.6, 1.6)
"""Of two classes one beeswarm; of several a small one for each."""


def swarms(found: ModelExplanation) -> dict[str, Any] | None:
    """Each row a dot for each of the columns that matter most; of several classes, a panel for each on one scale."""
    outputs, two = found.outputs(MOST_CLASSES), found.contributions.shape[-1] == 1
    size = WHOLE if two else PANEL
    ranked = {c: found.ranked_for(c)[: size.lines] for c in outputs}
    if not any(ranked.values()):
        return None
    moved = np.concatenate([found.contributions[:, ranked[c], c].ravel() for c in outputs])
    low, high = min(float(moved.min()), 0.0), max(float(moved.max()), 0.0)
    ticks = nice_ticks(low, high, 9 if two else 6)
    room = 0.02 * (high - low)  # the outermost dots are whole
    low, unit = low - room, 100.0 / (high - low + 2 * room)
    axis = [
        (f"{(tick - low) * unit:.2f}", _signed(tick, found.unit)) for tick in ticks if low <= tick <= low + 100.0 / unit
    ]
    panels = []
    for c in filter(ranked.get, outputs):
        items = [
            {
                "name": found.importance[j].column,
                "points": _dots((found.contributions[:, j, c] - low) * unit, _shades(found.cells[j]), size),
            }
            for j in ranked[c]
        ]
        title = f"Contributions row by row to {_quantity(found, c)}"
        picture = drawn("swarms", items, title, axis, f"{-low * unit:.2f}", size.height)
        panels.append({"title": "" if two else short(found.class_of(c), 40), "picture": picture})
    return {"panels": panels, "words": _swarm_words(found, len(panels))}


def _swarm_words(found: ModelExplanation, panels: int) -> str:
    quantity = found.quantity if found.contributions.shape[-1] == 1 else f"the {found.unit} of the class"
    several = "" if panels == len(found.classes) else f" The {panels} classes that are moved most are shown."
    columns = f" Each class has the {PANEL.lines} columns that move it most." + several
    return (
        f"Each dot is one of {number_of(found.n_explained, 'row')}. Right of the line, the column raised "
        f"{quantity} for that row; left of it, the column lowered it. Red dots are high values, blue dots low "
        "ones; grey dots have no order (categories, missing values)."
        + ("" if found.contributions.shape[-1] == 1 else columns)
    )


def _signed(tick: float, unit: Unit) -> str:
    text = f"{100 * tick:+g}%" if unit == "probability" else f"{tick:+g}"
    return typeset(text) if tick else text.removeprefix("+")


def _quantity(found: ModelExplanation, output: int) -> str:
    name = short(found.class_of(output), 16)
    return f"P({name})" if found.unit == "probability" else f"score for {name}"


def _shades(cells: OwnCells) -> list[str]:
    """A class of the style sheet for each row: from low to high, or without an order."""
    if cells.numbers is None:
        return ["v"] * len(cells.categories or ()) or []
    known = cells.numbers[~np.isnan(cells.numbers)]
    low, high = np.quantile(known, [0.05, 0.95]) if len(known) else (0.0, 0.0)
    if high <= low:
        return ["v"] * len(cells.numbers)
    grades = np.clip((cells.numbers - low) / (high - low) * SHADES, 0, SHADES - 1)
    return ["v" if np.isnan(grade) else f"v{int(grade)}" for grade in grades]


def _dots(x: Floats, shades: list[str], size: _Size) -> list[tuple[str, list[tuple[str, str]]]]:
    """Places of the dots by colour: a dot moves up or down until it hides no other one."""
    shades = shades or ["v"] * len(x)
    middle, room = size.height / 2, size.height / 2 - 3
    taken: dict[int, int] = {}
    by_shade: dict[str, list[tuple[str, str]]] = {}
    for place in np.argsort(x, kind="stable"):
        bin_ = int(x[place] / size.dot)
        k = taken[bin_] = taken.get(bin_, -1) + 1
        offset = ((k + 1) // 2) * size.step * (1 if k % 2 else -1)
        y = middle + (offset if abs(offset) <= room else (offset % (2 * room)) - room)
        by_shade.setdefault(shades[place], []).append((f"{x[place]:.1f}", f"{y:.1f}"))
    return sorted(by_shade.items())


def dependences(found: ModelExplanation) -> list[Markup]:
    """Contributions of the columns that matter most against their values; of several classes, to the one moved most."""
    made: list[Markup] = []
    for one in found.ranked():
        place = found.importance.index(one)
        c, cells = found.most_moved(place), found.cells[place]
        if one.contribution == 0 or len(made) == MOST_DEPENDENCES:
            break
        if cells.numbers is not None and np.ptp(cells.numbers[~np.isnan(cells.numbers)]) > 0:
            y = found.contributions[:, place, c]
            picture = _numbers(f"dependence{place}", one.column, cells, y, _quantity(found, c), found.unit)
        elif cells.categories is not None:
            picture = _levels(one.column, found.category_effects(one, c), _quantity(found, c), found.unit)
        else:
            continue
        made.append(Markup("<figure><h4>{}</h4>{}</figure>").format(short(one.column, 60), picture))
    return made


def _numbers(ident: str, name: str, cells: OwnCells, y: Floats, quantity: str, unit: Unit) -> Markup:
    assert cells.numbers is not None
    here = ~np.isnan(cells.numbers)
    x = cells.numbers[here].tolist()
    written = f" ({short(cells.unit, 12)})" if cells.unit else ""
    return chart(
        [Series(name, x, y[here].tolist(), "main", line=False, dots=True)], ident, f"Contribution of {short(name, 60)}",
        f"{len(x)} rows: what the column contributed to {quantity}, against its value.",
        x_label=f"value{written}", y_label=f"contribution to {quantity}",
        percent=(False, unit == "probability"), x_ticks=date_ticks(min(x), max(x)) if cells.dates else None,
    )  # fmt: skip


def _levels(name: str, levels: Any, quantity: str, unit: Unit) -> Markup:
    """Mean contributions of categories, the highest and the lowest."""
    half = MOST_LEVELS // 2
    listed = levels if len(levels) <= MOST_LEVELS else [*levels[:half], *levels[-half:]]
    bars = [
        Bar(
            short(level.name, 40) or "(empty)", typeset(change_text(level.contribution, unit)),
            level.contribution, "raises" if level.contribution > 0 else "lowers",
        )
        for level in listed
    ]  # fmt: skip
    shown = f" (the {half} highest and the {half} lowest of {len(levels)})" if len(listed) < len(levels) else ""
    words = Markup('<p class="note">Mean contribution to {}, by category{}</p>').format(quantity, shown)
    return bar_chart(bars, f"Contributions of {short(name, 60)}", unit == "probability") + words
