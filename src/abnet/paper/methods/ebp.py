"""Expectation backpropagation, by its own updates (`EBP`) and by Adam on its objective (`EBPAdam`)."""

import math
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, PRNGKeyArray

from abnet.model.predictors.moments import layer_moments, posterior_average
from abnet.networks.bam import BAM
from abnet.networks.jax_helpers import ADAM
from abnet.paper.methods.losses import check_outputs, inverse_mills_ratio, normal_density, zero_one_error

__all__ = ["EBP", "EBPAdam", "EBPAdamState", "ascent_direction", "uniform_means"]


def uniform_means(key: PRNGKeyArray, sizes: tuple[int, ...]) -> BAM:
    """Means ``M_l ~ Uniform(±sqrt(3/d_{l-1}))``, of variance one over the fan-in, and zero biases.

    Zero means would never leave zero: with ``M_{l+1} = 0`` the update of layer l vanishes.

    Examples
    --------
    >>> uniform_means(jax.random.key(0), (3, 2, 1)).sizes
    (3, 2, 1)
    """
    check_outputs(sizes)
    keys = jax.random.split(key, len(sizes) - 1)
    weights = []
    biases = []
    for layer_key, inputs, outputs in zip(keys, sizes[:-1], sizes[1:], strict=True):
        u = jax.random.uniform(layer_key, (outputs, inputs))
        weights.append((2 * u - 1) * math.sqrt(3 / inputs))
        biases.append(jnp.zeros(outputs))
    return BAM(tuple(weights), tuple(biases))


def ascent_direction(
    network: BAM,
    inputs: Float[Array, "batch inputs"],
    targets: Float[Array, "batch *classes"],
    weights: Float[Array, " batch"],
    *,
    e: float,
    updated_weights: bool = False,
) -> BAM:
    """Gradient of ``Σ_i w_i log Φ(y_i z_L(x_i))`` over the means, every ``s_l`` held constant.

    With several classes the outputs are independent given the layer below them, and ``log Φ(y_ij z_Lj)`` is summed over
    them, y_ij = +1 for the true class and -1 for the others (Soudry, Hubara and Meir 2014).

    ``δ_L = w y φ(z_L) / (Φ(y z_L) s_L)``, ``δ_l = (δ_{l+1} M_{l+1}) ⊙ 2φ(z_l)/s_l``, ``ΔM_l = δ_lᵀ v_{l-1}``,
    ``Δb_l = Σ_i δ_l``.

    Parameters
    ----------
    network : BAM
        Posterior means.
    inputs, targets, weights : arrays (batch, d_0), (batch,) or (batch, K), (batch,)
        Rows, targets in {-1, +1}, sample weights; a row of weight 0 has no influence, one of weight 2 counts twice.
    e : float
        Extra variance of the layers above the first.
    updated_weights : bool
        Send δ back through ``M_{l+1} + ΔM_{l+1}``, as the authors' program does.

    Returns
    -------
    BAM
        ``(ΔM_l, Δb_l)``, a sum over the batch, not a mean.
    """
    layers = layer_moments(network, inputs, e=e)
    y = targets
    if y.ndim == 1:
        y = y[:, None]
    output = layers[-1]
    delta = weights[:, None] * y * inverse_mills_ratio(y * output.z) / output.s
    # From the output layer down to the first, so that both lists are reversed at the end.
    weight_steps = [delta.T @ output.v]
    bias_steps = [delta.sum(0)]
    for M, below in zip(network.weights[:0:-1], layers[-2::-1], strict=True):
        carrier = M
        if updated_weights:
            carrier = M + weight_steps[-1]
        delta = (delta @ carrier) * 2 * normal_density(below.z) / below.s
        weight_steps.append(delta.T @ below.v)
        bias_steps.append(delta.sum(0))
    return BAM(tuple(reversed(weight_steps)), tuple(reversed(bias_steps)))


