"""A certificate in plain English: tables of the main numbers, the statements as sentences, and what they assume."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from abnet.certificates.statements.rate_test import RateTest
from abnet.certificates.statements.statement import Statement
from abnet.utils.natural_order import natural_order
from abnet.utils.text_layout import aligned, paragraphs
from abnet.utils.wording import confidence, number_of, percent, percent_up, shortened

if TYPE_CHECKING:
    from abnet.certificates.certificate import Certificate

__all__ = ["assumptions", "balanced_error_sentences", "describe", "main_table", "rule_table", "sentences"]


def describe(certificate: "Certificate", *, details: bool = False) -> str:
    """Tables of the main numbers, the statements as sentences, and what they assume.

    Parameters
    ----------
    certificate : Certificate
    details : bool
        Whether to include the Gibbs risk, which is about one network drawn at random, if there is a bound for
        ``predict``.
    """
    tables = []
    of_rule = rule_table(certificate)
    if len(of_rule) > 1:
        tables.append(of_rule)
    if certificate.vote_error_bound is not None or certificate.gibbs_risk_bound is not None:
        tables.append(main_table(certificate, details=details))
    for family in _families(certificate):
        cells = type(family[0]).joint_table(family)
        if cells:
            tables.append(cells)
    words = paragraphs(" ".join(sentences(certificate, details=details)), assumptions(certificate))
    return "\n\n".join([*(aligned(cells, least=3) for cells in tables), words])


# The tables


def main_table(certificate: "Certificate", *, details: bool = False) -> list[list[str]]:
    """The main numbers as the cells of a table: one line for all rows, then one for each class in natural order.

    For a network trained through the bound on its Gibbs risk, that bound comes first.
    """
    facts = certificate.facts
    bound = "error rate (upper bound)"
    seen = "errors seen"
    if certificate.abstains:
        bound = "wrong or no answer (upper bound)"
        seen = "seen"
    head = [_whose_answers(certificate), bound, seen, "majority-class error"]
    whole = "all classes"
    if facts.n_groups is not None:
        whole = "a new group"
    overall = [
        whole,
        _bound_cell(certificate.vote_error_bound),
        _count_cell(facts.errors_of(None), facts.n_rows),
        percent(certificate.majority_class_error),
    ]
    per_class = certificate.per_class
    parts = [per_class[place] for place in natural_order([part.label for part in per_class])]
    lines = [overall]
    for part in parts:
        errors = _count_cell(part.vote_errors, part.n_examples)
        lines.append([f"class {_short(part.label)}", _bound_cell(part.vote_error_bound), errors, ""])
    if details or certificate.begins_with_gibbs_risk:
        place = len(head)
        if certificate.begins_with_gibbs_risk:
            place = 1
        head.insert(place, "Gibbs risk (upper bound)")
        risks = [certificate.gibbs_risk_bound, *(part.gibbs_risk_bound for part in parts)]
        for line, risk in zip(lines, risks, strict=True):
            line.insert(place, _bound_cell(risk))
    return [head, *lines]


def _whose_answers(certificate: "Certificate") -> str:
    if certificate.counts_plain_vote:
        return "plain vote"
    return ""


def _bound_cell(bound: float | None) -> str:
    if bound is None:
        return "none"
    return percent_up(bound)


def _count_cell(errors: int, n: int) -> str:
    if n == 0:
        return "no rows"
    return f"{errors:,} of {n:,}"


def _short(name: str) -> str:
    return shortened(" ".join(name.split()), 40)


def rule_table(certificate: "Certificate") -> list[list[str]]:
    """What a certified decision rule reaches, as the cells of a table; only a header if there is none.

    Examples
    --------
    >>> from abnet.certificates.certificate import Certificate
    >>> from abnet.certificates.cut_counts import CutCounts
    >>> from abnet.certificates.evidence import observe
    >>> from abnet.certificates.facts import Facts
    >>> from abnet.certificates.rates_of_cut import rates_of_cut
    >>> from abnet.certificates.statements.decision_rule import CutRule
    >>> from abnet.certificates.terms import Terms
    >>> counts = CutCounts(100, 90, negatives=200, negatives_above=20, rows=300, rows_above=110)
    >>> made = rates_of_cut(counts, CutRule(threshold=0.3, called="ill"), delta=0.05, n_candidates=1)
    >>> facts = Facts.of(observe([1] * 300, [0] * 200 + [1] * 100, ("well", "ill")), Terms())
    >>> for line in rule_table(Certificate(statements=tuple(made), facts=facts)):
    ...     print(*line, sep=" | ")
    decision rule | bound | seen
    recall of ill | at least 83.6% | 90 of 100 (90%)
    precision for ill | at least 74.6% | 90 of 110 (81.8%)
    rows predicted as ill | at most 41.5% | 110 of 300 (36.7%)
    error rate | at most 13.4% | 30 of 300 (10%)
    """
    lines = [["decision rule", "bound", "seen"]]
    if not any(statement.only_in_table for statement in certificate.statements):
        return lines
    for statement in certificate.statements:
        line = statement.table_line()
        if line is not None:
            share = percent(line.number / line.n)
            lines.append([line.what, line.bound, f"{line.number:,} of {line.n:,} ({share})"])
    return lines


# The sentences


def sentences(certificate: "Certificate", *, details: bool = False) -> list[str]:
    """The statements as sentences, and which of them hold jointly."""
    shown = [statement for statement in certificate.statements if _has_sentence(statement, certificate, details)]
    if certificate.begins_with_gibbs_risk:
        shown.sort(key=lambda statement: not statement.is_detail)
    found = [statement.sentence(certificate.facts) for statement in shown]
    if certificate.vote_error_bound is None and certificate.gibbs_risk_bound is not None:
        uncovered = "There is no certificate for `predict`: no theorem covers its voting rule."
        found.insert(int(certificate.begins_with_gibbs_risk), uncovered)
    found += _useless_bound(certificate)
    for family in _families(certificate):
        joint = type(family[0]).joint_sentence(family, certificate, details=details)
        if joint is not None:
            found.append(joint)
    in_table = [statement for statement in certificate.statements if statement.only_in_table]
    if in_table:
        found.append(_about_rule_table(in_table, certificate))
    if certificate.shares:
        found.append(_joint_statements(certificate))
    elif len(shown) + len(in_table) > 1:
        found.append("Each of these statements holds with its own confidence; they do not hold jointly.")
    return found


def _joint_statements(certificate: "Certificate") -> str:
    """Which statements share δ, and what holds for the others."""
    total = certificate.facts.delta * min(1.0, math.fsum(certificate.shares.values()))
    sure = confidence(total)
    units = {statement.unit for statement in certificate.statements}
    if units == set(certificate.shares):
        return f"All of these statements hold jointly with {sure} confidence."
    return (
        f"These hold jointly with {sure} confidence: {'; '.join(certificate.shares)}. Every other statement holds "
        "with its own confidence."
    )


def _has_sentence(statement: Statement, certificate: "Certificate", details: bool) -> bool:
    if statement.jointly is not None or statement.only_in_table:
        return False
    if not statement.is_detail or details:
        return True
    return certificate.begins_with_gibbs_risk or certificate.vote_error_bound is None


def _families(certificate: "Certificate") -> list[list[Statement]]:
    """The statements that hold jointly."""
    families: dict[str, list[Statement]] = {}
    for statement in certificate.statements:
        if statement.jointly is not None:
            families.setdefault(statement.jointly, []).append(statement)
    return list(families.values())


def _about_rule_table(in_table: Sequence[Statement], certificate: "Certificate") -> str:
    choice = ""
    n_choices = max(statement.n_choices for statement in in_table)
    if n_choices > 1:
        choice = f", and accounts for the choice among {n_choices:,} thresholds"
    deltas = sorted({statement.delta for statement in in_table})
    sure = " or ".join(confidence(delta) for delta in deltas)
    return f"Each bound in the table of the decision rule holds with {sure} confidence{choice}."


def _useless_bound(certificate: "Certificate") -> list[str]:
    """Sentences about a bound that is larger than the error rate of a constant answer."""
    bound = certificate.vote_error_bound
    majority = certificate.majority_class_error
    if bound is None or bound <= majority or certificate.abstains:
        return []
    facts = certificate.facts
    most_rows = max(facts.class_rows)
    commonest = facts.classes[facts.class_rows.index(most_rows)]
    comparison = (
        f"The bound on the error rate exceeds the majority-class error: always answering {commonest} is wrong on "
        f"{percent(majority)} of the counted rows."
    )
    return [comparison, *balanced_error_sentences(certificate)]


def balanced_error_sentences(certificate: "Certificate") -> list[str]:
    """That the balanced error rate is certified below that of constant answers, if it is.

    A model for rare classes gives up some of the overall error rate for that, on purpose.
    """
    bound = certificate.balanced_error_bound
    if bound is None:
        return []
    constant = 1.0 - 1.0 / len(certificate.per_class)
    if bound >= constant:
        return []
    return [
        f"The balanced error rate is at most {percent_up(bound)}; that of any constant answer is {percent(constant)}."
    ]


# The assumptions

_PREMISES = {
    ("split", False): "The model and its preprocessing were learned from other rows only",
    ("split", True): "The prior and the preprocessing were learned from other rows only",
    ("init", False): "Nothing in the model depends on these rows",
    ("init", True): "The prior is the random initialisation, and the preprocessing does not depend on these rows",
    ("given", False): "It also assumes that the given prior (the model) was fixed before these rows were seen",
    ("given", True): "It also assumes that the given prior was fixed before these rows were seen",
}
"""What holds for rows of a fit, by their source and whether the posterior was trained on them."""


def assumptions(certificate: "Certificate") -> str:
    """The assumptions of the statements, as a paragraph."""
    facts = certificate.facts
    parts = [_assumed(certificate)]
    if facts.source != "test set":
        parts.append(f"{_PREMISES[facts.source, facts.trained]}.")
    if facts.period is not None:
        parts.append("These rows are all earlier. If the future differs from the period counted, nothing is promised.")
    if any(getattr(statement, "rule", None) is not None for statement in certificate.statements):
        parts.append(_origin_of_threshold(certificate))
    own = [statement.assumption for statement in certificate.statements if statement.assumption is not None]
    parts += dict.fromkeys(own)
    if facts.n_groups is not None:
        parts.append("Every group counts the same, whatever its size. Groups seen in training are not covered.")
    if facts.n_candidates > 1:
        parts.append(f"The bounds account for the choice among {number_of(facts.n_candidates, 'candidate')}.")
    if facts.n_groups is None:
        row = facts.counted().removeprefix("bound ")
        parts.append(f"The bound counts every {row} once; sample weights affect training only.")
    return " ".join(parts)


def _origin_of_threshold(certificate: "Certificate") -> str:
    """Where the candidate thresholds come from."""
    if any(test.by_rank for test in certificate.each(RateTest)):
        return "The candidate thresholds are scores of these rows, tested in an order that was fixed before."
    return "The candidate thresholds were fixed on other rows."


def _assumed(certificate: "Certificate") -> str:
    """The premises of all statements, as one sentence."""
    facts = certificate.facts
    draws = number_of(facts.n_rows, "row")
    if facts.n_groups is not None:
        draws = number_of(facts.n_groups, "group")
    if facts.period is not None:
        draws += f" {facts.period} that were"
    premises = [f"that the {draws} counted and the new data are independent draws from the same source"]
    own = dict.fromkeys(premise for statement in certificate.statements for premise in statement.premises)
    if own:
        premises += own
    elif facts.source == "test set":
        premises.append("that the model was trained and chosen without these rows")
    *most, last = premises
    if not most:
        return f"This assumes {last}."
    return f"This assumes {', '.join(most)} and {last}."
