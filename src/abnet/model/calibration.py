"""Calibration: a map with two parameters from shares of the vote to probabilities, which never changes a vote."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Calibration"]

LEAST_POWER = 0.05
MOST_POWER = 20.0
LEAST_FLOOR = 1e-5
"""A fitted floor is at least this; a floor of 0 is allowed."""
MOST_FLOOR = 1.0
PENALTY = 2.0
"""Penalty in nats, over all rows, for a power of e (or 1/e)."""


@dataclass(frozen=True)
class Calibration:
    """Probabilities ``p_j ∝ (P_j + floor)^power`` from shares of the vote P_j.

    The map increases with P_j, so the class with the largest share keeps the largest probability, and with two classes
    a share of one half stays one half. Therefore `predict` and its certificate do not change.

    Parameters
    ----------
    power : float
        Inverse of a temperature: above 1 for an underconfident vote, below 1 for an overconfident one.
    floor : float
        Keeps probabilities off 0 and 1.

    Examples
    --------
    >>> Calibration(2.0, 0.0).apply(np.array([[0.25, 0.75], [0.5, 0.5]]))
    array([[0.1, 0.9],
           [0.5, 0.5]])
    """

    power: float
    floor: float

    def __post_init__(self) -> None:
        if not (LEAST_POWER <= self.power <= MOST_POWER and 0 <= self.floor <= MOST_FLOOR):
            raise ValueError(
                f"a calibration needs a power between {LEAST_POWER} and {MOST_POWER} and a floor between 0 and "
                f"{MOST_FLOOR}; got {self.power!r} and {self.floor!r}."
            )

    def apply(self, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        """Probabilities (n, K) from shares (n, K)."""
        with np.errstate(divide="ignore"):
            logits = self.power * np.log(shares + self.floor)
        odds = np.exp(logits - logits.max(axis=1, keepdims=True))
        return np.asarray(odds / odds.sum(axis=1, keepdims=True))

    @staticmethod
    def fitted(shares: NDArray[np.float64], targets: NDArray[np.float64]) -> "Calibration":
        """Fit the map by minimising the log loss on rows that were not used to train the network.

        Parameters
        ----------
        shares : array (n, K)
        targets : array (n, K)
            A distribution over the classes for each row: its label, or the soft target of a teacher.

        Examples
        --------
        >>> shares = np.array([[0.4, 0.6]] * 1000)
        >>> sure = np.array([[0.0, 1.0]] * 900 + [[1.0, 0.0]] * 100)
        >>> Calibration.fitted(shares, sure).apply(shares)[0].round(2)
        array([0.1, 0.9])
        """
        from scipy.optimize import minimize

        mass = targets.sum(axis=1, keepdims=True)

        def loss(logs: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
            power, floor = np.exp(logs)
            logits = power * np.log(shares + floor)
            top = logits.max(axis=1, keepdims=True)
            normalised = logits - top - np.log(np.exp(logits - top).sum(axis=1, keepdims=True))
            slopes = mass * np.exp(normalised) - targets  # by each logit
            # The penalty keeps the power near 1 on few rows, where the minimum would fit noise.
            value = PENALTY * logs[0] ** 2 - np.sum(targets * normalised)
            by_power = 2 * PENALTY * logs[0] + np.sum(slopes * logits)
            by_floor = np.sum(slopes * (power * floor / (shares + floor)))
            return float(value) / len(shares), np.array([by_power, by_floor]) / len(shares)

        bounds = [(np.log(LEAST_POWER), np.log(MOST_POWER)), (np.log(LEAST_FLOOR), np.log(MOST_FLOOR))]
        starts = [np.array([0.0, np.log(floor)]) for floor in (1e-3, 3e-2)]
        results: list[Any] = [minimize(loss, start, method="L-BFGS-B", jac=True, bounds=bounds) for start in starts]
        best = min(results, key=lambda result: float(result.fun))
        power, floor = (float(value) for value in np.exp(best.x))
        return Calibration(min(max(power, LEAST_POWER), MOST_POWER), min(floor, MOST_FLOOR))

    def to_dict(self) -> dict[str, float]:
        """Plain values, ready for JSON."""
        return {"power": self.power, "floor": self.floor}

    @staticmethod
    def from_dict(record: Any) -> "Calibration":
        """Read the result of `to_dict`; raises a ValueError for anything else."""
        if not isinstance(record, dict) or set(record) != {"power", "floor"}:
            raise ValueError("a calibration must have the keys 'power' and 'floor'.")
        if not all(type(value) in (int, float) for value in record.values()):
            raise ValueError(f"a calibration must hold numbers; got {str(record)[:80]}.")
        return Calibration(float(record["power"]), float(record["floor"]))