@dataclass(frozen=True)
class EBP:
    """Expectation backpropagation: online Bayes for a sign network with posterior ``N(M_l, 1)``, ``N(b_l, 1)``.

    One step adds `ascent_direction` to the means. There is no learning rate; `rate` is not read. Inputs are to be
    standardised by the caller. The state is the `BAM` of means, and so also the deterministic sign network.

    Parameters
    ----------
    e : float
        Extra variance of the layers above the first. 1 as in the authors' program, where the bias variance counts
        twice; 0 is the consistent value.
    updated_weights : bool
        Back-propagate through the already updated weights of the layer above (the authors' program does) rather than
        through the old ones (the gradient).

    Examples
    --------
    >>> learner = EBP()
    >>> state = learner.start(learner.init(jax.random.key(0), (2, 3, 1)))
    >>> x, y = jnp.array([[1.0, 0.5], [-1.0, -0.5]]), jnp.array([1.0, -1.0])
    >>> step = jax.jit(learner.step)
    >>> for _ in range(10):
    ...     state = step(state, x, y, jnp.ones(2), 0.01, jax.random.key(1))
    >>> [round(float(f), 1) for f in learner.output(state, x, jax.random.key(1))]
    [0.8, -0.8]
    """

    e: float = 1.0
    updated_weights: bool = False

    def init(self, key: PRNGKeyArray, sizes: tuple[int, ...]) -> BAM:
        """Draw the first means; see `uniform_means`."""
        return uniform_means(key, sizes)

    def start(self, parameters: BAM) -> BAM:
        """Return the state before the first step: the means themselves."""
        return parameters

    def step(
        self,
        state: BAM,
        inputs: Float[Array, "batch inputs"],
        targets: Float[Array, "batch *classes"],
        weights: Float[Array, " batch"],
        rate: Float[Array, ""] | float,
        key: PRNGKeyArray,
    ) -> BAM:
        """Update the means on one minibatch: ``M_l += ΔM_l``, ``b_l += Δb_l``."""
        direction = ascent_direction(state, inputs, targets, weights, e=self.e, updated_weights=self.updated_weights)
        return jax.tree.map(jnp.add, state, direction)

    def output(
        self, state: BAM, inputs: Float[Array, "batch inputs"], key: PRNGKeyArray
    ) -> Float[Array, "batch *classes"]:
        """Return the posterior-averaged output ``v_L``, a value in [-1, 1]; ``P(y|x) = (1 + y v_L)/2``."""
        return posterior_average(state, inputs, e=self.e)

    def monitor(
        self,
        state: BAM,
        outputs: Float[Array, "batch *classes"],
        targets: Float[Array, "batch *classes"],
        weights: Float[Array, " batch"],
    ) -> Float[Array, ""]:
        """Return what early stopping minimises: the weighted 0-1 error."""
        return zero_one_error(outputs, targets, weights)

    def network(self, state: BAM) -> BAM:
        """Return the means as a sign network (EBP's deterministic classifier)."""
        return state


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
        """Draw the first means; see `abnet.paper.methods.ebp.uniform_means`."""
        return uniform_means(key, sizes)

    def start(self, parameters: BAM) -> EBPAdamState:
        """Return the state before the first step."""
        return EBPAdamState(parameters, ADAM.init(parameters))

    def step(
        self,
        state: EBPAdamState,
        inputs: Float[Array, "batch inputs"],
        targets: Float[Array, "batch *classes"],
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
    ) -> Float[Array, "batch *classes"]:
        """Return the posterior-averaged output ``v_L``, a value in [-1, 1]."""
        return posterior_average(state.means, inputs, e=self.e)

    def monitor(
        self,
        state: EBPAdamState,
        outputs: Float[Array, "batch *classes"],
        targets: Float[Array, "batch *classes"],
        weights: Float[Array, " batch"],
    ) -> Float[Array, ""]:
        """Return what early stopping minimises: the weighted 0-1 error."""
        return zero_one_error(outputs, targets, weights)

    def network(self, state: EBPAdamState) -> BAM:
        """Return the means as a sign network."""
        return state.means
