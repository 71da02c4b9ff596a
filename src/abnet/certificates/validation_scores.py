"""`ValidationScores`: rows of the first part, with scores by models that were fitted without them."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from abnet.certificates.decision import room_of
from abnet.certificates.terms import Expected
from abnet.utils.class_scores import losses_of, winners

__all__ = ["ValidationScores"]


@dataclass(frozen=True, eq=False)
class ValidationScores:
    """Out-of-sample scores and classes of rows of the first part.

    On its training rows a model is more confident and errs less often than on new rows. So only these scores are used
    for everything that is fixed before the bound rows are seen: the calibration, the thresholds of a target or of
    costs, the constant of Catoni's bound, and the selection of a search. `fit` computes them once.

    Attributes
    ----------
    scores : array (m,) or (m, K)
        Scores as in `decision_function`. For networks trained on the labels only: their own scores on the validation
        rows of early stopping. For distilled networks: the out-of-fold predictions of their teachers, which the
        networks learn to reproduce, on the scale of the networks.
    codes : array (m,)
        Classes, 0 to K - 1.
    score_at : callable or None
        For two classes with calibrated scores: maps a probability of the second class to the corresponding score.
    answers : array (m,) or None
        Codes of the answers of a model whose scores only say how sure it is; by default, the class with the largest
        score.
    power, floor : float
        Of the model's calibration: probabilities are in proportion to ``(share + floor)^power``.

    Examples
    --------
    >>> held = ValidationScores(np.array([0.5, -1.0]), np.array([1, 1]))
    >>> held.error, held.loss
    (0.5, 0.625)
    """

    scores: NDArray[np.float64]
    codes: NDArray[np.intp]
    score_at: Callable[[float], float] | None = None
    answers: NDArray[np.intp] | None = None
    power: float = 1.0
    floor: float = 0.0

    @classmethod
    def from_shares(cls, shares: NDArray[np.float64], codes: NDArray[np.intp]) -> "ValidationScores":
        """From shares of the vote, (m, K); two classes have one score, ``2 P_1 - 1``."""
        if shares.shape[1] == 2:
            return cls(2 * shares[:, 1] - 1, codes)
        return cls(shares, codes)

    @property
    def shares(self) -> NDArray[np.float64]:
        """Shares of the vote, (m, K)."""
        if self.scores.ndim == 2:
            return self.scores
        return np.stack([0.5 - 0.5 * self.scores, 0.5 + 0.5 * self.scores], axis=1)

    @property
    def failing(self) -> NDArray[np.float64]:
        """1 for rows that are answered wrongly, 0 for all others, and 1/2 where rounding may give either answer."""
        if self.answers is not None:
            return np.asarray(self.answers != self.codes, np.float64)
        wrong = np.asarray(winners(self.scores) != self.codes, np.float64)
        if self.scores.ndim == 1:
            wrong[np.abs(self.scores) <= room_of(self.scores)] = 0.5
        return wrong

    @property
    def error(self) -> float:
        """Share of the rows where the largest score belongs to another class."""
        return float(np.mean(winners(self.scores) != self.codes))

    @property
    def loss(self) -> float:
        """Mean linear loss."""
        return float(np.mean(losses_of(self.scores, self.codes)))

    def expected(self) -> Expected:
        """Expected risk of a posterior that starts at the prior."""
        return Expected.from_losses(losses_of(self.scores, self.codes))
