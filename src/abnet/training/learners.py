"""How the aggregations learn: the rules of ABNet, PBGNet and mixtures for the training loop.

A mixture is one posterior: several networks that are trained side by side for what they say together. A hypothesis is a
pair of a member's number m and a network drawn around that member. The output is the mean of the members' outputs, and
the divergence the mean of theirs (docs/theory.md). Two classes have one output neuron and scores in [-1, 1]; several
have code words and probabilities. Targets may be soft: an expected label, or a distribution over the classes.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from itertools import pairwise
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from abnet.aggregation import ancestral, classes, exact, meanfield, stochastic_meanfield, uniform
from abnet.bam import BAM
from abnet.bounds.training_objective import catoni_objective
from abnet.codebook import code_words, decode_table
from abnet.cube import namespace
from abnet.jax_helpers import ADAM

__all__ = [
    "AggregationLearner",
    "MixtureLearner",
    "MixtureState",
    "Objective",
    "State",
    "flatten",
    "start",
    "start_mixture",
    "unflatten",
]


LOG_MIXTURE = 1e-3
"""Share of a fair coin in the log loss, which keeps it finite."""
OUTPUTS: dict[str, Callable[..., Any]] = {
    "exact": lambda layers, lifted, key, n: exact.output(layers, lifted),
    "meanfield": lambda layers, lifted, key, n: meanfield.output(layers, lifted),
    "uniform": uniform.output,
    "stochastic_meanfield": stochastic_meanfield.output,
    "ancestral": ancestral.output,
    "ancestral surrogate": ancestral.normal_output,
}
"""Ways to compute the output in training: (layers, lifted inputs, key, number of samples) to (rows,)."""


class Objective(IntEnum):
    """What a run minimises, an argument of the compiled program."""

    LINEAR = 0
    LOG = 1
    BOUND = 2


class State(NamedTuple):
    """One aggregation in training: all weights and ``ln C`` in one vector, and what its objective needs."""

    theta: Any
    prior: Any
    adam: Any
    objective: Any
    n: Any
    delta: Any


def flatten(layers: tuple[Any, ...]) -> NDArray[np.float32]:
    """All layers ``(W_k, b_k)`` as one vector: one fused optimiser step instead of one per array."""
    return np.concatenate([np.asarray(V, np.float32).ravel() for V in layers])


def unflatten(theta: Any, sizes: tuple[int, ...]) -> tuple[Any, ...]:
    """The layers back from the vector; entries beyond them (``ln C``) are left out."""
    shapes = [(d_out, d_in + 1) for d_in, d_out in pairwise(sizes)]
    ends = np.cumsum([rows * columns for rows, columns in shapes])
    # One split, not a slice for each layer: the gradient of a split is one concatenation.
    parts = namespace(theta).split(theta, ends)
    return tuple(part.reshape(shape) for part, shape in zip(parts, shapes, strict=False))


def start(network: BAM, prior: BAM, objective: Objective, n: int, delta: float) -> State:
    """A state that starts at a network, with ``C = 1``."""
    theta = np.append(flatten(network.layers), np.float32(0))
    adam = jax.tree.map(lambda leaf: np.zeros(leaf.shape, leaf.dtype), jax.eval_shape(ADAM.init, theta))
    return State(theta, flatten(prior.layers), adam, np.int32(objective), np.float32(n), np.float32(delta))


@dataclass(frozen=True)
class AggregationLearner:
    """The rules of ABNet and PBGNet.

    Parameters
    ----------
    sizes : tuple of int
        ``(d_0, …, d_L)``.
    method : str
        A key of `OUTPUTS`; the mean-field methods count each layer once per path in their KL.
    n_samples : int
        For the sampled methods.
    """

    sizes: tuple[int, ...]
    method: str = "exact"
    n_samples: int = 100

    def step(self, state: State, inputs: Any, targets: Any, weights: Any, rate: Any, key: Any) -> State:
        """One step of Adam on the objective of one minibatch (its loss on the rows, its KL in full)."""

        def loss(theta: Any) -> Any:
            return self._objective(state._replace(theta=theta), self._output(theta, inputs, key), targets, weights)

        update, adam = ADAM.update(jax.grad(loss)(state.theta), state.adam)
        return state._replace(theta=state.theta - rate * update, adam=adam)

    def output(self, state: State, inputs: Any, key: Any) -> Any:
        """``F_A`` on lifted inputs, as the method computes it."""
        return self._output(state.theta, inputs, key)

    def monitor(self, state: State, outputs: Any, targets: Any, weights: Any) -> Any:
        """The objective on the watched rows."""
        return self._objective(state, outputs, targets, weights)

    def network(self, state: State) -> BAM:
        """The trained network in NumPy arrays."""
        return BAM.from_layers(unflatten(np.asarray(state.theta), self.sizes))

    def _output(self, theta: Any, inputs: Any, key: Any) -> Any:
        return OUTPUTS[self.method](unflatten(theta, self.sizes), inputs, key, self.n_samples)

    def _objective(self, state: State, outputs: Any, targets: Any, weights: Any) -> Any:
        total = jnp.maximum(jnp.sum(weights), jnp.finfo(weights.dtype).tiny)
        margin = targets * outputs
        risk = 0.5 - 0.5 * jnp.sum(weights * margin) / total
        chance = (1 - LOG_MIXTURE) * (0.5 + 0.5 * margin) + 0.5 * LOG_MIXTURE
        log_loss = -jnp.sum(weights * jnp.log(jnp.maximum(chance, 0.25 * LOG_MIXTURE))) / total
        bound = catoni_objective(risk, self._kl(state), state.n, state.delta, state.theta[-1])
        return jax.lax.select_n(state.objective, risk, log_loss, bound)

    def _kl(self, state: State) -> Any:
        change = state.theta[:-1] - state.prior
        if "meanfield" not in self.method:
            return 0.5 * jnp.vdot(change, change)
        counts = meanfield.layer_counts(self.sizes)
        return 0.5 * sum(c * jnp.vdot(V, V) for c, V in zip(counts, unflatten(change, self.sizes), strict=True))


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
class MixtureLearner:
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
    """

    sizes: tuple[int, ...]
    n_classes: int = 2
    method: str = "exact"
    n_samples: int = 1
    together: float = 1.0

    def step(self, state: MixtureState, inputs: Any, targets: Any, weights: Any, rate: Any, key: Any) -> MixtureState:
        """One step of Adam on the objective of one minibatch."""

        def loss(parameters: Any) -> Any:
            theta, log_c = parameters
            moved = state._replace(theta=theta, log_c=log_c)
            return self._objective(moved, self._members(theta, inputs, key), targets, weights)

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
            return OUTPUTS[self.method](layers, inputs, key, self.n_samples)
        table = jnp.asarray(decode_table(code_words(self.n_classes, self.sizes[-1])), inputs.dtype)
        if self.method == "exact":
            return exact.output(layers, inputs, table)
        compute = classes.path_probabilities if self.method == "ancestral" else classes.normal_probabilities
        return compute(layers, inputs, key, self.n_samples, table)

    def _objective(self, state: MixtureState, outputs: Any, targets: Any, weights: Any) -> Any:
        """The objective from the members' outputs; the bound's divergence is the mean of theirs."""
        total = jnp.maximum(jnp.sum(weights), jnp.finfo(weights.dtype).tiny)
        mean = outputs.mean(axis=0)
        risk = jnp.sum(weights * self._risk(mean, targets)) / total
        alone = jax.vmap(lambda output: self._log_loss(output, targets))(outputs).mean(axis=0)
        log_loss = self.together * self._log_loss(mean, targets) + (1 - self.together) * alone
        kl = 0.5 * jnp.sum((state.theta - state.prior) ** 2) / state.theta.shape[0]
        bound = catoni_objective(risk, kl, state.n, state.delta, state.log_c)
        return jax.lax.select_n(state.objective, risk, jnp.sum(weights * log_loss) / total, bound)

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
