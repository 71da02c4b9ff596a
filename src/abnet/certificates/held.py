"""Held rows: rows of the first part with scores that their own labels had no part in."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from abnet.certificates.certify import Expected
from abnet.labels import losses_of, winners

__all__ = ["Held"]


@dataclass(frozen=True, eq=False)
class Held:
    """Scores and classes of first-part rows, where no score has learned from the row's own label.

    On rows that it learned from, a model is much surer and errs less often than on new ones. So these rows alone
    decide what is fixed before the bound rows are seen: the calibration, the thresholds of a target or of costs, the
    constant of Catoni's bound, and the choice of a search. Fitting yields them once, and whoever needs such rows
    takes these.

    Attributes
    ----------
    scores : array (m,) or (m, K)
        Scores as of `decision_function`. Of networks that learned from the labels alone: their own, on the rows that
        said which epoch to keep. Of networks that were taught: what their teachers say, each row judged by teachers
        that were not fitted on it. The networks learn to say the same.
    codes : array (m,)
        Classes, 0 to K - 1.
    score_at : callable or None
        Two classes: from a probability of the second class to the score that has it, where scores are calibrated.

    Examples
    --------
    >>> held = Held(np.array([0.5, -1.0]), np.array([1, 1]))
    >>> held.error, held.loss
    (0.5, 0.625)
    """

    scores: NDArray[np.float64]
    codes: NDArray[np.intp]
    score_at: Callable[[float], float] | None = None

    @classmethod
    def from_shares(cls, shares: NDArray[np.float64], codes: NDArray[np.intp]) -> "Held":
        """From shares of the vote, (m, K); two classes have one score, ``2 P_1 - 1``."""
        return cls(2 * shares[:, 1] - 1 if shares.shape[1] == 2 else shares, codes)

    @property
    def shares(self) -> NDArray[np.float64]:
        """Shares of the vote, (m, K)."""
        if self.scores.ndim == 2:
            return self.scores
        return np.stack([0.5 - 0.5 * self.scores, 0.5 + 0.5 * self.scores], axis=1)

    @property
    def error(self) -> float:
        """Share of the rows where the largest score belongs to another class."""
        return float(np.mean(winners(self.scores) != self.codes))

    @property
    def loss(self) -> float:
        """Mean linear loss."""
        return float(np.mean(losses_of(self.scores, self.codes)))

    def expected(self) -> Expected:
        """What they let one expect of a posterior that starts at the prior."""
        return Expected.from_losses(losses_of(self.scores, self.codes))
