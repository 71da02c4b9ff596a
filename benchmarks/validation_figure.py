"""The figure on a validation page: the observed rate of false statements beside δ, for each setting."""

import math
import sys
from collections.abc import Sequence
from html import escape
from pathlib import Path

from validation_rows import Row

sys.path.append(str(Path(__file__).resolve().parents[1] / "docs" / "figures"))
from svg_parts import box, figure, line, text

__all__ = ["draw_rates"]

WIDTH = 480
LEFT = 24
RIGHT = 456
FIRST = 84
STEP = 46
TICKS = (0.0, 0.01, 0.05, 0.1, 0.25, 0.5, 1.0)


def draw_rates(title: str, rows: Sequence[Row]) -> str:
    """An SVG file: a dot at the observed rate, a line for its exact 95% interval, and a bar at δ.

    Rates are drawn on a square-root scale, so that those of traps fit beside small ones.
    """
    bottom = FIRST + STEP * len(rows)
    parts = [text(LEFT, 32, escape(title), "ink big")]
    parts.append(text(LEFT, 54, "Share of false statements, with exact 95% interval; bar: allowed (δ)", "soft small"))
    for tick in TICKS:
        parts.append(text(_x(tick), bottom + 10, f"{100 * tick:g}%", "soft mid small"))
    for place, row in enumerate(rows):
        parts += _row(row, FIRST + STEP * place)
    parts.append(text(LEFT, bottom + 34, "Square-root scale. Traps violate an assumption on purpose.", "soft small"))
    return figure(WIDTH, bottom + 50, escape(title), *parts)


def _x(rate: float) -> float:
    return LEFT + math.sqrt(rate) * (RIGHT - LEFT)


def _row(row: Row, y: float) -> list[str]:
    colour = "blue"
    words = text(LEFT, y + 4, escape(row.setting), "ink small")
    if row.trap:
        colour = "amber"
        words = text(LEFT, y + 4, escape(f"trap: {row.setting}"), "amber small")
    height = y + 16
    low, high = row.interval
    parts = [words]
    parts += [line(_x(tick), height - 7, _x(tick), height + 7, "rule") for tick in TICKS]
    parts.append(line(_x(low), height, _x(high), height, f"l{colour}"))
    parts.append(f'<circle cx="{_x(row.rate):.1f}" cy="{height:.1f}" r="4" class="{colour}"/>')
    parts.append(box(_x(row.delta) - 1.5, height - 8, 3, 16, "violet", 1))
    return parts
