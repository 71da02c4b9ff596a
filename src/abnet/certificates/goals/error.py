"""`TargetError`: abstain on uncertain rows, so that few of the answers are wrong."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from abnet.certificates import thresholds
from abnet.certificates.goals.goal import GoalOption, RankCounts, RateGoal, Trials, goal, required
from abnet.utils.wording import percent

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from abnet.certificates.decision import Decision
    from abnet.certificates.evidence import Evidence
    from abnet.certificates.scored_labels import ScoredLabels
    from abnet.certificates.statements.statement import Statement
    from abnet.certificates.terms import Terms
    from abnet.certificates.thresholds import Candidates
    from abnet.certificates.trade_off import TradeOff
    from abnet.certificates.validation_scores import ValidationScores

__all__ = ["TargetError"]


@goal
@dataclass(frozen=True)
class TargetError(RateGoal):
    """Goal: abstain on uncertain rows, so that the error rate among answered rows is at most `error`.

    Examples
    --------
    >>> TargetError(0.02)
    TargetError(error=0.02)
    """

    error: float

    option = GoalOption(
        "target_error",
        "Answer only where the model is sure enough, and certify this error rate among the answered rows.",
        rank=10,
    )
    needs_confidence = True
    ranked = "rows above"

    def __str__(self) -> str:
        return f"An error rate of {percent(self.error)} among answered rows"

    @classmethod
    def from_option(cls, value: Any, positive_class: str | None) -> "TargetError":
        """The goal from the value of its option; raises a ParameterError."""
        return cls(required(cls.option, value))

    @property
    def rate(self) -> float:
        """The error rate."""
        return self.error

    @property
    def limit(self) -> float:
        """The error rate, which is itself a rate of failures."""
        return self.error

    def candidates(self, held: "ValidationScores", classes: Sequence[str], n_rows: int, terms: "Terms") -> "Candidates":
        """Decreasing thresholds on the confidence, the last answers every row; the merit is the share answered."""
        from abnet.certificates.decision import confidence

        sure = confidence(held.scores)
        chosen = thresholds.falling_to_all(sure, held.failing, self.limit, n_rows, terms).tolist()
        above_first = sure > chosen[0]
        return thresholds.Candidates(
            decisions=thresholds.abstentions(chosen),
            merits=tuple(float((sure > threshold).mean()) for threshold in chosen),
            seen=Trials(thresholds.whole_failures(held.failing[above_first]), int(above_first.sum())),
            n_seen=len(sure),
        )

    def trials(self, evidence: "Evidence", decision: "Decision") -> Trials:
        """Answered rows, and the wrong ones among them; an answer to a row with an unknown label is wrong."""
        answered = thresholds.counts_above(evidence, decision)
        n_answered = int(answered.sum())
        n_right = int(answered[:-1, :-1].trace())
        return Trials(n_answered - n_right, n_answered)

    def statement(
        self,
        decision: "Decision",
        trials: Trials,
        classes: Sequence[str],
        terms: "Terms",
        rows_needed: int | None,
        *,
        by_rank: bool = False,
    ) -> "Statement":
        """The error rate among answered rows is at most the target."""
        from abnet.certificates.statements.answered_error import AnsweredErrorTest
        from abnet.certificates.statements.decision_rule import AbstainRule

        return AnsweredErrorTest.from_counts(
            failures=trials.failures,
            trials=trials.trials,
            limit=self.error,
            rule=AbstainRule.of(decision),
            rows_needed=rows_needed,
            by_rank=by_rank,
            delta=terms.delta,
            n_candidates=terms.n_candidates,
        )

    def beside(
        self, decision: "Decision", evidence: "Evidence", n_thresholds: int, terms: "Terms", *, by_rank: bool = False
    ) -> "Sequence[Statement]":
        """The share of rows that are answered."""
        from abnet.certificates.statements.coverage import Coverage

        coverage = Coverage.from_counts(
            answered=self.trials(evidence, decision).trials,
            n=evidence.n_rows,
            n_thresholds=n_thresholds,
            delta=terms.delta,
            n_candidates=terms.n_candidates * n_thresholds,
        )
        return [coverage]

    def at_ranks(
        self, truth: "NDArray[np.intp]", answers: "NDArray[np.intp] | None", classes: Sequence[str]
    ) -> "RankCounts":
        """Wrong answers among the rows with the largest confidence; the merit is the number of answered rows."""
        import numpy as np

        assert answers is not None
        answered = np.arange(1, len(truth) + 1)
        return RankCounts(np.cumsum(answers != truth), answered, answered.astype(np.float64))

    def decision_above(self, threshold: float, classes: Sequence[str]) -> "Decision":
        """Answer the rows whose confidence is above the threshold."""
        return thresholds.abstentions([threshold])[0]

    def concerns(self, trade_off: "TradeOff") -> bool:
        """Whether the table is about abstaining."""
        return trade_off.positive is None

    def code_labels(
        self, labels: "NDArray[Any]", scores: "NDArray[np.float64]", answers: "ArrayLike | None", positive: Any
    ) -> "ScoredLabels":
        """The labels and the model's answers."""
        from abnet.certificates.scored_labels import labels_and_answers

        if answers is None:
            raise ValueError("TargetError needs the model's answers beside its scores.")
        if scores.min() < 0.0:
            raise ValueError("scores must not be negative for TargetError: they are the model's confidence.")
        return labels_and_answers(labels, answers)
