"""`Costs`: minimise the expected cost of an answer."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from abnet.certificates import thresholds
from abnet.certificates.goals.goal import Goal, GoalOption, Trials, goal
from abnet.utils.errors import Parameter, ParameterError
from abnet.utils.wording import number_of

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

__all__ = ["Costs"]


@goal
@dataclass(frozen=True)
class Costs(Goal):
    """Goal: minimise the expected cost, given the cost of every answer for every true class.

    Parameters
    ----------
    costs : mapping from (truth, answer) to a number, or array (K, K)
        Every wrong answer needs a cost; right answers cost 0 by default. "*" stands for every label, and a pair that
        names more labels prevails: ``{("*", "*"): 1, ("ill", "*"): 10}``. An array has one row per true class and one
        column per answer.

    Examples
    --------
    >>> Costs({("ill", "well"): 10, ("well", "ill"): 1}).table(["ill", "well"])
    array([[ 0., 10.],
           [ 1.,  0.]])
    """

    costs: "Mapping[tuple[Any, Any], float] | ArrayLike"

    takes_probabilities = True
    option = GoalOption(
        "costs",
        "Certify the expected cost of a row: what each wrong answer costs ('*' is any label); repeatable.",
        rank=40,
        metavar="TRUTH:ANSWER=COST",
        type=list[str],
        positive_class="allowed",
    )

    def __str__(self) -> str:
        return "A bound on the expected cost"

    @classmethod
    def from_option(cls, value: Any, positive_class: str | None) -> "Costs":
        """The costs by true label and answer, from texts ``TRUTH:ANSWER=COST``; raises a ParameterError.

        Examples
        --------
        >>> Costs.from_option(["ill:well=10", "well:ill=1"], None)
        Costs(costs={('ill', 'well'): 10.0, ('well', 'ill'): 1.0})
        """
        costs: dict[tuple[str, str], float] = {}
        for text in value:
            pair, cost = _read_cost(text)
            if pair in costs:
                raise ParameterError("{}: {}:{} is given twice.", Parameter("costs"), *pair)
            costs[pair] = cost
        return cls(costs)

    def as_options(self) -> dict[str, Any]:
        """The option, with the costs by pairs of labels; a table of costs does not name the labels."""
        if not isinstance(self.costs, Mapping):
            return {"costs": None}
        return {"costs": [f"{truth}:{answer}={cost:g}" for (truth, answer), cost in self.costs.items()]}

    def table(self, classes: Sequence[Any]) -> "NDArray[np.float64]":
        """The costs as an array, true class by answer; a ValueError names a missing or unknown pair."""
        from abnet.certificates.cost_table import check_costs, costs_by_pair

        if isinstance(self.costs, Mapping):
            return costs_by_pair(self.costs, classes)
        return check_costs(self.costs, len(classes))

    def check_classes(self, names: Sequence[str]) -> None:
        """Raise a ValueError if a cost is missing, or names another class."""
        self.table(names)

    def candidates(self, held: "ValidationScores", classes: Sequence[str], n_rows: int, terms: "Terms") -> "Candidates":
        """One decision: for two classes a threshold, for several the rule of the least expected cost."""
        table = self.table(classes)
        if len(classes) == 2:
            decisions = thresholds.cuts([thresholds.cheapest(held, table)], 1)
        else:
            decisions = (thresholds.cheapest_rule(held, table),)
        return thresholds.Candidates(decisions=decisions, merits=(0.0,), seen=Trials(0, 0), n_seen=len(held.codes))

    def row_costs(
        self, decision: "Decision", scores: "NDArray[np.float64]", truth: "NDArray[np.intp]", classes: Sequence[str]
    ) -> "NDArray[np.float64]":
        """The cost of each row as a share of the largest cost, which rows with an unknown label have."""
        from abnet.certificates.cost_table import costs_of_answers

        return costs_of_answers(self.table(classes), decision(scores), truth)

    def certify(
        self, evidence: "Evidence", candidates: "Candidates", terms: "Terms", beside: "Terms | None" = None
    ) -> "tuple[Decision | None, list[Statement]]":
        """Bound on the expected cost of the decision, by betting on the cost of each row."""
        from abnet.certificates.rates_of_cut import rates_of_cut
        from abnet.certificates.statements.cost_bound import CostBound
        from abnet.certificates.statements.decision_rule import CutRule

        if evidence.costs is None:
            raise ValueError("the cost of each row is needed, in the order of the rows' keys.")
        decision = candidates.decisions[0]
        rule = None
        others: Sequence[Statement] = []
        if decision.kind == "cut":
            rule = CutRule.of(decision, evidence.classes)
            counts = thresholds.cut_counts(evidence, decision)
            delta = (beside or terms).delta
            others = rates_of_cut(counts, rule, delta=delta, n_candidates=terms.n_candidates)
        cost = CostBound.from_values(
            evidence.costs.values,
            largest=float(self.table(evidence.classes).max()),
            rule=rule,
            minimised=decision.kind == "costs",
            delta=terms.delta,
            n_candidates=terms.n_candidates,
        )
        return decision, [cost, *others]

    def concerns(self, trade_off: "TradeOff") -> bool:
        """False: costs have no rate to choose."""
        return False

    def code_labels(
        self, labels: "NDArray[Any]", scores: "NDArray[np.float64]", answers: "ArrayLike | None", positive: Any
    ) -> "ScoredLabels":
        """The two labels that the costs name; a table of costs has the positive class against all others."""
        from abnet.certificates.scored_labels import one_against_other, one_against_rest

        if isinstance(self.costs, Mapping):
            return one_against_other(labels, positive, self.costs)
        return one_against_rest(labels, positive)

    def relabelled(self, read_label: Callable[[Any], str]) -> "Costs":
        """The costs with labels as `read_label` writes them."""
        if not isinstance(self.costs, Mapping):
            return self
        costs = {(read_label(truth), read_label(answer)): cost for (truth, answer), cost in self.costs.items()}
        if len(costs) < len(self.costs):
            raise ParameterError("{}: a pair of labels is given twice.", Parameter("costs"))
        return Costs(costs)

    def check_labels(self, truth: Sequence[str], known: Sequence[str], positive: str | None) -> list[str]:
        """A note about rows whose label has no cost; raises a ParameterError for costs of unknown labels."""
        from abnet.certificates.cost_table import EVERY

        if not isinstance(self.costs, Mapping):
            return []
        if positive is None:
            raise ParameterError("costs need {}, the class that the scores belong to.", Parameter("positive_class"))
        labels = list(known) or sorted(set(truth))
        named = list(dict.fromkeys(label for pair in self.costs for label in pair))
        if EVERY in named and EVERY not in labels:
            named.remove(EVERY)
            if len(labels) == 2:
                named = labels
        unknown = [label for label in named if label not in labels]
        if unknown:
            raise ParameterError(
                "{}: there is no label {}; the labels are {}.", Parameter("costs"), _listed(unknown), _listed(labels)
            )
        if positive not in named or len(named) != 2:
            raise ParameterError(
                "{} must name {!r} and one other label; got {}.", Parameter("costs"), positive, _listed(named)
            )
        n_others = sum(label not in named for label in truth)
        if n_others == 0:
            return []
        rows = number_of(n_others, "row")
        return [
            f"{rows} have a label that is neither {named[0]} nor {named[1]}; each of them counts with the largest cost"
        ]


def _read_cost(text: str) -> tuple[tuple[str, str], float]:
    """The pair of labels and the cost in ``TRUTH:ANSWER=COST``."""
    labels, _, cost = text.rpartition("=")
    truth, colon, answer = labels.partition(":")
    if not colon:
        raise ParameterError("{} takes TRUTH:ANSWER=COST, such as ill:well=10, not {!r}.", Parameter("costs"), text)
    try:
        return (truth.strip(), answer.strip()), float(cost)
    except ValueError:
        raise ParameterError("{} takes a number after =, not {!r}.", Parameter("costs"), cost) from None


MOST_LISTED = 10
"""Labels that a message lists."""


def _listed(labels: Sequence[str]) -> str:
    """Labels in quotes, not too many of them."""
    shown = ", ".join(map(repr, labels[:MOST_LISTED]))
    if len(labels) <= MOST_LISTED:
        return shown
    return f"{shown} and {len(labels) - MOST_LISTED} more"
