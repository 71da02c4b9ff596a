"""The binary cube {-1,+1}^d: its corners, their probabilities, multilinear extension, Walsh spectrum, code words.

Corners are in lexicographic order: -1 before +1, the first coordinate most significant. The functions take NumPy or
JAX arrays and stay in the library they were given, so that prediction and certificates need NumPy alone.

Some corners stand for classes: a network with c output neurons answers with one of 2^c sign vectors, and every one of
them is decoded to the class of the nearest code word. So a drawn network predicts one class, and its error is a 0-1
loss. The words depend on the numbers of classes and of neurons alone: they are fixed before any data is seen.
"""

import random
from collections.abc import Callable
from functools import cache, reduce
from math import prod
from operator import mul
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "BLOCK",
    "MANY_CLASSES",
    "MOST_NEURONS",
    "code_length",
    "code_words",
    "corner_probabilities",
    "corners",
    "decode_table",
    "decoded",
    "decoded_numbers",
    "erf",
    "map_blocks",
    "mean_corner_probabilities",
    "multilinear",
    "namespace",
    "nearest_word",
    "summed_multilinear",
    "walsh",
    "words_from_text",
    "words_to_text",
]

BLOCK = 2**19
"""Numbers worked on at a time: enough for full speed of the matrix product, few enough for the cache."""

MOST_NEURONS = 16
"""Longest code: every output is decoded by a table of 2^c rows."""

MANY_CLASSES = 40
"""More classes are decoded by sums: products take as long up to about here, and need no copy of the corners."""

_TRIES = 20


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


def mean_corner_probabilities(m: NDArray[np.float64]) -> NDArray[np.float64]:
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
    rows, count, d = m.shape
    flat, first = m.reshape(-1, d), d // 2
    A, C = (corner_probabilities(half).reshape(rows, count, -1) for half in (flat[:, :first], flat[:, first:]))
    return np.asarray((A.transpose(0, 2, 1) @ C).reshape(rows, 2**d) / count)


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


def decoded(table: Any, m: Any) -> Any:
    """`multilinear` of a `decode_table`, whose rows hold a single 1: for many classes by sums instead of products.

    The probabilities of all 2^c corners are added up class by class. That takes 2^c sums a row, where the product takes
    2^c K, and K numbers of memory beside the corners', where it takes 2^⌈c/2⌉ K.

    Parameters
    ----------
    table : array (2**c, K)
        Of NumPy.
    m : array (rows, c)
        Means, in [-1, 1].

    Returns
    -------
    array (rows, K)

    Examples
    --------
    >>> decoded(decode_table(code_words(2, 1)), np.array([[0.5], [-1.0]]))
    array([[0.25, 0.75],
           [1.  , 0.  ]])
    """
    xp, K = namespace(m), table.shape[1]
    if K <= MANY_CLASSES:
        return multilinear(xp.asarray(table, m.dtype), m)
    chances, stands_for = corner_probabilities(m).T, table.argmax(axis=1)
    if xp is np:
        from scipy.sparse import csr_array

        places = (np.ones(len(table), m.dtype), (stands_for, np.arange(len(table))))
        return (csr_array(places, shape=table.shape[::-1]) @ chances).T
    import jax

    return jax.ops.segment_sum(chances, xp.asarray(stands_for), K).T


