"""`BettingGibbsBound`: the Gibbs risk of a fixed posterior, from the loss of every single row."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from abnet.bounds.betting import betting_bound, least_betting_bound
from abnet.certificates.statements.gibbs_bound import GibbsBound
from abnet.certificates.statements.single_values import check_range, checked_values
from abnet.certificates.statements.statement import Checked

if TYPE_CHECKING:
    from abnet.certificates.certificate import Certificate

__all__ = ["FEWEST_ROWS", "BettingGibbsBound"]


FEWEST_ROWS = 1000
"""From this many rows on, the Gibbs risk of a fixed model is bounded by betting. For losses that vary little the bound
is then far smaller than `gibbs_bound_frozen`. For losses of 0 and 1, the worst case of betting, it is about equal, but
larger for rare errors, and with fewer rows it varies more."""


class BettingGibbsBound(GibbsBound, frozen=True, kw_only=True, tag="Gibbs risk, betting"):
    """Gibbs risk of a fixed posterior with exact losses, by betting; the losses themselves are not stored."""

    @classmethod
    def from_values(
        cls, losses: ArrayLike, *, risk: float, delta: float, n_candidates: int = 1, label: str | None = None
    ) -> "BettingGibbsBound":
        """State what the losses prove.

        Parameters
        ----------
        losses : array-like (n,)
            In the order of the rows' keys.
        risk : float
            Their mean, as it is to be stored.
        delta, n_candidates, label
            As in the class.
        """
        values = checked_values(losses, mean=risk, n=len(np.asarray(losses)))
        bound = betting_bound(values, delta, n_candidates=n_candidates)
        return cls(value=bound, risk=risk, n=len(values), delta=delta, n_candidates=n_candidates, label=label)

    def bound(self) -> float:
        """Raises a ValueError: the bound needs every single loss."""
        raise ValueError(f"the {self.about} follows from single losses, which are not stored.")

    def check(self, losses: ArrayLike | None = None) -> Checked:
        """Recompute the value from the losses, or, without them, check that some losses with this mean give it."""
        if losses is None:
            least = max(self.risk, least_betting_bound(self.n, self.delta, self.n_candidates))
            return check_range(self, least, 1.0)
        values = checked_values(losses, mean=self.risk, n=self.n)
        return self._recomputed(betting_bound(values, self.delta, n_candidates=self.n_candidates))

    def check_counts(self, certificate: "Certificate") -> None:
        """The posterior was not trained on the rows, and its losses are exact."""
        super().check_counts(certificate)
        self.expect("trained", False, certificate.facts.trained)
        self.expect("n_paths", None, certificate.facts.n_paths)
        self.expect_at_most("fewest rows for betting", FEWEST_ROWS, self.n)
