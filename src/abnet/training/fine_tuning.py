"""`fine_tune`: train a mixture on the bound, starting at its prior."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.networks.lifting import lift
from abnet.networks.posterior import Posterior
from abnet.training.class_weights import weights_of_classes
from abnet.training.learned import PreparedRows
from abnet.training.loop import Span, pad_rows
from abnet.training.objective import Objective
from abnet.training.posterior_learner import PosteriorLearner, start
from abnet.training.resolve import batch_size, rate
from abnet.training.runner import Stage, train
from abnet.training.sample_weights import scaled
from abnet.training.settings import Settings

__all__ = ["fine_tune"]


def fine_tune(
    prior: Posterior, rows: PreparedRows, settings: Settings, rng: np.random.Generator
) -> tuple[Posterior, list[float]]:
    """The posterior that minimises Catoni's bound of the whole mixture on the bound rows, and its learning curve.

    Parameters
    ----------
    prior : Posterior
        The members of the first part.
    rows : PreparedRows
    settings : Settings
    rng : numpy.random.Generator
    """
    n_classes = rows.labels.n_classes
    bound = slice(rows.n_first, None)
    codes = np.minimum(rows.codes[bound], n_classes - 1)  # targets of unknown labels are arbitrary
    n_rows = len(codes)
    if n_classes == 2:
        targets = 2.0 * codes - 1
    else:
        targets = np.eye(n_classes)[codes]
    inputs = lift(np.asarray(rows.features.inputs(bound)))
    every_row = Span(0, n_rows)
    stage = Stage(
        name="bound",
        start=start(prior, Objective.BOUND, rows.n_draws or n_rows, settings.delta),
        train=every_row,
        watch=every_row,
        rate=rate(settings.training),
        batch_size=batch_size(settings.training, n_rows),
        limits=settings.training.limits,
    )
    learner = PosteriorLearner(prior.sizes, prior.aggregation, prior.n_members, n_classes)
    weights = _row_weights(rows, codes, settings.members.class_weight)
    trained = train(learner, stage, pad_rows(inputs, targets, weights), rng)
    return learner.posterior(trained.state).astype(np.float32), trained.curve


def _row_weights(rows: PreparedRows, codes: NDArray[np.intp], class_weight: Any) -> NDArray[np.float64] | None:
    """Sample weights of the bound rows times the weights of their classes; None if all are equal."""
    training_codes = rows.codes[: rows.n_first]
    class_weights = weights_of_classes(class_weight, training_codes, rows.labels.classes)
    if rows.weights is None and class_weights is None:
        return None
    weights = np.ones(len(codes))
    if class_weights is not None:
        weights = class_weights[codes]
    if rows.weights is not None:
        weights = weights * rows.weights[rows.n_first :]
    return scaled(weights)
