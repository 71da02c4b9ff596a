"""Charts for a page: numbers become places in a picture, which templates draw and the style sheet colours."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from abnet.report.markup import drawn, typeset

__all__ = ["Bar", "Area", "Series", "bar_chart", "chart", "nice_ticks"]

WIDTH = 380
HEIGHT = 250
LEFT = 60
RIGHT = 14
TOP = 12
BOTTOM = 40


@dataclass(frozen=True)
class Bar:
    """One bar: name and text above it, its length, and optionally a whisker on it.

    Attributes
    ----------
    name, text : str
        What the bar shows, and its value as text.
    value : float
        Where the bar ends; it starts at zero.
    style : str
        Class of the style sheet.
    spread : float
        Half the length of a whisker at the end of the bar.
    note : str
        A line below the bar.
    limits : pair of float or None
        Ends of the whisker, if it is not symmetric.
    rows : str
        Which rows the value was counted on; it stands in the page as ``data-rows``.
    """

    name: str
    text: str
    value: float
    style: str = "main"
    spread: float = 0.0
    note: str = ""
    limits: tuple[float, float] | None = None
    rows: str = ""

    @property
    def whisker(self) -> tuple[float, float]:
        """Ends of the whisker."""
        if self.limits is not None:
            return self.limits
        return self.value - self.spread, self.value + self.spread


@dataclass(frozen=True)
class Series:
    """Points to draw: as a line, as dots with whiskers, or both.

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


@dataclass(frozen=True)
class Area:
    """A rectangle in a chart, such as the points that a certificate allows.

    Attributes
    ----------
    x, y : pairs of float
        Its edges.
    style : str
        Class of the style sheet.
    """

    x: tuple[float, float]
    y: tuple[float, float]
    style: str = "certified"


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
    power = 10.0 ** math.floor(math.log10(span / most))
    step = next(power * factor for factor in (1, 2, 5, 10, 20) if span / (power * factor) <= most - 1)
    first = math.floor(low / step + 1e-9)  # 1e-9: rounding must not add a tick
    last = max(math.ceil(high / step - 1e-9), first + 1)
    return [float(f"{number * step:.10g}") for number in range(first, last + 1)]


def bar_chart(bars: Sequence[Bar], title: str, percent: bool = True) -> Markup:
    """Horizontal bars from zero with a scale. Names and values are text above the bars and wrap, however long they are.

    Examples
    --------
    >>> made = bar_chart([Bar("<a>", "3%", 0.03), Bar("b", "6%", 0.06)], "Errors")
    >>> "&lt;a&gt;" in made, made.count('width="50.00%"'), made.count('width="100.00%"')
    (True, 1, 1)
    """
    ends = [1e-12]
    for bar in bars:
        ends += bar.whisker
    ticks = nice_ticks(min(0.0, *(bar.value for bar in bars)), max(ends))
    scale = _BarScale(ticks[0], ticks[-1])
    axis = [(f"{scale.place(tick):.2f}", _tick_text(tick, percent)) for tick in ticks]
    return drawn("bars", [_placed_bar(bar, scale) for bar in bars], title, axis)


@dataclass(frozen=True)
class _BarScale:
    """A scale of bars: numbers as percentages of the width."""

    low: float
    high: float

    def place(self, value: float) -> float:
        return (value - self.low) * (100.0 / (self.high - self.low))

    def length(self, value: float) -> float:
        return abs(value) * (100.0 / (self.high - self.low))


