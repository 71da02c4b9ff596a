"""`TargetRecall`: find at least a share of the positive rows."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from abnet.certificates import thresholds
from abnet.certificates.cut_counts import CutCounts
from abnet.certificates.goals.cut_goal import CutGoal
from abnet.certificates.goals.goal import GoalOption, goal
from abnet.utils.wording import percent

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from abnet.certificates.statements.rate_test import CutTest
    from abnet.certificates.terms import Terms

__all__ = ["TargetRecall"]


@goal
@dataclass(frozen=True)
class TargetRecall(CutGoal):
    """Goal for two classes: find at least the share `recall` of the positive rows.

    Examples
    --------
    >>> TargetRecall(0.95, positive="ill")
    TargetRecall(recall=0.95, positive='ill')
    """

    recall: float
    positive: Any

    option = GoalOption(
        "target_recall",
        "Certify a threshold that finds this share of the rows of --positive-class.",
        rank=20,
        positive_class="required",
    )

    ranked = "class"

    @classmethod
    def statement_type(cls) -> "type[CutTest]":
        """`RecallTest`."""
        from abnet.certificates.statements.recall import RecallTest

        return RecallTest

    def __str__(self) -> str:
        return f"A recall of {percent(self.recall)} for class {self.positive}"

    @property
    def rate(self) -> float:
        """The recall."""
        return self.recall

    @property
    def limit(self) -> float:
        """The largest share of positive rows that may be missed."""
        return thresholds.complement(self.recall)

    def search(
        self, scores: "NDArray[np.float64]", is_positive: "NDArray[np.bool_]", n_rows: int, terms: "Terms"
    ) -> "NDArray[np.float64]":
        """Increasing thresholds: the recall falls from 1 to below the goal."""
        return thresholds.rising(scores, is_positive, most_below=2.0 * (1.0 - self.recall))

    def merit(self, counts: CutCounts) -> float:
        """The precision; 0 if no row is above the threshold."""
        none_above = counts.rows_above == 0
        return counts.positives_above / (counts.rows_above + none_above)
