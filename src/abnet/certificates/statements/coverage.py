"""`Coverage`: the share of new rows that a model that abstains answers."""

from typing import TYPE_CHECKING, ClassVar

from abnet.bounds.local_level import chosen_rate_lower
from abnet.certificates.statements.answered_error import AnsweredErrorBound, AnsweredErrorTest
from abnet.certificates.statements.error_rate import AnswerErrorRate
from abnet.certificates.statements.statement import Side, Statement
from abnet.utils.wording import number_of, percent, percent_down

if TYPE_CHECKING:
    from abnet.certificates.certificate import Certificate
    from abnet.certificates.facts import Facts

__all__ = ["Coverage"]

RARE = 0.1
"""A model that answers at most this share of the rows is warned about."""


class Coverage(Statement, frozen=True, kw_only=True, tag="coverage"):
    """A lower bound on the share of answered rows, by Clopper-Pearson at a level for the choice of the threshold.

    Attributes
    ----------
    answered, n : int
        Answered rows, of n.
    n_thresholds : int
        Number of thresholds among which one was selected with the same rows. `n_candidates` counts each of them once
        for each model.
    """

    answered: int
    n: int
    n_thresholds: int = 1

    side: ClassVar[Side] = "at least"
    about_decision: ClassVar[bool] = True

    @property
    def about(self) -> str:
        """The subject in a few words."""
        return "coverage"

    @property
    def n_choices(self) -> int:
        """Number of thresholds."""
        return self.n_thresholds

    def bound(self) -> float:
        """Clopper-Pearson, at a level that holds at all thresholds jointly."""
        n_models = self.n_candidates // self.n_thresholds
        return chosen_rate_lower(self.answered, self.n, self.n_thresholds, self.delta, n_candidates=n_models)

    def check_counts(self, certificate: "Certificate") -> None:
        """The answered rows are those of the statement about their errors."""
        self.expect("n", self.n, certificate.facts.n_rows)
        tested = certificate.find(AnsweredErrorTest)
        fixed = certificate.find(AnsweredErrorBound)
        if tested is not None:
            self.expect("answered", self.answered, tested.answered)
            return
        self.expect("n_thresholds", self.n_thresholds, 1)
        if fixed is not None:
            self.expect("answered", self.answered, fixed.answered)
        else:
            self.expect("answered", self.answered, 0)
        error = certificate.find(AnswerErrorRate)
        if error is not None:
            self.expect("answers of the error rate", error.answers, "or none")

    def clause(self, facts: "Facts") -> str:
        """The main clause."""
        return f"the share of rows of {facts.new_data} that are answered is {self.value_text}"

    def seen(self, facts: "Facts") -> str:
        """Answered rows, and all rows."""
        return f" ({self.answered:,} of {number_of(self.n, facts.counted())})"

    @property
    def headline_note(self) -> str:
        """The share of answered rows."""
        return f"At least {percent_down(self.value or 0.0)} of the rows are answered."

    @property
    def warning(self) -> str | None:
        """A warning that hardly any row is answered."""
        share = self.answered / self.n
        if share > RARE:
            return None
        return f"The rule answers only {percent(share)} of the held-out rows ({self.answered:,} of {self.n:,})."
