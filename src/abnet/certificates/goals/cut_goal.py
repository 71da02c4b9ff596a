"""`CutGoal`: a goal of two classes, met by predicting one of them for the rows above a threshold."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from abnet.certificates import thresholds
from abnet.certificates.goals.goal import RateGoal, Trials, required
from abnet.utils.errors import Parameter, ParameterError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from abnet.certificates.decision import Decision
    from abnet.certificates.evidence import Evidence
    from abnet.certificates.from_evidence import Terms
    from abnet.certificates.held import Held
    from abnet.certificates.scored_labels import ScoredLabels
    from abnet.certificates.statement import Statement
    from abnet.certificates.thresholds import Candidates
    from abnet.certificates.trade_off import TradeOff

__all__ = ["CutCounts", "CutGoal"]


class CutCounts(NamedTuple):
    """Numbers of rows by their class, and of those above a threshold.

    Attributes
    ----------
    positives, positives_above : int
        Rows of the positive class.
    negatives, negatives_above : int
        Rows of the other class.
    rows, rows_above : int
        All rows; rows with a label that the model does not know belong to neither class.
    """

    positives: int
    positives_above: int
    negatives: int
    negatives_above: int
    rows: int
    rows_above: int


class CutGoal(RateGoal):
    """A goal of two classes, met by predicting the class `positive` for the rows above a threshold.

    A subclass is a dataclass with its rate and `positive` as fields. It says which thresholds to test (`search`), what
    counts as a failure (`failures`), and which of the thresholds that passed is the best (`merit`).

    Attributes
    ----------
    positive : label
    quantity : str
        The quantity that the statement is about, such as "recall"; it is not stated again beside the goal.
    """

    positive: Any
    quantity: ClassVar[str]

    @abstractmethod
    def search(
        self, scores: "NDArray[np.float64]", is_positive: "NDArray[np.bool_]", n_rows: int, terms: "Terms"
    ) -> "NDArray[np.float64]":
        """Thresholds in the order in which they are tested, from validation rows.

        Parameters
        ----------
        scores : float array (m,)
            Scores for the positive class.
        is_positive : bool array (m,)
        n_rows : int
            Number of held-out rows.
        terms : Terms
        """

    @abstractmethod
    def failures(self, counts: CutCounts) -> Trials:
        """The rows that could fail at a threshold, and those that do."""

    @abstractmethod
    def merit(self, counts: CutCounts) -> float:
        """How good a threshold that meets the goal is, by its counts on validation rows; the largest merit wins."""

    @property
    def positive_label(self) -> Any:
        """The label that rows above the threshold are predicted as."""
        return self.positive

    @classmethod
    def from_option(cls, value: Any, positive_class: str | None) -> "CutGoal":
        """The goal from the value of its option; raises a ParameterError."""
        if positive_class is None:
            raise ParameterError("{} needs {}.", Parameter(cls.option.name), Parameter("positive_class", "LABEL"))
        return cls(required(cls.option, value), positive_class)  # type: ignore[call-arg]

    def as_options(self) -> dict[str, Any]:
        """The option, with its rate, and the positive class."""
        return {**super().as_options(), "positive_class": self.positive}

    def check_classes(self, names: Sequence[str]) -> None:
        """Raise a ParameterError unless there are two classes, of which one is the positive class."""
        if len(names) != 2 or str(self.positive) not in names:
            raise ParameterError(
                "a target {} needs two classes, of which {} names one; got {!r}, and the classes are {}.",
                self.quantity,
                Parameter("positive_class"),
                self.positive,
                ", ".join(names),
            )

    def candidates(self, held: "Held", classes: Sequence[str], n_rows: int, terms: "Terms") -> "Candidates":
        """Thresholds on the score for the positive class."""
        scores, is_positive, code = thresholds.scores_for(self.positive, held, classes)
        chosen = self.search(scores, is_positive, n_rows, terms).tolist()
        counts = [_counts_of_scores(scores, is_positive, threshold) for threshold in chosen]
        return thresholds.Candidates(
            decisions=thresholds.cuts(chosen, code),
            merits=tuple(self.merit(at_threshold) for at_threshold in counts),
            seen=self.failures(counts[0]),
            n_seen=len(scores),
        )

    def trials(self, evidence: "Evidence", decision: "Decision") -> Trials:
        """What the test of a threshold counts on the held-out rows."""
        return self.failures(counts_of_evidence(evidence, decision))

    def statement(
        self,
        decision: "Decision",
        trials: Trials,
        classes: Sequence[str],
        terms: "Terms",
        rows_needed: int | None,
    ) -> "Statement":
        """At least this share of new rows succeeds."""
        from abnet.certificates.rule_rates import rule_of
        from abnet.certificates.statement import state

        return state(
            self.quantity,
            "class",
            "rate_of_successes",
            {"failures": trials.failures, "trials": trials.trials, "rate": self.rate},
            side="at least",
            name=classes[int(decision.positive or 0)],
            rule=rule_of(decision, classes),
            rows_needed=rows_needed,
            delta=terms.delta,
            n_candidates=terms.n_candidates,
        )

    def beside(
        self, decision: "Decision", evidence: "Evidence", candidates: "Candidates", terms: "Terms"
    ) -> "list[Statement]":
        """What the threshold costs: bounds on the other rates."""
        from abnet.certificates.rule_rates import rates_of_rule

        return rates_of_rule(
            decision,
            thresholds.counts_above(evidence, decision).sum(axis=1),
            evidence.class_rows,
            evidence.classes,
            goal=self.quantity,
            n_thresholds=candidates.n_selectable,
            delta=terms.delta,
            n_candidates=terms.n_candidates,
        )

    def concerns(self, trade_off: "TradeOff") -> bool:
        """Whether the table is about predicting a class."""
        return trade_off.positive is not None

    def code_labels(
        self, labels: "NDArray[Any]", scores: "NDArray[np.float64]", answers: "ArrayLike | None", positive: Any
    ) -> "ScoredLabels":
        """The positive class against all other labels."""
        from abnet.certificates.scored_labels import one_against_rest

        return one_against_rest(labels, self.positive)

    def relabelled(self, read_label: Callable[[Any], str]) -> "CutGoal":
        """The goal with the positive class as `read_label` writes it."""
        return replace(self, positive=read_label(self.positive))  # type: ignore[type-var]


def counts_of_evidence(evidence: "Evidence", decision: "Decision") -> CutCounts:
    """Counts of the held-out rows at a threshold of two classes."""
    positive = int(decision.positive or 0)
    negative = 1 - positive
    above = thresholds.counts_above(evidence, decision).sum(axis=1)
    rows = evidence.class_rows
    return CutCounts(
        positives=int(rows[positive]),
        positives_above=int(above[positive]),
        negatives=int(rows[negative]),
        negatives_above=int(above[negative]),
        rows=int(rows.sum()),
        rows_above=int(above.sum()),
    )


def _counts_of_scores(scores: "NDArray[np.float64]", is_positive: "NDArray[np.bool_]", threshold: float) -> CutCounts:
    """Counts of validation rows at a threshold."""
    above = scores > threshold
    n_rows = len(scores)
    n_above = int(above.sum())
    positives = int(is_positive.sum())
    positives_above = int((above & is_positive).sum())
    return CutCounts(
        positives=positives,
        positives_above=positives_above,
        negatives=n_rows - positives,
        negatives_above=n_above - positives_above,
        rows=n_rows,
        rows_above=n_above,
    )
