"""What moves a model's answers: importance and direction of the columns; regions with their expected answers."""

from collections.abc import Callable
from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from abnet.explanation.background import ExplanationPlan, column_layout
from abnet.explanation.direction import CategoryEffect
from abnet.explanation.model_explanation import ColumnImportance, ModelExplanation, explain_model_inputs
from abnet.explanation.regions import Region
from abnet.explanation.units import error_text, value_text
from abnet.model.model import Model
from abnet.report.contribution_charts import beeswarms, dependences
from abnet.report.markup import html_table, rendered, typeset
from abnet.report.measures import LOCATED, GivenRows
from abnet.report.svg import Bar, bar_chart
from abnet.utils.wording import number_of, percent, percentage_points, shortened

__all__ = ["direction_text", "explain_answers", "importance_section", "page_plan", "regions_table"]

MOST_SHUFFLED = 64
"""Maximum number of columns for which each is shuffled: more would take too long."""
MOST_BARS = 12
"""Maximum number of columns with a bar."""
MOST_REGIONS = 8
"""Maximum number of regions in the table."""
MOST_OTHERS = 0.5
"""Regions are left out if those that are not listed hold a larger share of the rows than this."""


def page_plan(model: Model, given: GivenRows | None = None) -> ExplanationPlan | None:
    """The plan by which a page explains rows, with background rows of the model, or else of the caller.

    None if there are neither. It has two pairs of orders: that is enough for a page, which computes while somebody
    waits.
    """
    if model.card.background:
        return ExplanationPlan.of(model, pairs=2)
    if given is None:
        return None
    layout = column_layout(model)
    rows = given.prepared[_evenly_spaced(len(given.prepared), 25), : layout.n_features]
    return ExplanationPlan.drawn(layout, rows, pairs=2)


def explain_answers(
    model: Model,
    plan: ExplanationPlan | None,
    given: GivenRows | None,
    progress: Callable[[float], None] | None = None,
) -> ModelExplanation | None:
    """Explain the model on given rows, or on the few that it keeps; None if there are neither.

    With the same rows and plan, `abnet.explanation.explain_model` gives the same numbers.
    """
    if plan is None:
        return None
    codes = None
    if given is None:
        rows = plan.background_inputs(model)
    else:
        places = _evenly_spaced(len(given.prepared), LOCATED)
        rows = given.prepared[places]
        if len(plan.columns.names) <= MOST_SHUFFLED:
            codes = given.codes[places]
    return explain_model_inputs(model, rows, codes, plan, regions=MOST_REGIONS, progress=progress)


def _evenly_spaced(n: int, most: int) -> NDArray[np.intp]:
    """At most `most` places among n, evenly spaced."""
    return np.unique(np.linspace(0, n - 1, min(n, most)).round().astype(np.intp))


def direction_text(model: Model, column: ColumnImportance, explanation: ModelExplanation) -> str:
    """The direction in which a column moves the answers, in a few words; empty if it is unknown."""
    if column.contribution == 0:
        return ""
    place = explanation.importance.index(column)
    if explanation.cells[place].numbers is None:
        return _categories_text(model, column, explanation)
    direction = explanation.direction_of(column)
    parts = []
    if direction.rising:
        parts.append(f"towards {shortened(direction.rising, 40)}")
    if direction.falling and model.n_classes > 2:  # away from one of two classes is towards the other
        parts.append(f"away from {shortened(direction.falling, 40)}")
    if not parts:
        return "no single direction"
    return f"higher values: {', '.join(parts)}"


def _categories_text(model: Model, column: ColumnImportance, explanation: ModelExplanation) -> str:
    """The categories that move the answers most, each with the class that it moves them towards."""
    if model.n_classes == 2:
        strongest = _strongest_of_two(column, explanation)
    else:
        strongest = _strongest_of_several(column, explanation)
    parts = []
    for effect, code in strongest:
        parts.append(f"“{shortened(effect.name, 24)}” towards {shortened(model.labels.names[code], 40)}")
    return "; ".join(parts)


def _strongest_of_two(column: ColumnImportance, explanation: ModelExplanation) -> list[tuple[CategoryEffect, int]]:
    """The categories with the highest and the lowest contribution to the second class."""
    effects = explanation.category_effects(column)
    if len(effects) < 2:
        return []
    return [(effects[0], 1), (effects[-1], 0)]


