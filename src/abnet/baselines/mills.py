"""The inverse Mills ratio of the standard normal, in every tail."""

import math

import jax.numpy as jnp
from jax.scipy.special import ndtr
from jaxtyping import Array, Float

__all__ = ["inverse_mills_ratio", "normal_density"]

TAIL = 8.0  # below -TAIL the continued fraction is used: Φ(-8) = 6e-16 is still far from underflow in float32
DEPTH = 16  # terms of the continued fraction: relative error below 1e-14 for u >= TAIL


def normal_density(t: Float[Array, "..."]) -> Float[Array, "..."]:
    """``φ(t) = exp(-t²/2) / sqrt(2π)``.

    Examples
    --------
    >>> round(float(normal_density(jnp.array(0.0))), 5)
    0.39894
    """
    return jnp.exp(-0.5 * t * t) / math.sqrt(2 * math.pi)


def inverse_mills_ratio(t: Float[Array, "..."]) -> Float[Array, "..."]:
    """``φ(t) / Φ(t)``, the derivative of ``log Φ(t)``, without 0/0 for any finite t.

    For ``t = -u`` far in the lower tail Laplace's continued fraction ``u + 1/(u + 2/(u + 3/(u + …)))`` is used. There
    ``exp(log φ - log Φ)`` would subtract two numbers of size t²/2 and lose all digits of float32 around t = -3000.

    Examples
    --------
    >>> [round(float(r), 4) for r in inverse_mills_ratio(jnp.array([-1e4, -1.0, 0.0, 40.0]))]
    [10000.0, 1.5251, 0.7979, 0.0]
    """
    u = jnp.maximum(-t, TAIL)
    fraction = u
    for k in range(DEPTH, 0, -1):
        fraction = u + k / fraction
    body = jnp.maximum(t, -TAIL)  # keeps the branch that is not taken free of 0/0
    return jnp.where(t < -TAIL, fraction, normal_density(body) / ndtr(body))
