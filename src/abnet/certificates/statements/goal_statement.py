"""`GoalStatement`: what a model's decision was made for, on rows that chose the decision."""

from abc import abstractmethod
from typing import ClassVar, Literal

from abnet.certificates.statements.statement import Statement
from abnet.utils.wording import stated

__all__ = ["GoalStatement"]


class GoalStatement(Statement, frozen=True):
    """The promise that a decision was made to keep. The report of a model begins with it."""

    about_decision: ClassVar[bool] = True
    chose_decision: ClassVar[bool] = True
    may_be_one_sided: ClassVar[bool] = False
    """Whether a decision that treats nearly all rows in the same way is as wanted."""
    leaves_open: ClassVar[Literal["false alarms", "misses"] | None] = None
    """The errors of a cut that the promise does not limit."""

    @property
    def is_goal(self) -> bool:
        """True."""
        return True

    @property
    @abstractmethod
    def headline(self) -> str:
        """What the value is, such as "error rate among answered rows (upper bound)"."""

    @property
    def headline_value(self) -> str:
        """The value in words."""
        return stated(self.value or 0.0)

    @property
    def headline_counts(self) -> str:
        """What was counted, after a semicolon; empty by default."""
        return ""
