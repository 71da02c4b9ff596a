"""Targets: the second step of a mixture gives every example a distribution over the classes.

There are two kinds of examples. Training rows have their labels as targets or, with two classes and teachers, the mean
of the label and the teachers' out-of-fold prediction. Synthetic rows have the teachers' predictions as targets.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.training.class_weights import weighted_targets
from abnet.training.first_part import FirstPart
from abnet.training.sample_weights import scaled
from abnet.training.synthetic_rows import MOST_SYNTHETIC, recombined_rows
from abnet.training.teacher_pool import TeacherPool
from abnet.utils.groups import held_rows
from abnet.utils.progress import report_progress

__all__ = ["Examples", "examples_without_teachers", "distilled_examples", "most_synthetic"]

MOST_NUMBERS = 2**26
"""Maximum count of numbers in the synthetic rows, codes included: a quarter of a gigabyte."""
MOST_PREDICTIONS = 2**23
"""Maximum count of probabilities for synthetic rows: above 139 classes there are fewer rows."""
SOFTENING = 0.7
"""Exponent of the teachers' probabilities for synthetic rows with several classes, as with a temperature of 1.4. Softer
targets say more about the less likely classes; the networks' own probabilities are calibrated afterwards."""
VALIDATION_SHARE = 1 / 8
"""Share of the training rows that are validation rows."""
MOST_VALIDATION_ROWS = 1024
"""Maximum number of validation rows."""


@dataclass(frozen=True, eq=False)
class Examples:
    """What the members are trained on: training rows first, then synthetic rows.

    Attributes
    ----------
    inputs : float32 array (n, d_0) or CodedRows
        Inputs of the networks; codes are not written out.
    targets : array (n, K)
        A distribution over the classes for each example, after class weights.
    weights : array (n,)
        Weights with mean 1.
    n_training_rows : int
    n_inputs : int
        d_0.
    validation : int array or None
        Training rows for early stopping; None if the training of the members may choose them at random.
    distilled : bool
        Whether teachers made some of the targets.
    """

    inputs: Any
    targets: NDArray[np.float64]
    weights: NDArray[np.float64]
    n_training_rows: int
    n_inputs: int
    validation: NDArray[np.intp] | None
    distilled: bool

    @property
    def n_classes(self) -> int:
        """K."""
        return int(self.targets.shape[1])

    def softened(self) -> NDArray[np.float64]:
        """Targets with those of the synthetic rows softened.

        With two classes nothing is softened, and the targets are expected labels in [-1, 1].
        """
        if self.n_classes == 2:
            return np.asarray(2 * self.targets[:, 1] - 1)
        softer = self.targets[self.n_training_rows :] ** SOFTENING
        softer = softer / softer.sum(axis=1, keepdims=True)
        return np.concatenate([self.targets[: self.n_training_rows], softer])


def examples_without_teachers(
    part: FirstPart, class_weights: NDArray[np.float64] | None, rng: np.random.Generator
) -> Examples:
    """The training rows with their labels as targets.

    Parameters
    ----------
    part : FirstPart
    class_weights : array (K,) or None
    rng : numpy.random.Generator
        Chooses the validation rows if classes have weights.
    """
    validation = None
    if part.groups is not None:
        validation = last_groups(part.groups)
    if validation is None and class_weights is not None:
        validation = some_of_each_class(part.codes, rng)
    labels = np.eye(part.n_classes)[part.codes]
    return _examples(part, part.X, labels, class_weights, validation, distilled=False)


def distilled_examples(
    part: FirstPart, pool: TeacherPool, class_weights: NDArray[np.float64] | None, rng: np.random.Generator
) -> Examples:
    """The training rows and synthetic rows, with targets of the teachers.

    Parameters
    ----------
    part : FirstPart
    pool : TeacherPool
    class_weights : array (K,) or None
    rng : numpy.random.Generator
        Makes the synthetic rows.
    """
    report_progress("Rows for the networks")
    validation = None
    sources = part.X
    if part.groups is not None:
        validation = last_groups(part.groups)
    if validation is not None:
        sources = np.delete(part.X, validation, axis=0)  # so that no synthetic row repeats cells of a validation row
    synthetic = recombined_rows(sources, part.cells, rng, most_synthetic(part))
    targets = np.eye(part.n_classes)[part.codes]
    if part.n_classes == 2:
        targets = (targets + pool.out_of_fold) / 2
    return _examples(
        part,
        np.concatenate([part.X, synthetic]),
        np.concatenate([targets, pool.probabilities(synthetic)]),
        class_weights,
        validation,
        distilled=True,
    )


def _examples(
    part: FirstPart,
    X: NDArray[np.float32],
    targets: NDArray[np.float64],
    class_weights: NDArray[np.float64] | None,
    validation: NDArray[np.intp] | None,
    *,
    distilled: bool,
) -> Examples:
    """Examples whose first rows are those of the part."""
    weights = np.ones(len(X))
    if part.weights is not None:
        weights[: len(part)] = scaled(part.weights)
    targets, class_factors = weighted_targets(targets, class_weights)
    return Examples(
        inputs=part.inputs(X),
        targets=targets,
        weights=scaled(weights * class_factors),
        n_training_rows=len(part),
        n_inputs=part.n_inputs,
        validation=validation,
        distilled=distilled,
    )


def most_synthetic(part: FirstPart) -> int:
    """Maximum number of synthetic rows."""
    return min(MOST_SYNTHETIC, MOST_NUMBERS // part.n_inputs, MOST_PREDICTIONS // part.n_classes)


def last_groups(groups: NDArray[Any]) -> NDArray[np.intp] | None:
    """Validation rows: those of the last groups, about an eighth of all rows. None if there is only one group.

    Examples
    --------
    >>> last_groups(np.repeat([0, 1, 2, 3, 4, 5, 6, 7], 2))
    array([14, 15])
    """
    n_rows = len(groups)
    n_validation = held_rows(groups, _validation_share(n_rows))
    if n_validation == 0:
        n_validation = held_rows(groups, 1 / len(np.unique(groups)))
    if n_validation == n_rows:
        return None
    return np.arange(n_rows - n_validation, n_rows)


def some_of_each_class(codes: NDArray[np.intp], rng: np.random.Generator) -> NDArray[np.intp] | None:
    """Validation rows: an eighth of each class, at least one row of a class with several. None if no class has two.

    With class weights, the validation rows should not miss a class with a large weight.
    """
    share = _validation_share(len(codes))
    chosen = []
    for code in np.unique(codes):
        rows = np.flatnonzero(codes == code)
        if len(rows) > 1:
            chosen.append(rng.permutation(rows)[: max(round(share * len(rows)), 1)])
    if not chosen:
        return None
    return np.concatenate(chosen)


def _validation_share(n_rows: int) -> float:
    return min(VALIDATION_SHARE, MOST_VALIDATION_ROWS / n_rows)
