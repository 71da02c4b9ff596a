"""Two models on the same rows: `DifferenceBound` of their error rates, and `BetterModel`, a test which is better."""

from typing import TYPE_CHECKING, ClassVar

from abnet.bounds.difference import difference_bound, sign_test
from abnet.certificates.statements.statement import Statement
from abnet.utils.wording import confidence, number_of, percent_down, percent_up

if TYPE_CHECKING:
    from abnet.certificates.certificate import Certificate
    from abnet.certificates.facts import Facts

__all__ = ["BetterModel", "DifferenceBound"]

_PREMISES = (
    "that both models were trained and chosen without these rows",
    "that the model tested as the better one was named before looking at them",
)


class _TwoModels(Statement, frozen=True, kw_only=True):
    """A statement about two models, from the rows on which only one of them is wrong.

    Attributes
    ----------
    a, b : str
        Names of the models.
    only_a, only_b : int
        Rows on which only one of them is wrong.
    """

    a: str
    b: str
    only_a: int
    only_b: int

    premises: ClassVar[tuple[str, ...]] = _PREMISES

    def check_counts(self, certificate: "Certificate") -> None:
        """The facts are those of the first model, and all statements count the same rows."""
        facts = certificate.facts
        errors = facts.errors_of(None)
        self.expect("trained", False, facts.trained)
        self.expect_at_most("errors of the first model alone", self.only_a, errors)
        self.expect_at_most("errors of the second model alone", self.only_b, facts.n_rows - errors)
        for other in certificate.each(_TwoModels):
            self.expect("only_a", self.only_a, other.only_a)
            self.expect("only_b", self.only_b, other.only_b)

    @property
    def counted(self) -> str:
        """The rows on which the models differ."""
        only_a = number_of(self.only_a, "row")
        return f"only {self.a} is wrong on {only_a}, only {self.b} on {number_of(self.only_b, 'row')}"

    def seen(self, facts: "Facts") -> str:
        """The rows on which the models differ."""
        return f" ({self.counted})"


class DifferenceBound(_TwoModels, frozen=True, kw_only=True, tag="difference"):
    """An upper bound on the error rate of A minus that of B.

    Attributes
    ----------
    n : int
        Number of rows.
    """

    n: int

    @property
    def about(self) -> str:
        """The subject in a few words."""
        return "difference of the error rates"

    def bound(self) -> float:
        """The exact test of Berger and Boos, inverted."""
        return difference_bound(self.only_a, self.only_b, self.n, self.delta, n_candidates=self.n_candidates)

    def check_counts(self, certificate: "Certificate") -> None:
        """All rows are counted."""
        super().check_counts(certificate)
        self.expect("n", self.n, certificate.facts.n_rows)

    def clause(self, facts: "Facts") -> str:
        """The main clause."""
        value = self.value or 0.0
        subject = f"the error rate of {self.a} on {facts.new_data}"
        if value < 0.0:
            return f"{subject} is at least {_points(percent_down(-value))} below that of {self.b}"
        return f"{subject} is at most {_points(percent_up(value))} above that of {self.b}"


class BetterModel(_TwoModels, frozen=True, tag="better model"):
    """That A has a lower error rate than B, by the exact sign test; its value is 0, or None if it is not shown."""

    @property
    def about(self) -> str:
        """The subject in a few words."""
        return "test which model is better"

    def bound(self) -> float | None:
        """The sign test."""
        return sign_test(self.only_a, self.only_b, self.delta, n_candidates=self.n_candidates)

    def clause(self, facts: "Facts") -> str:
        """The main clause."""
        return f"{self.a} has a lower error rate than {self.b} on {facts.new_data}"

    def not_shown(self, facts: "Facts") -> str:
        """That the rows do not show it."""
        shown = f"{confidence(self.delta)} confidence that {self.a} has a lower error rate than {self.b}"
        return f"These rows do not show with {shown} ({self.counted})."


def _points(percent: str) -> str:
    """A difference of two rates: 1.9% is 1.9 percentage points."""
    return f"{percent.removesuffix('%')} percentage points"
