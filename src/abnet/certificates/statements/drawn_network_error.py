"""`DrawnNetworkError`: the error rate of one network that was drawn from a posterior."""

from typing import TYPE_CHECKING

from abnet.bounds.clopper_pearson import clopper_pearson_bound
from abnet.bounds.drawn_network import drawn_network_bound
from abnet.certificates.statements.error_rate import ErrorRate
from abnet.utils.wording import number_of

if TYPE_CHECKING:
    from abnet.certificates.certificate import Certificate
    from abnet.certificates.facts import Facts

__all__ = ["DrawnNetworkError"]


class DrawnNetworkError(ErrorRate, frozen=True, kw_only=True, tag="error, drawn network"):
    """Error rate of a drawn network.

    If the posterior was trained on the bound rows, the bound accounts for the draw; otherwise the network is
    independent of the rows, and the bound is Clopper-Pearson.

    Attributes
    ----------
    errors, n : int
        Wrong answers of the network among n rows.
    log_density_ratio : float or None
        ``ln dQ/dP`` at the network; None if the posterior was not trained on these rows.
    """

    errors: int
    n: int
    log_density_ratio: float | None = None

    @property
    def about(self) -> str:
        """The subject in a few words."""
        return "error rate of the drawn network"

    def bound(self) -> float:
        """The bound for a drawn network, or Clopper-Pearson."""
        if self.log_density_ratio is None:
            return clopper_pearson_bound(self.errors, self.n, self.delta, n_candidates=self.n_candidates)
        return drawn_network_bound(
            self.errors, self.n, self.log_density_ratio, self.delta, n_candidates=self.n_candidates
        )

    def check_counts(self, certificate: "Certificate") -> None:
        """Rows and errors are those of the facts."""
        facts = certificate.facts
        self.expect("n", self.n, facts.n_rows)
        self.expect("errors", self.errors, facts.errors_of(None))
        self.expect("a log_density_ratio", self.log_density_ratio is not None, facts.trained)

    def clause(self, facts: "Facts") -> str:
        """The main clause."""
        return f"the error rate of this drawn network on {facts.new_data} is {self.value_text}"

    def seen(self, facts: "Facts") -> str:
        """Errors and rows."""
        return f" ({number_of(self.errors, 'error')} on {number_of(self.n, facts.counted())})"

    @property
    def assumption(self) -> str:
        """That nobody picked the network."""
        return "The network was drawn once, not picked among several draws."
