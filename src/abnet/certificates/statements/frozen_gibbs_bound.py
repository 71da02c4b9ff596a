"""`FrozenGibbsBound`: the Gibbs risk of a posterior that was fixed before the rows were seen."""

from typing import TYPE_CHECKING

from abnet.bounds.frozen_gibbs import gibbs_bound_frozen
from abnet.certificates.statements.gibbs_bound import GibbsBound

if TYPE_CHECKING:
    from abnet.certificates.certificate import Certificate

__all__ = ["FrozenGibbsBound"]


class FrozenGibbsBound(GibbsBound, frozen=True, kw_only=True, tag="Gibbs risk"):
    """Gibbs risk of a fixed posterior, from the mean of its losses."""

    def bound(self) -> float:
        """The bound for a sum of independent losses in [0, 1]."""
        return gibbs_bound_frozen(self.risk, self.n, self.delta, n_candidates=self.n_candidates)

    def check_counts(self, certificate: "Certificate") -> None:
        """The posterior was not trained on the rows."""
        super().check_counts(certificate)
        self.expect("trained", False, certificate.facts.trained)
