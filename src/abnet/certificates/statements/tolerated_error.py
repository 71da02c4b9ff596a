"""`ToleratedError`: wrong answers, and answers that could become wrong while cells are off by a declared tolerance."""

from typing import TYPE_CHECKING

from abnet.bounds.clopper_pearson import clopper_pearson_bound
from abnet.certificates.statements.statement import Statement
from abnet.utils.wording import number_of

if TYPE_CHECKING:
    from abnet.certificates.certificate import Certificate
    from abnet.certificates.facts import Facts

__all__ = ["ToleratedError"]


class ToleratedError(Statement, frozen=True, kw_only=True, tag="error, tolerance"):
    """Share of new rows that are wrong, or could become wrong, by Clopper-Pearson over the rows not proved right.

    The tolerance must be declared before the rows are seen, and what it is a multiple of must follow from other rows.

    Attributes
    ----------
    errors : int
        Wrong answers to the rows as they are.
    unproved : int
        Right answers that change within the tolerance, or for which that is open.
    n : int
    tolerance : str
        How far cells may be off, in words.
    """

    errors: int
    unproved: int
    n: int
    tolerance: str

    @property
    def about(self) -> str:
        """The subject in a few words."""
        return f"error rate under the tolerance {self.tolerance}"

    def bound(self) -> float:
        """Clopper-Pearson."""
        return clopper_pearson_bound(self.errors + self.unproved, self.n, self.delta, n_candidates=self.n_candidates)

    def check_counts(self, certificate: "Certificate") -> None:
        """Rows and errors are those of the facts."""
        facts = certificate.facts
        self.expect("trained", False, facts.trained)
        self.expect("n", self.n, facts.n_rows)
        self.expect("errors", self.errors, facts.errors_of(None))
        self.expect_at_most("unproved", self.unproved, self.n - self.errors)

    @property
    def assumption(self) -> str:
        """When the tolerance must have been declared."""
        return "The tolerance was declared before these rows were seen."

    def clause(self, facts: "Facts") -> str:
        """The main clause."""
        return (
            f"{self.value_text} of new rows are wrong, or could become wrong if cells are off by up to the tolerance "
            f"({self.tolerance})"
        )

    def seen(self, facts: "Facts") -> str:
        """Wrong rows and unproved rows."""
        rows = number_of(self.n, facts.counted())
        return f" ({number_of(self.errors, 'error')} on {rows}, and {self.unproved:,} more that could become one)"
