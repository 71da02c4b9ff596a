"""Binary weights with a real store: BinaryConnect's layers.

The network reads only the binarised weights ``w_b``, and ``∂L/∂w_b`` serves as the gradient of the stored ``w``
(straight through, no mask): learners differentiate with respect to ``w_b`` itself, so the sign needs no derivative.
"""

import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, PRNGKeyArray

from abnet.bam import sgn
from abnet.baselines.single_output import check_single_output
from abnet.random_numbers import uniform

__all__ = ["BinaryParameters", "uniform_store", "nearest_signs", "random_signs", "inverse_glorot"]


class BinaryParameters(NamedTuple):
    """Stored weights ``w`` in [-1, 1] and batch normalisation's γ and β, one array per layer.

    Dense layers have no bias: batch normalisation subtracts it again, and Adam would amplify its rounding errors.
    """

    weights: tuple[Any, ...]
    gammas: tuple[Any, ...]
    betas: tuple[Any, ...]


def uniform_store(key: PRNGKeyArray, sizes: tuple[int, ...]) -> BinaryParameters:
    """``w ~ Uniform(-1, 1)``, γ = 1, β = 0.

    Examples
    --------
    >>> [w.shape for w in uniform_store(jax.random.key(0), (5, 3, 1)).weights]
    [(3, 5), (1, 3)]
    """
    check_single_output(sizes)
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
    keys = jax.random.split(key, len(stored))
    # u is in [0, 1), so w ≥ 1 always gives +1 and w ≤ -1 never does: the clip is in the comparison
    drawn = (uniform(k, w.shape, w.dtype) for w, k in zip(stored, keys, strict=True))
    return tuple(2 * (u < (w + 1) / 2).astype(w.dtype) - 1 for w, u in zip(stored, drawn, strict=True))


def inverse_glorot(shape: tuple[int, ...]) -> float:
    """``c = sqrt((n_in + n_out)/1.5)``, the inverse of Glorot's uniform bound, which scales a layer's learning rate.

    Examples
    --------
    >>> round(inverse_glorot((2, 10)), 3)
    2.828
    """
    return math.sqrt(sum(shape) / 1.5)
