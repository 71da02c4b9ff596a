"""`CutGoal`: a goal of two classes, met by predicting one of them for the rows above a threshold."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from abnet.certificates import thresholds
from abnet.certificates.cut_counts import CutCounts
from abnet.certificates.goals.goal import RankCounts, RateGoal, Trials, required
from abnet.utils.errors import Parameter, ParameterError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from abnet.certificates.decision import Decision
    from abnet.certificates.evidence import Evidence
    from abnet.certificates.scored_labels import ScoredLabels
    from abnet.certificates.statements.rate_test import CutTest
    from abnet.certificates.statements.statement import Statement
    from abnet.certificates.terms import Terms
    from abnet.certificates.thresholds import Candidates
    from abnet.certificates.trade_off import TradeOff
    from abnet.certificates.validation_scores import ValidationScores

__all__ = ["CutGoal"]


class CutGoal(RateGoal):
    """A goal of two classes, met by predicting the class `positive` for the rows above a threshold.

    A subclass is a dataclass with its rate and `positive` as fields. It says which thresholds to test (`search`), which
    of the thresholds that passed is the best (`merit`), and what is stated about it (`statement_type`).

    Attributes
    ----------
    positive : label
    """

    positive: Any

    @classmethod
    @abstractmethod
    def statement_type(cls) -> "type[CutTest]":
        """The kind of statement that the goal is met; it also says what a success is."""

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

    def failures(self, counts: CutCounts) -> Trials:
        """The rows that could fail at a threshold, and those that do."""
        successes, n = self.statement_type().rate_bound.successes_of(counts)
        return Trials(n - successes, n)

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
                self.option.name.removeprefix("target_"),
                Parameter("positive_class"),
                self.positive,
                ", ".join(names),
            )

    def candidates(self, held: "ValidationScores", classes: Sequence[str], n_rows: int, terms: "Terms") -> "Candidates":
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
        return self.failures(thresholds.cut_counts(evidence, decision))

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
        """At least this share of new rows succeeds."""
        from abnet.certificates.statements.decision_rule import CutRule

        return self.statement_type().from_counts(
            failures=trials.failures,
            trials=trials.trials,
            rate=self.rate,
            rule=CutRule.of(decision, classes),
            rows_needed=rows_needed,
            by_rank=by_rank,
            delta=terms.delta,
            n_candidates=terms.n_candidates,
        )

    def beside(
        self, decision: "Decision", evidence: "Evidence", n_thresholds: int, terms: "Terms", *, by_rank: bool = False
    ) -> "Sequence[Statement]":
        """What the threshold costs: bounds on the other rates."""
        from abnet.certificates.rates_of_cut import rates_of_cut
        from abnet.certificates.statements.decision_rule import CutRule

        return rates_of_cut(
            thresholds.cut_counts(evidence, decision),
            CutRule.of(decision, evidence.classes),
            without=self.statement_type().rate_bound,
            n_thresholds=n_thresholds,
            by_rank=by_rank,
            delta=terms.delta,
            n_candidates=terms.n_candidates,
        )

    def at_ranks(
        self, truth: "NDArray[np.intp]", answers: "NDArray[np.intp] | None", classes: Sequence[str]
    ) -> "RankCounts":
        """What is counted at every rank."""
        import numpy as np

        is_positive = truth == [str(label) for label in classes].index(str(self.positive))
        positives_above = np.cumsum(is_positive)
        rows_above = np.arange(1, len(truth) + 1)
        positives = int(is_positive.sum())
        counts = CutCounts(
            positives=positives,
            positives_above=positives_above,  # type: ignore[arg-type]
            negatives=len(truth) - positives,
            negatives_above=rows_above - positives_above,
            rows=len(truth),
            rows_above=rows_above,  # type: ignore[arg-type]
        )
        failures, trials = self.failures(counts)
        merits = np.asarray(self.merit(counts), np.float64)
        return RankCounts(np.asarray(failures), np.broadcast_to(trials, len(truth)), merits)

    def decision_above(self, threshold: float, classes: Sequence[str]) -> "Decision":
        """Predict the positive class above the threshold."""
        code = [str(label) for label in classes].index(str(self.positive))
        return thresholds.cuts([threshold], code)[0]

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
