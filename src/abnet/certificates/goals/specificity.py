"""`TargetSpecificity`: predict at most a share of the other rows as positive."""

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

__all__ = ["TargetSpecificity"]


@goal
@dataclass(frozen=True)
class TargetSpecificity(CutGoal):
    """Goal for two classes: at least this share of the rows that are not positive are not predicted as positive.

    The false-alarm rate is then at most one minus the specificity.

    Examples
    --------
    >>> TargetSpecificity(0.95, positive="ill")
    TargetSpecificity(specificity=0.95, positive='ill')
    """

    specificity: float
    positive: Any

    option = GoalOption(
        "target_specificity",
        "Certify a threshold that leaves out this share of the other rows.",
        rank=25,
        positive_class="required",
    )

    ranked = "class"

    @classmethod
    def statement_type(cls) -> "type[CutTest]":
        """`SpecificityTest`."""
        from abnet.certificates.statements.specificity import SpecificityTest

        return SpecificityTest

    def __str__(self) -> str:
        return f"A specificity of {percent(self.specificity)} for class {self.positive}"

    @property
    def rate(self) -> float:
        """The specificity."""
        return self.specificity

    @property
    def limit(self) -> float:
        """The largest share of the other rows that may be predicted as positive."""
        return thresholds.complement(self.specificity)

    def search(
        self, scores: "NDArray[np.float64]", is_positive: "NDArray[np.bool_]", n_rows: int, terms: "Terms"
    ) -> "NDArray[np.float64]":
        """Decreasing thresholds: the specificity falls from 1 to below the goal."""
        if is_positive.all():
            raise ValueError(f"all of the rows that fix the thresholds are {self.positive}: pass more rows.")
        mirrored = thresholds.rising(-scores, ~is_positive, most_below=2.0 * (1.0 - self.specificity))
        return 0.0 - mirrored  # no -0.0

    def merit(self, counts: CutCounts) -> float:
        """The recall."""
        return counts.positives_above / counts.positives
