"""A mixture learns: the rules of its members for the training loop, and their training on a lesson.

A mixture is one posterior: several networks that are trained side by side for what they say together. A hypothesis is a
pair of a member's number m and a network drawn around that member. The output is the mean of the members' outputs, and
the divergence the mean of theirs (docs/theory.md). Two classes have one output neuron and scores in [-1, 1]; several
have code words and probabilities. Targets may be soft: an expected label, or a distribution over the classes.

The optimiser is given better axes: inputs without what they share with the constant, each of a similar size. Lifted
rows are unit vectors in which the constant takes part, so that every column moves with it, and Adam crawls. Training on
centred columns and going back at the end changes nothing in the model: ``U c = V z`` for every row.
"""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from abnet.aggregation import classes, exact
from abnet.bam import BAM, flatten, unflatten
from abnet.bounds.gibbs import catoni_objective
from abnet.codebook import code_words, decode_table
from abnet.jax_helpers import ADAM
from abnet.training.learners import LOG_MIXTURE, OUTPUTS, Objective
from abnet.training.loop import Aggregating, Limits, Span, counted, open_runs, pad_rows
from abnet.training.padding import bucket
from abnet.training.trainer import NEVER, Report, best_of, new_keys, run_stage, stack

__all__ = [
    "Centring",
    "MixtureLearner",
    "MixtureOutcome",
    "MixturePlan",
    "MixtureState",
    "learn_members",
    "random_members",
    "start_mixture",
]


class MixtureState(NamedTuple):
    """A mixture in training: the members' weights in the rows of one matrix, ``ln C``, and what the objective needs."""

    theta: Any
    log_c: Any
    prior: Any
    adam: Any
    objective: Any
    n: Any
    delta: Any


def start_mixture(
    networks: tuple[BAM, ...], priors: tuple[BAM, ...], objective: Objective, n: int, delta: float
) -> MixtureState:
    """A state that starts at the given members, with ``C = 1``."""
    theta, prior = (np.stack([flatten(network.layers) for network in some]) for some in (networks, priors))
    parameters = (theta, np.float32(0))
    adam = jax.tree.map(lambda leaf: np.zeros(leaf.shape, leaf.dtype), jax.eval_shape(ADAM.init, parameters))
    return MixtureState(*parameters, prior, adam, np.int32(objective), np.float32(n), np.float32(delta))