def _strongest_of_several(column: ColumnImportance, explanation: ModelExplanation) -> list[tuple[CategoryEffect, int]]:
    """The two highest contributions of a category to a class, among the highest of each class."""
    highest = []
    for code in range(len(explanation.classes)):
        effects = explanation.category_effects(column, code)
        if effects:
            highest.append((effects[0], code))
    highest.sort(key=lambda pair: -pair[0].contribution)
    return highest[:2]


def importance_section(model: Model, explanation: ModelExplanation | None, *, given: bool) -> Markup:
    """Importance of the columns, on the given rows or on those that the model keeps."""
    if explanation is None:
        return rendered("importance.html", bars=None)
    ranked = explanation.ranked()
    bars = [_importance_bar(model, column, explanation) for column in ranked[:MOST_BARS]]
    return rendered(
        "importance.html",
        bars=bar_chart(bars, "Importance of the columns", explanation.unit == "probability"),
        words=_importance_words(explanation, given=given),
        growth=_error_growth_table(explanation, ranked[:MOST_BARS]),
        swarms=beeswarms(explanation),
        dependences=dependences(explanation),
    )


def _importance_bar(model: Model, column: ColumnImportance, explanation: ModelExplanation) -> Bar:
    size = value_text(column.contribution, explanation.unit)
    error = error_text(column.contribution_error, explanation.unit)
    return Bar(
        name=column.column,
        text=f"{size} {error}",
        value=column.contribution,
        style="main",
        spread=column.contribution_error,
        note=direction_text(model, column, explanation),
    )


def _importance_words(explanation: ModelExplanation, *, given: bool) -> str:
    source = "that the model keeps from training"
    if given:
        source = "given"
    words = (
        f"How far each column moves {explanation.quantity}, averaged over "
        f"{number_of(explanation.n_explained, 'row')} {source} (mean size of its Shapley values, ± one standard "
        "error). This is an estimate. It says what the model uses, not what causes what."
    )
    n_others = len(explanation.importance) - MOST_BARS
    if n_others > 0:
        words += f" {number_of(n_others, 'other column')} moved it less."
    return words


def _error_growth_table(explanation: ModelExplanation, columns: list[ColumnImportance]) -> Markup | None:
    """How much the error grows when a column is shuffled; None without labels."""
    if explanation.error is None:
        return None
    lines = []
    for column in columns:
        if column.error_growth is not None:
            growth = f"{typeset(percentage_points(column.error_growth))} points"
            error = error_text(column.error_growth_error or 0.0, "probability")
            lines.append([shortened(column.column, 60), growth, error])
    caption = (
        f"Growth of the error of {percent(explanation.error)} when a column is shuffled, on "
        f"{explanation.n_shuffled:,} rows"
    )
    return html_table(["column", "error grows by", "standard error"], lines, caption=caption)


def regions_table(model: Model, explanation: ModelExplanation, *, given: bool) -> dict[str, Any] | None:
    """The regions that hold most rows; None if there are none, or if the listed ones hold few rows."""
    regions = explanation.regions
    if regions is None or regions.other_probability > MOST_OTHERS:
        return None
    lines = []
    for region in regions.listed:
        share = percent(region.probability)
        lines.append([f"{region.member + 1}", typeset(region.word), share, _answer_text(model, region)])
    source = "the rows that the model keeps"
    if given:
        source = "the rows given"
    n_located = number_of(explanation.n_located, "row")
    caption = f"Regions that hold most of {source}: averaged over {n_located}"
    averaged = ""
    if any(region.member for region in regions.listed):
        averaged = ", averaged over the networks,"
    words = (
        "The neurons of a network’s first layer, each + or −, divide the rows into regions. The network has one "
        "expected answer H for each region, and its vote is their mean. "
        f"{percent(regions.other_probability)} of the rows{averaged} fall in "
        f"{number_of(regions.others, 'other region')}."
    )
    scale = "The expected answer is a class, with its probability."
    if model.n_classes == 2:
        low, high = (shortened(name) for name in model.labels.names)
        scale = f"The expected answer ranges from −1, {low}, to +1, {high}."
    return {
        "words": words,
        "table": html_table(["network", "neurons", "rows in it", "expected answer"], lines, left=2, caption=caption),
        "scale": scale,
    }


def _answer_text(model: Model, region: Region) -> str:
    """The class that a network expects in a region, with H, or with its probability among several classes."""
    if model.n_classes == 2:
        code = int(region.output[0] >= 0)
        size = typeset(f"{region.output[0]:+.2f}")
    else:
        code = int(np.argmax(region.output))
        size = percent(region.output[code])
    return f"{shortened(model.labels.names[code])} ({size})"
