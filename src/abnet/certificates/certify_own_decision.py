"""A model's own decision on labelled rows: what its goal is about comes first, and rows without an answer apart."""

from typing import Any

import msgspec
import numpy as np

from abnet.certificates.certificate import Certificate
from abnet.certificates.cost_table import costs_of_answers
from abnet.certificates.cut_counts import CutCounts
from abnet.certificates.decision import Decision
from abnet.certificates.expected_costs import ExpectedCosts
from abnet.certificates.from_evidence import counting
from abnet.certificates.judged_answers import Judged
from abnet.certificates.keyed_order import Places
from abnet.certificates.rates_of_cut import rates_of_cut
from abnet.certificates.statements.answered_error import AnsweredErrorBound
from abnet.certificates.statements.cost_bound import CostBound
from abnet.certificates.statements.coverage import Coverage
from abnet.certificates.statements.cut_bound import CutBound
from abnet.certificates.statements.cut_error import CutError
from abnet.certificates.statements.decision_rule import AbstainRule, CutRule
from abnet.certificates.statements.error_rate import AnswerErrorRate
from abnet.certificates.statements.rate_test import CutTest
from abnet.certificates.statements.statement import Statement
from abnet.certificates.terms import Terms

__all__ = ["about_the_decision"]


def about_the_decision(
    certificate: Certificate,
    judged: Judged,
    decision: Decision,
    promised: Certificate | None,
    terms: Terms,
    order: Places,
) -> Certificate:
    """The certificate of errors, with what the decision was made for, on the same rows.

    The threshold was fixed before these rows were seen, so that the rows that it selects are independent draws too, and
    Clopper-Pearson limits hold for them. This is not so for rows in groups: their certificate gains no statement, but
    says what it counts.

    Parameters
    ----------
    certificate : Certificate
        Counts every row without an answer as an error.
    judged : Judged
        Answers by the decision.
    decision : Decision
        A cut, abstaining, or the least expected cost.
    promised : Certificate or None
        The model's own; it says which rate a cut is for.
    terms : Terms
    order : int array (n,)
        The order in which betting bounds read the rows.

    Examples
    --------
    >>> import numpy as np
    >>> from abnet.certificates.certify_model import certify_judged
    >>> from abnet.certificates.judged_answers import judge_answers
    >>> judged, terms = judge_answers([0, 1] * 50, [0, None] * 50), Terms(source="test set")
    >>> order = np.arange(100)
    >>> errors = certify_judged(judged, terms, order)
    >>> made = about_the_decision(errors, judged, Decision(kind="abstain", threshold=0.5), None, terms, order)
    >>> [(s.about, round(s.value, 3)) for s in made.statements[:3]]
    [('error rate among answered rows', 0.058), ('coverage', 0.414), ('error rate', 0.586)]
    """
    if decision.kind == "abstain":
        return _of_abstaining(certificate, judged, decision, terms)
    if decision.costs is not None:
        return _of_costs(certificate, judged, decision.costs, terms, order)
    return _of_cut(certificate, judged, decision, promised, terms)


def _of_abstaining(certificate: Certificate, judged: Judged, decision: Decision, terms: Terms) -> Certificate:
    """Errors among answered rows, and the share of answered rows; other errors count rows without an answer."""
    errors = counting(certificate, "or none")
    if certificate.facts.n_groups is not None:
        return errors
    is_answered = judged.answers < len(judged.classes)
    n_answered = int(is_answered.sum())
    options: dict[str, Any] = {"delta": terms.delta, "n_candidates": terms.n_candidates}
    coverage = Coverage.from_counts(answered=n_answered, n=len(is_answered), **options)
    first: list[Statement] = [coverage]
    if n_answered:
        wrong = int(judged.wrong[is_answered].sum())
        rule = AbstainRule.of(decision)
        first.insert(0, AnsweredErrorBound.from_counts(errors=wrong, n=n_answered, rule=rule, **options))
    return msgspec.structs.replace(errors, statements=(*first, *errors.statements))


def _of_costs(
    certificate: Certificate, judged: Judged, costs: ExpectedCosts, terms: Terms, order: Places
) -> Certificate:
    """The expected cost of the answers, by the model's own table of costs, before the errors."""
    if certificate.facts.n_groups is not None:
        return certificate
    table = np.array(costs.table)
    cost = CostBound.from_values(
        costs_of_answers(table, judged.answers, judged.truth)[order],
        largest=costs.largest,
        rule=None,
        minimised=True,
        delta=terms.delta,
        n_candidates=terms.n_candidates,
    )
    return msgspec.structs.replace(certificate, statements=(cost, *certificate.statements))


def _of_cut(
    certificate: Certificate, judged: Judged, decision: Decision, promised: Certificate | None, terms: Terms
) -> Certificate:
    """The rate that the model promises, then what else the rule reaches; the error rate names the rule.

    The threshold was not chosen with these rows, so nothing has to be paid for the choice.
    """
    rule = CutRule.of(decision, judged.names)
    errors = [_with_rule(statement, rule) for statement in certificate.statements]
    if certificate.facts.n_groups is not None:
        return msgspec.structs.replace(certificate, statements=tuple(errors))
    counts = _cut_counts(judged, decision)
    bounds = rates_of_cut(counts, rule, without=CutError, delta=terms.delta, n_candidates=terms.n_candidates)
    goals: list[CutBound] = []
    if promised is not None:
        for goal in promised.each(CutTest):
            goal_bound = goal.rate_bound.of_cut(
                counts, rule, promised=True, delta=terms.delta, n_candidates=terms.n_candidates
            )
            bounds = [bound for bound in bounds if type(bound) is not goal.rate_bound]
            goals += filter(None, [goal_bound])
    return msgspec.structs.replace(certificate, statements=(*goals, *bounds, *errors))


def _with_rule(statement: Statement, rule: CutRule) -> Statement:
    """The error rate on all rows, with the threshold that answers them."""
    if isinstance(statement, AnswerErrorRate) and statement.label is None:
        return msgspec.structs.replace(statement, rule=rule)
    return statement


def _cut_counts(judged: Judged, decision: Decision) -> CutCounts:
    """Rows by class, and those that are predicted as positive; other labels are of neither class."""
    assert decision.positive is not None
    is_above = judged.answers == decision.positive
    is_positive = judged.truth == decision.positive
    is_negative = judged.truth == 1 - decision.positive
    return CutCounts(
        positives=int(is_positive.sum()),
        positives_above=int((is_positive & is_above).sum()),
        negatives=int(is_negative.sum()),
        negatives_above=int((is_negative & is_above).sum()),
        rows=len(is_above),
        rows_above=int(is_above.sum()),
    )