@dataclass(frozen=True)
class MixtureLearner(Aggregating):
    """The rules of a mixture for the training loop.

    Parameters
    ----------
    sizes : tuple of int
        ``(d_0, …, d_L)`` of every member; ``d_L`` is the length of the code, 1 for two classes.
    n_classes : int
    method : str
        "exact", "ancestral" or "ancestral surrogate".
    n_samples : int
        Paths of the sampled methods.
    together : float
        Share of the loss of the mean output in the log loss; the rest is the mean of the members' own losses.
    bounded : bool
        Whether the objective may be the bound. A prior has none, and its program then never passes over all weights for
        a divergence: a tenth of a step of 784-400-12.
    """

    sizes: tuple[int, ...]
    n_classes: int = 2
    method: str = "exact"
    n_samples: int = 1
    together: float = 1.0
    bounded: bool = True
    in_sequence: ClassVar[bool] = False
    by_library: ClassVar[bool] = False

    def step(self, state: MixtureState, inputs: Any, targets: Any, weights: Any, rate: Any, key: Any) -> MixtureState:
        """One step of Adam on the objective of one minibatch."""

        def loss(parameters: Any) -> Any:
            theta, log_c = parameters
            moved = state._replace(theta=theta, log_c=log_c)
            return self._objective(moved, self._members(theta, inputs, key), targets, weights, counted(weights))

        parameters = (state.theta, state.log_c)
        update, adam = ADAM.update(jax.grad(loss)(parameters), state.adam)
        theta, log_c = jax.tree.map(lambda value, change: value - rate * change, parameters, update)
        return state._replace(theta=theta, log_c=log_c, adam=adam)

    def output(self, state: MixtureState, inputs: Any, key: Any) -> Any:
        """The mean of the members' outputs, shape (rows,), or (rows, K) for several classes."""
        return self._members(state.theta, inputs, key).mean(axis=0)

    def monitor(self, state: MixtureState, outputs: Any, targets: Any, weights: Any) -> Any:
        """The objective of the mean output on the watched rows."""
        return self._objective(state, outputs[None], targets, weights)

    def networks(self, state: MixtureState) -> tuple[BAM, ...]:
        """The members in NumPy arrays."""
        return tuple(BAM.from_layers(unflatten(row, self.sizes)) for row in np.asarray(state.theta))

    def _members(self, theta: Any, inputs: Any, key: Any) -> Any:
        """Outputs of every member, shape (M, rows) or (M, rows, K)."""
        keys = jax.random.split(key, theta.shape[0])
        return jax.vmap(lambda row, k: self._output(unflatten(row, self.sizes), inputs, k))(theta, keys)

    def _output(self, layers: tuple[Any, ...], inputs: Any, key: Any) -> Any:
        if self.n_classes == 2:
            if self.method == "exact":
                return exact.output(layers, inputs)
            return OUTPUTS[self.method](layers, inputs, key, self.n_samples)
        # Of NumPy: `decoded` then looks up its classes here, and XLA has no large constant to fold.
        table = decode_table(code_words(self.n_classes, self.sizes[-1])).astype(inputs.dtype)
        if self.method == "exact":
            return exact.output(layers, inputs, table)
        compute = classes.path_probabilities if self.method == "ancestral" else classes.normal_probabilities
        return compute(layers, inputs, key, self.n_samples, table)

    def _objective(self, state: MixtureState, outputs: Any, targets: Any, weights: Any, total: Any = None) -> Any:
        """The objective from the members' outputs; the bound's divergence is the mean of theirs."""
        total = jnp.maximum(jnp.sum(weights) if total is None else total, jnp.finfo(weights.dtype).tiny)
        mean = outputs.mean(axis=0)
        risk = jnp.sum(weights * self._risk(mean, targets)) / total
        log_loss = self._log_loss(mean, targets)
        if self.together < 1:
            alone = jax.vmap(lambda output: self._log_loss(output, targets))(outputs).mean(axis=0)
            log_loss = self.together * log_loss + (1 - self.together) * alone
        surprise = jnp.sum(weights * log_loss) / total
        if not self.bounded:
            return jax.lax.select_n(state.objective, risk, surprise)
        kl = 0.5 * jnp.sum((state.theta - state.prior) ** 2) / state.theta.shape[0]
        bound = catoni_objective(risk, kl, state.n, state.delta, state.log_c)
        return jax.lax.select_n(state.objective, risk, surprise, bound)

    def _risk(self, outputs: Any, targets: Any) -> Any:
        """Linear loss of each row: the probability that a drawn network errs."""
        if self.n_classes == 2:
            return 0.5 - 0.5 * targets * outputs
        return 1 - jnp.sum(targets * outputs, axis=-1)

    def _log_loss(self, outputs: Any, targets: Any) -> Any:
        """Log loss of each row against its soft target, a fair coin mixed in."""
        if self.n_classes == 2:
            outputs = jnp.stack([0.5 - 0.5 * outputs, 0.5 + 0.5 * outputs], axis=-1)
            targets = jnp.stack([0.5 - 0.5 * targets, 0.5 + 0.5 * targets], axis=-1)
        chance = (1 - LOG_MIXTURE) * outputs + LOG_MIXTURE / self.n_classes
        return -jnp.sum(targets * jnp.log(jnp.maximum(chance, 0.25 * LOG_MIXTURE / self.n_classes)), axis=-1)


FLOOR = 0.5
"""Share of the mean deviation below which a column is not stretched any further: rare features stay rare."""


