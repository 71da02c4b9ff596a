"""Parts of plain SVG figures that can be read on light and dark pages: text, boxes, lines, and the whole file."""

__all__ = ["arrow", "box", "curve", "figure", "line", "text"]

STYLE = """
.bg{fill:#fff;stroke:#d8dee4}.ink{fill:#1f2328}.soft{fill:#59636e}.rule{stroke:#d1d9e0}.axis{stroke:#818b98}
.blue{fill:#0f5e7d}.pale{fill:#d7ecf4}.amber{fill:#b45309}.cream{fill:#fbeed8}.white{fill:#fff}
.lblue{stroke:#0f5e7d}.lamber{stroke:#b45309}.lgreen{stroke:#3f7d20}.lviolet{stroke:#7a3e9d}
.green{fill:#3f7d20}.violet{fill:#7a3e9d}
@media (prefers-color-scheme:dark){
.bg{fill:#16191d;stroke:#363b42}.ink{fill:#e6edf3}.soft{fill:#9aa4af}.rule{stroke:#363b42}.axis{stroke:#7d8590}
.blue{fill:#7cc4e0}.pale{fill:#17394a}.amber{fill:#f0a95b}.cream{fill:#4a3214}.white{fill:#10222b}
.lblue{stroke:#7cc4e0}.lamber{stroke:#f0a95b}.lgreen{stroke:#8fce6a}.lviolet{stroke:#cf9cee}
.green{fill:#8fce6a}.violet{fill:#cf9cee}}
text{font:14px system-ui,-apple-system,"Segoe UI",Roboto,Helvetica,Arial,sans-serif}
.small{font-size:12px}.big{font-size:15px;font-weight:600}.mid{text-anchor:middle}.end{text-anchor:end}
line,path,polyline{fill:none;stroke-width:1.5}
""".strip()


def text(x: float, y: float, words: str, kind: str = "ink") -> str:
    """One line of text."""
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}">{words}</text>'


def box(x: float, y: float, width: float, height: float, kind: str, round_by: float = 6) -> str:
    """A rectangle."""
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="{round_by}" class="{kind}"/>'


def line(x0: float, y0: float, x1: float, y1: float, kind: str) -> str:
    """A straight line."""
    return f'<line x1="{x0:.1f}" y1="{y0:.1f}" x2="{x1:.1f}" y2="{y1:.1f}" class="{kind}"/>'


def curve(points: list[tuple[float, float]], kind: str) -> str:
    """A line through points."""
    return f'<polyline class="{kind}" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}"/>'


def arrow(x0: float, x1: float, y: float) -> str:
    """An arrow to the right."""
    return (
        line(x0, y, x1 - 2, y, "axis")
        + f'<path class="axis" d="M{x1 - 8:.1f} {y - 5:.1f}L{x1:.1f} {y:.1f}L{x1 - 8:.1f} {y + 5:.1f}"/>'
    )


def figure(width: int, height: int, title: str, *parts: str) -> str:
    """A whole SVG file, with its title for screen readers."""
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">'
    back = box(0.5, 0.5, width - 1, height - 1, "bg", 10)
    return "\n".join([head, f"<title>{title}</title>", f"<style>{STYLE}</style>", back, *parts, "</svg>"]) + "\n"
