"""The switch to wide members: a named step of training that looks at a loss on training rows.

Small exact members are trained first, because they can be explained region by region. If they leave much of what the
teachers know unlearned, wide members are tried, and replace the small ones if they leave clearly less. The measured
loss is that of validation rows of the first part, so no certificate has to account for this choice. The step is taken
only if nothing about the members was set.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr

from abnet.training.recipe import Recipe
from abnet.training.resolve import WIDE_MEMBERS, WIDE_NEURONS
from abnet.training.settings import Settings
from abnet.training.train_members import MixtureOutcome
from abnet.utils.memory import return_memory

__all__ = ["TrainedMixture", "may_be_replaced", "unlearned_fraction", "wide_if_small_fall_short"]

MUCH = 0.1
"""Unlearned fraction above which wide members are tried."""
CLEARLY_LESS = 2 / 3
"""Unlearned fraction of wide members, relative to that of small ones, up to which they replace them."""
TRIAL_STEPS = 1 / 4
"""Share of the steps of a first trial: training wide members takes longer than everything else in a fit."""
LESS_IN_TRIAL = 4 / 5
"""As `CLEARLY_LESS`, after the trial; the rest of the steps lowers the fraction by a twentieth to a sixth."""


@dataclass(frozen=True, eq=False)
class TrainedMixture:
    """Trained members, and the recipe that they follow."""

    recipe: Recipe
    outcome: MixtureOutcome


def may_be_replaced(settings: Settings, recipe: Recipe) -> bool:
    """Whether wide members may replace the small ones: if these are exact, and nothing about them was set."""
    nothing_set = settings.hidden is None and settings.members.count is None and settings.aggregation == "auto"
    return nothing_set and recipe.aggregation == "exact"


def wide_if_small_fall_short(
    small: TrainedMixture,
    aggregation: str,
    targets: NDArray[np.float64],
    train: Callable[[Recipe, float], MixtureOutcome],
) -> TrainedMixture:
    """Wide members if the small ones leave much unlearned and the wide ones clearly less; otherwise the small ones.

    Parameters
    ----------
    small : TrainedMixture
    aggregation : str
        The aggregation of wide members.
    targets : array (n, K)
        Targets of all examples.
    train : callable
        Trains the members of a recipe for a share of the steps.
    """
    if small.outcome.interrupted or small.outcome.validation is None:
        return small
    left_by_small = _left(small.outcome, targets)
    if left_by_small <= MUCH:
        return small
    wide = replace(small.recipe, hidden_layer_sizes=WIDE_NEURONS, n_estimators=WIDE_MEMBERS, aggregation=aggregation)
    return_memory()
    trial = train(wide, TRIAL_STEPS)
    if _left(trial, targets) > LESS_IN_TRIAL * left_by_small:
        return small
    return_memory()
    outcome = train(wide, 1.0)
    if _left(outcome, targets) > CLEARLY_LESS * left_by_small:
        return small
    return TrainedMixture(wide, outcome)


def _left(outcome: MixtureOutcome, targets: NDArray[np.float64]) -> float:
    """Unlearned fraction on the validation rows."""
    return unlearned_fraction(targets[outcome.validation], min(outcome.curve))


def unlearned_fraction(targets: NDArray[np.float64], loss: float) -> float:
    """Fraction of the information in soft targets that a mixture with this log loss has not learned.

    The targets carry ``H(mean target) - mean H(target)`` nats a row, and ``loss - mean H(target)`` of them are missing.

    Examples
    --------
    >>> certain = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> round(unlearned_fraction(certain, 0.0), 3), round(unlearned_fraction(certain, np.log(2)), 3)
    (0.0, 1.0)
    """
    mean_entropy = entr(targets).sum(axis=1).mean()
    entropy_of_mean = entr(targets.mean(axis=0)).sum()
    return float((loss - mean_entropy) / max(entropy_of_mean - mean_entropy, 1e-9))
