"""What moves a model's answers: importance and direction of the columns, and regions where they say something."""

from collections.abc import Callable
from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from abnet.explanation.background import ExplanationPlan, column_layout
from abnet.explanation.direction import CategoryEffect
from abnet.explanation.model_explanation import ColumnImportance, ModelExplanation, explain_model_inputs
from abnet.explanation.units import error_text, value_text
from abnet.model.model import Model
from abnet.report.markup import rendered, short, table, typeset
from abnet.report.measures import LOCATED, GivenRows
from abnet.report.rows_drawn import dependences, swarms
from abnet.report.svg import Bar, bar_chart
from abnet.utils.wording import number_of, percent, percentage_points

__all__ = ["direction_text", "moves_of", "moves_section", "page_plan"]

MOST_SHUFFLED = 64
"""Columns up to which each is shuffled; of more it would take too long."""
MOST_BARS, MOST_REGIONS = 12, 8
MOST_OTHERS = 0.5
"""Regions are shown if the listed ones hold more than this share of the rows: many small ones say little."""


def page_plan(model: Model, given: GivenRows | None = None) -> ExplanationPlan | None:
    """The plan that a page's form explains rows with: background rows of the model, or else of the caller.

    None where there are neither. Two pairs of orders are enough for a page, which computes them while somebody waits.
    """
    if model.card.background:
        return ExplanationPlan.of(model, pairs=2)
    if given is None:
        return None
    layout = column_layout(model)
    rows = given.prepared[_spaced(len(given.prepared), 25), : layout.n_features]
    return ExplanationPlan.drawn(layout, rows, pairs=2)


def moves_of(
    model: Model,
    plan: ExplanationPlan | None,
    given: GivenRows | None,
    progress: Callable[[float], None] | None = None,
) -> ModelExplanation | None:
    """What matters to the model on given rows, or on the few that it keeps; None where there are neither.

    The same rows, plan and numbers as `abnet.explanation.explain_model` has.
    """
    if plan is None:
        return None
    if given is None:
        rows, codes = plan.background_inputs(model), None
    else:
        some = _spaced(len(given.prepared), LOCATED)
        rows, codes = given.prepared[some], given.codes[some] if len(plan.columns.names) <= MOST_SHUFFLED else None
    return explain_model_inputs(model, rows, codes, plan, regions=MOST_REGIONS, progress=progress)


def _spaced(n: int, most: int) -> NDArray[np.intp]:
    """At most so many places, evenly spaced."""
    return np.unique(np.linspace(0, n - 1, min(n, most)).round().astype(np.intp))


def direction_text(model: Model, one: ColumnImportance, found: ModelExplanation) -> str:
    """Which way a column moves the answers, in a few words; empty where that is not known."""
    if one.contribution == 0:
        return ""
    if found.cells[[other.column for other in found.importance].index(one.column)].numbers is None:
        return _categories_text(model, one, found)
    up, down = found.direction_of(one)
    away = None if model.n_classes == 2 else down  # of two classes, away from one is towards the other
    parts = filter(None, (up and f"towards {short(up, 40)}", away and f"away from {short(away, 40)}"))
    return f"higher values: {listed}" if (listed := ", ".join(parts)) else "no single direction"


def _categories_text(model: Model, one: ColumnImportance, found: ModelExplanation) -> str:
    """The categories that move the answers most: towards either of two classes, or towards one of several."""
    names = model.labels.names
    if model.n_classes == 2:
        ranked = found.category_effects(one)
        sides = [(ranked[0], 1), (ranked[-1], 0)] if len(ranked) > 1 else []
    else:
        best: list[tuple[CategoryEffect, int]] = [
            (found.category_effects(one, c)[0], c) for c in range(len(names)) if found.category_effects(one, c)
        ]
        sides = sorted(best, key=lambda pair: -pair[0].contribution)[:2]
    return "; ".join(f"“{short(level.name, 24)}” towards {short(names[c], 40)}" for level, c in sides)


def moves_section(model: Model, found: ModelExplanation | None, *, given: bool) -> Markup:
    """Importance and regions, on the rows given or on those that the model keeps."""
    if found is None:
        return rendered("moves.html", bars=None)
    ranked = found.ranked()
    bars = [
        Bar(
            one.column, f"{value_text(one.contribution, found.unit)} {error_text(one.contribution_error, found.unit)}",
            one.contribution, "main", spread=one.contribution_error, note=direction_text(model, one, found),
        )
        for one in ranked[:MOST_BARS]
    ]  # fmt: skip
    rest = f" {number_of(len(ranked) - MOST_BARS, 'other column')} moved it less." if len(ranked) > MOST_BARS else ""
    source = "given" if given else "that the model keeps from training"
    words = (
        f"How far each column moves {found.quantity}, averaged over {number_of(found.n_explained, 'row')} {source} "
        "(mean size of its Shapley values, ± one standard error). This is an estimate. It says what the model uses, "
        f"not what causes what.{rest}"
    )
    return rendered(
        "moves.html", bars=bar_chart(bars, "Importance of the columns", found.unit == "probability"), words=words,
        growth=_growth(found, ranked), swarms=swarms(found), dependences=dependences(found),
        regions=_regions(model, found, given=given),
    )  # fmt: skip


def _growth(found: ModelExplanation, ranked: list[ColumnImportance]) -> Markup | None:
    """How the error grows when a column is shuffled, where labels were given."""
    if found.error is None:
        return None
    lines = [
        [
            short(one.column, 60),
            f"{typeset(percentage_points(one.error_growth))} points",
            f"± {100 * (one.error_growth_error or 0.0):.1f}",
        ]
        for one in ranked[:MOST_BARS]
        if one.error_growth is not None
    ]
    caption = f"Growth of the error of {percent(found.error)} when a column is shuffled, on {found.n_shuffled:,} rows"
    return table(["column", "error grows by", "standard error"], lines, caption=caption)


def _regions(model: Model, found: ModelExplanation, *, given: bool) -> dict[str, Any] | None:
    """The regions that hold most rows; None where there are none, or where the listed ones hold few rows."""
    if found.regions is None or found.regions.other_probability > MOST_OTHERS:
        return None
    names, two = model.labels.names, model.n_classes == 2
    lines = []
    for region in found.regions.listed:
        best = int(region.output[0] >= 0) if two else int(np.argmax(region.output))
        sure = f"{region.output[0]:+.2f}".replace("-", "−") if two else percent(region.output[best])
        word = region.word.replace("-", "−")
        lines.append([f"{region.member + 1}", word, percent(region.probability), f"{short(names[best])} ({sure})"])
    source = "the rows given" if given else "the rows that the model keeps"
    caption = f"Regions that hold most of {source}: averaged over {number_of(found.n_located, 'row')}"
    mean = ", averaged over the networks," if any(region.member for region in found.regions.listed) else ""
    return {
        "words": "The neurons of a network’s first layer, each + or −, divide the rows into regions. The network has "
        f"one expected answer H for each region, and its vote is their mean. "
        f"{percent(found.regions.other_probability)} of the rows{mean} fall in "
        f"{number_of(found.regions.others, 'other region')}.",
        "table": table(["network", "neurons", "rows in it", "expected answer"], lines, left=2, caption=caption),
        "scale": f"The expected answer ranges from −1, {short(names[0])}, to +1, {short(names[1])}." if two
        else "The expected answer is a class, with its probability.",
    }  # fmt: skip
