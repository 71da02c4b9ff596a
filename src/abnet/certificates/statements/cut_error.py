"""`CutError`: the error rate of a cut."""

from typing import TYPE_CHECKING, Any

from abnet.bounds.clopper_pearson import clopper_pearson_bound
from abnet.certificates.cut_counts import CutCounts
from abnet.certificates.statements.cut_bound import CutBound
from abnet.certificates.statements.decision_rule import CutRule
from abnet.certificates.statements.statement import TableLine
from abnet.utils.wording import number_of

if TYPE_CHECKING:
    from abnet.certificates.facts import Facts

__all__ = ["CutError"]


class CutError(CutBound, frozen=True, kw_only=True, tag="error of a cut"):
    """An upper bound on the error rate of answers by a threshold.

    Attributes
    ----------
    errors, n : int
        Wrong answers among n rows.
    """

    errors: int
    n: int

    @classmethod
    def of_cut(cls, counts: CutCounts, rule: CutRule, **terms: Any) -> "CutError":
        """The bound at a threshold."""
        return cls.from_counts(errors=counts.errors, n=counts.rows, rule=rule, **terms)

    @property
    def about(self) -> str:
        """The subject in a few words."""
        return "error rate of the decision rule"

    def bound(self) -> float:
        """Clopper-Pearson."""
        return clopper_pearson_bound(self.errors, self.n, self.delta, n_candidates=self.n_candidates)

    def cut_counts(self) -> dict[str, int]:
        """Wrong answers, and all rows."""
        return {"errors": self.errors, "rows": self.n}

    def clause(self, facts: "Facts") -> str:
        """The main clause."""
        return f"the error rate on {facts.new_data} is {self.value_text}{self.rule.condition(facts)}"

    def seen(self, facts: "Facts") -> str:
        """Errors and rows."""
        return f" ({number_of(self.errors, 'error')} on {number_of(self.n, facts.counted())})"

    def table_line(self) -> TableLine:
        """The error rate of the decision rule."""
        return TableLine("error rate", self.value_text, self.errors, self.n)
