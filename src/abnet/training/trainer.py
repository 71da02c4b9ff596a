"""Learning an aggregation: a prior on a first part of the rows, a posterior through the bound, or the linear loss."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.bam import BAM
from abnet.training.aggregation_learner import AggregationLearner, Objective, start
from abnet.training.loop import Limits, Rows, Span, open_runs
from abnet.training.stage import Report, best_of, run_stage

__all__ = [
    "NEVER",
    "PRIOR_RATE",
    "RATE",
    "Trainer",
    "learn_linear",
    "learn_posterior",
    "learn_prior",
    "lifted_rows",
    "new_keys",
    "prior_spans",
    "scaled_weights",
    "stack",
    "two_parts",
]


NEVER = 2**30
"""A patience that is never used up."""

PRIOR_RATE, RATE = 0.05, 0.01
"""Learning rates that suit most tables: of a prior, and of a stage that minimises the bound or the linear loss."""

LINEAR_SHARE = 5
"""A prior's linear loss learns at this fraction of the rate of its log loss: it only refines what is there."""


@dataclass
class Trainer:
    """Everything that the stages of one fit share, and the curves that they leave.

    Parameters
    ----------
    learner : AggregationLearner
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
    """

    learner: AggregationLearner
    rows: Rows
    batch_size: int
    delta: float
    limits: Limits
    rng: np.random.Generator
    report: Any = None
    curves: dict[str, list[float]] = field(default_factory=dict)
    interrupted: bool = False

    def stage(
        self,
        name: str,
        objective: Objective,
        network: BAM,
        prior: BAM,
        train: Span,
        watch: Span,
        rate: float,
        limits: Limits,
    ) -> BAM:
        """The best network of one stage that starts at `network`."""
        if self.interrupted:
            return network
        states = stack([start(network, prior, objective, train.size, self.delta)])
        runs = open_runs(states, [rate], new_keys(self.rng, 1))
        outcome = run_stage(
            (self.learner,), (runs,), self.rows, train, watch,
            rng=self.rng, batch_size=self.batch_size, limits=limits, report=self._reporter(name, limits.max_epochs),
        )  # fmt: skip
        self.curves[name] = [float(value) for value in outcome.curve[:, 0]] if len(outcome.curve) else []
        self.interrupted = outcome.interrupted
        return self.learner.network(best_of(outcome.runs[0]))

    def _reporter(self, name: str, most: int) -> Report | None:
        if self.report is None:
            return None
        return lambda epoch, values: self.report(name, epoch, most, float(values[0]))


def stack(states: list[Any]) -> Any:
    """Equal pytrees stacked along a new leading axis, in NumPy (nothing to compile)."""
    import jax

    return jax.tree.map(lambda *leaves: np.stack(leaves), *states)


def new_keys(rng: np.random.Generator, count: int) -> Any:
    """Independent JAX keys from a NumPy generator."""
    import jax

    numbers = rng.integers(0, 2**32, (count, 2), dtype=np.uint32)
    return jax.random.wrap_key_data(jax.device_put(numbers))


def learn_prior(
    trainer: Trainer, network: BAM, part: Span, validation_fraction: float, rate: float = PRIOR_RATE
) -> BAM:
    """A prior from the first part alone, in two halves: log loss, then linear loss, each with a cosine decay.

    The log loss leaves the plateaus of the start, the linear loss is the risk. Either half has half of the epochs (at
    least one), and the second a fifth of the rate. Early stopping looks at the last `validation_fraction` of the part;
    a part too small to spare any watches itself.
    """
    train, watch = prior_spans(part, validation_fraction)
    epochs = max(trainer.limits.max_epochs // 2, 1)
    limits = trainer.limits._replace(max_epochs=epochs, cosine_epochs=epochs, halving_patience=NEVER)
    for objective, speed in ((Objective.LOG, rate), (Objective.LINEAR, rate / LINEAR_SHARE)):
        name = f"prior, {objective.name.lower()} loss"
        network = trainer.stage(name, objective, network, network, train, watch, speed, limits)
    return network


def prior_spans(part: Span, validation_fraction: float) -> tuple[Span, Span]:
    """The rows of a part that a prior learns from, and those that early stopping watches.

    Examples
    --------
    >>> prior_spans(Span(0, 10), 0.2)
    (Span(first=0, size=8), Span(first=8, size=2))
    """
    held = round(validation_fraction * part.size)
    if not 1 <= held < part.size:
        return part, part
    return Span(part.first, part.size - held), Span(part.first + part.size - held, held)


def learn_posterior(trainer: Trainer, prior: BAM, part: Span, rate: float) -> BAM:
    """The posterior that minimises Catoni's bound on the part, starting at the prior."""
    return trainer.stage("bound", Objective.BOUND, prior, prior, part, part, rate, trainer.limits)


def learn_linear(trainer: Trainer, network: BAM, train: Span, watch: Span, rate: float) -> BAM:
    """The network of the lowest linear loss on the watched rows."""
    return trainer.stage("linear loss", Objective.LINEAR, network, network, train, watch, rate, trainer.limits)


def lifted_rows(X: NDArray[Any], y: NDArray[Any], weights: NDArray[Any] | None) -> Rows:
    """Prepared inputs lifted, padded and on the device."""
    from abnet.aggregation.exact import lift
    from abnet.training.loop import pad_rows

    return pad_rows(lift(np.asarray(X, np.float32)), y, weights)


def scaled_weights(weights: NDArray[Any] | None, first: int) -> NDArray[Any] | None:
    """Sample weights scaled to mean 1 in either part, so that only their proportions count.

    Each part by itself: the weights of the bound rows must not reach what is learned from the first `first` rows.

    Examples
    --------
    >>> scaled_weights(np.array([1.0, 3.0, 8.0]), 2)
    array([0.5, 1.5, 1. ])
    """
    if weights is None:
        return None
    parts = (weights[:first], weights[first:])
    return np.concatenate([part / max(part.mean(), np.finfo(float).tiny) if len(part) else part for part in parts])


def two_parts(n: int, fraction: float, rng: np.random.Generator) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Row numbers of a first part of about ``fraction · n`` rows and of the rest, by a uniform random permutation.

    Never stratified (that would tie the label counts of the parts together) and never by position (files are often
    sorted): a certificate on one part needs it to be an independent sample given the other. Each part has at least one
    row.

    Examples
    --------
    >>> first, second = two_parts(10, 0.7, np.random.default_rng(0))
    >>> len(first), len(second)
    (7, 3)
    """
    if n < 2:
        raise ValueError(f"{n} rows cannot be split in two parts: at least 2 are needed.")
    order = rng.permutation(n)
    size = min(max(round(fraction * n), 1), n - 1)
    return order[:size], order[size:]
