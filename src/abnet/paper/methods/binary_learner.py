"""The training rule that BinaryConnect and BNN share, and the batch normalisation of BNN's layers."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, PRNGKeyArray

from abnet.model.predictors.layers import Affine, Layers, Ramp, Step
from abnet.networks.bam import sgn
from abnet.networks.jax_helpers import ADAM, uniform
from abnet.paper.methods.losses import check_outputs, output_scores, square_hinge, zero_one_error

__all__ = [
    "BinaryLearner",
    "BinaryParameters",
    "BinaryState",
    "Statistics",
    "batch_statistics",
    "clipped_step",
    "inverse_glorot",
    "nearest_signs",
    "normalise",
    "random_signs",
    "running_average",
    "uniform_store",
    "unit_statistics",
]


class Statistics(NamedTuple):
    """Mean and (biased) variance of each unit of a layer, two arrays (units,)."""

    mean: Any
    variance: Any


def unit_statistics(units: int) -> Statistics:
    """Mean 0 and variance 1: the running statistics before the first batch."""
    return Statistics(jnp.zeros(units), jnp.ones(units))


def batch_statistics(a: Float[Array, "batch units"], real: Float[Array, " batch"]) -> Statistics:
    """Mean and biased variance over the real rows of a batch.

    Rows are counted, not weighted: sample weights belong to the loss, and a unit's scale should not move with them.

    Parameters
    ----------
    a : array (batch, units)
        Pre-activations.
    real : array (batch,)
        1 for a row that counts, 0 for padding.

    Examples
    --------
    >>> batch_statistics(jnp.array([[1.0], [3.0], [99.0]]), jnp.array([1.0, 1.0, 0.0]))
    Statistics(mean=Array([2.], dtype=float32), variance=Array([1.], dtype=float32))
    """
    # products with the mask rather than masked sums: fewer and faster operations on the CPU
    share = real / jnp.maximum(jnp.sum(real), 1)
    mean = share @ a
    return Statistics(mean, share @ jnp.square(a - mean[None, :]))


def normalise(
    a: Float[Array, "batch units"],
    statistics: Statistics,
    gamma: Float[Array, " units"],
    beta: Float[Array, " units"],
    *,
    epsilon: float,
) -> Float[Array, "batch units"]:
    """``(a - μ) · γ/sqrt(σ² + ε) + β``, in this order, so that a = μ gives exactly β (Ioffe and Szegedy 2015).

    Examples
    --------
    >>> statistics = Statistics(jnp.array([2.0]), jnp.array([4.0]))
    >>> normalise(jnp.array([[2.0], [6.0]]), statistics, jnp.array([3.0]), jnp.array([1.0]), epsilon=0.0)
    Array([[1.],
           [7.]], dtype=float32)
    """
    scale = gamma / jnp.sqrt(statistics.variance + epsilon)
    return (a - statistics.mean[None, :]) * scale[None, :] + beta[None, :]


def running_average(running: Statistics, batch: Statistics, *, rate: float) -> Statistics:
    """``(1 - α) running + α batch``.

    Examples
    --------
    >>> batch = Statistics(jnp.array([2.0]), jnp.array([5.0]))
    >>> running_average(unit_statistics(1), batch, rate=0.5)
    Statistics(mean=Array([1.], dtype=float32), variance=Array([3.], dtype=float32))
    """
    mean = (1 - rate) * running.mean + rate * batch.mean
    variance = (1 - rate) * running.variance + rate * batch.variance
    return Statistics(mean, variance)


class BinaryParameters(NamedTuple):
    """Stored weights ``w`` in [-1, 1] and batch normalisation's γ and β, one array per layer.

    Dense layers have no bias: batch normalisation subtracts it again, and Adam would amplify its rounding errors.
    """

    weights: tuple[Any, ...]
    gammas: tuple[Any, ...]
    betas: tuple[Any, ...]


def clipped_step(
    parameters: BinaryParameters, direction: BinaryParameters, rate: Float[Array, ""] | float, *, glorot_scale: bool
) -> BinaryParameters:
    """``w ← clip(w - rate · c · u, -1, 1)``, and ``γ ← γ - rate · u``, ``β ← β - rate · u``, for Adam's direction u.

    Parameters
    ----------
    parameters, direction : BinaryParameters
    rate : float
        Learning rate, which may be traced.
    glorot_scale : bool
        ``c = sqrt((n_in + n_out)/1.5)`` for each weight matrix if true, else 1.

    Examples
    --------
    >>> one = BinaryParameters((jnp.array([[0.5, 0.9]]),), (jnp.array([1.0]),), (jnp.array([0.0]),))
    >>> move = BinaryParameters((jnp.array([[-1.0, -1.0]]),), (jnp.array([-1.0]),), (jnp.array([1.0]),))
    >>> clipped_step(one, move, 0.25, glorot_scale=False)
    BinaryParameters(weights=(Array([[0.75, 1.  ]], dtype=float32),),
                     gammas=(Array([1.25], dtype=float32),), betas=(Array([-0.25], dtype=float32),))
    """
    weights = []
    for w, u in zip(parameters.weights, direction.weights, strict=True):
        scale = 1.0
        if glorot_scale:
            scale = inverse_glorot(w.shape)
        weights.append(jnp.clip(w - rate * scale * u, -1, 1))
    gammas = (g - rate * u for g, u in zip(parameters.gammas, direction.gammas, strict=True))
    betas = (b - rate * u for b, u in zip(parameters.betas, direction.betas, strict=True))
    return BinaryParameters(tuple(weights), tuple(gammas), tuple(betas))


def uniform_store(key: PRNGKeyArray, sizes: tuple[int, ...]) -> BinaryParameters:
    """``w ~ Uniform(-1, 1)``, γ = 1, β = 0.

    Examples
    --------
    >>> [w.shape for w in uniform_store(jax.random.key(0), (5, 3, 1)).weights]
    [(3, 5), (1, 3)]
    """
    check_outputs(sizes)
    keys = jax.random.split(key, len(sizes) - 1)
    shapes = zip(sizes[1:], sizes[:-1], strict=True)
    return BinaryParameters(
        tuple(2 * jax.random.uniform(k, shape) - 1 for k, shape in zip(keys, shapes, strict=True)),
        tuple(jnp.ones(units) for units in sizes[1:]),
        tuple(jnp.zeros(units) for units in sizes[1:]),
    )


def nearest_signs(stored: tuple[Any, ...]) -> tuple[Any, ...]:
    """``w_b = sgn(w)``, with ``sgn(0) = +1``; NumPy or JAX arrays.

    Examples
    --------
    >>> nearest_signs((jnp.array([[-0.2, 0.0, 1.0]]),))
    (Array([[-1.,  1.,  1.]], dtype=float32),)
    """
    return tuple(sgn(w) for w in stored)


def random_signs(stored: tuple[Array, ...], key: PRNGKeyArray) -> tuple[Array, ...]:
    """``w_b = +1`` with probability ``clip((w + 1)/2, 0, 1)``, else -1: one draw, of mean w.

    Examples
    --------
    >>> random_signs((jnp.array([[-1.0, 1.0]]),), jax.random.key(0))
    (Array([[-1.,  1.]], dtype=float32),)
    """
    drawn = []
    for w, layer_key in zip(stored, jax.random.split(key, len(stored)), strict=True):
        u = uniform(layer_key, w.shape, w.dtype)
        # u is in [0, 1), so w ≥ 1 always gives +1 and w ≤ -1 never does: the clip is in the comparison.
        positive = u < (w + 1) / 2
        drawn.append(2 * positive.astype(w.dtype) - 1)
    return tuple(drawn)


def inverse_glorot(shape: tuple[int, ...]) -> float:
    """``c = sqrt((n_in + n_out)/1.5)``, the inverse of Glorot's uniform bound, which scales a layer's learning rate.

    Examples
    --------
    >>> round(inverse_glorot((2, 10)), 3)
    2.828
    """
    return math.sqrt(sum(shape) / 1.5)


class BinaryState(NamedTuple):
    """Parameters, Adam's moments and the running statistics of every layer."""

    parameters: BinaryParameters
    moments: optax.OptState
    running: tuple[Statistics, ...]


