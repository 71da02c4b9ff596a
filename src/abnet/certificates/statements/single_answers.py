"""`SingleAnswers`: how often a prediction set has exactly one class; `SingleAnswerError`: how often that is wrong."""

from typing import TYPE_CHECKING, ClassVar

from abnet.bounds.clopper_pearson import clopper_pearson_bound, clopper_pearson_lower
from abnet.certificates.statements.missed_class import MissedClass
from abnet.certificates.statements.set_size import OfSets, SetSize
from abnet.certificates.statements.statement import Side
from abnet.utils.wording import number_of

if TYPE_CHECKING:
    from abnet.certificates.certificate import Certificate
    from abnet.certificates.facts import Facts

__all__ = ["SingleAnswerError", "SingleAnswers"]


class SingleAnswers(OfSets, frozen=True, kw_only=True, tag="sets of one class"):
    """A lower bound on the share of rows whose set has exactly one class.

    Attributes
    ----------
    singles, n : int
        Rows with exactly one class, of n.
    """

    singles: int
    n: int

    side: ClassVar[Side] = "at least"

    @property
    def about(self) -> str:
        """The subject in a few words."""
        return "share of sets with exactly one class"

    def bound(self) -> float:
        """Clopper-Pearson."""
        if self.level == 0.0:
            return 0.0
        return clopper_pearson_lower(self.singles, self.n, self.level, n_candidates=self.n_candidates)

    def check_counts(self, certificate: "Certificate") -> None:
        """The rows are those of the sizes."""
        super().check_counts(certificate)
        self.expect("n", self.n, self.n_others(certificate.facts))
        sizes = certificate.find(SetSize)
        if sizes is not None:
            self.expect("singles", self.singles, sizes.rows_by_size[1])

    def clause(self, facts: "Facts") -> str:
        """The main clause."""
        return f"the share of {facts.new_data} whose set has exactly one class is {self.value_text}"

    def seen(self, facts: "Facts") -> str:
        """Rows with exactly one class, and all rows."""
        return f" ({self.singles:,} of {number_of(self.n, facts.counted())})"


class SingleAnswerError(OfSets, frozen=True, kw_only=True, tag="error of sets of one class"):
    """An upper bound on the error rate among rows whose set has exactly one class.

    Attributes
    ----------
    errors, n : int
        Wrong classes, of n rows with exactly one class.
    """

    errors: int
    n: int

    @property
    def about(self) -> str:
        """The subject in a few words."""
        return "error rate among sets with exactly one class"

    def bound(self) -> float:
        """Clopper-Pearson."""
        if self.level == 0.0:
            return 1.0
        return clopper_pearson_bound(self.errors, self.n, self.level, n_candidates=self.n_candidates)

    def check_counts(self, certificate: "Certificate") -> None:
        """The rows are those with exactly one class, and their errors are misses."""
        super().check_counts(certificate)
        sizes = certificate.find(SetSize)
        if sizes is not None:
            self.expect("n", self.n, sizes.rows_by_size[1])
        misses = sum(part.misses for part in certificate.each(MissedClass))
        if self.sets.by_class:
            misses += sum(certificate.facts.class_rows[len(self.sets.thresholds) :])
        self.expect_at_most("errors", self.errors, misses)

    def clause(self, facts: "Facts") -> str:
        """The main clause."""
        return f"the error rate among rows of {facts.new_data} whose set has exactly one class is {self.value_text}"

    def seen(self, facts: "Facts") -> str:
        """Errors and rows."""
        return f" ({number_of(self.errors, 'error')} on {number_of(self.n, facts.counted())})"
