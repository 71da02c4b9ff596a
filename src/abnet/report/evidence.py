"""The middle of a report: estimates on labelled rows, what moves the answers, how learning went, the columns."""

import math
from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.explanation.background import ExplanationPlan, column_layout
from abnet.explanation.model_explanation import ColumnImportance, ModelExplanation, explain_model_inputs
from abnet.model.card import Curve
from abnet.model.model import Model
from abnet.preparation.coded import CodedMap
from abnet.preparation.table_map import TableMap
from abnet.report.measures import GivenRows, RowMeasures
from abnet.report.promise import html_table
from abnet.report.svg import Bar, Series, bar_chart, chart
from abnet.words import number_of, percent

__all__ = ["columns_section", "curves_section", "estimates_section", "moves_of", "moves_section", "page_plan"]

MOST_CLASSES = 12
"""Classes up to which a confusion matrix is shown whole; of more, the pairs that are confused most."""
EXPLAINED = 30
"""Rows whose explanations make up the importance."""
LOCATED = 5_000
"""Rows that regions and errors are counted on."""
MOST_SHUFFLED = 64
"""Columns up to which each is shuffled; of more it would take too long."""
MOST_BARS, MOST_REGIONS = 12, 8


# Estimates


def estimates_section(model: Model, m: RowMeasures | None) -> str:
    """What the given rows say: error, probabilities and confusion."""
    if m is None:
        return (
            "<p>No labelled rows were given, so that there are no estimates here: "
            "<code>abnet report MODEL TABLE</code> adds calibration, confusion matrix and risk-coverage curve.</p>"
        )
    figures = [["error", f"{percent(m.error)} ({percent(m.low)} to {percent(m.high)})"], ["rows", f"{m.n_rows:,}"]]
    figures += [] if m.log_loss is None else [["log loss", f"{m.log_loss:.3f}"]]
    figures += [] if m.calibration_error is None else [["calibration error", percent(m.calibration_error)]]
    left_out = f" {number_of(m.n_unlabelled, 'row')} without a label were left out." * (m.n_unlabelled > 0)
    grouped = (
        " They count every row by itself, while this model was fitted on groups of rows: if some of these belong to "
        "one group, the limits are too narrow, and they say nothing of the promise about a new group."
    ) * bool(model.card.n_training_groups)
    return "\n".join([
        _warning(m),
        "<p>These figures are <strong>estimates</strong> from the rows that were given, not promises. The limits "
        "behind the error hold with 95% confidence if these rows are new and from the same source."
        f"{grouped}{left_out}</p>",
        html_table(["", ""], figures, caption="On the rows given", left=1),
        f'<div class="pair">{_reliability(model, m)}{_risk(m)}</div>',
        _confusion(model, m),
    ])  # fmt: skip


def _warning(m: RowMeasures) -> str:
    if m.were_fitted:
        return (
            f'<p class="warning"><strong>{m.n_fitted:,} of {m.n_rows:,} rows have the values and the label of rows '
            "that this model learned from.</strong> If they are the same rows, everything in this section looks "
            "better than it is: use new rows.</p>"
        )
    if m.n_fitted is None:
        return (
            '<p class="warning">The file does not tell which rows the model was fitted on. If these rows are among '
            "them, everything in this section looks better than it is.</p>"
        )
    return ""


def _reliability(model: Model, m: RowMeasures) -> str:
    if not m.bins:
        return ""
    two = model.n_classes == 2
    what = f"class {_short(model.labels.names[1])}" if two else "the answer"
    dots = Series(
        "rows", [b.said for b in m.bins], [b.found for b in m.bins], "main", line=False, dots=True,
        low=[b.low for b in m.bins], high=[b.high for b in m.bins],
    )  # fmt: skip
    drawn = chart(
        [Series("ideal", [0.0, 1.0], [0.0, 1.0], "ideal"), dots], "reliability", "Reliability diagram",
        f"How often {what} was right, against the probability that it was given. The table has the numbers.",
        x_label=f"probability given to {what}", y_label="how often it was so", x_range=(0, 1), y_range=(0, 1),
        percent=(True, True),
    )  # fmt: skip
    lines = [
        [percent(b.said), percent(b.found), f"{percent(b.low)} to {percent(b.high)}", f"{b.n_rows:,}"] for b in m.bins
    ]
    numbers = html_table(["said", "found", "95% limits", "rows"], lines, caption="Calibration", left=0)
    words = "Are the probabilities right? On the line they are. Whiskers: 95% limits of each bin alone."
    return _figure("Calibration", drawn, words, numbers)


