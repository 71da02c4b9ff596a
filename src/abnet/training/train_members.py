"""Train the members of a mixture: several networks, trained jointly on soft targets."""

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.networks.bam import BAM
from abnet.networks.posterior import Posterior
from abnet.training.centring import STREAMED, Centring
from abnet.training.loop import Limits, Span, pad_rows
from abnet.training.mixture_plan import MixturePlan
from abnet.training.objective import Objective
from abnet.training.padding import bucket
from abnet.training.posterior_learner import PosteriorLearner, start
from abnet.training.progress_bar import Report
from abnet.training.runner import NEVER, Stage, train
from abnet.utils.progress import report_progress

__all__ = ["MixtureOutcome", "compile_members", "learn_members", "random_members"]

LEAST_INPUTS = 32
"""Networks with fewer inputs are padded to this number."""
MOST_PADDED = 512
"""Networks with more inputs are not padded: their steps are long, so compiling for the exact size is worth it."""
MOST_VALIDATION_ROWS = 1024
"""Maximum number of validation rows for early stopping."""
UNUSED_DELTA = 0.05
"""The state of a run holds δ, but the members' losses do not use it."""


@dataclass(frozen=True, eq=False)
class MixtureOutcome:
    """Result of training the members of a mixture.

    Attributes
    ----------
    networks : tuple of BAM
        The members, for lifted rows.
    curve : list of float
        The loss on the validation rows at the start and after each epoch.
    interrupted : bool
    validation : int array or None
        The validation rows; None if there were too few rows to spare any, so that the training rows were watched.
    """

    networks: tuple[BAM, ...]
    curve: list[float]
    interrupted: bool
    validation: NDArray[np.intp] | None


def random_members(rng: np.random.Generator, count: int, sizes: tuple[int, ...]) -> tuple[BAM, ...]:
    """Initial weights for centred inputs: standard normal in the first and the last layer, Glorot between them.

    The biases of the first layer are normal with deviation one half.

    Examples
    --------
    >>> [network.sizes for network in random_members(np.random.default_rng(0), 2, (5, 3, 1))]
    [(5, 3, 1), (5, 3, 1)]
    """
    members = []
    for _ in range(count):
        network = BAM.init(rng, sizes)
        first_weights = rng.standard_normal(network.weights[0].shape, np.float32)
        first_biases = 0.5 * rng.standard_normal(network.biases[0].shape, np.float32)
        last_weights = rng.standard_normal(network.weights[-1].shape, np.float32)
        weights = (first_weights, *network.weights[1:-1], last_weights)
        biases = (first_biases, *network.biases[1:])
        members.append(BAM(weights, biases))
    return tuple(members)


def learn_members(
    learner: PosteriorLearner,
    lifted: Any,
    targets: NDArray[Any],
    plan: MixturePlan,
    rng: np.random.Generator,
    *,
    weights: NDArray[np.float64] | None = None,
    report: Report | None = None,
    validation: NDArray[np.intp] | None = None,
) -> MixtureOutcome:
    """Train a mixture on lifted rows with soft targets, on the log loss and optionally the linear loss.

    Parameters
    ----------
    learner : PosteriorLearner
        With the number of members and their sizes.
    lifted : array (n, d_0 + 1), or an object that returns arrays for slices and indices
    targets : array (n,) in [-1, 1], or (n, K)
    plan : MixturePlan
    rng : numpy.random.Generator
        For the initial weights, the shuffling and the choice of the validation rows.
    weights : array (n,), optional
    report : callable, optional
        Called after each epoch (`abnet.training.progress_bar.Report`).
    validation : array of int, optional
        Validation rows for early stopping; by default some at random.
    """
    n_inputs = learner.sizes[0]
    padded = _padded(learner)
    padding = padded.sizes[0] - n_inputs
    order, n_validation = _validation_first(len(lifted), validation, rng)
    centring = Centring.of(lifted)
    ordered_weights = None
    if weights is not None:
        ordered_weights = weights[order]
    rows = pad_rows(_centred(centring, lifted, order, padding), targets[order], ordered_weights)
    train_on = Span(n_validation, len(lifted) - n_validation)
    watch = train_on
    if n_validation:
        watch = Span(0, n_validation)
    members = _initial_members(learner, padding, rng)
    curve = []
    for objective, epochs, rate in _stages(plan, train_on.size):
        name = _stage_name(learner, objective)
        report_progress(name)  # before the first epoch, because its program may have to be compiled
        stage = Stage(
            name=name,
            start=start(members.as_prior(), objective, train_on.size, UNUSED_DELTA),
            train=train_on,
            watch=watch,
            rate=rate,
            batch_size=plan.batch_size,
            limits=_cosine_limits(epochs),
        )
        trained = train(padded, stage, rows, rng, report)
        members = padded.posterior(trained.state)
        curve += trained.curve
        if trained.interrupted:
            break
    networks = tuple(centring.network(_without_padding(network, n_inputs)) for network in members.members)
    if n_validation:
        return MixtureOutcome(networks, curve, trained.interrupted, order[:n_validation])
    return MixtureOutcome(networks, curve, trained.interrupted, None)


