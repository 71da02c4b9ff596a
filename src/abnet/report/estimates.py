"""What labelled rows showed: error, calibration, risk at every coverage and confusion, all called estimates."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from abnet.certificates.trade_off import TradeOff
from abnet.model.model import Model
from abnet.report.markup import drawn, rendered, short, table
from abnet.report.measures import RowMeasures
from abnet.report.svg import Series, chart
from abnet.utils.natural_order import natural_order
from abnet.utils.wording import number_of, percent

__all__ = ["estimates_section", "fitted_warning"]

MOST_CLASSES = 12
"""Classes up to which a confusion matrix is shown whole; of more, the pairs that are confused most."""


def estimates_section(model: Model, m: RowMeasures | None) -> Markup:
    """What the given rows say: error, probabilities and confusion."""
    thresholds = [_thresholds(one) for one in model.card.trade_offs]
    if m is None:
        return rendered("estimates.html", measured=False, thresholds=thresholds)
    answered = model.decision.kind == "abstain"
    figures = {"error rate" + " among answered rows" * answered: percent(m.error)}
    figures["95% limits"] = f"{percent(m.low)} to {percent(m.high)}"
    figures["rows"] = f"{m.n_rows:,}"
    if answered:
        figures["answered"] = f"{m.n_answered:,} ({percent(m.n_answered / m.n_rows)})"
    if m.log_loss is not None:
        figures["log loss"] = f"{m.log_loss:.3f}"
    if m.calibration_error is not None:
        figures["calibration error"] = percent(m.calibration_error)
    return rendered(
        "estimates.html", measured=True, thresholds=thresholds, warning=fitted_warning(m),
        remarks=" ".join(_remarks(model, m)),
        figures=table(list(figures), [list(figures.values())], caption="On the rows given", left=0),
        reliability=_reliability(model, m), risk=_risk(m), confusion=_confusion(model, m),
    )  # fmt: skip


def _thresholds(one: TradeOff) -> dict[str, Any]:
    """A table of thresholds with what they reach on training rows, and where its figures come from."""
    head, *lines = one.table()
    return {"table": table(head, lines, caption=f"Thresholds for {short(one.title)}", left=0), "note": one.note}


def _remarks(model: Model, m: RowMeasures) -> list[str]:
    made = []
    if model.card.n_training_groups:
        made.append(
            "They count every row by itself, while this model was fitted on groups of rows: if some of these belong to "
            "one group, the limits are too narrow, and they do not estimate the error on a new group."
        )
    if m.n_unlabelled:
        made.append(
            f"{number_of(m.n_unlabelled, 'row')} without a label {'was' if m.n_unlabelled == 1 else 'were'} left out."
        )
    return made


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
    if not m.bins:
        return Markup()
    what = f"class {short(model.labels.names[1])}" if model.n_classes == 2 else "the answer"
    dots = Series(
        "rows", [b.said for b in m.bins], [b.found for b in m.bins], "main", line=False, dots=True,
        low=[b.low for b in m.bins], high=[b.high for b in m.bins],
    )  # fmt: skip
    picture = chart(
        [Series("ideal", [0.0, 1.0], [0.0, 1.0], "ideal"), dots], "reliability", "Reliability diagram",
        f"How often {what} was right, against the predicted probability. The table has the numbers.",
        x_label=f"predicted probability of {what}", y_label="observed frequency", x_range=(0, 1), y_range=(0, 1),
        percent=(True, True),
    )  # fmt: skip
    lines = [
        [percent(b.said), percent(b.found), f"{percent(b.low)} to {percent(b.high)}", f"{b.n_rows:,}"] for b in m.bins
    ]
    numbers = table(["predicted", "observed", "95% limits", "rows"], lines, caption="Calibration", left=0)
    words = "Points on the dashed line are well calibrated. Whiskers: 95% limits of each bin by itself."
    return drawn("figure", "Calibration", picture, words, numbers)


def _risk(m: RowMeasures) -> Markup:
    picture = chart(
        [Series("error", m.coverage, m.risk, "main")], "risk", "Risk-coverage curve",
        f"Error among answered rows when the least certain rows are left out: from {percent(m.risk[-1])} with all rows "
        f"answered to {percent(m.risk[0])} with {percent(m.coverage[0])} answered.",
        x_label="rows answered, most certain first", y_label="error among them", x_range=(0, 1),
        y_range=(0, max(*m.risk, 0.01)), percent=(True, True),
    )  # fmt: skip
    picked = range(0, len(m.risk), max(len(m.risk) // 10, 1))
    lines = [[percent(m.coverage[i]), percent(m.risk[i])] for i in picked]
    numbers = table(["answered", "error among them"], lines, caption="Risk and coverage", left=0)
    return drawn("figure", "Risk and coverage", picture, "What is gained by leaving uncertain rows to people.", numbers)


def _confusion(model: Model, m: RowMeasures) -> Markup:
    names = [short(name) for name in model.labels.names]
    order = natural_order(model.labels.names)
    down, across = [*order, *range(len(names), len(m.confusion))], [*order, *range(len(names), m.confusion.shape[1])]
    true, answers = [*names, "(other labels)"], [*names, "no answer"]
    if len(names) > MOST_CLASSES:
        return _confused_pairs(true, answers, m.confusion)
    totals = np.maximum(m.confusion.sum(axis=1), 1)

    def cell(row: int, column: int) -> dict[str, Any]:
        count = int(m.confusion[row, column])
        share = count / totals[row]
        return {
            "count": f"{count:,}",
            "share": percent(share) if count else "",
            "heat": math.ceil(share * 8),
            "right": row == column,
        }

    rows = [{"name": true[row], "cells": [cell(row, column) for column in across]} for row in down]
    return drawn("confusion", [answers[column] for column in across], rows)


def _confused_pairs(true: Sequence[str], answers: Sequence[str], confusion: NDArray[np.int64]) -> Markup:
    n, k = confusion.shape
    pairs = [(int(confusion[i, j]), i, j) for i in range(n) for j in range(k) if i != j and confusion[i, j]]
    pairs.sort(key=lambda pair: (-pair[0], pair[1], pair[2]))
    totals = np.maximum(confusion.sum(axis=1), 1)
    lines = [[true[i], answers[j], f"{n:,}", percent(n / totals[i])] for n, i, j in pairs[:15]]
    head = Markup("<h3>Confusion</h3>")
    if not lines:
        return head + Markup("<p>Every row was answered correctly.</p>")
    return head + table(["true class", "answer", "rows", "share of that class"], lines, caption="Most confused", left=2)