@dataclass(frozen=True, eq=False)
class Centring:
    """A linear map of lifted rows z to rows c: ``c_j = (z_j - shift_j z_0) factor_j``, ``c_0 = last · z_0``.

    Attributes
    ----------
    shift, factor : arrays (d,)
    last : float
        Factor of the constant's column, the last one.

    Examples
    --------
    >>> rows = np.array([[0.6, 0.0, 0.8], [0.0, 0.6, 0.8], [0.8, 0.0, 0.6]], np.float32)
    >>> centring = Centring.of(rows)
    >>> centred = centring.apply(rows)
    >>> U = BAM((np.array([[1.0, -2.0]]),), (np.array([0.5]),))
    >>> V = centring.network(U)
    >>> bool(np.allclose(centred @ U.layers[0].T, rows @ V.layers[0].T, atol=1e-6))
    True
    """

    shift: NDArray[np.float64]
    factor: NDArray[np.float64]
    last: float

    @staticmethod
    def of(lifted: Any) -> "Centring":
        """The map that suits these rows (rows, d + 1), an array or what gives arrays for slices of it."""
        n = len(lifted)
        constant, sums = np.empty(n), [np.zeros(0)] * 3
        for start in range(0, n, STREAMED):
            block = lifted[start : start + STREAMED]
            z, constant[start : start + STREAMED] = block[:, :-1], block[:, -1]
            parts = (z * block[:, -1:], np.square(z, dtype=np.float64), z)
            sums = [_continued(total, part) for total, part in zip(sums, parts, strict=True)]
        mean, second, first = (total / n for total in sums)
        square = float(np.mean(constant**2))
        shift = mean / square
        # E (z - shift z_0)², and its part that is no mean: from sums, without a copy of the rows.
        second, first = np.asarray(second), first - shift * constant.mean()
        variance = np.maximum(second - shift**2 * square - first**2, 0)
        typical = float(variance.mean())
        factor = 1 / np.sqrt(variance + FLOOR**2 * typical + 1e-12) / np.sqrt(len(variance))
        return Centring(shift, factor, square**-0.5)

    def apply(self, lifted: NDArray[np.float32]) -> NDArray[np.float32]:
        """Centred rows, in float32."""
        out = lifted * np.append(self.factor, self.last).astype(np.float32)
        out[:, :-1] -= lifted[:, -1:] * (self.shift * self.factor).astype(np.float32)
        return np.asarray(out)

    def network(self, centred: BAM) -> BAM:
        """The network on lifted rows that computes what `centred` computes on centred ones."""
        W = np.asarray(centred.weights[0], np.float64) * self.factor
        b = np.asarray(centred.biases[0], np.float64) * self.last - W @ self.shift
        weights = (W.astype(np.float32), *centred.weights[1:])
        return BAM(weights, (b.astype(np.float32), *centred.biases[1:]))


STREAMED = 1024
"""Rows that are centred at a time."""


def _continued(total: NDArray[np.float64], block: NDArray[Any]) -> NDArray[np.float64]:
    """A sum over rows, one after the other, that goes on with those of a block: the same in blocks of any size."""
    rows = np.asarray(block, np.float64)
    return np.asarray(np.add.reduce(np.concatenate([total[None], rows]) if len(total) else rows, axis=0))


LEAST_INPUTS = 32
"""Networks with fewer inputs are padded to so many."""
MOST_PADDED = 512
"""Networks with more are not padded: a step is then long enough to be compiled for, and padding would lengthen it."""
WATCHED = 1024
"""Rows of the lesson that are not learned from: they say which epoch to keep."""


