"""`Flagged`: the share of new rows that a cut predicts as positive."""

from typing import TYPE_CHECKING, Any

from abnet.bounds.local_level import chosen_rate_upper
from abnet.certificates.cut_counts import CutCounts
from abnet.certificates.statements.cut_bound import CutBound
from abnet.certificates.statements.decision_rule import CutRule
from abnet.certificates.statements.statement import TableLine
from abnet.utils.wording import number_of, percent

if TYPE_CHECKING:
    from abnet.certificates.facts import Facts

__all__ = ["Flagged"]

NEARLY_ALL = 0.9
"""A rule that flags at least this share of the rows is warned about."""


class Flagged(CutBound, frozen=True, kw_only=True, tag="flagged"):
    """An upper bound on the share of the rows above the threshold.

    Attributes
    ----------
    flagged, n : int
        Rows above the threshold, of n.
    """

    flagged: int
    n: int

    @classmethod
    def of_cut(cls, counts: CutCounts, rule: CutRule, **terms: Any) -> "Flagged":
        """The bound at a threshold."""
        return cls.from_counts(flagged=counts.rows_above, n=counts.rows, rule=rule, **terms)

    @property
    def about(self) -> str:
        """The subject in a few words."""
        return f"share of rows predicted as {self.label}"

    def bound(self) -> float:
        """Clopper-Pearson, at a level that holds at all thresholds jointly."""
        n_models = self.n_candidates // self.n_thresholds
        return chosen_rate_upper(self.flagged, self.n, self.n_thresholds, self.delta, n_candidates=n_models)

    def cut_counts(self) -> dict[str, int]:
        """Rows above the threshold, and all rows."""
        return {"rows_above": self.flagged, "rows": self.n}

    def clause(self, facts: "Facts") -> str:
        """The main clause."""
        condition = self.rule.condition(facts)
        return (
            f"the share of rows of {facts.new_data} that are predicted as {self.label} is {self.value_text}{condition}"
        )

    def seen(self, facts: "Facts") -> str:
        """Rows above the threshold, and all rows."""
        return f" ({self.flagged:,} of {number_of(self.n, facts.counted())})"

    def table_line(self) -> TableLine:
        """The share of rows that the decision rule flags."""
        return TableLine(f"rows predicted as {self.label}", self.value_text, self.flagged, self.n)

    @property
    def warning(self) -> str | None:
        """A warning that the rule flags nearly all rows."""
        share = self.flagged / self.n
        if share < NEARLY_ALL:
            return None
        seen = f"{percent(share)} of the held-out rows ({self.flagged:,} of {self.n:,})"
        return f"The rule predicts {self.label} for {seen}, so it hardly tells the classes apart."
