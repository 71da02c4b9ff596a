"""The binary cube {-1,+1}^d: its corners, their probabilities and multilinear extension.

Corners are in lexicographic order: -1 before +1, the first coordinate most significant. The functions take NumPy or
JAX arrays and stay in the library they were given, so that prediction and certificates need NumPy alone.
"""

from collections.abc import Callable
from functools import reduce
from math import prod
from operator import mul
from types import ModuleType
from typing import Any

import numpy as np

from abnet.networks.shapes import Float

__all__ = [
    "BLOCK",
    "corner_probabilities",
    "corners",
    "erf",
    "map_blocks",
    "mean_corner_probabilities",
    "multilinear",
    "namespace",
    "sum_blocks",
    "summed_multilinear",
]

BLOCK = 2**19
"""Numbers worked on at a time: enough for full speed of the matrix product, few enough for the cache."""

CACHED = 2**17
"""Numbers that all tables are worked on with at once: of more, those of one table alone stay in the cache."""


def namespace(array: Any) -> ModuleType:
    """The array library of `array`: `numpy` or `jax.numpy`."""
    if isinstance(array, (np.ndarray, np.generic)):
        return np
    import jax.numpy as jnp

    return jnp


def erf(t: Float[Any, "*shape"]) -> Float[Any, "*shape"]:
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
    xp = np
    if not isinstance(start, (int, np.integer)):
        xp = namespace(start)
    if count is None:
        count = 2**d
    numbers = start + xp.arange(count)
    bits = (numbers[:, None] >> xp.arange(d - 1, -1, -1)[None, :]) & 1
    return (2 * bits - 1).astype(dtype)


def check_means(m: Any, ndim: int) -> None:
    """Refuse means that are no array of floats with so many axes: those of whole numbers would all be rounded to 0."""
    if m.ndim != ndim or m.dtype.kind != "f":
        raise ValueError(f"means must be an array of floats with {ndim} axes; got {m.dtype} of the shape {m.shape}.")


def corner_probabilities(m: Float[Any, "rows d"]) -> Float[Any, "rows 2**d"]:
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
    check_means(m, 2)
    xp = namespace(m)
    one_half = m.dtype.type(0.5)
    doubled = max(m.shape[1] - 2, 0)
    s = one_half * corners(m.shape[1] - doubled, m.dtype)
    factors = [one_half + m[:, doubled + i, None] * s[None, :, i] for i in range(s.shape[1])]
    if not factors:
        return xp.ones((m.shape[0], 1), m.dtype)
    out = reduce(mul, factors)
    for i in reversed(range(doubled)):
        half = one_half * m[:, i, None]
        out = xp.concatenate([(one_half - half) * out, (one_half + half) * out], axis=1)
    return out


def mean_corner_probabilities(m: Float[Any, "rows T d"]) -> Float[Any, "rows 2**d"]:
    """Corner probabilities in the mean over several vectors of means: ``P[s] = mean_t Π_i (1/2 + s_i/2 · m_ti)``.

    With A and C the corner probabilities of the first ⌊d/2⌋ coordinates and of the others, all t at once, it is
    ``Aᵀ C / T``: the sum over t is that of a matrix product, and no array of T · 2^d numbers is made.

    Parameters
    ----------
    m : array (rows, T, d)
        Means, in [-1, 1].

    Returns
    -------
    array (rows, 2**d)

    Examples
    --------
    >>> mean_corner_probabilities(np.array([[[0.0, 1.0], [1.0, 0.0]]]))
    array([[0.  , 0.25, 0.25, 0.5 ]])
    """
    check_means(m, 3)
    rows, count, d = m.shape
    if count == 0:
        raise ValueError("the mean over no vectors of means is not defined.")
    first = d // 2
    flat = m.reshape(rows * count, d)
    A = corner_probabilities(flat[:, :first]).reshape(rows, count, 2**first)
    C = corner_probabilities(flat[:, first:]).reshape(rows, count, 2 ** (d - first))
    return np.asarray((A.transpose(0, 2, 1) @ C).reshape(rows, 2**d) / count)


