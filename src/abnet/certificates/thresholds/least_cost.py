"""The decision with the least expected cost: the threshold of two classes, the rule of several."""

import numpy as np
from numpy.typing import NDArray

from abnet.certificates.cost_table import costs_of_answers
from abnet.certificates.decision import ARGMAX, Decision, cuts_between, room_of
from abnet.certificates.expected_costs import ExpectedCosts
from abnet.certificates.validation_scores import ValidationScores

__all__ = ["cheapest", "cheapest_rule"]

Floats = NDArray[np.float64]


def cheapest(held: ValidationScores, table: Floats) -> float:
    """The threshold on the score for the second class: the Bayes rule, unless another is clearly cheaper.

    The cheapest of many thresholds on the validation rows is partly chosen by chance, so it must be cheaper than the
    Bayes rule by more than one standard error. Without calibrated probabilities the cheapest threshold is used.

    Parameters
    ----------
    held : ValidationScores
    table : float array (2, 2)
        Costs, true class by answer.

    Examples
    --------
    >>> scores = np.array([-0.8, -0.4, 0.2, 0.6])
    >>> cheapest(ValidationScores(scores, np.array([0, 0, 0, 1])), np.array([[0.0, 1.0], [10.0, 0.0]]))
    0.4
    """
    scores = held.scores
    # Raising the threshold above a score changes the answer to its rows from the second class to the first.
    cost_of_change = np.where(held.codes == 1, table[1, 0] - table[1, 1], table[0, 0] - table[0, 1])
    thresholds = cuts_between(scores)
    places = np.searchsorted(thresholds, scores)
    totals = np.cumsum(np.bincount(places, weights=cost_of_change, minlength=len(thresholds)))
    best = float(thresholds[int(np.argmin(totals))])
    if held.score_at is None:
        return best
    bayes = round(float(held.score_at(_bayes_probability(table))), 3)
    if np.abs(scores - bayes).min() <= room_of(scores):
        bayes = float(thresholds[np.searchsorted(thresholds, bayes)])
    changed_by_bayes = (scores <= bayes).astype(np.float64)
    changed_by_best = (scores <= best).astype(np.float64)
    saved = cost_of_change * (changed_by_bayes - changed_by_best)
    if saved.mean() > saved.std() / np.sqrt(len(scores)):
        return best
    return bayes


def _bayes_probability(table: Floats) -> float:
    """The probability of the second class above which answering it is cheaper.

    Examples
    --------
    >>> _bayes_probability(np.array([[0.0, 1.0], [4.0, 0.0]]))
    0.2
    """
    false_alarm = table[0, 1] - table[0, 0]
    miss = table[1, 0] - table[1, 1]
    if false_alarm + miss <= 0.0:
        return 0.5  # wrong answers cost nothing more: the validation rows decide
    return float(false_alarm / (false_alarm + miss))


POWERS = (0.5, 2.0)
"""Powers of the probabilities that are tried beside the calibrated ones."""


def cheapest_rule(held: ValidationScores, table: Floats) -> Decision:
    """The decision of several classes: the Bayes rule by calibrated probabilities, unless another is clearly cheaper.

    The others are the same rule with probabilities that are less or more certain, and the plain vote. As in `cheapest`,
    they must be cheaper on the validation rows by more than one standard error.

    Parameters
    ----------
    held : ValidationScores
        With one score for each class.
    table : float array (K, K)
        Costs, true class by answer.

    Examples
    --------
    >>> held = ValidationScores(np.array([[0.5, 0.3, 0.2], [0.1, 0.2, 0.7]]), np.array([1, 1]))
    >>> rule = cheapest_rule(held, np.array([[0.0, 1.0, 1.0], [9.0, 0.0, 9.0], [1.0, 1.0, 0.0]]))
    >>> rule.kind, rule(held.scores).tolist()
    ('costs', [1, 1])
    """
    costs = tuple(tuple(row) for row in table.tolist())

    def by_costs(factor: float) -> Decision:
        return Decision(kind="costs", costs=ExpectedCosts(table=costs, power=factor * held.power, floor=held.floor))

    def costs_of(decision: Decision) -> Floats:
        return costs_of_answers(table, decision(held.scores), held.codes)

    bayes = by_costs(1.0)
    others = [*map(by_costs, POWERS), ARGMAX]
    best = min(others, key=lambda decision: float(costs_of(decision).mean()))
    saved = costs_of(bayes) - costs_of(best)
    if saved.mean() > saved.std() / np.sqrt(len(saved)):
        return best
    return bayes
