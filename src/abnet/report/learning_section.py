"""Learning curves: the ones that a model file holds."""

import math
from collections.abc import Sequence

from markupsafe import Markup

from abnet.model.card import Curve
from abnet.report.markup import drawn, html_table, rendered
from abnet.report.svg import Series, chart

__all__ = ["learning_section"]

MOST_LINES = 8
"""Maximum number of lines in the table of a curve."""


def learning_section(curves: Sequence[Curve]) -> Markup:
    """A chart for each stage of training."""
    charts = [_curve(place, curve) for place, curve in enumerate(curves) if len(curve.values) > 1]
    return rendered("learning.html", charts=charts)


def _curve(place: int, curve: Curve) -> Markup:
    name = curve.name[:60]
    values = list(curve.values)
    epochs = [float(curve.every * i) for i in range(len(values))]
    best = min(values)
    picture = chart(
        [Series(name, epochs, values)],
        ident=f"curve{place}",
        title=f"Learning curve: {name}",
        description=(
            f"From {values[0]:.4g} to {values[-1]:.4g} after {epochs[-1]:g} epochs; the lowest was {best:.4g}."
        ),
        x_label="epoch",
        y_label=name,
        y_range=(min(0.0, best), max(values)),
    )
    step = math.ceil(len(values) / MOST_LINES)
    lines = [[f"{epochs[i]:g}", f"{values[i]:.4g}"] for i in range(0, len(values), step)]
    numbers = html_table(["epoch", name], lines, caption="Learning curve", left=0)
    words = f"From {values[0]:.3g} to {best:.3g}, the lowest of {epochs[-1]:g} epochs."
    heading = name[:1].upper() + name[1:]
    return drawn("figure", heading, picture, words, numbers)