def multilinear(h: Float[Any, "_ *columns"], m: Float[Any, "rows d"]) -> Float[Any, "rows *columns"]:
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
    check_means(m, 2)
    rows, d = m.shape
    if h.shape[0] != 2**d:
        raise ValueError(f"a table over the corners of {d} coordinates has {2**d} rows; got the shape {h.shape}.")
    first = d // 2
    A = corner_probabilities(m[:, :first])
    C = corner_probabilities(m[:, first:])
    columns = h.shape[1:]
    M = h.reshape(A.shape[1], C.shape[1] * prod(columns))
    AM = (A @ M).reshape(rows, C.shape[1], prod(columns))
    return (AM * C[:, :, None]).sum(axis=1).reshape(rows, *columns)


def summed_multilinear(
    h: Float[Any, "tables _ *columns"], m: Float[Any, "tables d rows"]
) -> Float[Any, "rows *columns"]:
    """The sum of `multilinear` over several tables, NumPy alone.

    The same split product. Rows come last, so that every operation runs along them, for all tables at once.

    Parameters
    ----------
    h : array (tables, 2**d, ...)
    m : array (tables, d, rows)
        Means for each table, in [-1, 1].

    Returns
    -------
    array (rows, ...)

    Examples
    --------
    >>> summed_multilinear(np.array([[-1.0, 1.0, 1.0, -1.0]]), np.array([[[0.5, 1.0], [0.5, -1.0]]]))
    array([-0.25,  1.  ])
    """
    check_means(m, 3)
    tables, d, rows = m.shape
    if h.shape[:2] != (tables, 2**d):
        raise ValueError(f"means of the shape {m.shape} need tables ({tables}, {2**d}, ...); got the shape {h.shape}.")
    columns = h.shape[2:]
    products = tables * 2 ** ((d + 1) // 2) * prod(columns) * rows
    if tables > 1 and products > CACHED:
        return np.asarray(sum(summed_multilinear(h[k : k + 1], m[k : k + 1]) for k in range(tables)))
    first = d // 2
    A = _corner_rows(m[:, :first])
    C = _corner_rows(m[:, first:])
    M = h.reshape(tables, A.shape[1], -1).swapaxes(1, 2)
    AM = (M @ A).reshape(tables, C.shape[1], -1, rows)
    AM *= C[:, :, None]
    total = AM.reshape(tables, C.shape[1], -1).sum(axis=1).sum(axis=0)
    return np.ascontiguousarray(total.reshape(-1, rows).T).reshape(rows, *columns)


def _corner_rows(m: Float[Any, "tables d rows"]) -> Float[Any, "tables 2**d rows"]:
    """`corner_probabilities` of several tables' means (tables, d, rows), rows last: (tables, 2**d, rows)."""
    tables, d, rows = m.shape
    out = np.empty((tables, 2**d, rows), m.dtype)
    out[:, 0] = 1
    above = m.dtype.type(0.5) + m.dtype.type(0.5) * m
    for k in range(d):
        half = 2**k
        np.multiply(out[:, :half], above[:, d - 1 - k, None], out=out[:, half : 2 * half])
        out[:, :half] -= out[:, half : 2 * half]
    return out


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


def sum_blocks(function: Callable[[Any, int], Any], rows: int, xp: ModuleType, *, block: int) -> Any:
    """`map_blocks`, with the results added up instead of concatenated."""
    if rows <= block:
        return function(0, rows)
    if xp is np:
        return sum(function(start, block) for start in range(0, rows, block))
    import jax

    one = jax.checkpoint(lambda start: function(start, block))
    zeros = xp.zeros_like(jax.eval_shape(one, 0))
    total, _ = jax.lax.scan(lambda total, start: (total + one(start), None), zeros, xp.arange(0, rows, block))
    return total
