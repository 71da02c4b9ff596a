"""`calibrate`: the fourth step of a mixture finds scores for rows it was not trained on, and calibrates probabilities.

With teachers these are the teachers' out-of-fold predictions, on the scale of the networks; without teachers, the
networks' scores on the validation rows of early stopping.
"""

import numpy as np
from numpy.typing import NDArray

from abnet.certificates.validation_scores import ValidationScores
from abnet.model.calibration import Calibration
from abnet.model.predictors.predictor import Predictor
from abnet.training.class_weights import weighted_targets
from abnet.training.sample_weights import scaled
from abnet.training.targets import Examples
from abnet.training.teacher_pool import TeacherPool

__all__ = ["calibrate", "network_scores", "pool_scores"]

MOST_COMPARED = 2_000
"""Maximum number of synthetic rows on which the scales of the networks and of their teachers are compared."""


def pool_scores(
    pool: TeacherPool,
    predictor: Predictor,
    examples: Examples,
    codes: NDArray[np.intp],
    class_weights: NDArray[np.float64] | None,
) -> ValidationScores:
    """Out-of-fold predictions of the teachers for the training rows, on the scale of the networks.

    The networks are a little less confident than their teachers. Their predictions for synthetic rows show by how much.

    Parameters
    ----------
    pool : TeacherPool
    predictor : Predictor
        Of the networks.
    examples : Examples
    codes : array (n,)
        Classes of the training rows.
    class_weights : array (K,) or None
    """
    out_of_fold, _ = weighted_targets(pool.out_of_fold, class_weights)
    scores = ValidationScores.from_shares(out_of_fold, codes)
    first = examples.n_training_rows
    synthetic = slice(first, first + MOST_COMPARED)
    network_shares = ValidationScores(predictor.scores(examples.inputs[synthetic]), np.empty(0, np.intp)).shares
    if not len(network_shares):
        return scores
    to_network_scale = Calibration.fitted(examples.targets[synthetic], network_shares)
    return ValidationScores.from_shares(to_network_scale.apply(scores.shares), codes)


def network_scores(
    predictor: Predictor, examples: Examples, codes: NDArray[np.intp], validation: NDArray[np.intp] | None
) -> ValidationScores:
    """The networks' scores on the validation rows, or on all training rows if there are too few to spare any."""
    if validation is None:
        validation = np.arange(len(codes))
    return ValidationScores(predictor.scores(examples.inputs[validation]), codes[validation])


def calibrate(scores: ValidationScores, n_classes: int, class_weights: NDArray[np.float64] | None) -> Calibration:
    """The calibration of the networks' scores; rows count as much as their classes weigh."""
    labels = np.eye(n_classes)[scores.codes]
    if class_weights is None:
        class_weights = np.ones(n_classes)
    weights = scaled(class_weights[scores.codes])
    return Calibration.fitted(scores.shares, labels * weights[:, None])
