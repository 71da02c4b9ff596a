"""The training rule that BinaryConnect and BNN share."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, PRNGKeyArray

from abnet.baselines.adam import ADAM
from abnet.baselines.batchnorm import Statistics, batch_statistics, normalise, running_average, unit_statistics
from abnet.baselines.binary_dense import BinaryParameters, uniform_store
from abnet.baselines.clipped_adam import clipped_step
from abnet.baselines.folded import Affine, FoldedNetwork, Ramp, Step
from abnet.baselines.single_output import zero_one_error
from abnet.baselines.square_hinge import square_hinge

__all__ = ["BinaryLearner", "BinaryState"]


class BinaryState(NamedTuple):
    """Parameters, Adam's moments and the running statistics of every layer."""

    parameters: BinaryParameters
    moments: optax.OptState
    running: tuple[Statistics, ...]


@dataclass(frozen=True, kw_only=True)
class BinaryLearner(ABC):
    """Dense(w_b) → batch normalisation → activation, for every layer; the output layer has no activation.

    Adam on the square hinge loss; ``∂L/∂w_b`` is the gradient of the stored weights, which are clipped to [-1, 1] after
    every step. Inputs are to be standardised by the caller.

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
        """Draw the first weights; see `abnet.baselines.binary_dense.uniform_store`."""
        return uniform_store(key, sizes)

    def start(self, parameters: BinaryParameters) -> BinaryState:
        """Return the state before the first step."""
        running = tuple(unit_statistics(len(beta)) for beta in parameters.betas)
        return BinaryState(parameters, ADAM.init(parameters), running)

    def step(
        self,
        state: BinaryState,
        inputs: Float[Array, "batch inputs"],
        targets: Float[Array, " batch"],
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
        targets: Float[Array, " batch"],
        weights: Float[Array, " batch"],
        real: Float[Array, " batch"],
    ) -> tuple[Float[Array, ""], tuple[Statistics, ...]]:
        """Return the square hinge loss in training mode, and the batch statistics of every layer."""
        h, batch = inputs, []
        for W, gamma, beta in zip(*used, strict=True):
            a = h @ W.T
            batch.append(batch_statistics(a, real))
            f = normalise(a, batch[-1], gamma, beta, epsilon=self.epsilon)
            h = self.activation(f)
        return square_hinge(f[:, 0], targets, weights), tuple(batch)

    def output(
        self, state: BinaryState, inputs: Float[Array, "batch inputs"], key: PRNGKeyArray
    ) -> Float[Array, " batch"]:
        """Return the score in evaluation mode: test weights and running statistics."""
        h, (stored, gammas, betas) = inputs, state.parameters
        for W, gamma, beta, running in zip(self.test_weights(stored), gammas, betas, state.running, strict=True):
            f = normalise(h @ W.T, running, gamma, beta, epsilon=self.epsilon)
            h = self.activation(f)
        return f[:, 0]

    def monitor(
        self,
        state: BinaryState,
        outputs: Float[Array, " batch"],
        targets: Float[Array, " batch"],
        weights: Float[Array, " batch"],
    ) -> Float[Array, ""]:
        """Return what early stopping minimises: the weighted 0-1 error."""
        return zero_one_error(outputs, targets, weights)

    def fold(self, state: BinaryState) -> FoldedNetwork:
        """Return evaluation mode as a NumPy network with batch normalisation folded into each unit."""
        stored, gammas, betas = state.parameters
        normalisations = [
            Affine.from_normalisation(*running, gamma, beta, epsilon=self.epsilon)
            for gamma, beta, running in zip(gammas, betas, state.running, strict=True)
        ]
        units = (*map(self.folded, normalisations[:-1]), normalisations[-1])
        return FoldedNetwork(tuple(np.asarray(W) for W in self.test_weights(stored)), units)