def decoded_numbers(n_classes: int, length: int) -> int:
    """Numbers that `decoded` holds for each row.

    Examples
    --------
    >>> decoded_numbers(10, 12), decoded_numbers(1000, 12)
    (640, 5096)
    """
    if n_classes <= MANY_CLASSES:
        return 2 ** ((length + 1) // 2) * n_classes
    return 2**length + n_classes


def summed_multilinear(h: NDArray[Any], m: NDArray[Any]) -> NDArray[Any]:
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
    tables, d, rows = m.shape
    columns = h.shape[2:]
    if tables > 1 and tables * 2 ** ((d + 1) // 2) * prod(columns) * rows > BLOCK:
        return np.asarray(sum(summed_multilinear(h[k : k + 1], m[k : k + 1]) for k in range(tables)))
    A, C = _corner_rows(m[:, : d // 2]), _corner_rows(m[:, d // 2 :])
    AM = (h.reshape(tables, 2 ** (d // 2), -1).swapaxes(1, 2) @ A).reshape(tables, C.shape[1], -1, rows)
    AM *= C[:, :, None]
    total = AM.reshape(tables, C.shape[1], -1).sum(axis=1).sum(axis=0)
    return np.ascontiguousarray(total.reshape(-1, rows).T).reshape(rows, *columns)


def _corner_rows(m: NDArray[Any]) -> NDArray[Any]:
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


def walsh(h: Any) -> Any:
    """Walsh coefficients of a table over the corners, ``ĥ(A) = 2^{-d} Σ_s h(s) Π_{i∈A} s_i``.

    They are the table's multilinear extension written out, ``Σ_s h(s) Π_i (1/2 + s_i/2 · m_i) = Σ_A ĥ(A) Π_{i∈A} m_i``,
    and share its mean square out among the sets of coordinates: ``Σ_A ĥ(A)² = 2^{-d} Σ_s h(s)²`` (Parseval). By d
    passes over the table, each the half sum and the half difference along one coordinate.

    Parameters
    ----------
    h : array (2**d, ...)
        The table, with any trailing columns.

    Returns
    -------
    array (2**d, ...)
        The place of A is the binary number with digit 1 for the coordinates in A, the first coordinate most
        significant.

    Examples
    --------
    >>> walsh(np.array([-1.0, 1.0, 1.0, -1.0])), walsh(np.array([-1.0, -1.0, 1.0, 1.0]))
    (array([ 0.,  0.,  0., -1.]), array([0., 0., 1., 0.]))
    """
    xp, shape = namespace(h), h.shape
    d = shape[0].bit_length() - 1
    if shape[0] != 2**d:
        raise ValueError(f"a table over the corners has 2^d rows; got {shape[0]}.")
    for i in range(d):
        halves = h.reshape(2**i, 2, -1)
        below, above = halves[:, 0] / 2, halves[:, 1] / 2
        h = xp.stack([below + above, above - below], axis=1)
    return h.reshape(shape)


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


def code_length(n_classes: int) -> int:
    """The number of output neurons that "auto" stands for: 1 for two classes, else ``2 ⌈log2 K⌉ + 4``, at most 12.

    Twice the shortest code and some more: enough for a minimum distance of 3 and above, so that the error of a single
    neuron is corrected.

    Examples
    --------
    >>> [code_length(K) for K in (2, 3, 4, 7, 10, 11, 100)]
    [1, 8, 8, 10, 12, 12, 12]
    """
    shortest = (n_classes - 1).bit_length()
    return 1 if n_classes == 2 else max(min(2 * shortest + 4, 12), shortest)


@cache
def _words(n_classes: int, length: int) -> tuple[int, ...]:
    """Words as whole numbers, the best of several searches by (minimum distance, mean distance).

    A search takes words in a random order and keeps each that is at least d away from those kept, for the largest d
    that leaves enough of them.
    """
    generator = random.Random(f"abnet code book {n_classes} {length}")
    everything = list(range(2**length))
    best: tuple[tuple[int, int], tuple[int, ...]] | None = None
    distance = max(2 * length // 3 + 1, 1)
    for _ in range(_TRIES if length <= 12 else 3):
        generator.shuffle(everything)
        least = max(distance if best is None else best[0][0], 1)
        kept = _spread(everything, n_classes, least)
        while kept is None and best is None:
            least -= 1
            kept = _spread(everything, n_classes, least)
        if kept is None:
            continue
        longer = _spread(everything, n_classes, least + 1)
        kept = longer or kept
        distances = [(a ^ b).bit_count() for i, a in enumerate(kept) for b in kept[:i]]
        quality = (min(distances), sum(distances))
        if best is None or quality > best[0]:
            best = quality, tuple(kept)
    assert best is not None
    return best[1]


def _spread(order: list[int], count: int, least: int) -> list[int] | None:
    kept: list[int] = []
    for word in order:
        if all((word ^ other).bit_count() >= least for other in kept):
            kept.append(word)
            if len(kept) == count:
                return kept
    return None


def code_words(n_classes: int, length: int) -> NDArray[np.int8]:
    """The code book of K classes: one word in {-1,+1}^c for each, all different, far apart.

    The same for the same K and c, whatever the data. Two classes and one neuron: -1 and +1, in this order.

    Parameters
    ----------
    n_classes : int
        K, at least 2.
    length : int
        c, at least ``⌈log2 K⌉``, at most 16.

    Returns
    -------
    int8 array (K, c)

    Examples
    --------
    >>> code_words(2, 1).tolist()
    [[-1], [1]]
    >>> words = code_words(4, 6).astype(int)
    >>> int(min((words[i] != words[j]).sum() for i in range(4) for j in range(i)))
    4
    """
    shortest = (n_classes - 1).bit_length()
    if n_classes < 2 or not shortest <= length <= MOST_NEURONS:
        raise ValueError(
            f"code_length must lie between {shortest} and {MOST_NEURONS} for {n_classes} classes; got {length}."
        )
    if (n_classes, length) == (2, 1):
        return np.array([[-1], [1]], np.int8)
    numbers = np.array(_words(n_classes, length))
    bits = (numbers[:, None] >> np.arange(length - 1, -1, -1)) & 1
    return (2 * bits - 1).astype(np.int8)


def words_to_text(words: NDArray[np.int8]) -> list[str]:
    """A code book as a model file keeps it, one text of ``+`` and ``-`` for each class.

    Examples
    --------
    >>> words_to_text(np.array([[-1, 1, 1], [1, -1, 1]], np.int8))
    ['-++', '+-+']
    """
    return ["".join("+" if sign > 0 else "-" for sign in word) for word in words.tolist()]


def words_from_text(texts: Any, n_classes: int, length: int) -> NDArray[np.int8]:
    """The code book that `words_to_text` wrote; ValueError if it is none for so many classes and neurons.

    Examples
    --------
    >>> words_from_text(["--", "-+", "+-"], 3, 2).tolist()
    [[-1, -1], [-1, 1], [1, -1]]
    """
    fits = isinstance(texts, list) and len(texts) == n_classes
    if not fits or not all(isinstance(word, str) and len(word) == length and set(word) <= {"+", "-"} for word in texts):
        raise ValueError(f"a code book must hold {n_classes} words of {length} signs, + or -.")
    if len(set(texts)) < n_classes:
        raise ValueError("the words of a code book must differ.")
    return np.array([[1 if sign == "+" else -1 for sign in word] for word in texts], np.int8)


def nearest_word(words: NDArray[np.int8], outputs: NDArray[np.floating]) -> NDArray[np.intp]:
    """Class of the code word nearest to each output (n, c); of several at the same distance the lowest."""
    # Squared distances to words of one length differ by the product alone.
    return np.argmax(outputs @ words.astype(outputs.dtype).T, axis=1)


def decode_table(words: NDArray[np.int8]) -> NDArray[np.float64]:
    """``T[s, j] = 1`` if the output s is decoded to class j, else 0.

    Parameters
    ----------
    words : int8 array (K, c)

    Returns
    -------
    array (2**c, K)
        Rows in the order of `corners`.

    Examples
    --------
    >>> decode_table(code_words(2, 1))
    array([[1., 0.],
           [0., 1.]])
    """
    outputs = corners(words.shape[1], np.float64)
    return np.eye(len(words))[nearest_word(words, outputs)]