@dataclass(frozen=True, kw_only=True)
class BinaryLearner(ABC):
    """Dense(w_b) → batch normalisation → activation, for every layer; the output layer has no activation.

    Adam on the square hinge loss; ``∂L/∂w_b`` is the gradient of the stored weights, which are clipped to [-1, 1] after
    every step. Inputs are to be standardised by the caller. Two classes have one output; several have one for each,
    with targets ±1, one against the rest, and the mean of the outputs' losses, as in the authors' programs.

    Parameters
    ----------
    average : float
        α of the running statistics, ``run ← (1 - α) run + α batch``.
    epsilon : float
        ε of batch normalisation, added to the variance.
    glorot_scale : bool
        Scale the steps of a weight matrix by ``sqrt((n_in + n_out)/1.5)``. Without it a rate of 1e-4 moves a weight so
        little that hardly any sign changes in 100 epochs.
    """

    average: float
    epsilon: float = 1e-4
    glorot_scale: bool = True

    @abstractmethod
    def training_weights(self, stored: tuple[Array, ...], key: PRNGKeyArray) -> tuple[Array, ...]:
        """Return the weights ``w_b`` that one minibatch uses, forward and backward."""

    @abstractmethod
    def test_weights(self, stored: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the weights used in evaluation mode."""

    @abstractmethod
    def activation(self, a: Float[Array, "batch units"]) -> Float[Array, "batch units"]:
        """Return the output of hidden units from their normalised pre-activations."""

    @abstractmethod
    def folded(self, normalisation: Affine) -> Ramp | Step:
        """Return `activation` after a fixed normalisation, as one NumPy function."""

    def init(self, key: PRNGKeyArray, sizes: tuple[int, ...]) -> BinaryParameters:
        """Draw the first weights; see `abnet.paper.methods.binary_learner.uniform_store`."""
        return uniform_store(key, sizes)

    def start(self, parameters: BinaryParameters) -> BinaryState:
        """Return the state before the first step."""
        running = tuple(unit_statistics(len(beta)) for beta in parameters.betas)
        return BinaryState(parameters, ADAM.init(parameters), running)

    def step(
        self,
        state: BinaryState,
        inputs: Float[Array, "batch inputs"],
        targets: Float[Array, "batch *classes"],
        weights: Float[Array, " batch"],
        rate: Float[Array, ""] | float,
        key: PRNGKeyArray,
    ) -> BinaryState:
        """Update on one minibatch.

        Rows of weight 0 have no influence; the others count alike in batch normalisation and by their weights in the
        loss. A batch with fewer than two of them has no variance and leaves the state as it was.
        """
        real = (weights > 0).astype(inputs.dtype)
        used = state.parameters._replace(weights=self.training_weights(state.parameters.weights, key))
        gradient, batch = jax.grad(self.loss, has_aux=True)(used, inputs, targets, weights, real)
        direction, moments = ADAM.update(gradient, state.moments)
        parameters = clipped_step(state.parameters, direction, rate, glorot_scale=self.glorot_scale)
        running = tuple(map(partial(running_average, rate=self.average), state.running, batch))
        return jax.tree.map(partial(jnp.where, jnp.sum(real) >= 2), BinaryState(parameters, moments, running), state)

    def loss(
        self,
        used: BinaryParameters,
        inputs: Float[Array, "batch inputs"],
        targets: Float[Array, "batch *classes"],
        weights: Float[Array, " batch"],
        real: Float[Array, " batch"],
    ) -> tuple[Float[Array, ""], tuple[Statistics, ...]]:
        """Return the square hinge loss in training mode, and the batch statistics of every layer."""
        h = inputs
        statistics = []
        for W, gamma, beta in zip(used.weights, used.gammas, used.betas, strict=True):
            a = h @ W.T
            statistics.append(batch_statistics(a, real))
            f = normalise(a, statistics[-1], gamma, beta, epsilon=self.epsilon)
            h = self.activation(f)
        return square_hinge(output_scores(f), targets, weights), tuple(statistics)

    def output(
        self, state: BinaryState, inputs: Float[Array, "batch inputs"], key: PRNGKeyArray
    ) -> Float[Array, "batch *classes"]:
        """Return the scores in evaluation mode: test weights and running statistics."""
        stored, gammas, betas = state.parameters
        h = inputs
        for W, gamma, beta, running in zip(self.test_weights(stored), gammas, betas, state.running, strict=True):
            f = normalise(h @ W.T, running, gamma, beta, epsilon=self.epsilon)
            h = self.activation(f)
        return output_scores(f)

    def monitor(
        self,
        state: BinaryState,
        outputs: Float[Array, "batch *classes"],
        targets: Float[Array, "batch *classes"],
        weights: Float[Array, " batch"],
    ) -> Float[Array, ""]:
        """Return what early stopping minimises: the weighted 0-1 error."""
        return zero_one_error(outputs, targets, weights)

    def fold(self, state: BinaryState) -> Layers:
        """Return evaluation mode as a predictor in NumPy, with batch normalisation folded into each unit."""
        stored, gammas, betas = state.parameters
        normalisations = [
            Affine.from_normalisation(*running, gamma, beta, epsilon=self.epsilon)
            for gamma, beta, running in zip(gammas, betas, state.running, strict=True)
        ]
        units = (*map(self.folded, normalisations[:-1]), normalisations[-1])
        return Layers(tuple(np.asarray(W) for W in self.test_weights(stored)), units)
