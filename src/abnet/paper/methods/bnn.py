"""BNN: binary weights and binary activations.

Courbariaux, Hubara, Soudry, El-Yaniv, Bengio: Binarized Neural Networks: Training Neural Networks with Weights and
Activations Constrained to +1 or -1 (2016).
"""

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from abnet.model.predictors.layers import Affine, Step
from abnet.networks.bam import sgn
from abnet.paper.methods.binary_learner import BinaryLearner, nearest_signs

__all__ = ["BNN", "straight_through_sign"]


@jax.custom_vjp
def straight_through_sign(a: Float[Array, "..."]) -> Float[Array, "..."]:
    """``sgn(a)`` forward; backward the gradient passes where ``|a| ≤ 1``, boundary included.

    Examples
    --------
    >>> jax.vmap(jax.grad(straight_through_sign))(jnp.array([-1.5, -1.0, 0.0, 1.01]))
    Array([0., 1., 1., 0.], dtype=float32)
    """
    return sgn(a)


def _forward(a: Array) -> tuple[Array, Array]:
    return sgn(a), a


def _backward(a: Array, upstream: Array) -> tuple[Array]:
    # a rule of its own: the derivative of jnp.clip at ±1 is not 1
    return (jnp.where(jnp.abs(a) <= 1, upstream, 0),)


straight_through_sign.defvjp(_forward, _backward)


@dataclass(frozen=True, kw_only=True)
class BNN(BinaryLearner):
    """Binary weights in every layer, units that output ±1, batch normalisation throughout, a real output.

    Parameters
    ----------
    average, epsilon, glorot_scale
        See `BinaryLearner`.

    Examples
    --------
    >>> import numpy as np
    >>> learner = BNN()
    >>> state = learner.start(learner.init(jax.random.key(0), (2, 4, 1)))
    >>> x, y = jnp.array([[1.0, 1.0], [-1.0, -1.0]]), jnp.array([1.0, -1.0])
    >>> step = jax.jit(learner.step)
    >>> for _ in range(50):
    ...     state = step(state, x, y, jnp.ones(2), 0.01, jax.random.key(1))
    >>> learner.fold(state).votes(np.array([[1.0, 1.0], [-1.0, -1.0]]))
    array([1, 0])
    """

    average: float = 0.1

    def training_weights(self, stored: tuple[Array, ...], key: PRNGKeyArray) -> tuple[Array, ...]:
        """Return the signs of the stored weights."""
        return nearest_signs(stored)

    def test_weights(self, stored: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the signs of the stored weights."""
        return nearest_signs(stored)

    def activation(self, a: Float[Array, "batch units"]) -> Float[Array, "batch units"]:
        """``sgn(a)``, differentiated straight through; see `straight_through_sign`."""
        return straight_through_sign(a)

    def folded(self, normalisation: Affine) -> Step:
        """Return the sign of the normalised pre-activation as a threshold test."""
        return Step.from_affine(normalisation)
