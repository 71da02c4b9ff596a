"""`learn_network`: the paper's single network, in the paper's stages."""

import warnings
from typing import TYPE_CHECKING

import numpy as np

from abnet.certificates.held import Held
from abnet.networks import Aggregation
from abnet.networks.bam import BAM
from abnet.networks.posterior import Posterior
from abnet.tables.labels import signs_of
from abnet.training.learned import Learned, PreparedRows, deployed
from abnet.training.progress_bar import Report
from abnet.training.recipe import Recipe
from abnet.training.seeds import Streams
from abnet.training.settings import Settings
from abnet.training.unfinished import warn_of_unfinished
from abnet.utils.errors import Parameter, ParameterError
from abnet.utils.groups import held_rows

if TYPE_CHECKING:
    from abnet.training.stages import Trainer

__all__ = ["learn_network"]


def learn_network(
    rows: PreparedRows, recipe: Recipe, settings: Settings, streams: Streams, report: Report | None
) -> Learned:
    """Train the prior on the first part (or use the random initialisation), then the posterior on bound or linear loss.

    Parameters
    ----------
    rows : PreparedRows
    recipe : Recipe
    settings : Settings
    streams : Streams
    report : Report or None
    """
    from abnet.training import stages
    from abnet.training.loop import Span
    from abnet.training.posterior_learner import PosteriorLearner

    aggregation, training = settings.make(recipe.aggregation), settings.training
    begin = _start(settings, (rows.features.base.shape[1], *recipe.hidden_layer_sizes, 1), aggregation, streams.start)
    first, bound = Span(0, rows.n_first), Span(rows.n_first, len(rows.codes) - rows.n_first)
    # For a row with an unknown label, the target does not matter.
    signs = signs_of(np.minimum(rows.codes, 1))
    lifted = stages.lifted_rows(rows.features.base, signs, rows.weights)
    trainer = stages.Trainer(
        PosteriorLearner(begin.sizes, aggregation, deviations=training.deviations), lifted,
        training.batch(rows.n_rows), settings.delta,
        training.limits, streams.train, report, rows.n_draws,
    )  # fmt: skip
    posterior, held = begin, None
    rate = stages.RATE if training.rate is None else training.rate
    if settings.split:
        # The given rate is only for further training, so that settings with several rates share one prior
        # (`ABNetSearch`).
        own = stages.PRIOR_RATE if training.rate is None or not settings.frozen else training.rate
        kept = None if rows.groups is None else held_rows(rows.groups[: rows.n_first], training.validation_fraction)
        posterior = stages.learn_prior(trainer, posterior, first, training.validation_fraction, own, kept)
        watch = stages.prior_spans(first, training.validation_fraction, kept)[1]
        mine = slice(watch.first, watch.first + watch.size)
        scorer = deployed(recipe, posterior.astype(np.float32), 2, np.random.default_rng(0))
        held = Held(scorer.scores(rows.features.base[mine]), rows.codes[mine])
    if settings.objective == "loss":
        posterior = stages.learn_linear(trainer, posterior, bound, first, rate)
    elif not settings.frozen:
        posterior = stages.learn_posterior(trainer, posterior, bound, rate, warm_up=training.warm_up)
    _warn(trainer, training.max_iter)
    return Learned(
        posterior.astype(np.float32), recipe, held, curves=dict(trainer.curves), interrupted=trainer.interrupted,
        C=trainer.C,
    )  # fmt: skip


def _start(settings: Settings, sizes: tuple[int, ...], aggregation: Aggregation, rng: np.random.Generator) -> Posterior:
    """The initial state: the given prior or a random one, and the given initial network, if any."""
    prior = settings.given_prior
    if prior is None:
        network = BAM.init(rng, sizes)
        prior = Posterior.from_networks([network], [network], aggregation)
    first = prior if settings.first is None else settings.first
    for name, some in (("prior", prior), ("init", first)):
        if some.sizes != sizes:
            raise ParameterError(
                "{} has the sizes {}, but the rows and hidden_layer_sizes require {}.",
                Parameter(name),
                some.sizes,
                sizes,
            )
    start = first if settings.training.deviations else first.as_prior()
    begin = Posterior(start.layers, prior.as_prior().layers, start.log_sigma, aggregation)
    return begin.astype(np.float32)


def _warn(trainer: "Trainer", max_iter: int) -> None:
    if not trainer.interrupted:
        warn_of_unfinished(trainer.curves, max_iter)
        return
    warnings.warn(
        "Training was interrupted: the best network so far is kept and certified.",
        stacklevel=5,
    )
