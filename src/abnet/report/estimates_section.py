"""Estimates from labelled rows: error, calibration, risk at every coverage, and confusion."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from abnet.certificates.trade_off import TradeOff
from abnet.model.model import Model
from abnet.report.markup import drawn, html_table, rendered
from abnet.report.measures import RowMeasures
from abnet.report.roc_curves import ranking_figures
from abnet.report.svg import Series, chart
from abnet.utils.natural_order import natural_order
from abnet.utils.wording import percent, shortened

__all__ = ["estimates_section", "fitted_warning"]

MOST_CLASSES = 12
"""Maximum number of classes of a full confusion matrix; with more, only the most confused pairs are listed."""
MOST_PAIRS = 15
"""Maximum number of pairs to list."""
HEATS = 8
"""Number of shades of a confusion matrix."""


def estimates_section(model: Model, m: RowMeasures | None) -> Markup:
    """What the given rows show: error, probabilities and confusion."""
    thresholds = [_thresholds(trade_off) for trade_off in model.card.trade_offs]
    if m is None:
        return rendered("estimates.html", measured=False, thresholds=thresholds)
    figures = _figures(model, m)
    return rendered(
        "estimates.html",
        measured=True,
        thresholds=thresholds,
        warning=fitted_warning(m),
        remarks=" ".join(_remarks(model, m)),
        figures=html_table(list(figures), [list(figures.values())], caption="On the rows given", left=0),
        reliability=_reliability(model, m),
        risk=_risk(m),
        curves=_curves(model, m),
        confusion=_confusion(model, m),
    )


def _figures(model: Model, m: RowMeasures) -> dict[str, str]:
    """Names and values of the single figures."""
    figures = {}
    if model.decision.kind == "abstain":
        figures["error rate among answered rows"] = percent(m.error)
    else:
        figures["error rate"] = percent(m.error)
    figures["95% limits"] = f"{percent(m.low)} to {percent(m.high)}"
    figures["rows"] = f"{m.n_rows:,}"
    if model.decision.kind == "abstain":
        figures["answered"] = f"{m.n_answered:,} ({percent(m.n_answered / m.n_rows)})"
    if m.log_loss is not None:
        figures["log loss"] = f"{m.log_loss:.3f}"
    if m.calibration_error is not None:
        figures["calibration error"] = percent(m.calibration_error)
    return figures


def _thresholds(trade_off: TradeOff) -> dict[str, Any]:
    """A table of thresholds and what they reach on training rows, and a note on where its numbers come from."""
    header, *lines = trade_off.table()
    caption = f"Thresholds for {shortened(trade_off.title)}"
    return {"table": html_table(header, lines, caption=caption, left=0), "note": trade_off.note}


def _remarks(model: Model, m: RowMeasures) -> list[str]:
    remarks = []
    if model.card.n_training_groups:
        remarks.append(
            "They count every row by itself, while this model was fitted on groups of rows: if some of these belong to "
            "one group, the limits are too narrow, and they do not estimate the error on a new group."
        )
    if m.n_unlabelled == 1:
        remarks.append("1 row without a label was left out.")
    if m.n_unlabelled > 1:
        remarks.append(f"{m.n_unlabelled:,} rows without a label were left out.")
    return remarks


def fitted_warning(m: RowMeasures) -> str:
    """A warning if the rows may be training rows; empty if they are not."""
    if m.were_fitted:
        return (
            f"{m.n_fitted:,} of {m.n_rows:,} rows have the same values and label as rows that this model was fitted "
            "on. If they are the same rows, every estimate on this page is too good: use new rows."
        )
    if m.n_fitted is None:
        return (
            "The file does not say which rows the model was trained on. If these rows are among them, every estimate "
            "on this page is too good."
        )
    return ""


def _reliability(model: Model, m: RowMeasures) -> Markup:
    """A reliability diagram, with its numbers in a table."""
    if not m.bins:
        return Markup()
    event = "the answer"
    if model.n_classes == 2:
        event = f"class {shortened(model.labels.names[1])}"
    diagonal = Series("ideal", [0.0, 1.0], [0.0, 1.0], "ideal")
    dots = Series(
        name="rows",
        x=[part.predicted for part in m.bins],
        y=[part.observed for part in m.bins],
        line=False,
        dots=True,
        low=[part.low for part in m.bins],
        high=[part.high for part in m.bins],
    )
    picture = chart(
        [diagonal, dots],
        ident="reliability",
        title="Reliability diagram",
        description=f"How often {event} was right, against the predicted probability. The table has the numbers.",
        x_label=f"predicted probability of {event}",
        y_label="observed frequency",
        x_range=(0, 1),
        y_range=(0, 1),
        percent=(True, True),
    )
    lines = []
    for part in m.bins:
        limits = f"{percent(part.low)} to {percent(part.high)}"
        lines.append([percent(part.predicted), percent(part.observed), limits, f"{part.n_rows:,}"])
    numbers = html_table(["predicted", "observed", "95% limits", "rows"], lines, caption="Calibration", left=0)
    words = "Points on the dashed line are well calibrated. Whiskers: 95% limits of each bin by itself."
    return drawn("figure", "Calibration", picture, words, numbers)


def _risk(m: RowMeasures) -> Markup:
    """The error among answered rows at every coverage, with some numbers in a table."""
    picture = chart(
        [Series("error", m.coverage, m.risk)],
        ident="risk",
        title="Risk-coverage curve",
        description="Error among answered rows when the least certain rows are left out: from "
        f"{percent(m.risk[-1])} with all rows answered to {percent(m.risk[0])} with {percent(m.coverage[0])} answered.",
        x_label="rows answered, most certain first",
        y_label="error among them",
        x_range=(0, 1),
        y_range=(0, max(*m.risk, 0.01)),
        percent=(True, True),
    )
    step = max(len(m.risk) // 10, 1)
    lines = []
    for coverage, risk in zip(m.coverage[::step], m.risk[::step], strict=True):
        lines.append([percent(coverage), percent(risk)])
    numbers = html_table(["answered", "error among them"], lines, caption="Risk and coverage", left=0)
    return drawn("figure", "Risk and coverage", picture, "What is gained by leaving uncertain rows to people.", numbers)


def _curves(model: Model, m: RowMeasures) -> tuple[Markup, ...]:
    """ROC and precision-recall curves; none with several classes."""
    if m.ranking is None:
        return ()
    return ranking_figures(model, m.ranking)


def _confusion(model: Model, m: RowMeasures) -> Markup:
    """A confusion matrix in natural order; with many classes, a list of the most confused pairs."""
    names = [shortened(name) for name in model.labels.names]
    true_names = [*names, "(other labels)"]
    answer_names = [*names, "no answer"]
    if len(names) > MOST_CLASSES:
        return _confused_pairs(true_names, answer_names, m.confusion)
    n_true, n_answers = m.confusion.shape
    order = natural_order(model.labels.names)
    true_order = [*order, *range(len(names), n_true)]
    answer_order = [*order, *range(len(names), n_answers)]
    rows = []
    for true in true_order:
        total = max(int(m.confusion[true].sum()), 1)
        cells = []
        for answer in answer_order:
            cells.append(_confusion_cell(int(m.confusion[true, answer]), total, right=true == answer))
        rows.append({"name": true_names[true], "cells": cells})
    return drawn("confusion", [answer_names[answer] for answer in answer_order], rows)


def _confusion_cell(count: int, total: int, *, right: bool) -> dict[str, Any]:
    share = count / total
    text = ""
    if count:
        text = percent(share)
    return {"count": f"{count:,}", "share": text, "heat": math.ceil(share * HEATS), "right": right}


def _confused_pairs(true_names: Sequence[str], answer_names: Sequence[str], confusion: NDArray[np.int64]) -> Markup:
    pairs = []
    for true, answer in np.argwhere(confusion).tolist():
        if true != answer:
            pairs.append((int(confusion[true, answer]), true, answer))
    pairs.sort(key=lambda pair: (-pair[0], pair[1], pair[2]))
    heading = Markup("<h3>Confusion</h3>")
    if not pairs:
        return heading + Markup("<p>Every row was answered correctly.</p>")
    totals = confusion.sum(axis=1)
    lines = []
    for count, true, answer in pairs[:MOST_PAIRS]:
        lines.append([true_names[true], answer_names[answer], f"{count:,}", percent(count / totals[true])])
    header = ["true class", "answer", "rows", "share of that class"]
    return heading + html_table(header, lines, caption="Most confused", left=2)
