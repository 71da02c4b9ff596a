"""`ErrorRate`: upper bounds on an error rate; `AnswerErrorRate`: on that of a model's answers."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Self

import msgspec

from abnet.certificates.statements.decision_rule import CutRule
from abnet.certificates.statements.statement import Answers, Statement
from abnet.utils.wording import confidence, percent_up

if TYPE_CHECKING:
    from abnet.certificates.certificate import Certificate
    from abnet.certificates.facts import Facts

__all__ = ["AnswerErrorRate", "ErrorRate"]

PER_CLASS = "classes"
"""The error bounds of all classes hold jointly."""


class ErrorRate(Statement, frozen=True):
    """An upper bound on an error rate. The first one about all rows is the `vote_error_bound` of a certificate."""


class AnswerErrorRate(ErrorRate, frozen=True, kw_only=True):
    """An upper bound on the error rate of a model's answers to new rows.

    Attributes
    ----------
    label : str or None
        The class of these rows; None for all rows. The bounds for all classes hold jointly.
    answers : {"predict", "vote", "or none"}
        Which answers count as errors.
    rule : CutRule or None
        The threshold by which the rows were answered, if it was fixed before they were seen.
    """

    label: str | None = None
    answers: Answers = "predict"
    rule: CutRule | None = None

    counts_groups: ClassVar[bool] = True

    @property
    def about(self) -> str:
        """The subject in a few words."""
        if self.label is None:
            return "error rate"
        return f"error rate of class {self.label}"

    @property
    def jointly(self) -> str | None:
        """Bounds for classes hold jointly."""
        if self.label is None:
            return None
        return PER_CLASS

    def delta_share(self, certificate: "Certificate") -> float:
        """The δ of the facts, or the share of the class."""
        return certificate.facts.delta_of(self.label)

    def counting(self, answers: Answers) -> Self:
        """The statement about these answers."""
        return msgspec.structs.replace(self, answers=answers)

    def check_counts(self, certificate: "Certificate") -> None:
        """Raise a ValueError if other errors are counted than for all rows, or if groups are counted by class."""
        overall = certificate.find(AnswerErrorRate)
        if overall is not None:
            self.expect("answers", self.answers, overall.answers)
        if self.label is not None or self.answers == "vote":
            self.expect("n_groups", None, certificate.facts.n_groups)
        if self.rule is not None:
            self._check_rule(self.rule, certificate)

    def _check_rule(self, rule: CutRule, certificate: "Certificate") -> None:
        """Raise a ValueError unless a fixed threshold answered all rows."""
        self.expect("label", self.label, None)
        self.expect("answers", self.answers, "predict")
        self.expect("trained", False, certificate.facts.trained)
        certificate.facts.place_of(rule.called)
        for statement in certificate.statements:
            if statement.chose_decision:
                raise ValueError(
                    f"the {self.about} has a threshold, but the {statement.about} chose one on these rows."
                )

    def clause(self, facts: "Facts") -> str:
        """The main clause."""
        new_rows = facts.new_data
        vote = "the plain vote (the most likely class)"
        if self.label is not None:
            new_rows = f"new rows of class {self.label}"
            vote = "the plain vote"
        if self.answers == "or none":
            return f"the share of wrong answers and rows without an answer on {new_rows} is {self.value_text}"
        if self.answers == "vote":
            return f"the error rate of {vote} on {new_rows} is {self.value_text}"
        condition = ""
        if self.rule is not None:
            condition = self.rule.condition(facts)
        return f"the error rate on {new_rows} is {self.value_text}{condition}"

    @classmethod
    def joint_sentence(cls, family: Sequence[Statement], certificate: "Certificate", *, details: bool) -> str:
        """That the bounds per class hold jointly, and what follows for the balanced error rate."""
        bounds = "bounds"
        if certificate.shows_gibbs_risk_by_class(details=details):
            bounds = "error bounds"
        balanced = ""
        if certificate.balanced_error_bound is not None and not certificate.abstains:
            balanced = f" and bound the balanced error rate by {percent_up(certificate.balanced_error_bound)}"
        sure = confidence(certificate.delta_of(PER_CLASS))
        return (
            f"The {bounds} per class hold jointly with {sure} confidence{balanced}; the overall bound is a separate "
            "statement."
        )
