"""Expectation backpropagation's objective under Adam, for a learning-rate grid."""

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, PRNGKeyArray

from abnet.bam import BAM
from abnet.baselines.adam import ADAM
from abnet.baselines.ebp import ascent_direction, posterior_average, uniform_means
from abnet.baselines.single_output import zero_one_error

__all__ = ["EBPAdam", "EBPAdamState"]


class EBPAdamState(NamedTuple):
    """Posterior means and Adam's moments."""

    means: BAM
    moments: optax.OptState


@dataclass(frozen=True)
class EBPAdam:
    """Adam on the weighted batch mean of ``-log Φ(y z_L)``, every ``s_l`` held constant (not the authors' method).

    The gradient is that of `EBP` divided by the sum of the weights, so that the paper's learning rates have a meaning.

    Parameters
    ----------
    e : float
        Extra variance of the layers above the first; see `EBP`.

    Examples
    --------
    >>> learner = EBPAdam()
    >>> state = learner.start(learner.init(jax.random.key(0), (2, 3, 1)))
    >>> x, y = jnp.array([[1.0, 0.5], [-1.0, -0.5]]), jnp.array([1.0, -1.0])
    >>> step = jax.jit(learner.step)
    >>> for _ in range(100):
    ...     state = step(state, x, y, jnp.ones(2), 0.1, jax.random.key(1))
    >>> [bool(f > 0) for f in learner.output(state, x, jax.random.key(1))]
    [True, False]
    """

    e: float = 1.0

    def init(self, key: PRNGKeyArray, sizes: tuple[int, ...]) -> BAM:
        """Draw the first means; see `abnet.baselines.ebp.uniform_means`."""
        return uniform_means(key, sizes)

    def start(self, parameters: BAM) -> EBPAdamState:
        """Return the state before the first step."""
        return EBPAdamState(parameters, ADAM.init(parameters))

    def step(
        self,
        state: EBPAdamState,
        inputs: Float[Array, "batch inputs"],
        targets: Float[Array, " batch"],
        weights: Float[Array, " batch"],
        rate: Float[Array, ""] | float,
        key: PRNGKeyArray,
    ) -> EBPAdamState:
        """Take one Adam step on a minibatch; a batch without weight leaves the state as it was."""
        total = jnp.sum(weights)
        shares = weights / jnp.where(total > 0, total, 1)
        gradient = jax.tree.map(jnp.negative, ascent_direction(state.means, inputs, targets, shares, e=self.e))
        direction, moments = ADAM.update(gradient, state.moments)
        means = jax.tree.map(lambda m, u: m - rate * u, state.means, direction)
        return jax.tree.map(partial(jnp.where, total > 0), EBPAdamState(means, moments), state)

    def output(
        self, state: EBPAdamState, inputs: Float[Array, "batch inputs"], key: PRNGKeyArray
    ) -> Float[Array, " batch"]:
        """Return the posterior-averaged output ``v_L``, a value in [-1, 1]."""
        return posterior_average(state.means, inputs, e=self.e)

    def monitor(
        self,
        state: EBPAdamState,
        outputs: Float[Array, " batch"],
        targets: Float[Array, " batch"],
        weights: Float[Array, " batch"],
    ) -> Float[Array, ""]:
        """Return what early stopping minimises: the weighted 0-1 error."""
        return zero_one_error(outputs, targets, weights)

    def network(self, state: EBPAdamState) -> BAM:
        """Return the means as a sign network."""
        return state.means
