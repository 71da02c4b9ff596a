"""The binary cube {-1,+1}^d: its corners, their probabilities, and multilinear extension.

Corners are in lexicographic order: -1 before +1, the first coordinate most significant. Every function takes NumPy or
JAX arrays and stays in the library it was given, so that prediction and certificates need NumPy alone.
"""

from collections.abc import Callable
from functools import reduce
from math import prod
from operator import mul
from types import ModuleType
from typing import Any

import numpy as np

__all__ = ["BLOCK", "corner_probabilities", "corners", "erf", "map_blocks", "multilinear", "namespace"]

BLOCK = 2**19
"""Numbers worked on at a time: enough for full speed of the matrix product, few enough for the cache."""


def namespace(array: Any) -> ModuleType:
    """The array library of `array`: `numpy` or `jax.numpy`."""
    if isinstance(array, (np.ndarray, np.generic)):
        return np
    import jax.numpy as jnp

    return jnp


def erf(t: Any) -> Any:
    """The error function in the array library of `t`."""
    if namespace(t) is np:
        import scipy.special

        return scipy.special.erf(t)
    import jax

    return jax.lax.erf(t)


def corners(d: int, dtype: Any = np.float32, *, start: Any = 0, count: int | None = None) -> Any:
    """Corners number `start` to `start + count` of {-1,+1}^d, shape (count, d); all of them by default.

    Examples
    --------
    >>> corners(2)
    array([[-1., -1.],
           [-1.,  1.],
           [ 1., -1.],
           [ 1.,  1.]], dtype=float32)
    """
    xp = np if isinstance(start, (int, np.integer)) else namespace(start)
    numbers = start + xp.arange(2**d if count is None else count)
    bits = (numbers[:, None] >> xp.arange(d - 1, -1, -1)[None, :]) & 1
    return (2 * bits - 1).astype(dtype)


def corner_probabilities(m: Any) -> Any:
    """Probabilities of all corners when coordinate i is +1 with probability ``1/2 + m_i/2``, independently.

    ``P[s] = Π_i (1/2 + s_i/2 · m_i)``. The last two coordinates by the formula, which compiles sooner; then by
    doubling, so that every write is contiguous.

    Parameters
    ----------
    m : array (rows, d)
        Means, in [-1, 1].

    Returns
    -------
    array (rows, 2**d)

    Examples
    --------
    >>> corner_probabilities(np.array([[0.0, 1.0]]))
    array([[0. , 0.5, 0. , 0.5]])
    """
    xp = namespace(m)
    one_half = m.dtype.type(0.5)
    doubled = max(m.shape[1] - 2, 0)
    s = one_half * corners(m.shape[1] - doubled, m.dtype)
    factors = [one_half + m[:, doubled + i, None] * s[None, :, i] for i in range(s.shape[1])]
    out = reduce(mul, factors) if factors else xp.ones((m.shape[0], 1), m.dtype)
    for i in reversed(range(doubled)):
        half = one_half * m[:, i, None]
        out = xp.concatenate([(one_half - half) * out, (one_half + half) * out], axis=1)
    return out


def multilinear(h: Any, m: Any) -> Any:
    """Expected value of a table under independent coordinates: the multilinear extension of h at m.

    ``Σ_s h(s) Π_i (1/2 + s_i/2 · m_i)``, by one matrix product: with A the corner probabilities of the first ⌊d/2⌋
    coordinates, C those of the others and M the table as a matrix, it is ``rowsum((A M) ∘ C)``, and no array is larger
    than rows × 2^⌈d/2⌉.

    Parameters
    ----------
    h : array (2**d, ...)
        The table, with any trailing columns.
    m : array (rows, d)
        Means, in [-1, 1].

    Returns
    -------
    array (rows, ...)

    Examples
    --------
    >>> multilinear(np.array([-1.0, 1.0, 1.0, -1.0]), np.array([[0.5, 0.5], [1.0, -1.0]]))
    array([-0.25,  1.  ])
    """
    rows, d = m.shape
    first = 2 ** (d // 2)
    columns = h.shape[1:]
    A, C = corner_probabilities(m[:, : d // 2]), corner_probabilities(m[:, d // 2 :])
    AM = (A @ h.reshape(first, -1)).reshape(rows, -1, prod(columns))
    return (AM * C[:, :, None]).sum(axis=1).reshape(rows, *columns)


def map_blocks(function: Callable[[Any, int], Any], rows: int, xp: ModuleType, *, block: int) -> Any:
    """``function(start, count)`` over consecutive blocks of `rows` rows, results concatenated.

    In JAX the blocks run one after the other and are computed again in the backward pass, so that memory holds one
    block in both directions. `rows` is a power of two and so is `block`.
    """
    if rows <= block:
        return function(0, rows)
    if xp is np:
        return np.concatenate([function(start, block) for start in range(0, rows, block)])
    import jax

    blocks = jax.lax.map(jax.checkpoint(lambda start: function(start, block)), xp.arange(0, rows, block))
    return blocks.reshape(rows, *blocks.shape[2:])
