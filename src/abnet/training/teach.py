"""`teach`: the first step of a mixture fits the teachers on the training rows."""

from typing import Any

import numpy as np

from abnet.training.built_in_teachers import teachers_named
from abnet.training.first_part import FirstPart
from abnet.training.progress_bar import Report
from abnet.training.teacher_pool import TeacherPool, fit_pool

__all__ = ["most_training_rows", "teach"]

MOST_CELLS = 4_000_000
"""Maximum number of cells, rows times features, that teachers are fitted on; of more rows, a random part."""
LEAST_LIMIT = 2_000
"""Tables with many features are not cut below this number of rows."""


def teach(
    part: FirstPart, teacher: Any, rng: np.random.Generator, report: Report | None
) -> tuple[FirstPart, TeacherPool | None]:
    """Fit the teachers.

    Parameters
    ----------
    part : FirstPart
    teacher : None, str or classifier
    rng : numpy.random.Generator
        Draws the seed of the teachers, and the rows if there are too many.
    report : callable or None

    Returns
    -------
    FirstPart
        The rows that the teachers were fitted on; the members are trained on the same rows.
    TeacherPool or None
        None without teachers, and for rows of a single class.
    """
    if teacher is None or len(np.unique(part.codes)) < 2:
        return part, None
    seed = int(rng.integers(2**31))
    n_features = part.X.shape[1]
    chosen = rng.permutation(len(part))[: most_training_rows(n_features)]
    part = part.take(np.sort(chosen))
    on_teacher = None
    if report is not None:

        def on_teacher(name: str, error: float) -> None:
            report(name, 1, 1, error)

    pool = fit_pool(
        teachers_named(teacher, seed, part.X.shape, part.n_classes),
        part.X,
        part.codes,
        part.n_classes,
        seed,
        report=on_teacher,
        groups=part.groups,
        weights=part.weights,
    )
    return part, pool


def most_training_rows(n_features: int) -> int:
    """Maximum number of rows that teachers are fitted on.

    Examples
    --------
    >>> most_training_rows(10), most_training_rows(100_000)
    (400000, 2000)
    """
    return max(MOST_CELLS // max(n_features, 1), LEAST_LIMIT)
