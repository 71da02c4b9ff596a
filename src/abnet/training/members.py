"""Train the members of a mixture: several networks, trained jointly on soft targets."""

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.networks.bam import BAM
from abnet.networks.posterior import Posterior
from abnet.training.centring import STREAMED, Centring
from abnet.training.loop import Limits, Span, open_runs, pad_rows
from abnet.training.objective import Objective
from abnet.training.padding import bucket
from abnet.training.posterior_learner import PosteriorLearner, start
from abnet.training.runner import NEVER, Report, best_of, new_keys, run_stage, stack
from abnet.utils.progress import tell

__all__ = ["MixtureOutcome", "MixturePlan", "compile_members", "learn_members", "random_members"]

LEAST_INPUTS = 32
"""Networks with fewer inputs are padded to this number."""
MOST_PADDED = 512
"""Networks with more inputs are not padded: their steps are long, so compiling for the exact size is worth it."""
WATCHED = 1024
"""Maximum number of rows held out for early stopping."""


@dataclass(frozen=True)
class MixturePlan:
    """How the members are trained.

    Parameters
    ----------
    steps : int
        Total number of minibatches, rounded to whole epochs.
    batch_size : int
    rate : float
        Initial learning rate of Adam, before the cosine decay.
    most_epochs : int
        Maximum number of epochs, for few rows.
    linear : bool
        Whether a second stage, with half as many epochs and a fifth of the rate, minimises the linear loss, which is
        the Gibbs risk.
    """

    steps: int = 4000
    batch_size: int = 128
    rate: float = 0.1
    most_epochs: int = 100
    linear: bool = False

    def epochs(self, n_rows: int) -> int:
        """Whole epochs of about `steps` minibatches.

        Examples
        --------
        >>> [MixturePlan().epochs(n) for n in (4_150, 22_000, 10**7)]
        [100, 23, 1]
        """
        return min(max(round(self.steps / -(-n_rows // self.batch_size)), 1), self.most_epochs)


@dataclass(frozen=True, eq=False)
class MixtureOutcome:
    """The members on lifted rows, the watched loss after each epoch, whether training was interrupted, and the rows
    that were watched and not learned from (None if there were too few to spare any).
    """

    networks: tuple[BAM, ...]
    curve: list[float]
    interrupted: bool
    watched: NDArray[np.intp] | None


def random_members(rng: np.random.Generator, count: int, sizes: tuple[int, ...]) -> tuple[BAM, ...]:
    """Initial weights for centred inputs: standard normal in the first layer and above one hidden layer, else Glorot.

    Examples
    --------
    >>> [network.sizes for network in random_members(np.random.default_rng(0), 2, (5, 3, 1))]
    [(5, 3, 1), (5, 3, 1)]
    """
    members = []
    for _ in range(count):
        network = BAM.init(rng, sizes)
        first = rng.standard_normal(network.weights[0].shape, np.float32)
        bias = 0.5 * rng.standard_normal(network.biases[0].shape, np.float32)
        last = rng.standard_normal(network.weights[-1].shape, np.float32)
        members.append(BAM((first, *network.weights[1:-1], last), (bias, *network.biases[1:])))
    return tuple(members)


def learn_members(
    learner: PosteriorLearner,
    lifted: Any,
    targets: NDArray[Any],
    plan: MixturePlan,
    rng: np.random.Generator,
    *,
    weights: NDArray[np.float64] | None = None,
    report: Any = None,
    watched_rows: NDArray[np.intp] | None = None,
) -> MixtureOutcome:
    """Train a mixture on lifted rows with soft targets, by the log loss.

    Parameters
    ----------
    learner : PosteriorLearner
        With the number of members and their sizes.
    lifted : array (n, d_0 + 1), or an object that returns arrays for slices and indices
    targets : array (n,) in [-1, 1], or (n, K)
    plan : MixturePlan
    rng : numpy.random.Generator
        For the initial weights, the shuffling and the choice of the watched rows.
    weights : array (n,), optional
    report : callable, optional
        Called after each epoch with the name of the stage, the epoch, the number of epochs and the best loss.
    watched_rows : array of int, optional
        Rows held out for early stopping; by default some at random.
    """
    centring, n_inputs, padded = Centring.of(lifted), learner.sizes[0], _padded(learner)
    padding = padded.sizes[0] - n_inputs
    order = rng.permutation(len(lifted))
    watched = min(WATCHED, len(lifted) // 8)
    if watched_rows is not None:
        watched = len(watched_rows)
        order = np.concatenate([watched_rows, order[~np.isin(order, watched_rows)]])
    given = None if weights is None else weights[order]
    rows = pad_rows(_centred(centring, lifted, order, padding), targets[order], given)
    train = Span(watched, len(lifted) - watched)
    watch = Span(0, watched) if watched else train
    starts = tuple(
        BAM.from_layers((_with_columns(network.layers[0], padding), *network.layers[1:]))
        for network in random_members(rng, learner.n_members, learner.sizes)
    )
    members = Posterior.from_networks(starts, starts, learner.aggregation)
    stages = {Objective.LOG: (plan.epochs(train.size), plan.rate)}
    if plan.linear:
        stages[Objective.LINEAR] = (max(plan.epochs(train.size) // 2, 1), plan.rate / 5)
    curve, interrupted = [], False
    for objective, (epochs, rate) in stages.items():
        if interrupted:
            break
        state = start(members.as_prior(), objective, train.size, 0.05)
        limits = Limits(0.0, NEVER, halving_patience=NEVER, max_epochs=epochs, cosine_epochs=epochs)
        width = " x ".join(map(str, learner.sizes[1:-1]))
        stage = f"{learner.n_members} networks of {width} neurons, {objective.name.lower()} loss"
        tell(stage)  # programs are compiled first
        outcome = run_stage(
            (padded,), (open_runs(stack([state]), [rate], new_keys(rng, 1)),), rows, train, watch, rng=rng,
            batch_size=plan.batch_size, limits=limits, report=_reporter(report, stage, epochs),
        )  # fmt: skip
        members = padded.posterior(best_of(outcome.runs[0]))
        curve += [float(value) for value in outcome.curve[:, 0]] if len(outcome.curve) else []
        interrupted = outcome.interrupted
    networks = tuple(centring.network(_narrowed(network, n_inputs)) for network in members.members)
    return MixtureOutcome(networks, curve, interrupted, order[:watched] if watched else None)


def compile_members(learner: PosteriorLearner, n_rows: int, batch_size: int) -> None:
    """Compile the program of `learn_members` for this number of rows in advance, by evaluating rows of zeros.

    Compilation takes seconds on a new machine. `abnet.training.mixture_learning` calls this while the teachers are
    trained. It has no other effect, and does nothing if the program is already compiled.
    """
    padded = _padded(learner)
    _compile(padded, bucket(n_rows), batch_size)


@cache
def _compile(padded: PosteriorLearner, n_rows: int, batch_size: int) -> None:
    shape = (n_rows,) if padded.n_classes == 2 else (n_rows, padded.n_classes)
    rows = pad_rows(np.zeros((n_rows, padded.sizes[0] + 1), np.float32), np.zeros(shape, np.float32))
    rng = np.random.default_rng(0)
    starts = random_members(rng, padded.n_members, padded.sizes)
    state = start(Posterior.from_networks(starts, starts, padded.aggregation), Objective.LOG, n_rows, 0.05)
    run_stage(
        (padded,), (open_runs(stack([state]), [0.1], new_keys(rng, 1)),), rows, Span(0, 1), Span(0, 1), rng=rng,
        batch_size=batch_size, limits=Limits(0.0, NEVER, halving_patience=NEVER, max_epochs=0, cosine_epochs=1),
    )  # fmt: skip


def _padded(learner: PosteriorLearner) -> PosteriorLearner:
    """The learner with a padded number of inputs, so that tables of similar width share a program."""
    n_inputs = learner.sizes[0]
    inputs = bucket(n_inputs, least=LEAST_INPUTS) if n_inputs <= MOST_PADDED else n_inputs
    return replace(learner, sizes=(inputs, *learner.sizes[1:]), bounded=False)


def _centred(centring: Centring, lifted: Any, order: NDArray[np.intp], padding: int) -> NDArray[np.float32]:
    """Centred rows in order, padded with columns and rows of zeros, in memory that JAX uses without a copy."""
    shape = bucket(len(order)), len(centring.shift) + padding + 1
    memory = np.zeros(4 * shape[0] * shape[1] + 64, np.uint8)
    start = -memory.ctypes.data % 64
    out = memory[start : start + 4 * shape[0] * shape[1]].view(np.float32).reshape(shape)
    for first in range(0, len(order), STREAMED):
        centred = centring.apply(lifted[order[first : first + STREAMED]])
        block = out[first : first + STREAMED][: len(centred)]
        block[:, : centred.shape[1] - 1], block[:, -1] = centred[:, :-1], centred[:, -1]
    return out


def _reporter(report: Any, stage: str, epochs: int) -> Report | None:
    return None if report is None else lambda epoch, values: report(stage, epoch, epochs, float(values[0]))


def _with_columns(matrix: NDArray[Any], count: int) -> NDArray[np.float32]:
    """Insert columns of zeros before the last one (the constant), so that tables of similar width share a program."""
    zeros = np.zeros((len(matrix), count), np.float32)
    return np.concatenate([matrix[:, :-1], zeros, matrix[:, -1:]], axis=1, dtype=np.float32)


def _narrowed(network: BAM, n_inputs: int) -> BAM:
    return BAM((network.weights[0][:, :n_inputs], *network.weights[1:]), network.biases)