def _placed_bar(bar: Bar, scale: _BarScale) -> dict[str, Any]:
    """One bar as the template takes it, with places in percent of the width."""
    low, high = bar.whisker
    whisker_start = None
    if high > low:
        whisker_start = f"{scale.place(max(low, scale.low)):.2f}"
    whisker_end = f"{scale.place(max(high, scale.low)):.2f}"
    return {
        "name": bar.name,
        "text": bar.text,
        "style": bar.style,
        "note": bar.note,
        "rows": bar.rows,
        "start": f"{scale.place(min(bar.value, 0.0)):.2f}",
        "length": f"{max(scale.length(bar.value), 0.3):.2f}",
        "low": whisker_start,
        "high": whisker_end,
    }


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
    area: Area | None = None,
) -> Markup:
    """Lines and dots in a frame of axes.

    Parameters
    ----------
    series : sequence of Series
    ident : str
        Identifier of the chart in the page.
    title, description : str
        What the chart shows, for screen readers.
    x_label, y_label : str
    x_range, y_range : pairs of float, optional
        Ranges of the axes; by default those of the points.
    percent : pair of bool
        Whether the numbers of each axis are percentages.
    x_ticks : sequence of (float, str), optional
        Ticks of the first axis and their texts; the axis spans them. By default round numbers.
    area : Area, optional
        A rectangle behind the lines.

    Examples
    --------
    >>> drawn = chart([Series("a", [0, 1], [1, 2])], "c", "Loss", "Falls.", x_label="epoch", y_label="loss")
    >>> drawn.count("<polyline"), drawn.count("<title")
    (1, 1)
    """
    if x_range is None:
        xs = [value for one in series for value in one.x]
        x_range = (min(xs), max(xs))
    if y_range is None:
        ys = [value for one in series for value in (*one.y, *one.low, *one.high)]
        y_range = (min(ys), max(ys))
    if x_ticks is None:
        x_ticks = [(tick, _tick_text(tick, percent[0])) for tick in nice_ticks(*x_range)]
    y_ticks = [(tick, _tick_text(tick, percent[1])) for tick in nice_ticks(*y_range)]
    frame = _Frame(left=x_ticks[0][0], right=x_ticks[-1][0], bottom=y_ticks[0][0], top=y_ticks[-1][0])
    picture = {
        "ident": ident,
        "title": title,
        "description": description,
        "x_label": x_label,
        "y_label": y_label,
        "width": WIDTH,
        "height": HEIGHT,
        "left": LEFT,
        "right": WIDTH - RIGHT,
        "top": TOP,
        "bottom": HEIGHT - BOTTOM,
        "x_ticks": [(frame.x(tick), text) for tick, text in x_ticks],
        "y_ticks": [(frame.y(tick), text) for tick, text in y_ticks],
        "lines": [_placed_series(one, frame) for one in series],
        "area": _placed_area(area, frame),
    }
    return drawn("chart", picture)


@dataclass(frozen=True)
class _Frame:
    """The numbers at the edges of a picture, and the places of numbers within it."""

    left: float
    right: float
    bottom: float
    top: float

    def x(self, value: float) -> float:
        return round(LEFT + (value - self.left) / (self.right - self.left) * (WIDTH - LEFT - RIGHT), 1)

    def y(self, value: float) -> float:
        return round(HEIGHT - BOTTOM - (value - self.bottom) / (self.top - self.bottom) * (HEIGHT - TOP - BOTTOM), 1)


def _placed_area(area: Area | None, frame: _Frame) -> dict[str, Any] | None:
    """A rectangle as the template takes it: its place in the picture, and the numbers at its edges."""
    if area is None:
        return None
    left, right = (frame.x(value) for value in area.x)
    bottom, top = (frame.y(value) for value in area.y)
    return {
        "style": area.style,
        "x": left,
        "y": top,
        "width": round(right - left, 1),
        "height": round(bottom - top, 1),
        "across": "{!r} {!r}".format(*area.x),
        "up": "{!r} {!r}".format(*area.y),
    }


def _placed_series(series: Series, frame: _Frame) -> dict[str, Any]:
    """One series as the template takes it, with places in the picture."""
    points = [(frame.x(x), frame.y(y)) for x, y in zip(series.x, series.y, strict=True)]
    line = ""
    if series.line:
        line = " ".join(f"{x},{y}" for x, y in points)
    dots: list[tuple[float, float]] = []
    if series.dots:
        dots = points
    ends = zip(points, series.low, series.high, strict=False)  # whiskers are optional
    return {
        "style": series.style,
        "points": line,
        "dots": dots,
        "whiskers": [(x, frame.y(low), frame.y(high)) for (x, _), low, high in ends],
    }


def _tick_text(value: float, percent: bool) -> str:
    if percent:
        return typeset(f"{100 * value:g}%")
    return typeset(f"{value:g}")
