"""`learn_network`: the paper's single network, in the paper's stages."""

import warnings
from typing import TYPE_CHECKING

import numpy as np

from abnet.certificates.validation_scores import ValidationScores
from abnet.networks import Aggregation
from abnet.networks.bam import BAM
from abnet.networks.posterior import Posterior
from abnet.tables.labels import signs_of
from abnet.training.learned import Learned, PreparedRows, deployed
from abnet.training.progress_bar import Report
from abnet.training.recipe import Recipe
from abnet.training.resolve import batch_size, prior_rate, rate
from abnet.training.seeds import Generators
from abnet.training.settings import Settings
from abnet.training.unfinished import warn_of_unfinished
from abnet.utils.errors import Parameter, ParameterError
from abnet.utils.groups import held_rows

if TYPE_CHECKING:
    from abnet.training.loop import Span
    from abnet.training.stages import Trainer

__all__ = ["learn_network"]


def learn_network(
    rows: PreparedRows, recipe: Recipe, settings: Settings, generators: Generators, report: Report | None
) -> Learned:
    """Train the prior on the first part (or use the random initialisation), then the posterior on bound or linear loss.

    Parameters
    ----------
    rows : PreparedRows
    recipe : Recipe
    settings : Settings
    generators : Generators
    report : Report or None
    """
    from abnet.training import stages
    from abnet.training.loop import Span

    sizes = (rows.features.base.shape[1], *recipe.hidden_layer_sizes, 1)
    aggregation = settings.make(recipe.aggregation)
    posterior = _start(settings, sizes, aggregation, generators.start)
    trainer = _trainer(rows, posterior, settings, generators, report)
    first = Span(0, rows.n_first)
    bound = Span(rows.n_first, len(rows.codes) - rows.n_first)
    validation_scores = None
    if settings.split:
        fraction = settings.training.validation_fraction
        n_validation = _rows_of_last_groups(rows, fraction)
        posterior = stages.learn_prior(trainer, posterior, first, fraction, prior_rate(settings), n_validation)
        _, watch = stages.prior_spans(first, fraction, n_validation)
        validation_scores = _scores_on(watch, rows, recipe, posterior)
    if settings.objective == "loss":
        posterior = stages.learn_linear(trainer, posterior, bound, first, rate(settings.training))
    elif not settings.frozen:
        posterior = stages.learn_posterior(
            trainer, posterior, bound, rate(settings.training), warm_up=settings.training.warm_up
        )
    _warn(trainer, settings.training.max_iter)
    return Learned(
        posterior=posterior.astype(np.float32),
        recipe=recipe,
        held=validation_scores,
        curves=dict(trainer.curves),
        interrupted=trainer.interrupted,
        C=trainer.C,
    )


def _start(settings: Settings, sizes: tuple[int, ...], aggregation: Aggregation, rng: np.random.Generator) -> Posterior:
    """The initial state: the given prior or a random one, and the given initial network, if any."""
    prior = settings.given_prior
    if prior is None:
        network = BAM.init(rng, sizes, settings.initialisation)
        prior = Posterior.from_networks([network], [network], aggregation)
    first = settings.first
    if first is None:
        first = prior
    _check_sizes("prior", prior, sizes)
    _check_sizes("init", first, sizes)
    if not settings.training.deviations:
        first = first.as_prior()
    start = Posterior(first.layers, prior.as_prior().layers, first.log_sigma, aggregation)
    return start.astype(np.float32)


def _check_sizes(name: str, posterior: Posterior, sizes: tuple[int, ...]) -> None:
    if posterior.sizes != sizes:
        raise ParameterError(
            "{} has the sizes {}, but the rows and hidden_layer_sizes require {}.",
            Parameter(name),
            posterior.sizes,
            sizes,
        )


def _trainer(
    rows: PreparedRows, start: Posterior, settings: Settings, generators: Generators, report: Report | None
) -> "Trainer":
    """What the stages share: the learner, the rows and the limits."""
    from abnet.training import stages
    from abnet.training.posterior_learner import PosteriorLearner

    signs = signs_of(np.minimum(rows.codes, 1))  # targets of unknown labels are arbitrary
    return stages.Trainer(
        learner=PosteriorLearner(start.sizes, start.aggregation, deviations=settings.training.deviations),
        rows=stages.lifted_rows(rows.features.base, signs, rows.weights),
        batch_size=batch_size(settings.training, rows.n_rows),
        delta=settings.delta,
        limits=settings.training.limits,
        rng=generators.train,
        report=report,
        n_draws=rows.n_draws,
    )


def _rows_of_last_groups(rows: PreparedRows, fraction: float) -> int | None:
    """Number of validation rows if groups must stay whole; None without groups."""
    if rows.groups is None:
        return None
    return held_rows(rows.groups[: rows.n_first], fraction)


def _scores_on(watch: "Span", rows: PreparedRows, recipe: Recipe, prior: Posterior) -> ValidationScores:
    """Scores of the prior for the validation rows."""
    validation = slice(watch.first, watch.first + watch.size)
    predictor = deployed(recipe, prior.astype(np.float32), 2, np.random.default_rng(0))
    return ValidationScores(predictor.scores(rows.features.base[validation]), rows.codes[validation])


def _warn(trainer: "Trainer", max_iter: int) -> None:
    """Warn if training was interrupted, or was still improving when it ended."""
    if trainer.interrupted:
        warnings.warn(
            "Training was interrupted: the best network so far is kept and certified.",
            stacklevel=5,
        )
        return
    warn_of_unfinished(trainer.curves, max_iter)
