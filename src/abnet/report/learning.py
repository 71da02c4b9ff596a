"""How training went: the curves that a model's file holds."""

from collections.abc import Sequence

from markupsafe import Markup

from abnet.model.card import Curve
from abnet.report.markup import drawn, rendered, table
from abnet.report.svg import Series, chart

__all__ = ["learning_section"]


def learning_section(curves: Sequence[Curve]) -> Markup:
    """A chart for each stage of training."""
    charts = [_curve(place, curve) for place, curve in enumerate(curves) if len(curve.values) > 1]
    return rendered("learning.html", charts=charts)


def _curve(place: int, curve: Curve) -> Markup:
    name, values = curve.name[:60], list(curve.values)
    epochs = [float(curve.every * i) for i in range(len(values))]
    best = min(values)
    picture = chart(
        [Series(name, epochs, values, "main")], f"curve{place}", f"Learning curve: {name}",
        f"From {values[0]:.4g} to {values[-1]:.4g} after {epochs[-1]:g} epochs; the lowest was {best:.4g}.",
        x_label="epoch", y_label=name, y_range=(min(0.0, best), max(values)),
    )  # fmt: skip
    step = -(-len(values) // 8)
    lines = [[f"{epochs[i]:g}", f"{values[i]:.4g}"] for i in range(0, len(values), step)]
    numbers = table(["epoch", name], lines, caption="Learning curve", left=0)
    words = f"From {values[0]:.3g} to {best:.3g}, the lowest of {epochs[-1]:g} epochs."
    return drawn("figure", name[:1].upper() + name[1:], picture, words, numbers)
