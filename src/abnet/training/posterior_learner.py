"""Training of a posterior: one network or several, with the linear loss, the log loss or Catoni's bound.

With two classes there is one output neuron and outputs are in [-1, 1]; with several there are code words and
probabilities. Targets may be soft: an expected label, or a distribution over the classes.
"""

from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from abnet.bounds.catoni import catoni_objective
from abnet.networks.codebook import code_words, decode_table
from abnet.networks.exact import Exact
from abnet.networks.jax_helpers import ADAM
from abnet.networks.posterior import Posterior, mean_of_members, register_with_jax
from abnet.networks.protocol import Aggregation
from abnet.training.flat_parameters import flattened, unflattened
from abnet.training.objective import Minibatch, Objective, n_unpadded

__all__ = ["Parameters", "PosteriorLearner", "State", "start"]

register_with_jax()

MOST_IN_SEQUENCE = 100_000
"""Number of weights of members with several classes up to which kernels run in sequence."""


class Parameters(NamedTuple):
    """The parameters that Adam updates."""

    weights: Any  # (M, parameters), see `flat_parameters`
    log_c: Any  # ln C of Catoni's bound
    log_sigma: Any  # (L,), ln σ_k of each layer; () where σ = 1 stays


class State(NamedTuple):
    """A posterior during training, and the data of its objective."""

    learned: Parameters
    prior: Any  # (M, parameters)
    adam: Any
    objective: Any
    n: Any
    delta: Any


def start(posterior: Posterior, objective: Objective, n: int, delta: float, *, deviations: bool = False) -> State:
    """The initial state at a given posterior, with ``C = 1``.

    Parameters
    ----------
    posterior : Posterior
    objective : Objective
    n : int
        Number of independent draws in the bound.
    delta : float
        δ of the bound.
    deviations : bool
        Whether to learn σ. If not, σ stays 1, and the posterior must have σ = 1.
    """
    if not deviations and np.any(posterior.log_sigma):
        raise ValueError(f"without deviations, log_sigma must be 0; this posterior has {posterior.log_sigma}.")
    log_sigma: Any = ()
    if deviations:
        log_sigma = np.asarray(posterior.log_sigma, np.float32)
    learned = Parameters(flattened(posterior.layers), np.float32(0), log_sigma)
    adam = jax.tree.map(lambda leaf: np.zeros(leaf.shape, leaf.dtype), jax.eval_shape(ADAM.init, learned))
    return State(
        learned=learned,
        prior=flattened(posterior.prior),
        adam=adam,
        objective=np.int32(objective),
        n=np.float32(n),
        delta=np.float32(delta),
    )


