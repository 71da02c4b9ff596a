"""The stages of a fit: a prior on a first part of the rows, a posterior through the bound, or the linear loss."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.aggregation.exact import lift_into
from abnet.posterior import Posterior
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
"""Learning rates that suit most tables: of a prior, and of a stage that minimises the bound or the linear loss."""
LINEAR_SHARE = 5
"""A prior's linear loss learns at this fraction of the rate of its log loss: it only refines what is there."""


@dataclass
class Trainer:
    """Everything that the stages of one fit share, and the curves that they leave.

    Parameters
    ----------
    learner : PosteriorLearner
    rows : Rows
        Lifted inputs, targets and weights (`abnet.training.loop.pad_rows`).
    batch_size : int
    delta : float
    limits : Limits
        Of the stages that stop early on their own objective.
    rng : numpy.random.Generator
        Shuffles minibatches and seeds the sampling keys.
    report : callable, optional
        Called after each epoch with the stage's name, the epoch, the most epochs that there may be, and the best value.
    n_draws : int, optional
        Independent draws that a bound counts: the groups, where rows come in groups; by default the rows.
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
    """A prior from the first part alone, in two halves: log loss, then linear loss, each with a cosine decay.

    The log loss leaves the plateaus of the start, the linear loss is the risk. Either half has half of the epochs (at
    least one), and the second a fifth of the rate. Early stopping looks at the last `validation_fraction` of the part;
    a part too small to spare any watches itself. `held` is their number, where whole groups are to be kept together.
    """
    train, watch = prior_spans(part, validation_fraction, held)
    epochs = max(trainer.limits.max_epochs // 2, 1)
    limits = trainer.limits._replace(max_epochs=epochs, cosine_epochs=epochs, halving_patience=NEVER)
    for objective, speed in ((Objective.LOG, rate), (Objective.LINEAR, rate / LINEAR_SHARE)):
        name = f"prior, {objective.name.lower()} loss"
        first = trainer.stage(name, objective, first.as_prior(), train, watch, speed, limits)
    return first.as_prior()


def prior_spans(part: Span, validation_fraction: float, held: int | None = None) -> tuple[Span, Span]:
    """The rows of a part that a prior learns from, and those that early stopping watches: `held` rows, if it is given.

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
"""Rows from which on a posterior is watched in the training pass: fewer take less time than another program."""


def learn_posterior(trainer: Trainer, first: Posterior, part: Span, rate: float, *, warm_up: int = 0) -> Posterior:
    """The posterior that minimises Catoni's bound on the part, starting at `first`, whose prior stays.

    With `warm_up` that many epochs on the linear loss come first. The bound holds for every posterior, so they cost
    nothing.

    Which epoch is kept is decided by the bound on all rows after it, as in the paper's protocol; from `MANY_ROWS` on by
    the losses that the pass itself met. The bound that is certified is computed of the finished network.
    """
    many = part.size >= MANY_ROWS
    if warm_up:
        limits = trainer.limits._replace(max_epochs=warm_up, patience=NEVER, halving_patience=NEVER)
        first = trainer.stage("warm-up", Objective.LINEAR, first, part, part, rate, limits, seen=many)
    return trainer.stage("bound", Objective.BOUND, first, part, part, rate, trainer.limits, seen=many)


def learn_linear(trainer: Trainer, first: Posterior, train: Span, watch: Span, rate: float) -> Posterior:
    """The posterior of the lowest linear loss on the watched rows, starting at `first`, whose prior stays."""
    return trainer.stage("linear loss", Objective.LINEAR, first, train, watch, rate, trainer.limits)


def lifted_rows(X: NDArray[Any], y: NDArray[Any], weights: NDArray[Any] | None) -> Rows:
    """Prepared inputs lifted, padded and on the device."""
    padded = np.zeros((bucket(len(y)), X.shape[1] + 1), np.float32)
    lift_into(padded[: len(y)], np.asarray(X, np.float32))
    return pad_rows(padded, y, weights)
