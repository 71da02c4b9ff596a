"""The paper's stages of one network: a prior, then a posterior trained on the bound or on the linear loss."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.networks.lifting import lift_into
from abnet.networks.posterior import Posterior
from abnet.training.large_pages import zeros_in_large_pages
from abnet.training.loop import Limits, Rows, Span, pad_rows
from abnet.training.objective import Objective
from abnet.training.padding import bucket
from abnet.training.posterior_learner import PosteriorLearner, start
from abnet.training.progress_bar import Report
from abnet.training.resolve import PRIOR_RATE
from abnet.training.runner import NEVER, Stage, train

__all__ = [
    "Trainer",
    "learn_linear",
    "learn_posterior",
    "learn_prior",
    "lifted_rows",
    "prior_spans",
]

LINEAR_RATE_DIVISOR = 5
"""A prior's learning rate on the log loss, divided by that on the linear loss, which only refines the network."""
MANY_ROWS = 20_000
"""From this many rows on, a posterior is monitored in the training pass; for fewer, a second pass is cheap."""


@dataclass
class Trainer:
    """Everything that the stages of one fit share, and their learning curves.

    Parameters
    ----------
    learner : PosteriorLearner
    rows : Rows
        Lifted inputs, targets and weights (`abnet.training.loop.pad_rows`).
    batch_size : int
    delta : float
    limits : Limits
        Limits of the stages that use early stopping on their own objective.
    rng : numpy.random.Generator
        Shuffles minibatches and seeds the sampling keys.
    report : callable, optional
        Called after each epoch (`abnet.training.progress_bar.Report`).
    n_draws : int, optional
        Number n of independent draws in the bound: the number of groups if rows are in groups; by default the rows.

    Attributes
    ----------
    curves : dict
        Maps the name of each stage to the monitored values.
    interrupted : bool
        Whether a stage was interrupted; later stages are then skipped.
    C : float or None
        The C of Catoni's bound, as the last stage learned it; None if it had another objective.
    """

    learner: PosteriorLearner
    rows: Rows
    batch_size: int
    delta: float
    limits: Limits
    rng: np.random.Generator
    report: Report | None = None
    n_draws: int | None = None
    curves: dict[str, list[float]] = field(default_factory=dict)
    interrupted: bool = False
    C: float | None = None

    def stage(
        self,
        name: str,
        objective: Objective,
        first: Posterior,
        train_on: Span,
        watch: Span,
        rate: float,
        limits: Limits,
        *,
        seen: bool = False,
    ) -> Posterior:
        """The best posterior of one stage that starts at `first`."""
        if self.interrupted:
            return first
        n_draws = self.n_draws or train_on.size
        stage = Stage(
            name=name,
            start=start(first, objective, n_draws, self.delta, deviations=self.learner.deviations),
            train=train_on,
            watch=watch,
            rate=rate,
            batch_size=self.batch_size,
            limits=limits,
            seen=seen,
        )
        trained = train(self.learner, stage, self.rows, self.rng, self.report)
        self.curves[name] = trained.curve
        self.interrupted = trained.interrupted
        self.C = None
        if objective is Objective.BOUND:
            self.C = float(np.exp(trained.state.learned.log_c))
        return self.learner.posterior(trained.state)


def learn_prior(
    trainer: Trainer,
    first: Posterior,
    part: Span,
    validation_fraction: float,
    rate: float = PRIOR_RATE,
    n_validation: int | None = None,
) -> Posterior:
    """Train a prior on the first part in two halves: log loss, then linear loss, each with a cosine decay.

    The log loss leaves the plateaus of the initialisation; the linear loss is the Gibbs risk. Each half has half of the
    epochs (at least one), and the second a fifth of the rate. Early stopping uses the validation rows at the end of the
    part (`prior_spans`).

    Parameters
    ----------
    trainer : Trainer
    first : Posterior
        Where training starts.
    part : Span
        The first part of the rows.
    validation_fraction : float
    rate : float
        Initial learning rate on the log loss.
    n_validation : int, optional
        Number of validation rows, if groups must stay whole.
    """
    train_on, watch = prior_spans(part, validation_fraction, n_validation)
    epochs = max(trainer.limits.max_epochs // 2, 1)
    limits = trainer.limits._replace(max_epochs=epochs, cosine_epochs=epochs, halving_patience=NEVER)
    start_of_linear = trainer.stage(
        "prior, log loss", Objective.LOG, first.as_prior(), train_on, watch, rate, limits
    ).as_prior()
    prior = trainer.stage(
        "prior, linear loss", Objective.LINEAR, start_of_linear, train_on, watch, rate / LINEAR_RATE_DIVISOR, limits
    )
    return prior.as_prior()


def prior_spans(part: Span, validation_fraction: float, n_validation: int | None = None) -> tuple[Span, Span]:
    """Training rows and validation rows of a part; a very small part is both.

    Parameters
    ----------
    part : Span
    validation_fraction : float
    n_validation : int, optional
        Number of validation rows; by default a `validation_fraction` of the part.

    Examples
    --------
    >>> prior_spans(Span(0, 10), 0.2)
    (Span(first=0, size=8), Span(first=8, size=2))
    """
    if n_validation is None:
        n_validation = round(validation_fraction * part.size)
    if not 1 <= n_validation < part.size:
        return part, part
    n_train = part.size - n_validation
    return Span(part.first, n_train), Span(part.first + n_train, n_validation)


def learn_posterior(trainer: Trainer, first: Posterior, part: Span, rate: float, *, warm_up: int = 0) -> Posterior:
    """Train the posterior that minimises Catoni's bound on the part, starting at `first`; its prior stays fixed.

    With `warm_up`, this many epochs on the linear loss come first. The bound holds for every posterior, so they cost
    nothing.

    The kept epoch is chosen by the bound on all rows after the epoch, as in the paper's protocol; from `MANY_ROWS` rows
    on, by the losses of the training pass. The certified bound is computed from the trained network.
    """
    seen = part.size >= MANY_ROWS
    if warm_up:
        limits = trainer.limits._replace(max_epochs=warm_up, patience=NEVER, halving_patience=NEVER)
        first = trainer.stage("warm-up", Objective.LINEAR, first, part, part, rate, limits, seen=seen)
    return trainer.stage("bound", Objective.BOUND, first, part, part, rate, trainer.limits, seen=seen)


def learn_linear(trainer: Trainer, first: Posterior, train_on: Span, watch: Span, rate: float) -> Posterior:
    """Train the posterior with the lowest linear loss on the watched rows, starting at `first`; its prior stays
    fixed."""
    return trainer.stage("linear loss", Objective.LINEAR, first, train_on, watch, rate, trainer.limits)


def lifted_rows(X: NDArray[Any], y: NDArray[Any], weights: NDArray[Any] | None) -> Rows:
    """Prepared inputs lifted, padded and on the device."""
    inputs = zeros_in_large_pages((bucket(len(y)), X.shape[1] + 1))
    lift_into(inputs[: len(y)], np.asarray(X, np.float32))
    return pad_rows(inputs, y, weights)
