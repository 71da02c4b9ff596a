"""`Goal`: what a decision has to achieve; `GoalOption`: how the command line asks for it.

The files of this folder load nothing but the standard library, so that ``abnet fit --help`` can list the options of all
goals at once. Statements and everything else that needs NumPy are imported by the methods that use them, or through the
package `abnet.certificates.thresholds`, whose names load on first use.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, TypeVar

from abnet.certificates import thresholds
from abnet.utils.errors import Parameter, ParameterError

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

__all__ = ["GOALS", "Goal", "GoalOption", "RankCounts", "RateGoal", "Trials", "goal", "goals_by_rank", "required"]

GOALS: "dict[str, type[Goal]]" = {}
"""The goals by the parameter name of their option."""

G = TypeVar("G", bound="type[Goal]")


def goal(kind: G) -> G:
    """Register a goal, so that the command line offers it and `CertifiedClassifier` accepts it; a decorator."""
    GOALS[kind.option.name] = kind
    return kind


def goals_by_rank() -> "list[type[Goal]]":
    """The goals in the order in which help lists them."""
    return sorted(GOALS.values(), key=lambda kind: kind.option.rank)


@dataclass(frozen=True)
class GoalOption:
    """The option of a goal on the command line.

    Attributes
    ----------
    name : str
        The option is ``--`` followed by this name, with hyphens in place of underscores.
    help : str
    rank : int
        Position in the help, in increasing order.
    metavar : str
    type : type
        ``float``, or ``list[str]`` for an option that is given several times.
    positive_class : {"required", "allowed", "refused"}
        Whether ``--positive-class`` goes with the option.
    """

    name: str
    help: str
    rank: int
    metavar: str = "RATE"
    type: Any = float
    positive_class: Literal["required", "allowed", "refused"] = "refused"


class Goal(ABC):
    """What a decision has to achieve.

    A goal fixes its candidate decisions on validation rows (`candidates`), before the held-out rows are seen. The
    held-out rows then certify one of the candidates, or none (`certify`).

    Attributes
    ----------
    option : GoalOption
    needs_confidence : bool
        Whether the goal is about the model's confidence in its answers, whatever the class; otherwise it is about the
        score of one of two classes.
    takes_probabilities : bool
        Whether the goal can be met with probabilities of several classes.
    """

    option: ClassVar[GoalOption]
    needs_confidence: ClassVar[bool] = False
    takes_probabilities: ClassVar[bool] = False

    @classmethod
    @abstractmethod
    def from_option(cls, value: Any, positive_class: str | None) -> "Goal":
        """The goal from the value of its option; raises a ParameterError."""

    @abstractmethod
    def as_options(self) -> dict[str, Any]:
        """The options that ask for this goal, with their values."""

    @abstractmethod
    def __str__(self) -> str:
        """The goal at the beginning of a sentence, such as "A recall of 90% for class ill"."""

    @property
    def positive_label(self) -> Any:
        """The label that rows above the threshold are predicted as; None if the goal names none."""
        return None

    def check_classes(self, names: Sequence[str]) -> None:  # noqa: B027 most goals are for any classes
        """Raise a ParameterError if the goal does not fit a model with these classes."""

    @abstractmethod
    def candidates(self, held: "ValidationScores", classes: Sequence[str], n_rows: int, terms: "Terms") -> "Candidates":
        """Candidate decisions from validation rows, for a test on `n_rows` held-out rows.

        Parameters
        ----------
        held : ValidationScores
        classes : sequence of str
        n_rows : int
        terms : Terms
        """

    @abstractmethod
    def certify(
        self, evidence: "Evidence", candidates: "Candidates", terms: "Terms", beside: "Terms | None" = None
    ) -> "tuple[Decision | None, list[Statement]]":
        """The certified decision and the statements about it; None if nothing could be certified.

        Parameters
        ----------
        evidence : Evidence
        candidates : Candidates
        terms : Terms
            Of the goal's own statement, which chooses the decision.
        beside : Terms, optional
            Of the statements beside it, if their δ is another one.
        """

    def row_costs(
        self, decision: "Decision", scores: "NDArray[np.float64]", truth: "NDArray[np.intp]", classes: Sequence[str]
    ) -> "NDArray[np.float64] | None":
        """The cost of each row as a share of the largest cost; None for a goal without costs."""
        return None

    @abstractmethod
    def concerns(self, trade_off: "TradeOff") -> bool:
        """Whether a table of thresholds helps to choose the rate of this goal."""

    @abstractmethod
    def code_labels(
        self, labels: "NDArray[Any]", scores: "NDArray[np.float64]", answers: "ArrayLike | None", positive: Any
    ) -> "ScoredLabels":
        """The class of each row of another model's scores; raises a ValueError if something is missing."""

    def relabelled(self, read_label: Callable[[Any], str]) -> "Goal":
        """The goal with labels as `read_label` writes them."""
        return self

    def check_labels(self, truth: Sequence[str], known: Sequence[str], positive: str | None) -> list[str]:
        """Notes about labels that the goal does not name; raises a ParameterError for labels that do not exist.

        Parameters
        ----------
        truth : sequence of str
            Labels of the rows.
        known : sequence of str
            Labels that the model knows; empty if this is unknown.
        positive : str or None
            The label that the scores belong to.
        """
        return []


class Trials(NamedTuple):
    """What a test counts: the rows that could fail, and those that did.

    Attributes
    ----------
    failures : int
    trials : int
    """

    failures: int
    trials: int


