"""`learn_mixture`: networks distilled from teachers, in four steps: teach, targets, train, calibrate."""

import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.certificates.validation_scores import ValidationScores
from abnet.model.predictors.predictor import Predictor
from abnet.networks.posterior import Posterior
from abnet.training.calibrate import calibrate, network_scores, pool_scores
from abnet.training.class_weights import weighted_targets, weights_of_classes
from abnet.training.first_part import FirstPart
from abnet.training.learned import Learned, PreparedRows, deployed
from abnet.training.progress_bar import Report
from abnet.training.recipe import Recipe
from abnet.training.resolve import mixture_plan
from abnet.training.seeds import Generators
from abnet.training.settings import Settings
from abnet.training.shortfall import Shortfall, shortfall
from abnet.training.synthetic_rows import n_synthetic
from abnet.training.targets import (
    MOST_NUMBERS,
    Examples,
    distilled_examples,
    examples_without_teachers,
    most_synthetic,
)
from abnet.training.teach import most_training_rows, teach
from abnet.training.teacher_pool import TeacherPool
from abnet.training.unfinished import warn_of_unfinished
from abnet.utils.memory import return_memory

__all__ = ["learn_mixture"]

DISTILLED_CURVE = "log loss"
"""Name of the learning curve of distilled members."""
LABELS_CURVE = "log loss, then linear loss"
"""The same without teachers. The curve joins two stages, so convergence cannot be judged by it."""


def learn_mixture(
    rows: PreparedRows, recipe: Recipe, settings: Settings, generators: Generators, report: Report | None
) -> Learned:
    """Train the members on the first part, then, unless the posterior is frozen, fine-tune them on the bound.

    Parameters
    ----------
    rows : PreparedRows
    recipe : Recipe
    settings : Settings
    generators : Generators
    report : Report or None
    """
    learned = learn_members_of_prior(rows, recipe, settings, generators.train, report)
    if learned.interrupted:
        warnings.warn(
            "Training was interrupted: the best networks so far are kept, and their vote is certified.",
            stacklevel=4,
        )
    elif learned.distilled_from is not None:
        warn_of_unfinished({"networks, log loss": learned.curves[DISTILLED_CURVE]}, settings.training.max_iter)
    if settings.frozen or learned.interrupted:
        return learned
    from abnet.training.fine_tuning import fine_tune

    posterior, bound_curve = fine_tune(learned.posterior, rows, settings, generators.train)
    return replace(learned, posterior=posterior, curves={**learned.curves, "bound": bound_curve})


def learn_members_of_prior(
    rows: PreparedRows, recipe: Recipe, settings: Settings, rng: np.random.Generator, report: Report | None
) -> Learned:
    """Train the prior members on the first part.

    Parameters
    ----------
    rows : PreparedRows
    recipe : Recipe
    settings : Settings
    rng : numpy.random.Generator
    report : Report or None
    """
    from abnet.training.train_mixture import train_mixture

    # Teach
    part = FirstPart.of(rows)
    with _compiling_in_background(part, recipe, settings):
        part, pool = teach(part, _teacher(recipe, settings.members.teacher), rng, report)

    # Targets
    class_weights = weights_of_classes(settings.members.class_weight, part.codes, part.classes)
    if pool is None:
        examples = examples_without_teachers(part, class_weights, rng)
    else:
        examples = distilled_examples(part, pool, class_weights, rng)
        pool = pool.without_models()  # a forest takes as much memory as the examples
        return_memory()

    # Train
    mixture = train_mixture(examples, recipe, settings, rng, report)
    outcome = mixture.outcome
    aggregation = settings.make(mixture.recipe.aggregation)
    posterior = Posterior.from_networks(outcome.networks, outcome.networks, aggregation)

    # Calibrate
    predictor = deployed(mixture.recipe, posterior, part.n_classes, np.random.default_rng(0))
    if pool is not None:
        scores = pool_scores(pool, predictor, examples, part.codes, class_weights)
        return Learned(
            posterior=posterior,
            recipe=mixture.recipe,
            held=scores,
            calibration=calibrate(scores, part.n_classes, class_weights),
            curves={DISTILLED_CURVE: outcome.curve},
            interrupted=outcome.interrupted,
            distilled_from=pool.describe(),
            teachers_error=pool.error(part.codes),
            shortfall=_shortfall(predictor, examples, part, pool, outcome.validation, class_weights),
        )
    scores = network_scores(predictor, examples, part.codes, outcome.validation)
    calibration = None
    if outcome.validation is not None:
        calibration = calibrate(scores, part.n_classes, class_weights)
    return Learned(
        posterior=posterior,
        recipe=mixture.recipe,
        held=scores,
        calibration=calibration,
        curves={LABELS_CURVE: outcome.curve},
        interrupted=outcome.interrupted,
    )


def _shortfall(
    predictor: Predictor,
    examples: Examples,
    part: FirstPart,
    pool: TeacherPool,
    validation: NDArray[np.intp] | None,
    class_weights: NDArray[np.float64] | None,
) -> Shortfall | None:
    """Whether the networks make clearly more errors than their teachers on the validation rows that have labels."""
    if validation is None:
        return None
    labelled = validation[validation < examples.n_training_rows]
    of_networks = ValidationScores(predictor.scores(examples.inputs[labelled]), part.codes[labelled])
    of_teachers, _ = weighted_targets(pool.out_of_fold[labelled], class_weights)
    return shortfall(of_networks.shares.argmax(axis=1), of_teachers.argmax(axis=1), part.codes[labelled])


def _teacher(recipe: Recipe, teacher: Any) -> Any:
    """The user's own classifier, or the name that the recipe has."""
    if isinstance(teacher, str):
        return recipe.teacher
    return teacher


@contextmanager
def _compiling_in_background(part: FirstPart, recipe: Recipe, settings: Settings) -> Iterator[None]:
    """Compile the members' program in a background thread while the teachers are fitted.

    This changes only the time of a fit. Programs for many rows are compiled later, and so are those for groups, because
    the number of synthetic rows then depends on the groups.
    """
    n_rows = min(len(part), most_training_rows(part.X.shape[1]))
    n_examples = n_rows + n_synthetic(n_rows, most_synthetic(part))
    many = n_examples * part.n_inputs > MOST_NUMBERS // 4
    if recipe.teacher is None or part.groups is not None or many:
        yield
        return
    from abnet.training.train_members import compile_members
    from abnet.training.train_mixture import member_learner

    learner = member_learner(recipe, settings, part.n_inputs, part.n_classes)
    batch_size = mixture_plan(settings, n_examples, distilled=True).batch_size
    with ThreadPoolExecutor(1) as background:
        background.submit(compile_members, learner, n_examples, batch_size)
        yield
