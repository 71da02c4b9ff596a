"""How an aggregation learns: the rules of ABNet and PBGNet for the training loop."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from abnet.aggregation import ancestral, exact, meanfield, stochastic_meanfield, uniform
from abnet.bam import BAM, flatten, unflatten
from abnet.bounds.gibbs import catoni_objective
from abnet.jax_helpers import ADAM
from abnet.training.loop import Aggregating, counted

__all__ = [
    "AggregationLearner",
    "Objective",
    "State",
    "start",
]


WIDEST_IN_SEQUENCE = 10
"""Exact layers up to this width are trained by one kernel after the other."""

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


def start(network: BAM, prior: BAM, objective: Objective, n: int, delta: float) -> State:
    """A state that starts at a network, with ``C = 1``."""
    theta = np.append(flatten(network.layers), np.float32(0))
    adam = jax.tree.map(lambda leaf: np.zeros(leaf.shape, leaf.dtype), jax.eval_shape(ADAM.init, theta))
    return State(theta, flatten(prior.layers), adam, np.int32(objective), np.float32(n), np.float32(delta))


@dataclass(frozen=True)
class AggregationLearner(Aggregating):
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

    @property
    def in_sequence(self) -> bool:
        """Exact outputs of narrow layers: at 12 units a second core pays."""
        return self.method in ("exact", "meanfield") and max(self.sizes[1:]) <= WIDEST_IN_SEQUENCE

    @property
    def by_library(self) -> bool:
        """Paths need no table: the library is faster, and `results/certificates.csv` was learned with its rounding."""
        return self.method.startswith("ancestral")

    def step(self, state: State, inputs: Any, targets: Any, weights: Any, rate: Any, key: Any) -> State:
        """One step of Adam on the objective of one minibatch (its loss on the rows, its KL in full)."""
        return self.step_seen(state, inputs, targets, weights, rate, key)[0]

    def step_seen(
        self, state: State, inputs: Any, targets: Any, weights: Any, rate: Any, key: Any
    ) -> tuple[State, Any]:
        """`step`, and the outputs of the rows before it."""

        def loss(theta: Any) -> tuple[Any, Any]:
            outputs = self._output(theta, inputs, key)
            moved = state._replace(theta=theta)
            return self._objective(moved, outputs, targets, weights, counted(weights)), outputs

        gradient, outputs = jax.grad(loss, has_aux=True)(state.theta)
        update, adam = ADAM.update(gradient, state.adam)
        return state._replace(theta=state.theta - rate * update, adam=adam), outputs

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

    def _objective(self, state: State, outputs: Any, targets: Any, weights: Any, total: Any = None) -> Any:
        total = jnp.maximum(jnp.sum(weights) if total is None else total, jnp.finfo(weights.dtype).tiny)
        margin = targets * outputs
        risk = 0.5 * (jnp.sum(weights) / total) - 0.5 * jnp.sum(weights * margin) / total
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
