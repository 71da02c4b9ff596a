"""`CutBound`: a bound on a rate of a cut; `CutRateBound`: on a rate of successes, such as the recall."""

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

from abnet.bounds.clopper_pearson import clopper_pearson_lower
from abnet.certificates.cut_counts import CutCounts
from abnet.certificates.statements.cut_check import check_cut
from abnet.certificates.statements.decision_rule import CutRule
from abnet.certificates.statements.statement import Side, Statement, TableLine
from abnet.utils.wording import number_of, percent_down

if TYPE_CHECKING:
    from abnet.certificates.certificate import Certificate
    from abnet.certificates.facts import Facts

__all__ = ["CutBound", "CutRateBound", "Successes"]


class CutBound(Statement, frozen=True, kw_only=True):
    """A bound on a rate of a cut, by Clopper-Pearson.

    At a fixed threshold each count is binomial (the recall given the number of positive rows, the precision given the
    number of rows above the threshold), so Clopper-Pearson limits hold. If the threshold was selected with the same
    rows among G that were fixed before, the limit holds at all G thresholds with probability at least 1-δ, so it also
    holds at the selected one: it is computed at δ/G, or for the recall and the share of flagged rows at the level of
    `abnet.bounds.local_level`.

    Attributes
    ----------
    rule : CutRule
    n_thresholds : int
        Number G of thresholds among which this one was selected with the same rows. `n_candidates` counts each of them
        once for each model.
    promised : bool
        Whether the model's decision was made for this rate; otherwise the bound says what the decision costs.
    """

    rule: CutRule
    n_thresholds: int = 1
    promised: bool = False

    @property
    def label(self) -> str:
        """The class that rows above the threshold are predicted as."""
        return self.rule.called

    @property
    def is_goal(self) -> bool:
        """Whether the model's decision was made for this rate."""
        return self.promised

    @property
    def n_choices(self) -> int:
        """Number of thresholds."""
        return self.n_thresholds

    @property
    def only_in_table(self) -> bool:
        """True for what the decision costs."""
        return not self.promised

    def check_counts(self, certificate: "Certificate") -> None:
        """The counts and the choice of the threshold are those of the other statements about the cut."""
        check_cut(self.label, certificate)
        for other in certificate.each(CutBound):
            self.expect("n_thresholds", self.n_thresholds, other.n_thresholds)


class Successes(NamedTuple):
    """Rows that could succeed, and those that did."""

    successes: int
    n: int


class CutRateBound(CutBound, frozen=True, kw_only=True):
    """A lower bound on a rate of successes of a cut.

    Attributes
    ----------
    successes, n : int
        Rows that succeed, of all that could.
    """

    successes: int
    n: int

    side: ClassVar[Side] = "at least"
    quantity: ClassVar[str]
    """Name of the rate and a preposition, such as "recall of"."""

    @classmethod
    @abstractmethod
    def successes_of(cls, counts: CutCounts) -> Successes:
        """The rows that could succeed, and those that did."""

    @classmethod
    @abstractmethod
    def counts_of(cls, successes: int, n: int) -> dict[str, int]:
        """The inverse of `successes_of`: what is known by the names of `CutCounts`."""

    @classmethod
    @abstractmethod
    def words(cls, rate: str, label: str) -> str:
        """The main clause about a rate, such as "90%"."""

    @classmethod
    def of_cut(cls, counts: CutCounts, rule: CutRule, **terms: Any) -> Self | None:
        """The bound at a threshold; None if no row could succeed.

        Parameters
        ----------
        counts : CutCounts
        rule : CutRule
        **terms
            `delta`, `n_candidates`, `n_thresholds`, `promised`.
        """
        successes, n = cls.successes_of(counts)
        if n == 0:
            return None
        return cls.from_counts(successes=successes, n=n, rule=rule, **terms)

    @property
    def about(self) -> str:
        """The subject in a few words."""
        return f"{self.quantity} {self.label}"

    def bound(self) -> float:
        """Clopper-Pearson."""
        return clopper_pearson_lower(self.successes, self.n, self.delta, n_candidates=self.n_candidates)

    def cut_counts(self) -> dict[str, int]:
        """Rows that succeed, of all that could."""
        return self.counts_of(self.successes, self.n)

    def clause(self, facts: "Facts") -> str:
        """The main clause."""
        return self.words(percent_down(self.value or 0.0), self.label) + self.rule.condition(facts)

    def seen(self, facts: "Facts") -> str:
        """Successes and rows."""
        return f" ({self.successes:,} of {number_of(self.n, facts.counted())})"

    def table_line(self) -> TableLine:
        """The rate of the decision rule."""
        return TableLine(self.about, self.value_text, self.successes, self.n)
