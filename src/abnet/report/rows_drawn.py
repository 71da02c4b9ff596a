"""Contributions row by row: a beeswarm of the columns, and each column's contribution against its value."""

from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from abnet.explanation.model_explanation import ModelExplanation
from abnet.explanation.own_cells import OwnCells
from abnet.explanation.row_explanation import amount
from abnet.model.model import Model
from abnet.report.markup import drawn, short
from abnet.report.svg import Bar, Series, bar_chart, chart, nice_ticks
from abnet.words import number_of

__all__ = ["dependences", "swarms"]

Floats = NDArray[np.float64]

MOST_SWARMS, MOST_DEPENDENCES, MOST_LEVELS = 8, 4, 6
SHADES = 5
"""Colours from low to high values."""
ROW_HEIGHT, STEP = 26, 3.4
"""Pixels of a line of dots, and between dots that would hide each other."""


def swarms(model: Model, found: ModelExplanation) -> dict[str, Any] | None:
    """Each row a dot for each of the columns that matter most; None for several classes, which have a scale each."""
    ranked = [one for one in found.ranked() if one.contribution > 0][:MOST_SWARMS]
    if model.n_classes > 2 or not ranked:
        return None
    places = [found.importance.index(one) for one in ranked]
    moved = found.contributions[:, places, 0]
    ticks = nice_ticks(float(min(moved.min(), 0.0)), float(max(moved.max(), 0.0)))
    low, unit = ticks[0], 100.0 / (ticks[-1] - ticks[0])
    in_percent = found.unit == "probability"
    signed = [f"{tick * (100 if in_percent else 1):{'+' * (tick != 0)}g}" + "%" * in_percent for tick in ticks]
    axis = [(f"{(tick - low) * unit:.2f}", text) for tick, text in zip(ticks, signed, strict=True)]
    items = [
        {"name": one.column, "points": _dots((moved[:, at] - low) * unit, _shades(found.cells[place]))}
        for at, (one, place) in enumerate(zip(ranked, places, strict=True))
    ]
    words = (
        f"Each dot is one of {number_of(found.n_explained, 'row')}. Right of the line, the column raised "
        f"{found.quantity} for that row; left of it, the column lowered it. Red dots are high values, blue dots low "
        "ones; grey dots have no order (categories, missing values)."
    )
    zero = f"{-low * unit:.2f}"
    return {"picture": drawn("swarms", items, "Contributions row by row", axis, zero, ROW_HEIGHT), "words": words}


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


def _dots(x: Floats, shades: list[str]) -> list[tuple[str, list[tuple[str, str]]]]:
    """Places of the dots by colour: a dot moves up or down until it hides no other one."""
    shades = shades or ["v"] * len(x)
    middle, room = ROW_HEIGHT / 2, ROW_HEIGHT / 2 - 3
    taken: dict[int, int] = {}
    by_shade: dict[str, list[tuple[str, str]]] = {}
    for place in np.argsort(x, kind="stable"):
        bin_ = int(x[place])  # a hundredth of the width, about the size of a dot
        k = taken[bin_] = taken.get(bin_, -1) + 1
        offset = ((k + 1) // 2) * STEP * (1 if k % 2 else -1)
        y = middle + (offset if abs(offset) <= room else (offset % (2 * room)) - room)
        by_shade.setdefault(shades[place], []).append((f"{x[place]:.1f}", f"{y:.1f}"))
    return sorted(by_shade.items())


def dependences(model: Model, found: ModelExplanation) -> list[Markup]:
    """Contributions of the columns that matter most against their values; of several classes, to the one moved most."""
    made: list[Markup] = []
    for one in found.ranked():
        place = found.importance.index(one)
        cells, contributions = found.cells[place], found.contributions[:, place]
        c = int(np.argmax(np.abs(contributions).mean(axis=0)))
        name = model.labels.names[1 if contributions.shape[-1] == 1 else c]
        quantity = f"P({short(name, 16)})" if found.unit == "probability" else f"score for {short(name, 16)}"
        if one.contribution == 0 or len(made) == MOST_DEPENDENCES:
            break
        if cells.numbers is not None and np.ptp(cells.numbers[~np.isnan(cells.numbers)]) > 0:
            picture = _numbers(f"dependence{place}", one.column, cells, contributions[:, c], quantity, found)
        elif cells.categories is not None:
            picture = _levels(one.column, found.levels(one, c), quantity, found)
        else:
            continue
        made.append(Markup("<figure><h3>{}</h3>{}</figure>").format(short(one.column, 60), picture))
    return made


def _numbers(ident: str, name: str, cells: OwnCells, y: Floats, quantity: str, found: ModelExplanation) -> Markup:
    assert cells.numbers is not None
    here = ~np.isnan(cells.numbers)
    x = cells.numbers[here].tolist()
    unit = f" ({short(cells.unit, 12)})" if cells.unit else ""
    return chart(
        [Series(name, x, y[here].tolist(), "main", line=False, dots=True)], ident, f"Contribution of {short(name, 60)}",
        f"{len(x)} rows: what the column contributed to {quantity}, against its value.",
        x_label=f"value{unit}", y_label=f"contribution to {quantity}",
        percent=(False, found.unit == "probability"), x_text=_day if cells.dates else None,
    )  # fmt: skip


def _day(days: float) -> str:
    return str(np.datetime64(round(days), "D"))


def _levels(name: str, levels: Any, quantity: str, found: ModelExplanation) -> Markup:
    """Mean contributions of categories, the highest and the lowest."""
    half = MOST_LEVELS // 2
    listed = levels if len(levels) <= MOST_LEVELS else [*levels[:half], *levels[-half:]]
    bars = [
        Bar(
            short(level.name, 40) or "(empty)", f"{amount(level.contribution, found.unit, sign=True)}",
            level.contribution, "raises" if level.contribution > 0 else "lowers",
        )
        for level in listed
    ]  # fmt: skip
    shown = f" (the {half} highest and the {half} lowest of {len(levels)})" if len(listed) < len(levels) else ""
    words = Markup('<p class="note">Mean contribution to {}, by category{}</p>').format(quantity, shown)
    return bar_chart(bars, f"Contributions of {short(name, 60)}", found.unit == "probability") + words
