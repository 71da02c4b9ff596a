"""The error rate among answered rows of a model that abstains: for a fixed threshold, or a target."""

from typing import TYPE_CHECKING, ClassVar

from abnet.bounds.clopper_pearson import clopper_pearson_bound
from abnet.bounds.counted import limit_of_failures
from abnet.certificates.statements.decision_rule import AbstainRule
from abnet.certificates.statements.rate_test import RateTest
from abnet.certificates.statements.statement import Statement
from abnet.utils.wording import number_of, stated

if TYPE_CHECKING:
    from abnet.certificates.certificate import Certificate
    from abnet.certificates.facts import Facts

__all__ = ["AnsweredErrorBound", "AnsweredErrorTest"]


class AnsweredErrorBound(Statement, frozen=True, kw_only=True, tag="error among answered rows"):
    """Error rate among answered rows at a threshold that was fixed before the rows were seen, by Clopper-Pearson.

    Attributes
    ----------
    errors, n : int
        Wrong answers among n answered rows.
    rule : AbstainRule
    """

    errors: int
    n: int
    rule: AbstainRule

    about_decision: ClassVar[bool] = True

    @property
    def about(self) -> str:
        """The subject in a few words."""
        return "error rate among answered rows"

    @property
    def is_goal(self) -> bool:
        """True: abstaining is for this rate."""
        return True

    @property
    def answered(self) -> int:
        """Number of answered rows."""
        return self.n

    def bound(self) -> float:
        """Clopper-Pearson."""
        return clopper_pearson_bound(self.errors, self.n, self.delta, n_candidates=self.n_candidates)

    def check_counts(self, certificate: "Certificate") -> None:
        """The facts count rows without an answer as errors."""
        facts = certificate.facts
        self.expect("trained", False, facts.trained)
        unanswered = facts.n_rows - self.n
        self.expect("wrong and missing answers", self.errors + unanswered, facts.errors_of(None))

    def clause(self, facts: "Facts") -> str:
        """The main clause."""
        condition = self.rule.condition(facts)
        return f"the error rate among answered rows of {facts.new_data} is {self.value_text}{condition}"

    def seen(self, facts: "Facts") -> str:
        """Errors and answered rows."""
        return f" ({number_of(self.errors, 'error')} on {number_of(self.n, facts.counted())})"


class AnsweredErrorTest(RateTest, frozen=True, kw_only=True, tag="error among answered rows, tested"):
    """A target error rate among answered rows.

    Attributes
    ----------
    limit : float
        The target.
    rule : AbstainRule
    """

    limit: float
    rule: AbstainRule

    @property
    def about(self) -> str:
        """The subject in a few words."""
        return "error rate among answered rows"

    @property
    def target(self) -> str:
        """The target at the beginning of a sentence."""
        return f"An error rate of at most {stated(self.limit)} among answered rows"

    @property
    def headline(self) -> str:
        """What the value is."""
        return "error rate among answered rows (upper bound)"

    @property
    def answered(self) -> int:
        """Number of answered rows."""
        return self.trials

    def bound(self) -> float | None:
        """The target, if the test shows it."""
        return limit_of_failures(self.failures, self.trials, self.limit, self.delta, n_candidates=self.n_candidates)

    def check_counts(self, certificate: "Certificate") -> None:
        """Right and wrong answers are among those of the facts, which count the vote without abstaining."""
        facts = certificate.facts
        wrong = facts.errors_of(None)
        self.expect_at_most("failures", self.failures, wrong)
        self.expect_at_most("right answers", self.trials - self.failures, facts.n_rows - wrong)

    def clause(self, facts: "Facts") -> str:
        """The main clause."""
        condition = self.rule.condition(facts)
        return (
            f"the error rate among answered rows of {facts.new_data} is at most {stated(self.value or 0.0)}{condition}"
        )
