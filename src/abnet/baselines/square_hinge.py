"""The square hinge loss."""

import jax.numpy as jnp
from jaxtyping import Array, Float

__all__ = ["square_hinge"]


def square_hinge(
    outputs: Float[Array, " batch"], targets: Float[Array, " batch"], weights: Float[Array, " batch"]
) -> Float[Array, ""]:
    """Weighted mean ``Σ_i w_i max(0, 1 - y_i f_i)² / Σ_i w_i``; 0 if there is no weight at all.

    Parameters
    ----------
    outputs, targets, weights : arrays (batch,)
        Scores f, labels y in {-1, +1}, sample weights w ≥ 0 (0 for padding; only their proportions matter).

    Examples
    --------
    >>> float(square_hinge(jnp.array([0.0, 3.0]), jnp.array([1.0, 1.0]), jnp.ones(2)))
    0.5
    """
    total = jnp.sum(weights)
    return weights @ jnp.square(jnp.maximum(0, 1 - targets * outputs)) / jnp.where(total > 0, total, 1)
