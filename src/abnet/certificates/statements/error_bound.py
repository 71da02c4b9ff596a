"""`ErrorBound`: the error rate of answers to new rows, by Clopper-Pearson."""

from typing import TYPE_CHECKING

from abnet.bounds.clopper_pearson import clopper_pearson_bound
from abnet.certificates.rows_part import RowsPart
from abnet.certificates.statements.error_rate import AnswerErrorRate
from abnet.certificates.statements.statement import TableLine
from abnet.certificates.terms import Terms
from abnet.utils.wording import number_of

if TYPE_CHECKING:
    from abnet.certificates.certificate import Certificate
    from abnet.certificates.facts import Facts

__all__ = ["ErrorBound"]


class ErrorBound(AnswerErrorRate, frozen=True, kw_only=True, tag="error"):
    """Error rate of a model that was fixed before the rows were seen: the number of errors is binomial.

    Attributes
    ----------
    errors, n : int
        Wrong answers among n rows.
    """

    errors: int
    n: int

    @classmethod
    def of_part(cls, part: RowsPart, terms: Terms) -> "ErrorBound":
        """The error rate on all rows, or on those of one class."""
        return cls.from_counts(
            label=part.label, errors=part.errors, n=part.n, delta=part.delta, n_candidates=terms.n_candidates
        )

    def bound(self) -> float:
        """Clopper-Pearson."""
        return clopper_pearson_bound(self.errors, self.n, self.delta, n_candidates=self.n_candidates)

    def check_counts(self, certificate: "Certificate") -> None:
        """Rows and errors are those of the facts, of a model that was not trained on the rows."""
        facts = certificate.facts
        super().check_counts(certificate)
        self.expect("n", self.n, facts.rows_of(self.label))
        self.expect("errors", self.errors, facts.errors_of(self.label))
        self.expect("n_groups", None, facts.n_groups)
        self.expect("trained", False, facts.trained)

    def cut_counts(self) -> dict[str, int]:
        """All rows and errors, if the answers follow a threshold."""
        if self.rule is None:
            return {}
        return {"rows": self.n, "errors": self.errors}

    def seen(self, facts: "Facts") -> str:
        """Errors and rows."""
        rows = number_of(self.n, facts.counted())
        if self.answers == "or none":
            return f" ({self.errors:,} of {rows})"
        return f" ({number_of(self.errors, 'error')} on {rows})"

    def table_line(self) -> TableLine | None:
        """The error rate of the decision rule."""
        if self.rule is None:
            return None
        return TableLine("error rate", self.value_text, self.errors, self.n)
