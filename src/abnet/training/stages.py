"""The stages of a fit: a prior on the first part of the rows, a posterior trained on the bound, or on the linear
loss."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.networks.exact import lift_into
from abnet.networks.posterior import Posterior
from abnet.training.loop import Limits, Rows, Span, open_runs, pad_rows
from abnet.training.objective import Objective
from abnet.training.padding import bucket
from abnet.training.posterior_learner import PosteriorLearner, start
from abnet.training.runner import NEVER, Report, best_of, new_keys, run_stage, stack

__all__ = [
    "PRIOR_RATE",
    "RATE",
    "Trainer",
    "learn_linear",
    "learn_posterior",
    "learn_prior",
    "lifted_rows",
    "prior_spans",
]

PRIOR_RATE, RATE = 0.05, 0.01
"""Default learning rates: of a prior, and of a stage that minimises the bound or the linear loss."""
LINEAR_SHARE = 5
"""The learning rate of a prior's log loss divided by that of its linear loss, which only refines the network."""


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
        Called after each epoch with the name of the stage, the epoch, the maximum number of epochs, and the best value.
    n_draws : int, optional
        Number n of independent draws in the bound: the number of groups if rows are in groups; by default the rows.
    """

    learner: PosteriorLearner
    rows: Rows
    batch_size: int
    delta: float
    limits: Limits
    rng: np.random.Generator
    report: Any = None
    n_draws: int | None = None
    curves: dict[str, list[float]] = field(default_factory=dict)
    interrupted: bool = False
    C: float | None = None
    """That of Catoni's bound, as the last stage learned it; None if it had another objective."""

    def stage(
        self,
        name: str,
        objective: Objective,
        first: Posterior,
        train: Span,
        watch: Span,
        rate: float,
        limits: Limits,
        *,
        seen: bool = False,
    ) -> Posterior:
        """The best posterior of one stage that starts at `first`."""
        if self.interrupted:
            return first
        n, deviations = self.n_draws or train.size, self.learner.deviations
        states = stack([start(first, objective, n, self.delta, deviations=deviations)])
        runs = open_runs(states, [rate], new_keys(self.rng, 1))
        outcome = run_stage(
            (self.learner,), (runs,), self.rows, train, watch,
            rng=self.rng, batch_size=self.batch_size, limits=limits, report=self._reporter(name, limits.max_epochs),
            seen=seen,
        )  # fmt: skip
        self.curves[name] = [float(value) for value in outcome.curve[:, 0]] if len(outcome.curve) else []
        self.interrupted = outcome.interrupted
        best = best_of(outcome.runs[0])
        self.C = float(np.exp(best.learned.log_c)) if objective is Objective.BOUND else None
        return self.learner.posterior(best)

    def _reporter(self, name: str, most: int) -> Report | None:
        if self.report is None:
            return None
        return lambda epoch, values: self.report(name, epoch, most, float(values[0]))


def learn_prior(
    trainer: Trainer,
    first: Posterior,
    part: Span,
    validation_fraction: float,
    rate: float = PRIOR_RATE,
    held: int | None = None,
) -> Posterior:
    """Train a prior on the first part in two halves: log loss, then linear loss, each with a cosine decay.

    The log loss leaves the plateaus of the initialisation; the linear loss is the Gibbs risk. Each half has half of the
    epochs (at least one), and the second a fifth of the rate. Early stopping uses the last `validation_fraction` of the
    part; a very small part uses its training rows. `held` is the number of validation rows if groups must stay whole.
    """
    train, watch = prior_spans(part, validation_fraction, held)
    epochs = max(trainer.limits.max_epochs // 2, 1)
    limits = trainer.limits._replace(max_epochs=epochs, cosine_epochs=epochs, halving_patience=NEVER)
    for objective, speed in ((Objective.LOG, rate), (Objective.LINEAR, rate / LINEAR_SHARE)):
        name = f"prior, {objective.name.lower()} loss"
        first = trainer.stage(name, objective, first.as_prior(), train, watch, speed, limits)
    return first.as_prior()


def prior_spans(part: Span, validation_fraction: float, held: int | None = None) -> tuple[Span, Span]:
    """Training rows and validation rows of a part; `held` is the number of validation rows, if given.

    Examples
    --------
    >>> prior_spans(Span(0, 10), 0.2)
    (Span(first=0, size=8), Span(first=8, size=2))
    """
    held = round(validation_fraction * part.size) if held is None else held
    if not 1 <= held < part.size:
        return part, part
    return Span(part.first, part.size - held), Span(part.first + part.size - held, held)


MANY_ROWS = 20_000
"""From this many rows on, a posterior is monitored in the training pass; for fewer, a second pass is cheap."""


def learn_posterior(trainer: Trainer, first: Posterior, part: Span, rate: float, *, warm_up: int = 0) -> Posterior:
    """Train the posterior that minimises Catoni's bound on the part, starting at `first`; its prior stays fixed.

    With `warm_up`, this many epochs on the linear loss come first. The bound holds for every posterior, so they cost
    nothing.

    The kept epoch is chosen by the bound on all rows after the epoch, as in the paper's protocol; from `MANY_ROWS` rows
    on, by the losses of the training pass. The certified bound is computed from the trained network.
    """
    many = part.size >= MANY_ROWS
    if warm_up:
        limits = trainer.limits._replace(max_epochs=warm_up, patience=NEVER, halving_patience=NEVER)
        first = trainer.stage("warm-up", Objective.LINEAR, first, part, part, rate, limits, seen=many)
    return trainer.stage("bound", Objective.BOUND, first, part, part, rate, trainer.limits, seen=many)


def learn_linear(trainer: Trainer, first: Posterior, train: Span, watch: Span, rate: float) -> Posterior:
    """Train the posterior with the lowest linear loss on the watched rows, starting at `first`; its prior stays
    fixed."""
    return trainer.stage("linear loss", Objective.LINEAR, first, train, watch, rate, trainer.limits)


def lifted_rows(X: NDArray[Any], y: NDArray[Any], weights: NDArray[Any] | None) -> Rows:
    """Prepared inputs lifted, padded and on the device."""
    padded = np.zeros((bucket(len(y)), X.shape[1] + 1), np.float32)
    lift_into(padded[: len(y)], np.asarray(X, np.float32))
    return pad_rows(padded, y, weights)
