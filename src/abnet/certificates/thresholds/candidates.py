"""`Candidates`: the decisions that a goal tests, fixed before the held-out rows are seen."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from abnet.certificates.decision import Decision
from abnet.certificates.goals.goal import Trials

__all__ = ["Candidates", "abstentions", "cuts"]


@dataclass(frozen=True)
class Candidates:
    """Candidate decisions in the order in which they are tested, with a merit for each.

    Attributes
    ----------
    decisions : tuple of Decision
    merits : tuple of float
        Among the decisions that pass, the one with the largest merit is selected.
    seen : Trials
        What the test of the first decision counts on the validation rows.
    n_seen : int
        Number of validation rows.
    """

    decisions: tuple[Decision, ...]
    merits: tuple[float, ...]
    seen: Trials
    n_seen: int

    @property
    def n_selectable(self) -> int:
        """Number of decisions that may be selected, whatever the held-out rows are: the running maxima of the merits.

        The decisions that pass are the first ones in the order, and the first of them with the largest merit is
        selected.

        Examples
        --------
        >>> from abnet.certificates.decision import ARGMAX
        >>> Candidates((ARGMAX,) * 5, (0.2, 0.5, 0.4, 0.5, 0.6), Trials(0, 0), 0).n_selectable
        3
        """
        return len(np.unique(np.maximum.accumulate(self.merits)))

    @property
    def thresholds(self) -> tuple[float, ...]:
        """The thresholds in increasing order, for `observe`; none for the plain vote."""
        return tuple(sorted(d.threshold for d in self.decisions if d.threshold is not None))


def cuts(thresholds: Iterable[float], positive: int) -> tuple[Decision, ...]:
    """Decisions that predict the class with the code `positive` above a threshold."""
    return tuple(Decision(kind="cut", threshold=threshold, positive=positive) for threshold in thresholds)


def abstentions(thresholds: Iterable[float]) -> tuple[Decision, ...]:
    """Decisions that answer the rows whose confidence is above a threshold."""
    return tuple(Decision(kind="abstain", threshold=threshold) for threshold in thresholds)
