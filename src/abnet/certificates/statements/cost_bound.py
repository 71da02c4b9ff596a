"""`CostBound`: the expected cost of a row."""

from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from abnet.bounds.betting import least_betting_bound
from abnet.bounds.held_out_bounds import cost_bound
from abnet.certificates.statements.cut_check import check_cut
from abnet.certificates.statements.decision_rule import CutRule
from abnet.certificates.statements.goal_statement import GoalStatement
from abnet.certificates.statements.single_values import check_range, checked_values
from abnet.certificates.statements.statement import Checked
from abnet.utils.wording import figure_up, number_of

if TYPE_CHECKING:
    from abnet.certificates.certificate import Certificate
    from abnet.certificates.facts import Facts

__all__ = ["CostBound"]


class CostBound(GoalStatement, frozen=True, kw_only=True, tag="cost"):
    """An upper bound on the expected cost of an answer, by betting; the costs of single rows are not stored.

    Attributes
    ----------
    n : int
        Number of rows.
    mean : float
        Mean cost as a share of the largest.
    largest : float
        The largest entry of the cost table, not the largest cost that occurred.
    rule : CutRule or None
        The threshold with the least cost, for two classes.
    minimised : bool
        Whether each row gets the answer with the least expected cost by the model's probabilities, for several classes.
        Without this and without a threshold, the answer is the most likely class.
    """

    n: int
    mean: float
    largest: float
    rule: CutRule | None = None
    minimised: bool = False

    may_be_one_sided: ClassVar[bool] = True  # it may be cheapest to leave out one of the classes

    @classmethod
    def from_values(
        cls,
        shares: ArrayLike,
        *,
        largest: float,
        rule: CutRule | None,
        delta: float,
        n_candidates: int = 1,
        minimised: bool = False,
    ) -> "CostBound":
        """State what the costs prove.

        Parameters
        ----------
        shares : float array (n,)
            Costs as shares of the largest, in the order of the rows' keys.
        largest, rule, delta, n_candidates, minimised
            As in the class.
        """
        values = np.asarray(shares, np.float64)
        return cls(
            value=cost_bound(values, largest, delta, n_candidates=n_candidates),
            n=len(values),
            mean=float(values.mean()),
            largest=largest,
            rule=rule,
            minimised=minimised,
            delta=delta,
            n_candidates=n_candidates,
        )

    @property
    def about(self) -> str:
        """The subject in a few words."""
        return "expected cost"

    @property
    def headline(self) -> str:
        """What the value is."""
        return "expected cost of a row under the decision rule (upper bound)"

    @property
    def headline_value(self) -> str:
        """The value in words."""
        return figure_up(self.value or 0.0)

    def bound(self) -> float:
        """Raises a ValueError: the bound needs every single cost."""
        raise ValueError(f"the {self.about} follows from the costs of single rows, which are not stored.")

    def check(self, shares: ArrayLike | None = None) -> Checked:
        """Recompute the value from the costs, or, without them, check that some costs with this mean give it."""
        if shares is None:
            least = max(self.mean, least_betting_bound(self.n, self.delta, self.n_candidates))
            return check_range(self, least * self.largest, self.largest)
        values = checked_values(shares, mean=self.mean, n=self.n)
        return self._recomputed(cost_bound(values, self.largest, self.delta, n_candidates=self.n_candidates))

    def check_counts(self, certificate: "Certificate") -> None:
        """All rows are counted."""
        facts = certificate.facts
        self.expect("n", self.n, facts.n_rows)
        if self.minimised and self.rule is not None:
            raise ValueError(f"the {self.about} has a threshold, but the answers are those of the least expected cost.")
        if self.rule is not None:
            self.expect("called", self.rule.called, facts.classes[1])
            check_cut(self.rule.called, certificate)

    def clause(self, facts: "Facts") -> str:
        """The main clause."""
        clause = f"the expected cost of a row of {facts.new_data} is at most {figure_up(self.value or 0.0)}"
        if self.minimised:
            return f"{clause}, if each row gets the answer with the least expected cost by the model's probabilities"
        if self.rule is None:
            return clause
        return clause + self.rule.condition(facts)

    @property
    def assumption(self) -> str | None:
        """What the rule of several classes was made from."""
        if self.minimised:
            return "The costs, and the probabilities that the answers minimise them by, were fixed on other rows."
        return None

    def seen(self, facts: "Facts") -> str:
        """The mean cost, rows and the largest cost."""
        mean = f"mean {self.mean * self.largest:.4g} on {number_of(self.n, facts.counted())}"
        return f" ({mean}; the largest cost is {self.largest:g})"