class RankCounts(NamedTuple):
    """What is counted at every rank of the rows: at the m-th, the m rows with the largest scores are above.

    Attributes
    ----------
    failures, trials : int array (n,)
    merits : float array (n,)
        Among the ranks that pass, the first one with the largest merit is selected.
    """

    failures: "NDArray[np.int64]"
    trials: "NDArray[np.int64]"
    merits: "NDArray[np.float64]"


class RateGoal(Goal):
    """A goal that limits the rate of failures among some of the rows.

    The candidates are thresholds in the order in which they are tested. The tests stop at the first one that fails
    (fixed-sequence testing): with probability at least 1-δ *all* thresholds that passed meet the goal, because a false
    statement requires that the first threshold that does not meet it passes, which has probability at most δ. So any of
    the passed thresholds may be selected by any criterion, and their number costs nothing.

    What else is stated about the selected threshold (`beside`) was not tested in this sequence. Each such bound is a
    Clopper-Pearson limit that holds, with probability at least 1-δ, at all G thresholds that the goal may select, and
    so at the selected one. G is known before the held-out rows are seen (`Candidates.n_selectable`). The level is δ/G;
    shares of rows above the threshold use `abnet.bounds.local_level`, which costs less for many thresholds.

    References
    ----------
    A. N. Angelopoulos, S. Bates, E. J. Candès, M. I. Jordan, L. Lei (2021), Learn then Test. Y. Geifman, R. El-Yaniv
    (2017), Selective classification for deep neural networks.
    """

    ranked: "ClassVar[Literal['rows above', 'class']]"
    """Where failures are counted if thresholds are scores of the counted rows themselves
    (`abnet.certificates.thresholds.rank_tests`): among the rows above the threshold, or among the rows of a class."""

    @property
    @abstractmethod
    def rate(self) -> float:
        """The rate that the goal names, strictly between 0 and 1."""

    @property
    @abstractmethod
    def limit(self) -> float:
        """The largest rate of failures that the goal allows."""

    @abstractmethod
    def trials(self, evidence: "Evidence", decision: "Decision") -> Trials:
        """What the test of a decision counts on the held-out rows."""

    @abstractmethod
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
        """The statement that the decision meets the goal; its value is None if it did not pass its test.

        Parameters
        ----------
        by_rank : bool
            Whether the threshold is a score of the counted rows.
        """

    @abstractmethod
    def beside(
        self, decision: "Decision", evidence: "Evidence", n_thresholds: int, terms: "Terms", *, by_rank: bool = False
    ) -> "Sequence[Statement]":
        """What is stated beside the goal: what the decision costs.

        Parameters
        ----------
        n_thresholds : int
            Number of thresholds among which this one was selected.
        by_rank : bool
            Whether they are scores of the counted rows. Then only limits that hold at all thresholds are stated.
        """

    @abstractmethod
    def at_ranks(
        self, truth: "NDArray[np.intp]", answers: "NDArray[np.intp] | None", classes: Sequence[str]
    ) -> "RankCounts":
        """What is counted at every rank.

        Parameters
        ----------
        truth : int array (n,)
            Classes of the rows, by decreasing score.
        answers : int array (n,) or None
            The model's answers, for a goal about them.
        classes : sequence of str
        """

    @abstractmethod
    def decision_above(self, threshold: float, classes: Sequence[str]) -> "Decision":
        """The decision with a threshold."""

    def __post_init__(self) -> None:
        if not 0.0 < self.rate < 1.0:
            name = self.option.name.removeprefix("target_")
            raise ValueError(f"{name} must lie strictly between 0 and 1; got {self.rate}.")

    def tail(self, trials: Trials) -> float:
        """Probability of at most so many failures if their rate is the largest that the goal allows."""
        from abnet.bounds.clopper_pearson import binomial_tail

        return binomial_tail(trials.failures, trials.trials, self.limit)

    def as_options(self) -> dict[str, Any]:
        """The option, with its rate."""
        return {self.option.name: self.rate}

    def certify(
        self, evidence: "Evidence", candidates: "Candidates", terms: "Terms", beside: "Terms | None" = None
    ) -> "tuple[Decision | None, list[Statement]]":
        """The best threshold among those that pass their tests, and the statements about it."""
        tests = [self.trials(evidence, decision) for decision in candidates.decisions]
        place = thresholds.best_passed(tests, self.limit, candidates.merits, terms)
        if place is None:
            first = candidates.decisions[0]
            needed = self._rows_needed(tests[0], evidence.n_rows, candidates, terms)
            return None, [self.statement(first, tests[0], evidence.classes, terms, needed)]
        decision = candidates.decisions[place]
        made = self.statement(decision, tests[place], evidence.classes, terms, None)
        return decision, [made, *self.beside(decision, evidence, candidates.n_selectable, beside or terms)]

    def _rows_needed(self, first: Trials, n_rows: int, candidates: "Candidates", terms: "Terms") -> int | None:
        """Rows that the first threshold would need, at the rate among validation rows and held-out rows together."""
        from abnet.certificates.planning import rows_needed

        seen = candidates.seen
        return rows_needed(
            first.failures + seen.failures,
            first.trials + seen.trials,
            n_rows + candidates.n_seen,
            self.limit,
            terms.delta / terms.n_candidates,
        )


def required(option: GoalOption, rate: float) -> float:
    """The rate given to an option; raises a ParameterError unless it lies strictly between 0 and 1."""
    if not 0.0 < rate < 1.0:
        raise ParameterError("{} must lie strictly between 0 and 1, not {:g}.", Parameter(option.name), rate)
    return rate
