"""`CutRule` and `AbstainRule`: the decision that a statement is about."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from abnet.certificates.decision import Decision

if TYPE_CHECKING:
    from abnet.certificates.facts import Facts

__all__ = ["AbstainRule", "CutRule"]


class CutRule(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Rows whose score for the class `called` is above the threshold are predicted as it, all others as the other one.

    Attributes
    ----------
    threshold : float
        Its printed form reads back as exactly this number.
    called : str
    """

    threshold: float
    called: str

    @classmethod
    def of(cls, decision: Decision, classes: Sequence[str]) -> "CutRule":
        """The rule of a decision."""
        assert decision.threshold is not None
        assert decision.positive is not None
        return cls(threshold=decision.threshold, called=classes[decision.positive])

    def is_of(self, decision: Decision, classes: Sequence[str]) -> bool:
        """Whether a decision follows this rule."""
        return decision.kind == "cut" and self == CutRule.of(decision, classes)

    def condition(self, facts: "Facts") -> str:
        """The end of a sentence about the rule."""
        return f", if rows whose score for {self.called} is above {self.threshold!r} are predicted as {self.called}"


class AbstainRule(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Rows are answered if the model's confidence is above the threshold.

    Attributes
    ----------
    threshold : float
        Its printed form reads back as exactly this number.
    """

    threshold: float

    @classmethod
    def of(cls, decision: Decision) -> "AbstainRule":
        """The rule of a decision."""
        assert decision.threshold is not None
        return cls(threshold=decision.threshold)

    def is_of(self, decision: Decision, classes: Sequence[str]) -> bool:
        """Whether a decision follows this rule."""
        return decision.kind == "abstain" and self == AbstainRule.of(decision)

    def condition(self, facts: "Facts") -> str:
        """The end of a sentence about the rule."""
        if self.threshold < 0.0:  # the confidence is never below 0
            return ", if every row is answered"
        if len(facts.classes) == 2:
            return f", if rows with |score| above {self.threshold!r} are answered"
        return f", if rows whose score for the answer is above {self.threshold!r} are answered"
