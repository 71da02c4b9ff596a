"""Precision and error rate of a cut whose threshold is a score of the counted rows."""

from typing import TYPE_CHECKING, Any, ClassVar

from abnet.bounds.chosen_threshold import chosen_error_upper, chosen_precision_lower
from abnet.certificates.cut_counts import CutCounts
from abnet.certificates.statements.cut_bound import CutBound
from abnet.certificates.statements.decision_rule import CutRule
from abnet.certificates.statements.statement import Side, TableLine
from abnet.utils.wording import number_of

if TYPE_CHECKING:
    from abnet.certificates.facts import Facts

__all__ = ["ChosenCutError", "ChosenPrecision"]


class ChosenPrecision(CutBound, frozen=True, kw_only=True, tag="precision, threshold from the rows"):
    """A lower bound on the precision that holds at every threshold on the line.

    Attributes
    ----------
    positives_above, others_above : int
        Rows above the threshold, by whether they are of the class.
    n : int
        All rows.
    """

    positives_above: int
    others_above: int
    n: int

    side: ClassVar[Side] = "at least"

    @classmethod
    def of_cut(cls, counts: CutCounts, rule: CutRule, **terms: Any) -> "ChosenPrecision":
        """The bound at a threshold."""
        above = {"positives_above": counts.positives_above, "others_above": counts.others_above}
        return cls.from_counts(**above, n=counts.rows, rule=rule, **terms)

    @property
    def about(self) -> str:
        """The subject in a few words."""
        return f"precision for {self.label}"

    def bound(self) -> float:
        """From limits that hold at all thresholds jointly."""
        n_models = self.n_candidates // self.n_thresholds
        return chosen_precision_lower(
            self.positives_above, self.others_above, self.n, self.n_thresholds, self.delta, n_candidates=n_models
        )

    def cut_counts(self) -> dict[str, int]:
        """Rows above the threshold, and all rows."""
        return {"positives_above": self.positives_above, "others_above": self.others_above, "rows": self.n}

    def clause(self, facts: "Facts") -> str:
        """The main clause."""
        condition = self.rule.condition(facts)
        return f"{self.value_text} of new rows predicted as {self.label} are of class {self.label}{condition}"

    def seen(self, facts: "Facts") -> str:
        """Rows of the class, of those above the threshold."""
        n_above = self.positives_above + self.others_above
        return f" ({self.positives_above:,} of {number_of(n_above, facts.counted())})"

    def table_line(self) -> TableLine:
        """The precision of the decision rule."""
        n_above = self.positives_above + self.others_above
        return TableLine(self.about, self.value_text, self.positives_above, n_above)


class ChosenCutError(CutBound, frozen=True, kw_only=True, tag="error of a cut, threshold from the rows"):
    """An upper bound on the error rate of a cut that holds at every threshold on the line.

    Attributes
    ----------
    positives, positives_above : int
        Rows of the class, and those above the threshold.
    others_above : int
        Other rows above the threshold.
    n : int
        All rows.
    """

    positives: int
    positives_above: int
    others_above: int
    n: int

    @classmethod
    def of_cut(cls, counts: CutCounts, rule: CutRule, **terms: Any) -> "ChosenCutError":
        """The bound at a threshold."""
        return cls.from_counts(
            positives=counts.positives,
            positives_above=counts.positives_above,
            others_above=counts.others_above,
            n=counts.rows,
            rule=rule,
            **terms,
        )

    @property
    def errors(self) -> int:
        """Wrong answers."""
        return self.positives - self.positives_above + self.others_above

    @property
    def about(self) -> str:
        """The subject in a few words."""
        return "error rate of the decision rule"

    def bound(self) -> float:
        """From limits that hold at all thresholds jointly."""
        n_models = self.n_candidates // self.n_thresholds
        missed = self.positives - self.positives_above
        return chosen_error_upper(
            missed, self.others_above, self.n, self.n_thresholds, self.delta, n_candidates=n_models
        )

    def cut_counts(self) -> dict[str, int]:
        """Rows of the class and other rows, above the threshold and in all."""
        return {
            "positives": self.positives,
            "positives_above": self.positives_above,
            "others_above": self.others_above,
            "rows": self.n,
        }

    def clause(self, facts: "Facts") -> str:
        """The main clause."""
        return f"the error rate on {facts.new_data} is {self.value_text}{self.rule.condition(facts)}"

    def seen(self, facts: "Facts") -> str:
        """Errors and rows."""
        return f" ({number_of(self.errors, 'error')} on {number_of(self.n, facts.counted())})"

    def table_line(self) -> TableLine:
        """The error rate of the decision rule."""
        return TableLine("error rate", self.value_text, self.errors, self.n)
