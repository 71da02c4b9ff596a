"""How well scores rank the rows of two classes: ROC and precision-recall curves with their areas, all estimates."""

from dataclasses import dataclass

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from abnet.model.model import Model
from abnet.report.certified_point import CertifiedPoint, certified_point
from abnet.report.markup import drawn, html_table
from abnet.report.svg import Area, Series, chart
from abnet.utils.wording import percent, shortened

__all__ = ["Ranking", "measure_ranking", "ranking_figures"]

POINTS = 200
"""Maximum number of points of a curve."""


@dataclass(frozen=True)
class Ranking:
    """Curves over all thresholds on the score of the positive class, from the strictest to the one that flags all rows.

    Attributes
    ----------
    positive : int
        Code of the positive class.
    recall, false_alarms, precision : tuples of float
        Share of the positive rows that are flagged, share of the other rows that are flagged, and share of the flagged
        rows that are positive.
    area : float
        Area under the ROC curve: the probability that a positive row has a higher score than another row, where equal
        scores count half.
    average_precision : float
        Precision at every threshold, weighted by the growth of the recall.
    chosen : tuple of float
        Recall, share of false alarms and precision of the model's own answers.
    """

    positive: int
    recall: tuple[float, ...]
    false_alarms: tuple[float, ...]
    precision: tuple[float, ...]
    area: float
    average_precision: float
    chosen: tuple[float, float, float]


def measure_ranking(
    scores: NDArray[np.float64], is_positive: NDArray[np.bool_], is_flagged: NDArray[np.bool_], *, positive: int = 1
) -> Ranking | None:
    """Measure the ranking by scores of the positive class; None if the rows are all of one kind.

    Parameters
    ----------
    scores : float array (n,)
    is_positive, is_flagged : bool arrays (n,)
        Whether each row is of the positive class, and whether the model calls it so.
    positive : int
        Code of the positive class.

    Examples
    --------
    >>> truth = np.array([True, True, False, False])
    >>> made = measure_ranking(np.array([0.9, 0.4, 0.6, 0.1]), truth, np.array([True, False, True, False]))
    >>> made.area, made.recall, made.chosen
    (0.75, (0.5, 0.5, 1.0, 1.0), (0.5, 0.5, 0.5))
    """
    n_positive = int(is_positive.sum())
    n_others = len(is_positive) - n_positive
    if n_positive == 0 or n_others == 0:
        return None
    order = np.argsort(-scores, kind="stable")
    sorted_scores = scores[order]
    ends = np.flatnonzero(np.append(np.diff(sorted_scores) != 0, True))  # rows with the same score stay together
    found = np.cumsum(is_positive[order])[ends]
    flagged = ends + 1
    recall = found / n_positive
    false_alarms = (flagged - found) / n_others
    precision = found / flagged
    area = float(np.trapezoid(np.append(0.0, recall), np.append(0.0, false_alarms)))
    average_precision = float(np.sum(np.diff(recall, prepend=0.0) * precision))
    n_right = int((is_flagged & is_positive).sum())
    n_flagged = int(is_flagged.sum())
    shown = np.unique(np.linspace(0, len(ends) - 1, POINTS).astype(np.intp))
    return Ranking(
        positive=positive,
        recall=tuple(recall[shown].tolist()),
        false_alarms=tuple(false_alarms[shown].tolist()),
        precision=tuple(precision[shown].tolist()),
        area=area,
        average_precision=average_precision,
        chosen=(n_right / n_positive, (n_flagged - n_right) / n_others, n_right / max(n_flagged, 1)),
    )


def ranking_figures(model: Model, ranking: Ranking) -> tuple[Markup, Markup]:
    """The ROC curve and the precision-recall curve, each with a dot for the model's own answers.

    Behind each stands the certified region: where the model's own point lies on new data.
    """
    point = certified_point(model, ranking.positive)
    roc_region = None
    trade_region = None
    if point is not None and point.bounds_roc:
        roc_region = Area((0.0, point.false_alarms), (point.recall, 1.0))
    if point is not None and point.bounds_precision_recall:
        trade_region = Area((point.recall, 1.0), (point.precision, 1.0))
    name = shortened(model.labels.names[ranking.positive])
    recall, false_alarms, precision = ranking.chosen
    roc = chart(
        [
            Series("chance", [0.0, 1.0], [0.0, 1.0], "ideal"),
            Series("curve", (0.0, *ranking.false_alarms), (0.0, *ranking.recall)),
            Series("this model", [false_alarms], [recall], "second", line=False, dots=True),
        ],
        ident="roc",
        title="ROC curve",
        description=f"Recall of {name} against false alarms. The area below the curve is {ranking.area:.3f}.",
        x_label="false alarms among other rows",
        y_label=f"recall of {name}",
        x_range=(0, 1),
        y_range=(0, 1),
        percent=(True, True),
        area=roc_region,
    )
    trade = chart(
        [
            Series("curve", ranking.recall, ranking.precision),
            Series("this model", [recall], [precision], "second", line=False, dots=True),
        ],
        ident="precision-recall",
        title="Precision-recall curve",
        description=f"Precision for {name} against recall. The average precision is {ranking.average_precision:.3f}.",
        x_label=f"recall of {name}",
        y_label="precision",
        x_range=(0, 1),
        y_range=(0, 1),
        percent=(True, True),
        area=trade_region,
    )
    dot = "The dot marks the answers of the decision rule on these rows."
    own = [["recall", percent(recall)], ["false alarms", percent(false_alarms)], ["precision", percent(precision)]]
    numbers = html_table(["", "estimate"], own, caption="This model's answers")
    area = f"Area under the curve {ranking.area:.3f} (estimate). {dot}"
    average = f"Average precision {ranking.average_precision:.3f} (estimate). {dot}"
    return (
        drawn("figure", "ROC curve", roc, _caption(area, point, roc_region, roc=True), numbers),
        drawn("figure", "Precision and recall", trade, _caption(average, point, trade_region, roc=False), numbers),
    )


def _caption(words: str, point: CertifiedPoint | None, region: Area | None, *, roc: bool) -> Markup:
    """The words below a curve, and what its shaded region is."""
    if point is None or region is None:
        return Markup("{} Nothing is certified about this point.").format(words)
    return drawn("certified_key", words, point.words(roc=roc))
