"""`CopiedErrorBound`: the error rate of a copy of the model, such as an exported or quantised one."""

from typing import TYPE_CHECKING, ClassVar

from abnet.bounds.copied_model import copy_error_bound
from abnet.certificates.statements.statement import Statement
from abnet.utils.wording import number_of

if TYPE_CHECKING:
    from abnet.certificates.certificate import Certificate
    from abnet.certificates.facts import Facts

__all__ = ["CopiedErrorBound"]


class CopiedErrorBound(Statement, frozen=True, kw_only=True, tag="error of a copy"):
    """Error rate of another program that is meant to give the same answers; its rows need no labels.

    Attributes
    ----------
    errors, n : int
        Wrong answers of the model among n labelled rows.
    differing, compared : int
        Rows on which the two answers differ, of the unlabelled rows that were compared.
    """

    errors: int
    n: int
    differing: int
    compared: int

    premises: ClassVar[tuple[str, ...]] = ("that the model was trained and chosen without these rows",)

    @property
    def about(self) -> str:
        """The subject in a few words."""
        return "error rate of the copy"

    def bound(self) -> float:
        """The error rate of the model, and the rate of different answers."""
        return copy_error_bound(
            self.errors, self.n, self.differing, self.compared, self.delta, n_candidates=self.n_candidates
        )

    def check_counts(self, certificate: "Certificate") -> None:
        """Rows and errors are those of the facts."""
        facts = certificate.facts
        self.expect("n", self.n, facts.n_rows)
        self.expect("errors", self.errors, facts.errors_of(None))
        self.expect("trained", False, facts.trained)

    def clause(self, facts: "Facts") -> str:
        """The main clause."""
        return f"the error rate of the copy on {facts.new_data} is {self.value_text}"

    def seen(self, facts: "Facts") -> str:
        """The model's errors, and the answers that differ."""
        errors = f"{number_of(self.errors, 'error')} of the model on {number_of(self.n, facts.counted())}"
        return f" ({errors}; {self.differing:,} of {number_of(self.compared, 'answer')} differ)"

    @property
    def assumption(self) -> str:
        """About the rows that were compared."""
        return (
            "The rows on which the two answers were compared are independent draws from the same source, too, and "
            "neither the model nor the copy was made with them."
        )
