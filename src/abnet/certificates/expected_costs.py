"""`ExpectedCosts`: the rule that answers each row with the class of the least expected cost."""

from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["ExpectedCosts"]

Floats = NDArray[np.float64]


class ExpectedCosts(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The answer k with the least ``Σ_j w_j C[j, k]``, where ``w_j = ((P_j + floor) / (max P + floor))^power``.

    C[j, k] is the cost of answering k when j is true, and P the shares of the vote. The weights w are in proportion to
    calibrated probabilities; their sum does not matter, because it does not change which answer is cheapest.

    Attributes
    ----------
    table : tuple of K tuples of K float
        Costs, true class by answer.
    power, floor : float
        Of the calibration; 1 and 0 if the scores are probabilities themselves.

    Examples
    --------
    >>> rule = ExpectedCosts(table=((0.0, 1.0, 1.0), (1.0, 0.0, 1.0), (9.0, 9.0, 0.0)))
    >>> rule.answers([[0.6, 0.35, 0.05], [0.6, 0.2, 0.2]]).tolist()
    [0, 2]
    """

    table: tuple[tuple[float, ...], ...]
    power: float = 1.0
    floor: float = 0.0

    def __post_init__(self) -> None:
        n_classes = len(self.table)
        numbers = [cost for row in self.table for cost in row]
        if n_classes < 2 or any(len(row) != n_classes for row in self.table):
            raise ValueError("costs must be a square table, true class by answer.")
        if not np.isfinite(numbers).all() or min(numbers) < 0.0 or max(numbers) == 0.0:
            raise ValueError("costs must be finite, not negative, and not all 0.")
        if not (np.isfinite([self.power, self.floor]).all() and self.power > 0.0 and self.floor >= 0.0):
            raise ValueError(f"power must be positive and floor not negative; got {self.power} and {self.floor}.")

    @property
    def largest(self) -> float:
        """The largest cost of the table."""
        return max(max(row) for row in self.table)

    def of_answers(self, shares: ArrayLike) -> Floats:
        """The expected cost of each answer (n, K) from shares of the vote (n, K), up to a factor for each row.

        Classes are added one after the other: a product of matrices may round a row differently in another batch.
        """
        values = np.asarray(shares, np.float64)
        if values.ndim != 2 or values.shape[1] != len(self.table):
            raise ValueError(f"costs of {len(self.table)} classes need as many scores; got the shape {values.shape}.")
        raised = np.maximum(values, 0.0) + self.floor
        weights = (raised / raised.max(axis=1, keepdims=True)) ** self.power
        totals = np.zeros_like(values)
        for place, costs in enumerate(self.table):
            totals += weights[:, place : place + 1] * np.array(costs)
        return totals

    def answers(self, shares: ArrayLike) -> NDArray[np.intp]:
        """The cheapest answer of each row; ties go to the first class."""
        return np.argmin(self.of_answers(shares), axis=1)

    def sentence(self, names: Sequence[str]) -> str:
        """The rule in words, with the costs.

        Examples
        --------
        >>> print(ExpectedCosts(table=((0.0, 1.0), (5.0, 0.0))).sentence(("well", "ill")).partition(", ")[2])
        where the costs (truth:answer) are well:ill=1, ill:well=5.
        """
        costs = []
        for truth, row in zip(names, self.table, strict=True):
            costs += [f"{truth}:{answer}={cost:g}" for answer, cost in zip(names, row, strict=True) if cost]
        shown = ", ".join(costs[:MOST_COSTS])
        if len(costs) > MOST_COSTS:
            shown += f" and {len(costs) - MOST_COSTS} more"
        return (
            f"A row is answered with the class of the least expected cost, where the costs (truth:answer) are {shown}."
        )


MOST_COSTS = 12
"""Costs that a sentence names."""
