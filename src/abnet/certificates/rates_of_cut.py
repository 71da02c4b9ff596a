"""What a cut costs: share of the rows predicted as positive, recall, precision and error rate, as statements."""

from collections.abc import Sequence
from typing import Any

from abnet.certificates.cut_counts import CutCounts
from abnet.certificates.statements.chosen_cut import ChosenCutError, ChosenPrecision
from abnet.certificates.statements.cut_bound import CutBound
from abnet.certificates.statements.cut_error import CutError
from abnet.certificates.statements.decision_rule import CutRule
from abnet.certificates.statements.flagged import Flagged
from abnet.certificates.statements.goal_statement import GoalStatement
from abnet.certificates.statements.precision import PrecisionBound
from abnet.certificates.statements.recall import RecallBound
from abnet.certificates.statements.statement import Statement

__all__ = ["first_warning", "rates_of_cut"]

_KINDS = (RecallBound, PrecisionBound, Flagged, CutError)
_BY_RANK: dict[type[CutBound], type[CutBound]] = {PrecisionBound: ChosenPrecision, CutError: ChosenCutError}
"""Limits that hold at every threshold on the line, in place of those that do not."""


def rates_of_cut(
    counts: CutCounts,
    rule: CutRule,
    *,
    without: type[CutBound] | None = None,
    delta: float,
    n_candidates: int,
    n_thresholds: int = 1,
    by_rank: bool = False,
) -> list[CutBound]:
    """Bounds on what a cut costs: each holds with its own confidence 1-δ.

    Parameters
    ----------
    counts : CutCounts
    rule : CutRule
    without : subclass of CutBound, optional
        The rate that the goal is about; it has its own statement.
    delta : float
    n_candidates : int
        Number of models among which one is chosen with these rows.
    n_thresholds : int
        Number of thresholds among which this one was selected with these rows.
    by_rank : bool
        Whether they are scores of these rows: then only limits that hold at every threshold on the line are stated.

    Examples
    --------
    >>> counts = CutCounts(100, 90, negatives=200, negatives_above=20, rows=300, rows_above=110)
    >>> made = rates_of_cut(counts, CutRule(threshold=0.3, called="ill"), delta=0.05, n_candidates=1)
    >>> [(type(s).__name__, s.side, round(s.value, 3)) for s in made]
    [('RecallBound', 'at least', 0.836), ('PrecisionBound', 'at least', 0.747), ('Flagged', 'at most', 0.415), \
('CutError', 'at most', 0.133)]
    """
    kinds: list[Any] = [kind for kind in _KINDS if kind is not without]
    if by_rank:
        kinds = [_BY_RANK.get(kind, kind) for kind in kinds]
    bounds = [
        kind.of_cut(counts, rule, delta=delta, n_candidates=n_candidates * n_thresholds, n_thresholds=n_thresholds)
        for kind in kinds
    ]
    return [bound for bound in bounds if bound is not None]


def first_warning(statements: Sequence[Statement]) -> str | None:
    """A warning if a certified rule flags nearly all rows or misses nearly all positives, or answers hardly any row.

    Examples
    --------
    >>> terms = {"delta": 0.05, "n_candidates": 1}
    >>> rule = CutRule(threshold=0.3, called="ill")
    >>> first_warning(rates_of_cut(CutCounts(100, 90, 200, 20, 300, 110), rule, **terms))
    >>> print(first_warning(rates_of_cut(CutCounts(100, 100, 200, 190, 300, 290), rule, **terms)))
    The rule predicts ill for 96.7% of the held-out rows (290 of 300), so it hardly tells the classes apart.
    """
    if any(isinstance(statement, GoalStatement) and statement.may_be_one_sided for statement in statements):
        return None
    warnings = (statement.warning for statement in statements)
    return next((warning for warning in warnings if warning is not None), None)
