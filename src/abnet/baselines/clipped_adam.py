"""Adam for parameters of which the weights live in [-1, 1]."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from abnet.baselines.binary_dense import BinaryParameters, inverse_glorot

__all__ = ["clipped_step"]


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
        scale = inverse_glorot(w.shape) if glorot_scale else 1.0
        weights.append(jnp.clip(w - rate * scale * u, -1, 1))
    gammas = (g - rate * u for g, u in zip(parameters.gammas, direction.gammas, strict=True))
    betas = (b - rate * u for b, u in zip(parameters.betas, direction.betas, strict=True))
    return BinaryParameters(tuple(weights), tuple(gammas), tuple(betas))
