"""What a cut costs: share of the rows predicted as positive, recall, precision and error rate, as statements."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from abnet.certificates.decision import Decision
from abnet.certificates.statement import Statement, state
from abnet.utils.wording import percent

__all__ = ["OF_RULE", "extreme", "rates_of_rule", "rule_of"]

OF_RULE = "decision"
"""What the statements of this module are about."""


def rule_of(decision: Decision, classes: Sequence[str]) -> dict[str, float | str]:
    """The fields of a decision that a statement records."""
    rule: dict[str, float | str] = {"threshold": float(decision.threshold or 0.0)}
    return rule if decision.positive is None else {**rule, "called": classes[decision.positive]}


def rates_of_rule(
    decision: Decision,
    above: ArrayLike,
    rows: ArrayLike,
    classes: Sequence[str],
    *,
    goal: str = "",
    delta: float,
    n_candidates: int,
    n_thresholds: int = 1,
) -> list[Statement]:
    """Bounds on what a cut costs: each holds with its own confidence 1-δ.

    At a fixed threshold each count is binomial (the recall given the number of positive rows, the precision given the
    number of rows above the threshold), so Clopper-Pearson limits hold. If the threshold was selected with the same
    rows among G that were fixed before, the limit is computed at δ/G: it then holds at all G thresholds with
    probability at least 1-δ, so it also holds at the selected one.

    Parameters
    ----------
    decision : Decision
        A cut.
    above, rows : int arrays (3,)
        Rows above the threshold, and all rows, by true class; the last is for labels that the model does not know.
    classes : sequence of two str
    goal : {"", "recall", "precision"}
        The quantity that the goal is about; it has its own statement.
    delta : float
    n_candidates : int
        Number of models among which one is chosen with these rows.
    n_thresholds : int
        Number of thresholds among which this one was selected with these rows.

    Examples
    --------
    >>> cut = Decision(kind="cut", threshold=0.3, positive=1)
    >>> made = rates_of_rule(cut, [20, 90, 0], [200, 100, 0], ("well", "ill"), delta=0.05, n_candidates=1)
    >>> [(s.quantity, s.side, round(s.value, 3)) for s in made]
    [('recall', 'at least', 0.836), ('precision', 'at least', 0.747), ('flagged', 'at most', 0.415), \
('error', 'at most', 0.133)]
    """
    called, all_rows = np.asarray(above, np.int64), np.asarray(rows, np.int64)
    positive = int(decision.positive or 0)
    right, flagged, n = int(called[positive]), int(called.sum()), int(all_rows.sum())
    right_below = int((all_rows - called)[1 - positive])
    rule = rule_of(decision, classes)
    if n_thresholds > 1:
        rule["thresholds"] = n_thresholds
    common: dict[str, Any] = {"delta": delta, "n_candidates": n_candidates * n_thresholds, "rule": rule}
    made = []
    for quantity, among in (("recall", int(all_rows[positive])), ("precision", flagged)):
        if quantity != goal and among:
            counted = {"successes": right, "n": among}
            made.append(state(
                quantity, OF_RULE, "clopper_pearson_lower", counted, side="at least", name=classes[positive], **common
            ))  # fmt: skip
    counted = {"errors": flagged, "n": n}
    made.append(state("flagged", OF_RULE, "clopper_pearson_bound", counted, name=classes[positive], **common))
    counted = {"errors": n - right - right_below, "n": n}
    made.append(state("error", OF_RULE, "clopper_pearson_bound", counted, **common))
    return made


NEARLY = 0.9
"""Share of the rows from which on a rule decides nearly all of them in the same way."""


def extreme(statements: Sequence[Statement]) -> str | None:
    """A warning if a certified rule flags nearly all rows or misses nearly all positives, or answers hardly any row.

    Examples
    --------
    >>> cut = Decision(kind="cut", threshold=0.3, positive=1)
    >>> terms = {"classes": ("well", "ill"), "delta": 0.05, "n_candidates": 1}
    >>> extreme(rates_of_rule(cut, [20, 90, 0], [200, 100, 0], **terms))
    >>> print(extreme(rates_of_rule(cut, [190, 100, 0], [200, 100, 0], **terms)))
    The rule predicts ill for 96.7% of the held-out rows (290 of 300), so it hardly tells the classes apart.
    """
    found = {(s.quantity, s.of): s for s in statements}
    flagged, recall = found.get(("flagged", OF_RULE)), found.get(("recall", OF_RULE))
    coverage = found.get(("coverage", "predict"))
    if flagged is not None and _share(flagged, "errors") >= NEARLY:
        seen = _counted(flagged, "errors", "held-out rows")
        return f"The rule predicts {flagged.name} for {seen}, so it hardly tells the classes apart."
    if recall is not None and _share(recall, "successes") <= 1 - NEARLY:
        seen = _counted(recall, "successes", f"held-out rows of class {recall.name}")
        return f"The rule finds only {seen}."
    if coverage is not None and _share(coverage, "successes") <= 1 - NEARLY:
        return f"The rule answers only {_counted(coverage, 'successes', 'held-out rows')}."
    return None


def _numbers(statement: Statement, name: str) -> tuple[int, int]:
    count, n = statement.counted[name], statement.counted["n"]
    assert isinstance(count, int)
    assert isinstance(n, int)
    return count, n


def _share(statement: Statement, name: str) -> float:
    count, n = _numbers(statement, name)
    return count / n


def _counted(statement: Statement, name: str, what: str) -> str:
    count, n = _numbers(statement, name)
    return f"{percent(count / n)} of the {what} ({count:,} of {n:,})"
