"""`SetSize`: the average size of prediction sets; `OfSets`: what is counted of sets on the rows of their thresholds."""

from typing import TYPE_CHECKING

from abnet.bounds.frozen_gibbs import gibbs_bound_frozen
from abnet.bounds.prediction_sets import level_at_chosen_rows
from abnet.bounds.rounding import round_up
from abnet.certificates.set_rule import SetRule
from abnet.certificates.statements.missed_class import MissedClass
from abnet.certificates.statements.statement import Statement
from abnet.utils.wording import figure_up, number_of

if TYPE_CHECKING:
    from abnet.certificates.certificate import Certificate
    from abnet.certificates.facts import Facts

__all__ = ["OfSets", "SetSize"]


class OfSets(Statement, frozen=True, kw_only=True):
    """A property of prediction sets on new rows, counted on the rows that their thresholds do not come from.

    Each threshold is the probability of one row, which is left out. The level accounts for the choice of these rows
    (`abnet.bounds.prediction_sets.level_at_chosen_rows`).

    Attributes
    ----------
    sets : SetRule
    n_rows : int
        All rows, with those that the thresholds come from.
    """

    sets: SetRule
    n_rows: int

    @property
    def level(self) -> float:
        """The level of the bound for fixed thresholds, for each candidate; 0 if there are too many choices."""
        return level_at_chosen_rows(self.n_rows, self.delta, thresholds=self.sets.n_thresholds, classes=self.sets.n_own)

    def check_counts(self, certificate: "Certificate") -> None:
        """The thresholds are those of the misses, chosen among the rows of the facts."""
        facts = certificate.facts
        misses = certificate.each(MissedClass)
        self.expect("trained", False, facts.trained)
        self.expect("n_groups", None, facts.n_groups)
        self.expect("sets", [self.sets], [part.sets for part in misses[:1]])
        self.expect("n_rows", self.n_rows, facts.n_rows)
        self.expect_at_most(
            "classes without a threshold", self.sets.thresholds.count(None), len(self.sets.thresholds) - 1
        )

    def n_others(self, facts: "Facts") -> int:
        """Number of rows that no threshold comes from."""
        return facts.n_rows - self.sets.n_thresholds


class SetSize(OfSets, frozen=True, kw_only=True, tag="size of sets"):
    """An upper bound on the average number of classes in a set.

    Attributes
    ----------
    rows_by_size : tuple of int (K + 1,)
        Rows whose set has no class, one class, and so on.
    """

    rows_by_size: tuple[int, ...]

    @property
    def about(self) -> str:
        """The subject in a few words."""
        return "average size of the sets"

    @property
    def n(self) -> int:
        """Number of rows."""
        return sum(self.rows_by_size)

    def bound(self) -> float:
        """The mean of independent sizes, as shares of the number of classes."""
        most = len(self.rows_by_size) - 1
        if self.level == 0.0:
            return float(most)
        total = sum(size * rows for size, rows in enumerate(self.rows_by_size))
        mean = min(1.0, round_up(total / (most * self.n)))
        return min(
            float(most), round_up(most * gibbs_bound_frozen(mean, self.n, self.level, n_candidates=self.n_candidates))
        )

    def check_counts(self, certificate: "Certificate") -> None:
        """The sizes are those of all rows that no threshold comes from, and an empty set misses."""
        super().check_counts(certificate)
        self.expect("n", self.n, self.n_others(certificate.facts))
        self.expect("sizes", len(self.rows_by_size), len(self.sets.thresholds) + 1)
        misses = sum(part.misses for part in certificate.each(MissedClass))
        unknown = sum(certificate.facts.class_rows[len(self.sets.thresholds) :])
        if self.sets.by_class:
            misses += unknown
        self.expect_at_most("empty sets", self.rows_by_size[0], misses)

    @property
    def value_text(self) -> str:
        """The size, rounded up."""
        return f"at most {figure_up(self.value or 0.0, 3)}"

    def clause(self, facts: "Facts") -> str:
        """The main clause."""
        return f"the average prediction set on {facts.new_data} has {self.value_text} classes"

    def seen(self, facts: "Facts") -> str:
        """The mean size, and empty sets."""
        total = sum(size * rows for size, rows in enumerate(self.rows_by_size))
        empty = "no set is empty"
        if self.rows_by_size[0]:
            empty = f"{number_of(self.rows_by_size[0], 'set')} without any class, which count as misses"
        return f" ({total / self.n:.3g} on {number_of(self.n, facts.counted())}; {empty})"
