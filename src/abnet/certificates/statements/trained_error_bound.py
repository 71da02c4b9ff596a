"""`TrainedErrorBound`: the error rate of the vote of a posterior that was trained on the bound rows."""

from typing import TYPE_CHECKING

from abnet.bounds.trained import trained_vote_bound
from abnet.certificates.rows_part import LossMeans, RowsPart
from abnet.certificates.statements.class_means import check_mean_of_classes
from abnet.certificates.statements.error_rate import AnswerErrorRate
from abnet.certificates.statements.trained_gibbs_bound import TrainedGibbsBound
from abnet.certificates.terms import Terms

if TYPE_CHECKING:
    from abnet.certificates.certificate import Certificate
    from abnet.certificates.facts import Facts

__all__ = ["TrainedErrorBound"]

_SUM_TOLERANCE = 1e-9  # the two means are sums in different orders

_SIGN_TOLERANCE = 1e-6  # a score as close to 0 as this may have either sign

_SHARED = ("risk", "n", "kl", "n_paths", "expected_risk", "expected_kl")
"""Fields that the bounds on the Gibbs risk and on the vote have in common."""


class TrainedErrorBound(AnswerErrorRate, frozen=True, kw_only=True, tag="error, trained"):
    """Error rate of a vote, by a first-order bound from the Gibbs risk and a second-order bound from the tandem risk.

    Attributes
    ----------
    risk : float
        Empirical Gibbs risk.
    tandem : float or None
        Empirical tandem risk; None for a vote of paths that are drawn anew for each prediction.
    n : int
        Independent draws: rows, or groups.
    kl : float
        Divergence of the posterior from the prior.
    expected_risk, expected_kl, expected_tandem : float or None
        Expected values, from which the parameters of the bounds are chosen.
    floor : float
        A number that no expected loss of the posterior can be below, on any row; all statements have the same one.
    n_paths : int or None
        Fresh paths per row with which the losses were sampled.
    kept_paths : int or None
        Number of paths that vote, if they were drawn once and kept.
    """

    risk: float
    tandem: float | None
    n: int
    kl: float
    expected_risk: float | None = None
    expected_kl: float | None = None
    expected_tandem: float | None = None
    floor: float = 0.0
    n_paths: int | None = None
    kept_paths: int | None = None

    @classmethod
    def of_part(cls, part: RowsPart, losses: LossMeans, terms: Terms) -> "TrainedErrorBound":
        """The error rate of the vote on all rows, or on those of one class."""
        tandem: float | None = losses.tandem
        if terms.vote == "fresh paths":
            tandem = None
        expected: dict[str, float | None] = {}
        if part.expected is not None:
            expected["expected_risk"] = part.expected.risk
            expected["expected_kl"] = part.expected.kl
            expected["expected_tandem"] = part.expected.tandem
        return cls.from_counts(
            label=part.label,
            risk=losses.risk,
            tandem=tandem,
            n=part.n,
            kl=terms.kl,
            **expected,
            floor=terms.floor,
            n_paths=losses.n_paths,
            kept_paths=terms.vote_paths,
            delta=part.delta,
            n_candidates=terms.n_candidates,
        )

    def bound(self) -> float:
        """The smaller one of the first-order and the second-order bound."""
        return trained_vote_bound(
            self.risk,
            self.tandem,
            self.n,
            self.kl,
            self.delta,
            expected_risk=self.expected_risk,
            expected_kl=self.expected_kl,
            expected_tandem=self.expected_tandem,
            floor=self.floor,
            n_paths=self.n_paths,
            kept_paths=self.kept_paths,
            n_candidates=self.n_candidates,
        )

    def check_counts(self, certificate: "Certificate") -> None:
        """The posterior is that of the facts, and the losses fit the errors and the bound on the Gibbs risk."""
        facts = certificate.facts
        super().check_counts(certificate)
        self.expect("trained", True, facts.trained)
        self.expect("missing answers", self.answers == "or none", False)
        self.expect("n", self.n, facts.draws_of(self.label))
        self.expect("kl", self.kl, facts.kl)
        self.expect("n_paths", self.n_paths, facts.n_paths)
        self.expect("kept_paths", self.kept_paths, facts.vote_paths)
        for other in certificate.each(TrainedErrorBound):
            self.expect("floor", self.floor, other.floor)
        if not self._is_sampled:
            self.expect_at_most("floor", self.floor, self.risk + _SUM_TOLERANCE)
        if self.tandem is not None:
            parts = [part for part in certificate.each(TrainedErrorBound) if part.tandem is not None]
            check_mean_of_classes(self, "tandem", parts)
            self._check_orders(self.tandem, len(facts.classes))
            if facts.n_groups is None:
                self._check_errors(self.tandem, facts)
        gibbs = certificate.find(TrainedGibbsBound, self.label)
        if gibbs is not None:
            for name in _SHARED:
                self.expect(name, getattr(self, name), getattr(gibbs, name))

    def _check_orders(self, tandem: float, n_classes: int) -> None:
        """Raise a ValueError if the second moments of the losses contradict the first ones."""
        if self.expected_tandem is not None:
            self.expect_at_most("expected_tandem", self.expected_tandem, self.expected_risk or 0.0)
        if self._is_sampled:
            return
        self.expect_at_most("tandem", tandem, self.risk + _SUM_TOLERANCE)
        self.expect_at_most("square of the risk", self.risk**2, tandem + _SUM_TOLERANCE)
        # Expected losses p in [f, c] have p² <= (f + c) p - f c. The losses of two labels add up to 1.
        largest = 1.0
        if n_classes == 2:
            largest = 1.0 - self.floor
        most = (self.floor + largest) * self.risk - self.floor * largest
        self.expect_at_most("tandem at this floor", tandem, most + _SUM_TOLERANCE)

    def _check_errors(self, tandem: float, facts: "Facts") -> None:
        """Raise a ValueError for too many errors: where the vote errs, at least half of the posterior does."""
        if self._is_sampled:
            return
        error = facts.errors_of(self.label) / facts.rows_of(self.label)
        most = min(2.0 * self.risk, 4.0 * tandem) + _SIGN_TOLERANCE
        if error > most:
            raise ValueError(
                f"the {self.about} has risk = {self.risk} and tandem = {tandem}, so at most {most} of the votes err, "
                f"but by the facts {error} do."
            )

    @property
    def _is_sampled(self) -> bool:
        return self.n_paths is not None or self.kept_paths is not None

    def seen(self, facts: "Facts") -> str:
        """The kind of bound."""
        return " (PAC-Bayes bound on the vote)"
