"""BinaryConnect: binary weights, rectified linear units.

Courbariaux, Bengio, David: BinaryConnect: Training Deep Neural Networks with Binary Weights during Propagations (2015).
"""

from dataclasses import dataclass
from typing import Any

import jax
from jaxtyping import Array, Float, PRNGKeyArray

from abnet.model.predictors.layers import Affine, Ramp
from abnet.paper.methods.binary_learner import BinaryLearner, nearest_signs, random_signs

__all__ = ["BinaryConnect"]


@dataclass(frozen=True, kw_only=True)
class BinaryConnect(BinaryLearner):
    """Binary weights in every layer, ReLU units, batch normalisation throughout.

    Parameters
    ----------
    stochastic : bool
        False: ``w_b = sgn(w)``, in training and afterwards. True: one random draw of mean w for each minibatch, and the
        real weights w afterwards, as in the authors' program.
    average, epsilon, glorot_scale
        See `BinaryLearner`.

    Examples
    --------
    >>> import jax.numpy as jnp
    >>> import numpy as np
    >>> learner = BinaryConnect()
    >>> state = learner.start(learner.init(jax.random.key(0), (2, 4, 1)))
    >>> x, y = jnp.array([[1.0, 1.0], [-1.0, -1.0]]), jnp.array([1.0, -1.0])
    >>> step = jax.jit(learner.step)
    >>> for _ in range(50):
    ...     state = step(state, x, y, jnp.ones(2), 0.01, jax.random.key(1))
    >>> learner.fold(state).votes(np.array([[1.0, 1.0], [-1.0, -1.0]]))
    array([1, 0])
    """

    average: float = 0.15
    stochastic: bool = False

    def training_weights(self, stored: tuple[Array, ...], key: PRNGKeyArray) -> tuple[Array, ...]:
        """Return ``w_b``: the signs of the stored weights, or a random draw around them."""
        if self.stochastic:
            return random_signs(stored, key)
        return nearest_signs(stored)

    def test_weights(self, stored: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the signs of the stored weights, or the stored weights of a stochastic learner."""
        if self.stochastic:
            return stored
        return nearest_signs(stored)

    def activation(self, a: Float[Array, "batch units"]) -> Float[Array, "batch units"]:
        """``max(0, a)``."""
        return jax.nn.relu(a)

    def folded(self, normalisation: Affine) -> Ramp:
        """``max(0, ·)`` of the normalised pre-activation."""
        return Ramp(normalisation)
