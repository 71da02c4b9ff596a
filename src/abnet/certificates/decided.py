"""A model's own decision on labelled rows: what its goal is about comes first, and rows without an answer apart."""

from typing import Any

import msgspec
import numpy as np

from abnet.certificates.certificate import Certificate
from abnet.certificates.decision import Decision
from abnet.certificates.from_evidence import Terms
from abnet.certificates.outside import Judged
from abnet.certificates.rule_rates import rates_of_rule, rule_of
from abnet.certificates.statement import Statement, state

__all__ = ["about_the_decision"]

OR_NONE: dict[str, float | str] = {"answers": "or none"}
"""Marks statements that count rows without an answer as errors."""


def about_the_decision(
    certificate: Certificate, judged: Judged, decision: Decision, promised: Certificate | None, terms: Terms
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
        A cut, or abstaining.
    promised : Certificate or None
        The model's own; it says whether a cut is for recall or for precision.
    terms : Terms

    Examples
    --------
    >>> from abnet.certificates.certify_model import certify_judged
    >>> from abnet.certificates.outside import judge_answers
    >>> judged, terms = judge_answers([0, 1] * 50, [0, None] * 50), Terms(source="test set")
    >>> errors = certify_judged(judged, terms, np.arange(100))
    >>> made = about_the_decision(errors, judged, Decision(kind="abstain", threshold=0.5), None, terms)
    >>> [(s.quantity, s.of, round(s.value, 3)) for s in made.statements[:3]]
    [('error', 'answered rows', 0.058), ('coverage', 'predict', 0.414), ('error', 'predict', 0.586)]
    """
    rule: dict[str, float | str] = {"threshold": float(decision.threshold or 0.0)}
    options: dict[str, Any] = {"delta": terms.delta, "n_candidates": terms.n_candidates}
    if decision.kind == "abstain":
        answered = judged.answers < len(judged.classes)
        n, errors = int(answered.sum()), int(judged.wrong[answered].sum())
        counted = {"successes": n, "n": len(answered)}
        first = [state("coverage", "predict", "clopper_pearson_lower", counted, side="at least", **options)]
        if n:
            counted = {"errors": errors, "n": n}
            first.insert(0, state("error", "answered rows", "clopper_pearson_bound", counted, rule=rule, **options))
        marked = dict.fromkeys(("predict", "class", "population"), OR_NONE)
    else:
        rule = rule_of(decision, judged.names)
        first = _rates(judged, decision, promised, options)
        marked = {"predict": rule}
    if certificate.facts.n_groups is not None:  # rows of a group are no independent draws
        first = []
    rest = (
        msgspec.structs.replace(s, rule={**s.rule, **marked.get(s.of, {})}) if s.quantity == "error" else s
        for s in certificate.statements
    )
    return msgspec.structs.replace(certificate, statements=(*first, *rest))


def _rates(
    judged: Judged, decision: Decision, promised: Certificate | None, options: dict[str, Any]
) -> list[Statement]:
    """Recall or precision, whichever the model promises, and then what else the rule reaches; errors are counted apart.

    The threshold was not chosen with these rows, so nothing has to be paid for the choice.
    """
    goals = () if promised is None else promised.statements
    called, n_names = judged.answers == decision.positive, len(judged.names) + 1
    above, rows = (np.bincount(judged.truth[some], minlength=n_names) for some in (called, np.ones_like(called)))
    made = rates_of_rule(decision, above, rows, judged.names, **options)
    first, rest = [], []
    for s in made:
        if any((goal.quantity, goal.of) == (s.quantity, "class") and "threshold" in goal.rule for goal in goals):
            first.append(msgspec.structs.replace(s, of="class"))
        elif s.quantity != "error":
            rest.append(s)
    return [*first, *rest]