def _risk(m: RowMeasures) -> str:
    drawn = chart(
        [Series("error", m.coverage, m.risk, "main")], "risk", "Risk-coverage curve",
        f"Error among the rows answered, when those of which the model is least sure are left out: from "
        f"{percent(m.risk[-1])} with all rows answered to {percent(m.risk[0])} with {percent(m.coverage[0])} answered.",
        x_label="rows answered, surest first", y_label="error among them", x_range=(0, 1),
        y_range=(0, max(*m.risk, 0.01)), percent=(True, True),
    )  # fmt: skip
    picked = range(0, len(m.risk), max(len(m.risk) // 10, 1))
    lines = [[percent(m.coverage[i]), percent(m.risk[i])] for i in picked]
    numbers = html_table(["answered", "error among them"], lines, caption="Risk and coverage", left=0)
    return _figure("Risk and coverage", drawn, "What is gained by leaving doubtful rows to people.", numbers)


def _figure(title: str, drawn: str, words: str, numbers: str) -> str:
    return (
        f"<figure><h3>{title}</h3>{drawn}<figcaption>{words}</figcaption>"
        f"<details><summary>The numbers</summary>{numbers}</details></figure>"
    )


def _confusion(model: Model, m: RowMeasures) -> str:
    names = [_short(name) for name in model.labels.names]
    true = [*names, *(["(other labels)"] if len(m.confusion) > len(names) else [])]
    if len(names) > MOST_CLASSES:
        return _confused_pairs(true, names, m.confusion)
    totals = np.maximum(m.confusion.sum(axis=1), 1)
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in names)
    body = []
    for row, name in enumerate(true):
        cells = []
        for column, count in enumerate(m.confusion[row].tolist()):
            share = count / totals[row]
            right = " right" if row == column else ""
            cells.append(
                f'<td class="heat{math.ceil(share * 8)}{right}"><b>{count:,}</b><small>{percent(share)}</small></td>'
            )
        body.append(f'<tr><th scope="row">{escape(name)}</th>{"".join(cells)}</tr>')
    return (
        '<h3>Confusion matrix</h3><div class="wide"><table class="confusion"><caption>Rows by true class (down) and '
        f"answer (across), with the share of the true class</caption><thead><tr><td></td>{head}</tr></thead><tbody>"
        f"{''.join(body)}</tbody></table></div>"
    )


def _confused_pairs(true: list[str], names: list[str], confusion: NDArray[np.int64]) -> str:
    pairs = [
        (int(confusion[i, j]), i, j) for i in range(len(true)) for j in range(len(names)) if i != j and confusion[i, j]
    ]
    pairs.sort(key=lambda pair: (-pair[0], pair[1], pair[2]))
    totals = np.maximum(confusion.sum(axis=1), 1)
    lines = [[true[i], names[j], f"{n:,}", percent(n / totals[i])] for n, i, j in pairs[:15]]
    head = "<h3>Confusion</h3>"
    if not lines:
        return f"{head}<p>No row was answered wrongly.</p>"
    shown = html_table(["true class", "answer", "rows", "of that class"], lines, caption="Confused most", left=2)
    return head + shown


def _short(name: str, most: int = 24) -> str:
    return name if len(name) <= most else name[: most - 1] + "…"


# What moves the answers


def page_plan(model: Model, given: GivenRows | None = None) -> ExplanationPlan | None:
    """A plan whose explanation takes a page seconds at the most: background rows of the model, or else of the caller.

    None where there are neither.
    """
    sampled = model.predictor.vote == "kept paths"
    options: dict[str, Any] = {"pairs": 2, "exact_columns": 3} if sampled else {}
    if model.card.background:
        return ExplanationPlan.of(model, **options)
    if given is None:
        return None
    layout = column_layout(model)
    rows = given.prepared[_spaced(len(given.prepared), 25), : layout.n_features]
    return ExplanationPlan.drawn(layout, rows, **{"exact_columns": 10, **options})


def moves_of(model: Model, plan: ExplanationPlan | None, given: GivenRows | None) -> ModelExplanation | None:
    """What matters to the model on given rows, or on the few that it keeps; None where there are neither."""
    if plan is None:
        return None
    quick = ExplanationPlan.drawn(plan.columns, plan.background[:12], seed=plan.seed, pairs=2, exact_columns=5)
    if given is None:
        return explain_model_inputs(model, plan.background_inputs(model), None, quick, regions=MOST_REGIONS)
    some = _spaced(len(given.prepared), LOCATED)
    judged = given.codes[some] if len(plan.columns.names) <= MOST_SHUFFLED else None
    return explain_model_inputs(model, given.prepared[some], judged, quick, rows=EXPLAINED, regions=MOST_REGIONS)


def _spaced(n: int, most: int) -> NDArray[np.intp]:
    """At most so many places, evenly spaced."""
    return np.unique(np.linspace(0, n - 1, min(n, most)).round().astype(np.intp))


def moves_section(model: Model, found: ModelExplanation | None, *, given: bool) -> str:
    """Importance and regions, on the rows given or on those that the model keeps."""
    if found is None:
        return (
            "<p>The file keeps no rows to compare with, so that no importance can be computed from it alone: "
            "<code>abnet report MODEL TABLE</code> takes them from the table.</p>"
        )
    ranked = found.ranked()
    bars = [
        Bar(
            one.column, f"{one.contribution:.3f} ± {one.contribution_error:.3f}", one.contribution, "main",
            spread=one.contribution_error,
        )
        for one in ranked[:MOST_BARS]
    ]  # fmt: skip
    drawn = bar_chart(bars, "Importance of the columns")
    rest = f" {number_of(len(ranked) - MOST_BARS, 'other column')} moved less." if len(ranked) > MOST_BARS else ""
    source = "of the rows given" if given else "that the model keeps of its first part"
    score = "the score, which lies between −1 and +1," if model.n_classes == 2 else "the shares of the vote"
    words = (
        f"How far each column moves {score} in the mean over {number_of(found.n_explained, 'row')} {source} (mean size "
        "of its Shapley values, ± one standard error). An estimate; it says what the model listens to, not what causes "
        f"what.{rest}"
    )
    figure = f"<figure><h3>Importance</h3>{drawn}<figcaption>{words}</figcaption>{_growth(found, ranked)}</figure>"
    return figure + _regions(model, found, given=given)


def _growth(found: ModelExplanation, ranked: list[ColumnImportance]) -> str:
    """How the error grows when a column is shuffled, where labels were given."""
    if found.error is None:
        return ""
    lines = [
        [_short(one.column, 60), f"{100 * one.error_growth:+.1f}%", f"± {100 * (one.error_growth_error or 0.0):.1f}%"]
        for one in ranked[:MOST_BARS]
        if one.error_growth is not None
    ]
    caption = f"Growth of the error of {percent(found.error)} when a column is shuffled, on {found.n_shuffled:,} rows"
    shown = html_table(["column", "error grows by", "standard error"], lines, caption=caption)
    return f"<details><summary>By the growth of the error</summary>{shown}</details>"


def _regions(model: Model, found: ModelExplanation, *, given: bool) -> str:
    head = "<h3>Regions</h3>"
    if found.regions is None:
        return f"{head}<p>{escape(found.no_regions)}</p>"
    names, two = model.labels.names, model.n_classes == 2
    lines = []
    for region in found.regions.listed:
        best = int(region.output[0] >= 0) if two else int(np.argmax(region.output))
        sure = f"{region.output[0]:+.2f}".replace("-", "−") if two else percent(region.output[best])
        word = region.word.replace("-", "−")
        lines.append([f"{region.member + 1}", word, percent(region.probability), f"{_short(names[best])} ({sure})"])
    source = "the rows given" if given else "the rows that the model keeps"
    caption = f"Regions that hold most of {source}: mean over {number_of(found.n_located, 'row')}"
    shown = html_table(["network", "neurons", "rows in it", "says"], lines, left=2, caption=caption)
    scale = f"−1 is {_short(names[0])}, +1 is {_short(names[1])}" if two else "the class, with its probability"
    orders = found.variance_by_order() if found.spectra else np.zeros(0)
    mean = ", in the mean of the networks" if any(region.member for region in found.regions.listed) else ""
    alone = "" if not len(orders) else f" Of what they say, {percent(float(orders[0]))} comes from single neurons"
    alone += "" if len(orders) < 2 else f" and {percent(float(orders[1]))} from pairs of them"
    return (
        f"{head}<p>The neurons of a network’s first layer, each + or −, cut the space of rows into regions; the "
        f"network has one expected answer for each, and its vote is their mean.{alone}{'.' * bool(alone)} "
        f"{percent(found.regions.other_probability)} of the rows{mean} fall in "
        f"{number_of(found.regions.others, 'other region')}.</p>"
        f'{shown}<p class="note">“Says” is the expected output there ({escape(scale)}).</p>'
    )


# Learning


def curves_section(curves: Sequence[Curve]) -> str:
    """The curves that the file holds, a chart for each stage."""
    charts = []
    for place, (name, epochs, values) in enumerate(_drawn(curves)):
        best = min(values)
        drawn = chart(
            [Series(name, epochs, values, "main")], f"curve{place}", f"Learning curve: {name}",
            f"From {values[0]:.4g} to {values[-1]:.4g} after {epochs[-1]:g} epochs; the least was {best:.4g}.",
            x_label="epoch", y_label=name, y_range=(min(0.0, best), max(values)),
        )  # fmt: skip
        words = f"{escape(name)}: from {values[0]:.3g} to {best:.3g}, the best of {epochs[-1]:g} epochs."
        step = max(len(values) // 12, 1)
        lines = [[f"{epochs[i]:g}", f"{values[i]:.4g}"] for i in range(0, len(values), step)]
        numbers = html_table(["epoch", name], lines, caption="Learning curve", left=0)
        charts.append(_figure(escape(name[:1].upper() + name[1:]), drawn, words, numbers))
    if not charts:
        return "<p>The file holds no learning curves: it was made by a method without any.</p>"
    intro = "<p>What learning monitored after every epoch, on rows kept apart for it; smaller is better.</p>"
    return f'{intro}<div class="pair">{"".join(charts)}</div>'


def _drawn(curves: Sequence[Curve]) -> list[tuple[str, list[float], list[float]]]:
    """Names, epochs and values of curves that can be drawn."""
    return [
        (curve.name[:60], [float(curve.every * i) for i in range(len(curve.values))], list(curve.values))
        for curve in curves
        if len(curve.values) > 1
    ]


def _finite(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


# Columns


def columns_section(model: Model) -> str:
    """The columns that the model takes, and what was left out."""
    preparation: Any = model.preparation
    coded = isinstance(preparation, CodedMap)
    base = preparation.base if coded else preparation
    codes = (
        f"<p>{sum(map(len, preparation.thresholds)):,} thermometer codes (is it above?) stand beside the features.</p>"
        if coded
        else ""
    )
    if isinstance(base, TableMap):
        lines = [[column.name, _kind(column), _features(column)] for column in base.columns]
        shown = html_table(["column", "kind", "features"], _first(lines), caption="Columns used", left=3)
        dropped = [[note.column, note.text] for note in base.notes]
        left = html_table(["column", "remark"], _first(dropped), caption="Remarks", left=2) if dropped else ""
        return f"{shown}{codes}{left}"
    names = model.feature_names
    n = model.n_inputs if base is None or not hasattr(base, "n_features_in") else base.n_features_in
    if names is None:
        return f"<p>Arrays of {n:,} numbers without names.</p>{codes}"
    shown = html_table(["column"], _first([[name] for name in names]), caption="Columns used, all numeric", left=1)
    return f"{shown}{codes}"


def _kind(column: Any) -> str:
    unit = "" if column.kind != "numeric" else column.form.before or column.form.after
    return f"{column.kind}, in {unit}" if unit else str(column.kind)


def _features(column: Any) -> str:
    if column.kind == "text":
        listed = ", ".join(_short(name) for name in column.categories[:6])
        return listed + (f" and {len(column.categories) - 6} more" if len(column.categories) > 6 else "")
    return number_of(len(column.features), "feature")


def _first(lines: Sequence[list[str]], most: int = 100) -> list[list[str]]:
    cut = [[_short(cell, 120) for cell in line] for line in lines[:most]]
    return cut if len(lines) <= most else [*cut, [f"and {len(lines) - most:,} more", *[""] * (len(lines[0]) - 1)]]
