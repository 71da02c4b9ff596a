"""What thresholds reach on held rows of the first part: estimates from which a target can be chosen in advance."""

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np

from abnet.certificates.decision import Decision, confidence, cut_below
from abnet.certificates.held import Held
from abnet.utils.text_layout import aligned, paragraphs
from abnet.utils.wording import number_of, percent

__all__ = ["Point", "TradeOff", "trade_off", "trade_offs"]

RECALLS = (1.0, 0.99, 0.98, 0.95, 0.9, 0.8, 0.7, 0.5, 0.3)
SHARES = (1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1)
"""Recalls, or shares of answered rows, whose thresholds are listed."""


class Point(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What one threshold reaches.

    Attributes
    ----------
    threshold : float
        As in `Decision`.
    share : float
        Share of the rows predicted as positive; for abstaining, of the rows that are answered.
    error : float
        Error rate of the rule; for abstaining, among answered rows.
    recall, precision : float or None
        Of the positive class; None for abstaining.
    """

    threshold: float
    share: float
    error: float
    recall: float | None = None
    precision: float | None = None


class TradeOff(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Thresholds with what they reach on held rows of the first part. These are estimates, not certificates.

    No held-out row was used, so a target that is chosen from this table alone may be certified without a correction.

    Attributes
    ----------
    positive : str or None
        The class that rows above the threshold are predicted as; None for abstaining.
    n_rows : int
    points : tuple of Point
        From the lowest threshold to the highest.
    """

    positive: str | None
    n_rows: int
    points: tuple[Point, ...]

    @property
    def title(self) -> str:
        """What is traded off."""
        if self.positive is None:
            return "abstaining"
        return f"predicting {self.positive}"

    @property
    def note(self) -> str:
        """Where the figures come from."""
        return (
            f"Estimates from {number_of(self.n_rows, 'training row')}, scored where possible by models fitted without "
            "them; nothing here is certified. The held-out rows were not used, so a target may be chosen from this "
            "table alone."
        )

    def table(self) -> list[list[str]]:
        """The cells of a table."""
        if self.positive is None:
            head = ["threshold", "rows answered", "error among them"]
            return [head, *([f"{p.threshold:.6g}", percent(p.share), percent(p.error)] for p in self.points)]
        lines = [["threshold", "recall", "precision", "rows flagged", "error rate"]]
        for p in self.points:
            rates = [percent(rate or 0.0) for rate in (p.recall, p.precision, p.share, p.error)]
            lines.append([f"{p.threshold:.6g}", *rates])
        return lines

    def __str__(self) -> str:
        title = f"Thresholds for {self.title}, estimated"
        return "\n".join([title, aligned(self.table(), left=0), paragraphs(self.note)])

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return dict(msgspec.to_builtins(self))


def trade_off(held: Held, classes: Sequence[Any], positive: Any = None) -> TradeOff:
    """What thresholds reach on held rows.

    Parameters
    ----------
    held : Held
    classes : sequence
    positive : label, optional
        One of two classes, for rules that predict it above a threshold; by default, rows below the threshold are not
        answered.

    Examples
    --------
    >>> scores = np.linspace(-0.95, 0.95, 20)
    >>> found = trade_off(Held(scores, (scores > 0.2).astype(int)), ("well", "ill"), "ill")
    >>> [(p.threshold, p.recall, p.precision, p.share) for p in found.points[:2]]
    [(0.2, 1.0, 1.0, 0.4), (0.3, 0.875, 1.0, 0.35)]
    """
    names = [str(label) for label in classes]
    if positive is None:
        points = [_point(held, decision) for decision in _abstaining_decisions(held)]
        return TradeOff(positive=None, n_rows=len(held.codes), points=tuple(points))
    if len(names) != 2 or str(positive) not in names:
        raise ValueError(f"positive must be one of two classes; got {positive!r}, of {', '.join(names)}.")
    code = names.index(str(positive))
    if not np.any(held.codes == code):
        raise ValueError(f"no row of the first part with a score is {positive}.")
    points = [_point(held, decision) for decision in _cuts(held, code)]
    return TradeOff(positive=str(positive), n_rows=len(held.codes), points=tuple(points))


def _abstaining_decisions(held: Held) -> list[Decision]:
    """Thresholds on the confidence at which about `SHARES` of the rows are answered."""
    values = confidence(held.scores)
    levels = np.quantile(values, 1.0 - np.array(SHARES), method="lower")
    return [Decision(kind="abstain", threshold=float(threshold)) for threshold in cut_below(values, levels)]


def _cuts(held: Held, code: int) -> list[Decision]:
    """Thresholds on the score for a class of two that find about `RECALLS` of its rows."""
    scores = held.scores
    if code == 0:
        scores = -held.scores
    levels = np.quantile(scores[held.codes == code], 1.0 - np.array(RECALLS), method="lower")
    return [Decision(kind="cut", threshold=float(threshold), positive=code) for threshold in cut_below(scores, levels)]


def trade_offs(held: Held | None, classes: Sequence[Any], positive: Any = None) -> tuple[TradeOff, ...]:
    """The tables of a model: of a cut, for two classes, and of abstaining; none without held rows of two classes.

    Parameters
    ----------
    held : Held or None
    classes : sequence
    positive : label, optional
        By default, the rarer of two classes.
    """
    if held is None or len(np.unique(held.codes)) < 2:
        return ()
    abstaining = trade_off(held, classes)
    if len(classes) != 2:
        return (abstaining,)
    if positive is None:
        rarer = int(np.mean(held.codes == 1) <= 0.5)
        positive = classes[rarer]
    return trade_off(held, classes, positive), abstaining


def _point(held: Held, decision: Decision) -> Point:
    threshold = float(decision.threshold or 0.0)
    above = decision.score(held.scores) > threshold
    if decision.kind == "abstain":
        return Point(threshold=threshold, share=float(above.mean()), error=float(held.failing[above].mean()))
    is_positive = held.codes == decision.positive
    right = float((above & is_positive).sum())
    return Point(
        threshold=threshold,
        share=float(above.mean()),
        error=float(np.mean(above != is_positive)),
        recall=right / float(is_positive.sum()),
        precision=right / float(above.sum()),
    )