@dataclass(frozen=True)
class PosteriorLearner:
    """The `abnet.training.loop.Learner` of a posterior.

    Parameters
    ----------
    sizes : tuple of int
        ``(d_0, …, d_L)`` of every member; ``d_L`` is the length of the code, 1 for two classes.
    aggregation : Aggregation
    n_members : int
    n_classes : int
    together : float
        Weight of the loss of the mean output in the log loss; the rest is the mean of the members' own losses.
    bounded : bool
        Whether the objective may be the bound. If not (for a prior), the program does not compute the divergence.
    deviations : bool
        Whether the standard deviation of each layer is learned; σ = 1, the paper's, by default.
    """

    sizes: tuple[int, ...]
    aggregation: Aggregation = Exact()  # noqa: RUF009 (a frozen value)
    n_members: int = 1
    n_classes: int = 2
    together: float = 1.0
    bounded: bool = True
    deviations: bool = False

    @property
    def in_sequence(self) -> bool:
        """Compiler hint: that of the aggregation for one member, else whether the members have few weights."""
        if self.n_members == 1:
            return self.aggregation.in_sequence(self.sizes)
        n_weights = sum((below + 1) * above for below, above in pairwise(self.sizes))
        return self.n_classes > 2 and self.n_members * n_weights <= MOST_IN_SEQUENCE

    @property
    def by_library(self) -> bool:
        """Compiler hint of the aggregation; several classes have a table of their own."""
        return self.n_members == 1 and self.n_classes == 2 and self.aggregation.by_library(self.sizes)

    def step(self, state: State, inputs: Any, targets: Any, weights: Any, rate: Any, key: Any) -> State:
        """One step of Adam on the objective of one minibatch (the loss of its rows, and the full KL)."""
        return self.step_seen(state, inputs, targets, weights, rate, key)[0]

    def step_seen(
        self, state: State, inputs: Any, targets: Any, weights: Any, rate: Any, key: Any
    ) -> tuple[State, Any]:
        """`step`, and the outputs of the rows before it."""

        def loss(learned: Parameters) -> tuple[Any, Any]:
            moved = state._replace(learned=learned)
            outputs = self._outputs(moved, inputs, key)
            return self._objective(moved, outputs, targets, weights, n_unpadded(weights)), outputs

        gradient, outputs = jax.grad(loss, has_aux=True)(state.learned)
        if self.deviations:
            # Only the bound trains them: a loss without a divergence would drive them to zero.
            is_bound = state.objective == Objective.BOUND
            gradient = gradient._replace(log_sigma=jnp.where(is_bound, gradient.log_sigma, 0))
        update, adam = ADAM.update(gradient, state.adam)
        learned = jax.tree.map(lambda value, change: value - rate * change, state.learned, update)
        return state._replace(learned=learned, adam=adam), mean_of_members(outputs)

    def output(self, state: State, inputs: Any, key: Any) -> Any:
        """The mean of the members' outputs on lifted inputs, shape (rows,), or (rows, K) for several classes."""
        return mean_of_members(self._outputs(state, inputs, key))

    def monitor(self, state: State, outputs: Any, targets: Any, weights: Any) -> Any:
        """The objective of the mean output on the watched rows."""
        return self._objective(state, outputs[None], targets, weights)

    def posterior(self, state: State) -> Posterior:
        """The posterior of a state, in the array library of the state."""
        layers = unflattened(state.learned.weights, self.sizes)
        prior = unflattened(state.prior, self.sizes)
        if self.deviations:
            log_sigma = tuple(state.learned.log_sigma)
        else:
            log_sigma = (np.float32(0),) * len(layers)  # a constant of the program, which XLA folds away
        return Posterior(layers, prior, log_sigma, self.aggregation)

    def _outputs(self, state: State, inputs: Any, key: Any) -> Any:
        """Outputs of every member, shape (M, rows) or (M, rows, K)."""
        table = None
        if self.n_classes > 2:
            table = np.asarray(decode_table(code_words(self.n_classes, self.sizes[-1])), inputs.dtype)
        return self.posterior(state).outputs(inputs, key, table, surrogate=True)

    def bound(self, state: State, risk: Any) -> Any:
        """Eq. 6 of the paper, ``(1 - exp(-C r̂ - (KL(Q‖P) + ln(2√n/δ))/n)) / (1 - e^{-C})``, at an empirical risk r̂."""
        return catoni_objective(risk, self.posterior(state).kl(), state.n, state.delta, state.learned.log_c)

    def _objective(self, state: State, outputs: Any, targets: Any, weights: Any, total: Any = None) -> Any:
        """The objective of the state's run, from the members' outputs.

        One program serves all stages of a fit: it computes all objectives, since the losses of a minibatch cost little,
        and selects that of the run.
        """
        batch = Minibatch(outputs, targets, weights, total, self.together, partial(self.bound, state))
        values = {Objective.LINEAR: Objective.LINEAR.loss(batch), Objective.LOG: Objective.LOG.loss(batch)}
        if self.bounded:
            values[Objective.BOUND] = Objective.BOUND.loss(batch)
        by_number = [values[objective] for objective in sorted(values)]
        return jax.lax.select_n(state.objective, *by_number)
