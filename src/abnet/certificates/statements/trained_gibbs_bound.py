"""`TrainedGibbsBound`: the Gibbs risk of a posterior that was trained on the bound rows."""

from typing import TYPE_CHECKING

from abnet.bounds.trained import trained_gibbs_bound
from abnet.certificates.rows_part import LossMeans, RowsPart
from abnet.certificates.statements.gibbs_bound import GibbsBound
from abnet.certificates.terms import Terms

if TYPE_CHECKING:
    from abnet.certificates.certificate import Certificate

__all__ = ["TrainedGibbsBound"]


class TrainedGibbsBound(GibbsBound, frozen=True, kw_only=True, tag="Gibbs risk, trained"):
    """Gibbs risk of a posterior trained on the bound rows: a PAC-Bayes bound.

    Attributes
    ----------
    kl : float
        Divergence of the posterior from the prior.
    expected_risk, expected_kl : float or None
        Expected values, from which Catoni's C is chosen.
    n_paths : int or None
        Fresh paths per row with which the risk was sampled.
    """

    kl: float
    expected_risk: float | None = None
    expected_kl: float | None = None
    n_paths: int | None = None

    @classmethod
    def of_part(cls, part: RowsPart, losses: LossMeans, terms: Terms) -> "TrainedGibbsBound":
        """The Gibbs risk on all rows, or on those of one class."""
        expected: dict[str, float] = {}
        if part.expected is not None:
            expected["expected_risk"] = part.expected.risk
            expected["expected_kl"] = part.expected.kl
        return cls.from_counts(
            label=part.label,
            risk=losses.risk,
            n=part.n,
            kl=terms.kl,
            **expected,
            n_paths=losses.n_paths,
            delta=part.delta,
            n_candidates=terms.n_candidates,
        )

    def bound(self) -> float:
        """Catoni's bound at the C for the expected values; without them ``k⁺`` with ξ(n)."""
        return trained_gibbs_bound(
            self.risk,
            self.n,
            self.kl,
            self.delta,
            expected_risk=self.expected_risk,
            expected_kl=self.expected_kl,
            n_paths=self.n_paths,
            n_candidates=self.n_candidates,
        )

    def check_counts(self, certificate: "Certificate") -> None:
        """The posterior is that of the facts."""
        facts = certificate.facts
        super().check_counts(certificate)
        self.expect("trained", True, facts.trained)
        self.expect("kl", self.kl, facts.kl)
        self.expect("n_paths", self.n_paths, facts.n_paths)
