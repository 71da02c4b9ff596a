"""`TargetPrecision`: at least a share of the rows predicted as positive are positive."""

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

__all__ = ["TargetPrecision"]


@goal
@dataclass(frozen=True)
class TargetPrecision(CutGoal):
    """Goal for two classes: at least this share of the rows predicted as positive are positive.

    Examples
    --------
    >>> TargetPrecision(0.9, positive="ill")
    TargetPrecision(precision=0.9, positive='ill')
    """

    precision: float
    positive: Any

    option = GoalOption(
        "target_precision",
        "Certify a threshold at which this share of the rows predicted as --positive-class is correct.",
        rank=30,
        positive_class="required",
    )

    ranked = "rows above"

    @classmethod
    def statement_type(cls) -> "type[CutTest]":
        """`PrecisionTest`."""
        from abnet.certificates.statements.precision import PrecisionTest

        return PrecisionTest

    def __str__(self) -> str:
        return f"A precision of {percent(self.precision)} for class {self.positive}"

    @property
    def rate(self) -> float:
        """The precision."""
        return self.precision

    @property
    def limit(self) -> float:
        """The largest share of the rows predicted as positive that may be wrong."""
        return thresholds.complement(self.precision)

    def search(
        self, scores: "NDArray[np.float64]", is_positive: "NDArray[np.bool_]", n_rows: int, terms: "Terms"
    ) -> "NDArray[np.float64]":
        """Decreasing thresholds, down to all rows predicted as positive."""
        return thresholds.falling(scores, ~is_positive, self.limit, n_rows, terms)

    def merit(self, counts: CutCounts) -> float:
        """The recall."""
        return counts.positives_above / counts.positives
