"""Charts for a page, written by hand: sharp at every size, coloured by the page's style sheet, described in words."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

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
        Its length; negative ones go left from the middle.
    style : str
        Class of the style sheet.
    mark : float or None
        Where a tick stands across it.
    spread : float
        Half the length of a whisker at its end.
    """

    name: str
    text: str
    value: float
    style: str = "main"
    mark: float | None = None
    spread: float = 0.0


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


def bar_chart(bars: Sequence[Bar], title: str) -> str:
    """Horizontal bars in a list; their names and figures are text, which wraps and is read aloud, however long it is.

    Examples
    --------
    >>> print(bar_chart([Bar("<a>", "3%", 0.03)], "Errors"))
    <ul class="bars" aria-label="Errors">
    <li><p><span>&lt;a&gt;</span> <b>3%</b></p>
    <svg ...><rect .../><rect .../></svg></li>
    </ul>
    """
    largest = max([abs(bar.value) + bar.spread for bar in bars] + [bar.mark or 0.0 for bar in bars] + [1e-12])
    both = any(bar.value < 0 for bar in bars)
    zero, unit = (50.0, 49.0 / largest) if both else (0.0, 99.0 / largest)
    items = "\n".join(
        f"<li><p><span>{escape(bar.name)}</span> <b>{escape(bar.text)}</b></p>\n{_bar(bar, zero, unit)}</li>"
        for bar in bars
    )
    return f'<ul class="bars" aria-label="{escape(title)}">\n{items}\n</ul>'


def _bar(bar: Bar, zero: float, unit: float) -> str:
    """One bar, in shares of the width that there is."""
    length = abs(bar.value) * unit
    start, end = (zero - length, zero - length) if bar.value < 0 else (zero, zero + length)
    parts = [
        '<rect x="0" y="3" width="100%" height="12" class="track"/>',
        f'<rect x="{start:.2f}%" y="3" width="{max(length, 0.3):.2f}%" height="12" class="bar {bar.style}"/>',
    ]
    if bar.mark is not None:
        x = f"{zero + bar.mark * unit:.2f}%"
        parts.append(f'<line x1="{x}" x2="{x}" y1="0" y2="18" class="mark"/>')
    if bar.spread > 0:
        low, high = (f"{end + side * bar.spread * unit:.2f}%" for side in (-1, 1))
        parts.append(f'<line x1="{low}" x2="{high}" y1="9" y2="9" class="whisker"/>')
    return f'<svg aria-hidden="true" width="100%" height="18">{"".join(parts)}</svg>'


def _head(ident: str, title: str, description: str, attributes: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-labelledby="{ident}-t {ident}-d" {attributes}>\n'
        f'<title id="{ident}-t">{escape(title)}</title>\n<desc id="{ident}-d">{escape(description)}</desc>'
    )


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
) -> str:
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

    Examples
    --------
    >>> drawn = chart([Series("a", [0, 1], [1, 2])], "c", "Loss", "Falls.", x_label="epoch", y_label="loss")
    >>> drawn.count("<polyline"), drawn.count("<title")
    (1, 1)
    """
    xs = [value for one in series for value in one.x]
    ys = [value for one in series for value in (*one.y, *one.low, *one.high)]
    x_ticks = nice_ticks(*(x_range or (min(xs), max(xs))))
    y_ticks = nice_ticks(*(y_range or (min(ys), max(ys))))
    frame = _Frame(x_ticks[0], x_ticks[-1], y_ticks[0], y_ticks[-1])
    parts = [_head(ident, title, description, f'class="chart" viewBox="0 0 {WIDTH} {HEIGHT}"')]
    for tick in y_ticks:
        y = frame.y(tick)
        parts.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" class="grid"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" class="tick end">{_number(tick, percent[1])}</text>')
    for tick in x_ticks:
        x = frame.x(tick)
        parts.append(
            f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 16}" class="tick middle">{_number(tick, percent[0])}</text>'
        )
    parts.append(
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 5}" class="label middle">{escape(x_label)}</text>'
    )
    parts.append(
        f'<text x="12" y="{(TOP + HEIGHT - BOTTOM) / 2}" class="label middle" '
        f'transform="rotate(-90 12 {(TOP + HEIGHT - BOTTOM) / 2})">{escape(y_label)}</text>'
    )
    for one in series:
        parts += _drawn(one, frame)
    return "\n".join([*parts, "</svg>"])


@dataclass(frozen=True)
class _Frame:
    """Where numbers are in the picture."""

    left: float
    right: float
    bottom: float
    top: float

    def x(self, value: float) -> float:
        return LEFT + (value - self.left) / (self.right - self.left) * (WIDTH - LEFT - RIGHT)

    def y(self, value: float) -> float:
        return HEIGHT - BOTTOM - (value - self.bottom) / (self.top - self.bottom) * (HEIGHT - TOP - BOTTOM)


def _drawn(one: Series, frame: _Frame) -> list[str]:
    points = [(frame.x(x), frame.y(y)) for x, y in zip(one.x, one.y, strict=True)]
    parts = []
    if one.line:
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(f'<polyline points="{path}" class="line {one.style}"/>')
    for (x, _), low, high in zip(points, one.low, one.high, strict=False):
        top, bottom = frame.y(high), frame.y(low)
        parts.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{top:.1f}" y2="{bottom:.1f}" class="whisker"/>')
    if one.dots:
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" class="dot {one.style}"/>' for x, y in points]
    return parts


def _number(value: float, percent: bool) -> str:
    return f"{100 * value:g}%" if percent else f"{value:g}"
