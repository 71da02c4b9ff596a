"""`RateTest`: a target rate that a decision was shown to reach by tests on the rows; `CutTest`: of a cut."""

from abc import abstractmethod
from typing import TYPE_CHECKING, ClassVar

from abnet.bounds.held_out_bounds import rate_of_successes
from abnet.certificates.statements.cut_bound import CutRateBound
from abnet.certificates.statements.cut_check import check_cut
from abnet.certificates.statements.decision_rule import CutRule
from abnet.certificates.statements.goal_statement import GoalStatement
from abnet.certificates.statements.statement import Side, TableLine
from abnet.utils.wording import confidence, number_of, stated

if TYPE_CHECKING:
    from abnet.certificates.certificate import Certificate
    from abnet.certificates.facts import Facts

__all__ = ["CutTest", "RateTest"]


class RateTest(GoalStatement, frozen=True, kw_only=True):
    """A target rate that one of several decisions was shown to reach, by tests on the rows.

    Attributes
    ----------
    failures, trials : int
        The rows that fail, among those that could.
    rows_needed : int or None
        If nothing could be certified: an estimate of the number of rows that would suffice.
    by_rank : bool
        Whether the threshold is a score of the counted rows (`abnet.certificates.thresholds.rank_tests`); otherwise
        thresholds were fixed on other rows.
    """

    failures: int
    trials: int
    rows_needed: int | None = None
    by_rank: bool = False

    @property
    @abstractmethod
    def target(self) -> str:
        """The target at the beginning of a sentence, such as "A recall of at least 90% for ill"."""

    @property
    def headline_counts(self) -> str:
        """Failures and trials."""
        return f"; {self.failures:,} of {self.trials:,} counted rows failed"

    def seen(self, facts: "Facts") -> str:
        """Failures and trials."""
        return f" ({number_of(self.failures, 'failure')} in {number_of(self.trials, facts.counted())})"

    def not_shown(self, facts: "Facts") -> str:
        """That the target could not be certified, and how many rows would be needed."""
        needed = "The failure rate is too high: more rows would not help."
        if self.rows_needed is not None:
            needed = f"About {number_of(self.rows_needed, facts.counted())} would be needed."
        counted = f"{number_of(self.failures, 'failure')} in {number_of(self.trials, 'row')}"
        second = 2 * facts.n_candidates
        return (
            f"{self.target} could not be certified with {confidence(self.delta)} confidence ({counted}). {needed} "
            f"Another target on the same rows is a second try: declare n_candidates = {second}, or use other rows."
        )


class CutTest(RateTest, frozen=True, kw_only=True):
    """A target rate of successes of a cut.

    Attributes
    ----------
    rate : float
        The target.
    rule : CutRule
    """

    rate: float
    rule: CutRule

    side: ClassVar[Side] = "at least"
    rate_bound: ClassVar[type[CutRateBound]]
    """The bound on the same rate at a threshold that was fixed before the rows were seen."""

    @property
    def label(self) -> str:
        """The class that rows above the threshold are predicted as."""
        return self.rule.called

    @property
    def about(self) -> str:
        """The subject in a few words."""
        return f"{self.rate_bound.quantity} {self.label}"

    @property
    def target(self) -> str:
        """The target at the beginning of a sentence."""
        name = self.rate_bound.quantity.split()[0]
        return f"A {name} of at least {stated(self.rate)} for {self.label}"

    def bound(self) -> float | None:
        """The target, if the test shows it."""
        return rate_of_successes(self.failures, self.trials, self.rate, self.delta, n_candidates=self.n_candidates)

    def cut_counts(self) -> dict[str, int]:
        """Rows that succeed, of all that could."""
        return self.rate_bound.counts_of(self.trials - self.failures, self.trials)

    def check_counts(self, certificate: "Certificate") -> None:
        """The counts fit those of the other statements about the cut."""
        check_cut(self.label, certificate)

    def clause(self, facts: "Facts") -> str:
        """The main clause."""
        return self.rate_bound.words(stated(self.value or 0.0), self.label) + self.rule.condition(facts)

    def table_line(self) -> TableLine | None:
        """The rate of the decision rule."""
        if self.value is None:
            return None
        return TableLine(self.about, f"at least {stated(self.value)}", self.trials - self.failures, self.trials)