@dataclass(frozen=True)
class MixturePlan:
    """How the members are trained.

    Parameters
    ----------
    steps : int
        Minibatches in all, rounded to whole epochs.
    batch_size : int
    rate : float
        Of Adam, at the start of the cosine.
    most_epochs : int
        However few rows there are.
    linear : bool
        Whether a second stage of half as many epochs, at a fifth of the rate, minimises the linear loss, which is the
        Gibbs risk.
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
    """Starts for centred inputs: standard normal weights in the first layer and above one hidden layer, else Glorot's.

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
    learner: MixtureLearner,
    n_members: int,
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
    learner : MixtureLearner
        Its sizes are those of the members.
    n_members : int
    lifted : array (n, d_0 + 1), or what gives arrays for slices and places of it
    targets : array (n,) in [-1, 1], or (n, K)
    plan : MixturePlan
    rng : numpy.random.Generator
        Starts, shuffles and chooses the watched rows.
    weights : array (n,), optional
    report : callable, optional
        Called after each epoch with a stage's name, the epoch, the number of epochs and the best loss.
    watched_rows : array of int, optional
        Rows that are not learned from and say which epoch to keep; by default some at random.
    """
    centring, n_inputs = Centring.of(lifted), learner.sizes[0]
    padding = bucket(n_inputs, least=LEAST_INPUTS) - n_inputs if n_inputs <= MOST_PADDED else 0
    padded = replace(learner, sizes=(n_inputs + padding, *learner.sizes[1:]), bounded=False)
    order = rng.permutation(len(lifted))
    watched = min(WATCHED, len(lifted) // 8)
    if watched_rows is not None:
        watched = len(watched_rows)
        order = np.concatenate([watched_rows, order[~np.isin(order, watched_rows)]])
    given = None if weights is None else weights[order]
    rows = pad_rows(_centred(centring, lifted, order, padding), targets[order], given)
    train = Span(watched, len(lifted) - watched)
    watch = Span(0, watched) if watched else train
    members = tuple(
        BAM.from_layers((_with_columns(network.layers[0], padding), *network.layers[1:]))
        for network in random_members(rng, n_members, learner.sizes)
    )
    stages = {Objective.LOG: (plan.epochs(train.size), plan.rate)}
    if plan.linear:
        stages[Objective.LINEAR] = (max(plan.epochs(train.size) // 2, 1), plan.rate / 5)
    curve, interrupted = [], False
    for objective, (epochs, rate) in stages.items():
        if interrupted:
            break
        state = start_mixture(members, members, objective, train.size, 0.05)
        limits = Limits(0.0, NEVER, halving_patience=NEVER, max_epochs=epochs, cosine_epochs=epochs)
        outcome = run_stage(
            (padded,), (open_runs(stack([state]), [rate], new_keys(rng, 1)),), rows, train, watch, rng=rng,
            batch_size=plan.batch_size, limits=limits, report=_reporter(report, objective, epochs),
        )  # fmt: skip
        members = padded.networks(best_of(outcome.runs[0]))
        curve += [float(value) for value in outcome.curve[:, 0]] if len(outcome.curve) else []
        interrupted = outcome.interrupted
    networks = tuple(centring.network(_narrowed(network, n_inputs)) for network in members)
    return MixtureOutcome(networks, curve, interrupted, order[:watched] if watched else None)


def _centred(centring: Centring, lifted: Any, order: NDArray[np.intp], padding: int) -> NDArray[np.float32]:
    """Centred rows in order, columns and rows of zeros beside them, in memory that JAX takes as it is."""
    shape = bucket(len(order)), len(centring.shift) + padding + 1
    memory = np.zeros(4 * shape[0] * shape[1] + 64, np.uint8)
    start = -memory.ctypes.data % 64
    out = memory[start : start + 4 * shape[0] * shape[1]].view(np.float32).reshape(shape)
    for first in range(0, len(order), STREAMED):
        centred = centring.apply(lifted[order[first : first + STREAMED]])
        block = out[first : first + STREAMED][: len(centred)]
        block[:, : centred.shape[1] - 1], block[:, -1] = centred[:, :-1], centred[:, -1]
    return out


def _reporter(report: Any, objective: Objective, epochs: int) -> Report | None:
    if report is None:
        return None
    name = f"networks, {objective.name.lower()} loss"
    return lambda epoch, values: report(name, epoch, epochs, float(values[0]))


def _with_columns(matrix: NDArray[Any], count: int) -> NDArray[np.float32]:
    """Columns of zeros before the last one, the constant's: programs are shared by tables of similar width."""
    zeros = np.zeros((len(matrix), count), np.float32)
    return np.concatenate([matrix[:, :-1], zeros, matrix[:, -1:]], axis=1, dtype=np.float32)


def _narrowed(network: BAM, n_inputs: int) -> BAM:
    return BAM((network.weights[0][:, :n_inputs], *network.weights[1:]), network.biases)