def compile_members(learner: PosteriorLearner, n_rows: int, batch_size: int) -> None:
    """Compile the program of `learn_members` for this number of rows in advance, by evaluating rows of zeros.

    Compilation takes seconds on a new machine, so it runs in the background while the teachers are fitted
    (`abnet.training.mixture_learning`). It has no other effect, and does nothing if the program is already compiled.
    """
    _compile(_padded(learner), bucket(n_rows), batch_size)


@cache
def _compile(padded: PosteriorLearner, n_rows: int, batch_size: int) -> None:
    shape: tuple[int, ...] = (n_rows,)
    if padded.n_classes > 2:
        shape = (n_rows, padded.n_classes)
    rows = pad_rows(np.zeros((n_rows, padded.sizes[0] + 1), np.float32), np.zeros(shape, np.float32))
    rng = np.random.default_rng(0)
    networks = random_members(rng, padded.n_members, padded.sizes)
    members = Posterior.from_networks(networks, networks, padded.aggregation)
    stage = Stage(
        name="compilation",
        start=start(members, Objective.LOG, n_rows, UNUSED_DELTA),
        train=Span(0, 1),
        watch=Span(0, 1),
        rate=0.1,
        batch_size=batch_size,
        limits=_cosine_limits(1)._replace(max_epochs=0),
    )
    train(padded, stage, rows, rng)


def _padded(learner: PosteriorLearner) -> PosteriorLearner:
    """The learner with a padded number of inputs, so that tables of similar width share a program."""
    n_inputs = learner.sizes[0]
    if n_inputs <= MOST_PADDED:
        n_inputs = bucket(n_inputs, least=LEAST_INPUTS)
    return replace(learner, sizes=(n_inputs, *learner.sizes[1:]), bounded=False)


def _validation_first(
    n_rows: int, validation: NDArray[np.intp] | None, rng: np.random.Generator
) -> tuple[NDArray[np.intp], int]:
    """An order of the rows in which validation rows come first, and how many there are."""
    order = rng.permutation(n_rows)
    if validation is None:
        return order, min(MOST_VALIDATION_ROWS, n_rows // 8)
    others = order[~np.isin(order, validation)]
    return np.concatenate([validation, others]), len(validation)


def _initial_members(learner: PosteriorLearner, padding: int, rng: np.random.Generator) -> Posterior:
    """Random members with columns of zeros for the padding."""
    networks = []
    for network in random_members(rng, learner.n_members, learner.sizes):
        first_layer = _with_columns(network.layers[0], padding)
        networks.append(BAM.from_layers((first_layer, *network.layers[1:])))
    return Posterior.from_networks(networks, networks, learner.aggregation)


def _stages(plan: MixturePlan, n_train: int) -> list[tuple[Objective, int, float]]:
    """Objective, number of epochs and rate of each stage."""
    epochs = plan.epochs(n_train)
    stages = [(Objective.LOG, epochs, plan.rate)]
    if plan.linear:
        stages.append((Objective.LINEAR, max(epochs // 2, 1), plan.rate / 5))
    return stages


def _stage_name(learner: PosteriorLearner, objective: Objective) -> str:
    widths = " x ".join(map(str, learner.sizes[1:-1]))
    return f"{learner.n_members} networks of {widths} neurons, {objective.name.lower()} loss"


def _cosine_limits(epochs: int) -> Limits:
    """All epochs, without early stopping, while the rate decays to zero."""
    return Limits(0.0, NEVER, halving_patience=NEVER, max_epochs=epochs, cosine_epochs=epochs)


def _centred(centring: Centring, lifted: Any, order: NDArray[np.intp], padding: int) -> NDArray[np.float32]:
    """Centred rows in order, padded with columns and rows of zeros, in memory that JAX uses without a copy."""
    n_columns = len(centring.shift) + padding + 1
    out = _aligned_zeros(bucket(len(order)), n_columns)
    for first in range(0, len(order), STREAMED):
        centred = centring.apply(lifted[order[first : first + STREAMED]])
        block = out[first : first + len(centred)]
        block[:, : centred.shape[1] - 1] = centred[:, :-1]
        block[:, -1] = centred[:, -1]  # the constant stays the last column
    return out


def _aligned_zeros(n_rows: int, n_columns: int) -> NDArray[np.float32]:
    """Zeros whose memory starts at a multiple of 64 bytes, as JAX requires to use it without a copy."""
    n_bytes = 4 * n_rows * n_columns
    memory = np.zeros(n_bytes + 64, np.uint8)
    offset = -memory.ctypes.data % 64
    return memory[offset : offset + n_bytes].view(np.float32).reshape(n_rows, n_columns)


def _with_columns(matrix: NDArray[Any], count: int) -> NDArray[np.float32]:
    """Insert columns of zeros before the last one (the constant)."""
    zeros = np.zeros((len(matrix), count), np.float32)
    return np.concatenate([matrix[:, :-1], zeros, matrix[:, -1:]], axis=1, dtype=np.float32)


def _without_padding(network: BAM, n_inputs: int) -> BAM:
    return BAM((network.weights[0][:, :n_inputs], *network.weights[1:]), network.biases)
