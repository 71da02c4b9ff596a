"""`GibbsBound`: upper bounds on the Gibbs risk, the error rate of one network drawn from the posterior."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from abnet.certificates.statements.class_means import check_mean_of_classes
from abnet.certificates.statements.statement import Statement
from abnet.utils.wording import confidence, number_of, percent

if TYPE_CHECKING:
    from abnet.certificates.certificate import Certificate
    from abnet.certificates.facts import Facts

__all__ = ["GibbsBound"]


class GibbsBound(Statement, frozen=True, kw_only=True):
    """An upper bound on the Gibbs risk.

    Attributes
    ----------
    label : str or None
        The class of the rows; None for all rows. The bounds for all classes hold jointly.
    risk : float
        Empirical Gibbs risk.
    n : int
        Independent draws: rows, or groups.
    """

    label: str | None = None
    risk: float
    n: int

    counts_groups: ClassVar[bool] = True
    is_detail: ClassVar[bool] = True

    @property
    def about(self) -> str:
        """The subject in a few words."""
        if self.label is None:
            return "Gibbs risk"
        return f"Gibbs risk of class {self.label}"

    @property
    def jointly(self) -> str | None:
        """Bounds for classes hold jointly, but not together with the bounds on their error rates."""
        if self.label is None:
            return None
        return "classes, Gibbs risk"

    def delta_share(self, certificate: "Certificate") -> float:
        """The δ of the facts, or the share of the class."""
        return certificate.facts.delta_of(self.label)

    def check_counts(self, certificate: "Certificate") -> None:
        """The number of draws is that of the facts, and the risk is the mean of those of the classes."""
        facts = certificate.facts
        self.expect("n", self.n, facts.draws_of(self.label))
        if self.label is not None:
            self.expect("n_groups", None, facts.n_groups)
        check_mean_of_classes(self, "risk", certificate.each(GibbsBound))

    def clause(self, facts: "Facts") -> str:
        """The main clause."""
        new_rows = facts.new_data
        if self.label is not None:
            new_rows = f"new rows of class {self.label}"
        drawn: str = facts.drawn
        if drawn == "tree":
            drawn = "PBGNet tree"
        subject = f"the error rate of one {drawn} drawn from the posterior (the Gibbs risk)"
        return f"{subject} on {new_rows} is {self.value_text}"

    def seen(self, facts: "Facts") -> str:
        """The empirical Gibbs risk, and the number of draws."""
        draws = "group"
        if facts.n_groups is None:
            draws = facts.counted()
        return f" ({percent(self.risk)} on {number_of(self.n, draws)})"

    @classmethod
    def joint_sentence(cls, family: Sequence[Statement], certificate: "Certificate", *, details: bool) -> str | None:
        """That the bounds per class hold jointly."""
        if not certificate.shows_gibbs_risk_by_class(details=details):
            return None
        apart = ""
        if certificate.has_error_bounds_by_class:
            apart = ", but not together with the error bounds"
        sure = confidence(certificate.delta_of(family[0].unit))
        return f"The Gibbs risk bounds per class hold jointly with {sure} confidence{apart}."
