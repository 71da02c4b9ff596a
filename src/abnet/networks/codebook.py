"""Code words: corners of the cube that represent classes.

A network with c output neurons outputs one of 2^c sign vectors, and each of them is decoded to the class of the nearest
code word. So a drawn network predicts one class, and its error is a 0-1 loss. The words depend only on the numbers of
classes and neurons, so they are fixed before any data are seen.
"""

import random
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.networks.cube import corner_probabilities, corners, multilinear, namespace

__all__ = [
    "MANY_CLASSES",
    "MOST_NEURONS",
    "class_table",
    "code_length",
    "code_words",
    "decode_table",
    "decoded",
    "decoded_numbers",
    "nearest_word",
]

MOST_NEURONS = 16
"""Maximum code length, because outputs are decoded with a table of 2^c rows."""

MANY_CLASSES = 40
"""More classes are decoded by sums: up to about here, products are as fast and need no copy of the corners."""

_TRIES = 20
_FEW_TRIES = 3


def code_length(n_classes: int) -> int:
    """The code length of "auto": 1 for two classes, otherwise ``2 ⌈log2 K⌉ + 4``, at most 12.

    This is long enough for a minimum distance of at least 3, so that the error of a single neuron is corrected.

    Examples
    --------
    >>> [code_length(K) for K in (2, 3, 4, 7, 10, 11, 100)]
    [1, 8, 8, 10, 12, 12, 12]
    """
    if n_classes < 2:
        raise ValueError(f"a code needs at least two classes; got {n_classes}.")
    if n_classes == 2:
        return 1
    shortest = (n_classes - 1).bit_length()
    return max(min(2 * shortest + 4, 12), shortest)


@cache
def _words(n_classes: int, length: int) -> tuple[int, ...]:
    """Words as integers, the best of several searches by (minimum distance, mean distance).

    A search goes through all words in a random order and adds each word with distance at least d from those it has,
    for the largest d that gives enough words.
    """
    generator = random.Random(f"abnet code book {n_classes} {length}")
    candidates = list(range(2**length))
    tries = _TRIES
    if length > 12:
        tries = _FEW_TRIES
    best: tuple[int, ...] | None = None
    best_quality = (0, 0)
    least = max(2 * length // 3 + 1, 1)
    for _ in range(tries):
        generator.shuffle(candidates)
        words = _spread(candidates, n_classes, least)
        while words is None and best is None:
            least -= 1
            words = _spread(candidates, n_classes, least)
        if words is None:
            continue
        words = _spread(candidates, n_classes, least + 1) or words
        distances = [(a ^ b).bit_count() for i, a in enumerate(words) for b in words[:i]]
        quality = (min(distances), sum(distances))
        if best is None or quality > best_quality:
            best = tuple(words)
            best_quality = quality
            least = max(quality[0], 1)
    assert best is not None
    return best


def _spread(candidates: list[int], count: int, least: int) -> list[int] | None:
    """The first `count` words with distances of at least `least`, taken greedily; None if there are not enough."""
    words: list[int] = []
    for candidate in candidates:
        if all((candidate ^ word).bit_count() >= least for word in words):
            words.append(candidate)
            if len(words) == count:
                return words
    return None


def code_words(n_classes: int, length: int) -> NDArray[np.int8]:
    """The code book of K classes: one word in {-1,+1}^c per class, all different and far apart.

    It depends only on K and c. For two classes and one neuron the words are -1 and +1, in this order.

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


def nearest_word(words: NDArray[np.int8], outputs: NDArray[np.floating]) -> NDArray[np.intp]:
    """Class of the code word nearest to each output (n, c); ties go to the lowest class."""
    # All words have the same norm, so the nearest word has the largest inner product.
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


def class_table(n_classes: int, length: int) -> NDArray[np.float64] | None:
    """The `decode_table` of a network; None for two classes, where the sign of the output is the class."""
    if n_classes == 2:
        return None
    return decode_table(code_words(n_classes, length))


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
    xp = namespace(m)
    n_outputs, n_classes = table.shape
    if n_classes <= MANY_CLASSES:
        return multilinear(xp.asarray(table, m.dtype), m)
    probabilities = corner_probabilities(m).T
    classes = table.argmax(axis=1)
    if xp is np:
        from scipy.sparse import csr_array

        ones = np.ones(n_outputs, m.dtype)
        indicator = csr_array((ones, (classes, np.arange(n_outputs))), shape=(n_classes, n_outputs))
        return (indicator @ probabilities).T
    import jax

    return jax.ops.segment_sum(probabilities, xp.asarray(classes), n_classes).T


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
