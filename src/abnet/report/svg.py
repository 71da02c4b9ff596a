"""Charts for a page: numbers become places in a picture; the templates draw it, and the style sheet colours it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from abnet.report.markup import drawn, typeset

__all__ = ["Bar", "Series", "bar_chart", "chart", "nice_ticks"]

WIDTH, HEIGHT = 380, 250
LEFT, RIGHT, TOP, BOTTOM = 60, 14, 12, 40


@dataclass(frozen=True)
class Bar:
    """One bar: its name and figure above it, its length, and perhaps a mark and a whisker on it.

    Attributes
    ----------
    name, text : str
        What it is, and its value as it is to be read.
    value : float
        Where it ends; it starts at zero.
    style : str
        Class of the style sheet.
    mark : float or None
        Where a tick stands across it.
    spread : float
        Half the length of a whisker at its end.
    note : str
        A line below it.
    """

    name: str
    text: str
    value: float
    style: str = "main"
    mark: float | None = None
    spread: float = 0.0
    note: str = ""


@dataclass(frozen=True)
class Series:
    """Points to draw, as a line, as dots with whiskers, or as both.

    Attributes
    ----------
    name : str
    x, y : sequences of float
    style : str
        Class of the style sheet.
    line, dots : bool
    low, high : sequences of float
        Ends of the whiskers; none by default.
    """

    name: str
    x: Sequence[float]
    y: Sequence[float]
    style: str = "main"
    line: bool = True
    dots: bool = False
    low: Sequence[float] = ()
    high: Sequence[float] = ()


def nice_ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Round numbers that span an interval.

    Examples
    --------
    >>> nice_ticks(0.0, 0.83)
    [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    >>> nice_ticks(0, 37)
    [0.0, 10.0, 20.0, 30.0, 40.0]
    """
    span = (high - low) or abs(high) or 1.0
    step = 10.0 ** math.floor(math.log10(span / most))
    step = next(step * factor for factor in (1, 2, 5, 10, 20) if span / (step * factor) <= most - 1)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [float(f"{number * step:.10g}") for number in range(first, max(last, first + 1) + 1)]


def bar_chart(bars: Sequence[Bar], title: str, percent: bool = True) -> Markup:
    """Horizontal bars from zero, with their scale below; names and figures are text, which wraps, however long it is.

    Examples
    --------
    >>> made = bar_chart([Bar("<a>", "3%", 0.03), Bar("b", "6%", 0.06)], "Errors")
    >>> "&lt;a&gt;" in made, made.count('width="50.00%"'), made.count('width="100.00%"')
    (True, 1, 1)
    """
    ends = [end for bar in bars for end in (bar.value - bar.spread, bar.value + bar.spread, bar.mark or 0.0)]
    ticks = nice_ticks(min(0.0, *(bar.value for bar in bars)), max(*ends, 1e-12))
    low, unit = ticks[0], 100.0 / (ticks[-1] - ticks[0])
    axis = [(f"{(tick - low) * unit:.2f}", _number(tick, percent)) for tick in ticks]
    return drawn("bars", [_placed(bar, low, unit) for bar in bars], title, axis)


def _placed(bar: Bar, low: float, unit: float) -> dict[str, Any]:
    """One bar, in shares of the width that there is."""
    left, right = (f"{(min(max(bar.value + side * bar.spread, low), 1e300) - low) * unit:.2f}" for side in (-1, 1))
    start = (min(bar.value, 0.0) - low) * unit
    return {
        "name": bar.name, "text": bar.text, "style": bar.style, "note": bar.note, "start": f"{start:.2f}",
        "length": f"{max(abs(bar.value) * unit, 0.3):.2f}",
        "mark": None if bar.mark is None else f"{(bar.mark - low) * unit:.2f}",
        "low": left if bar.spread > 0 else None, "high": right,
    }  # fmt: skip


def chart(
    series: Sequence[Series],
    ident: str,
    title: str,
    description: str,
    *,
    x_label: str,
    y_label: str,
    x_range: tuple[float, float] | None = None,
    y_range: tuple[float, float] | None = None,
    percent: tuple[bool, bool] = (False, False),
    x_ticks: Sequence[tuple[float, str]] | None = None,
) -> Markup:
    """Lines and dots in a frame of axes.

    Parameters
    ----------
    series : sequence of Series
    ident : str
        Its name in the page.
    title, description : str
        What it shows, for those who do not see it.
    x_label, y_label : str
    x_range, y_range : pairs of float, optional
        What the axes span; by default what the points do.
    percent : pair of bool
        Whether the axes' numbers are percentages.
    x_ticks : sequence of (float, str), optional
        Ticks of the first axis, which they span, and their texts; by default round numbers.

    Examples
    --------
    >>> drawn = chart([Series("a", [0, 1], [1, 2])], "c", "Loss", "Falls.", x_label="epoch", y_label="loss")
    >>> drawn.count("<polyline"), drawn.count("<title")
    (1, 1)
    """
    xs = [value for one in series for value in one.x]
    ys = [value for one in series for value in (*one.y, *one.low, *one.high)]
    marked = x_ticks or [(tick, _number(tick, percent[0])) for tick in nice_ticks(*(x_range or (min(xs), max(xs))))]
    y_ticks = nice_ticks(*(y_range or (min(ys), max(ys))))
    frame = _Frame(marked[0][0], marked[-1][0], y_ticks[0], y_ticks[-1])
    picture = {
        "ident": ident, "title": title, "description": description, "x_label": x_label, "y_label": y_label,
        "width": WIDTH, "height": HEIGHT, "left": LEFT, "right": WIDTH - RIGHT, "top": TOP, "bottom": HEIGHT - BOTTOM,
        "x_ticks": [(frame.x(tick), text) for tick, text in marked],
        "y_ticks": [(frame.y(tick), _number(tick, percent[1])) for tick in y_ticks],
        "lines": [_drawn(one, frame) for one in series],
    }  # fmt: skip
    return drawn("chart", picture)


@dataclass(frozen=True)
class _Frame:
    """Where numbers are in the picture."""

    left: float
    right: float
    bottom: float
    top: float

    def x(self, value: float) -> float:
        return round(LEFT + (value - self.left) / (self.right - self.left) * (WIDTH - LEFT - RIGHT), 1)

    def y(self, value: float) -> float:
        return round(HEIGHT - BOTTOM - (value - self.bottom) / (self.top - self.bottom) * (HEIGHT - TOP - BOTTOM), 1)


def _drawn(one: Series, frame: _Frame) -> dict[str, Any]:
    points = [(frame.x(x), frame.y(y)) for x, y in zip(one.x, one.y, strict=True)]
    ends = zip(points, one.low, one.high, strict=False)
    return {
        "style": one.style, "points": " ".join(f"{x},{y}" for x, y in points) if one.line else "",
        "dots": points if one.dots else [],
        "whiskers": [(x, frame.y(low), frame.y(high)) for (x, _), low, high in ends],
    }  # fmt: skip


def _number(value: float, percent: bool) -> str:
    return typeset(f"{100 * value:g}%" if percent else f"{value:g}")
