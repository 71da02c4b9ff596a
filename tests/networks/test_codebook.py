"""Code words: all different, far apart, the same every time, and decoded to the nearest."""

import itertools
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from abnet.networks.codebook import (
    MANY_CLASSES,
    MOST_NEURONS,
    code_length,
    code_words,
    decode_table,
    decoded,
    nearest_word,
)
from abnet.networks.cube import multilinear

CASES = [(2, 1), (2, 3), (3, 2), (3, 8), (4, 8), (5, 3), (7, 10), (10, 12), (11, 12)]


def distances(words: np.ndarray) -> list[int]:
    return [int((a != b).sum()) for a, b in itertools.combinations(words, 2)]


@pytest.mark.parametrize(("K", "c"), CASES)
def test_words_are_signs_and_differ(K: int, c: int) -> None:
    words = code_words(K, c)
    assert words.shape == (K, c)
    assert words.dtype == np.int8
    assert set(np.unique(words)) <= {-1, 1}
    assert min(distances(words)) >= 1


@pytest.mark.parametrize("K", range(3, 13))
def test_the_usual_length_corrects_the_error_of_any_one_neuron(K: int) -> None:
    words = code_words(K, code_length(K)).astype(float)
    assert min(distances(words)) >= 3
    for neuron in range(words.shape[1]):
        flipped = words.copy()
        flipped[:, neuron] *= -1
        np.testing.assert_array_equal(nearest_word(words.astype(np.int8), flipped), np.arange(K))


@pytest.mark.parametrize(("K", "c"), CASES)
def test_table_decodes_by_enumeration(K: int, c: int) -> None:
    words = code_words(K, c)
    table = decode_table(words)
    for row, signs in zip(table, itertools.product((-1, 1), repeat=c), strict=True):
        apart = [sum(a != b for a, b in zip(signs, word, strict=True)) for word in words.tolist()]
        expected = [float(j == apart.index(min(apart))) for j in range(K)]
        assert row.tolist() == expected


def test_another_process_finds_the_same_words() -> None:
    program = "from abnet.networks.codebook import code_words; print(code_words(10, 12).tolist())"
    printed = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout
    assert printed.strip() == str(code_words(10, 12).tolist())


@pytest.mark.parametrize(("K", "c"), [(1, 1), (3, 1), (5, 2), (3, MOST_NEURONS + 1), (2, 0)])
def test_impossible_lengths_are_refused(K: int, c: int) -> None:
    with pytest.raises(ValueError, match="code_length"):
        code_words(K, c)


@pytest.mark.parametrize("K", [MANY_CLASSES, MANY_CLASSES + 1, 100])
def test_many_classes_are_decoded_by_sums_to_the_same_probabilities(K: int, rng: np.random.Generator) -> None:
    """In NumPy and in JAX, derivatives included, against the product that knows nothing of single ones."""
    table = decode_table(code_words(K, 8))
    m = rng.uniform(-1, 1, (6, 8))
    expected = multilinear(table, m)
    np.testing.assert_allclose(decoded(table, m), expected, atol=1e-14)
    np.testing.assert_allclose(decoded(table, m).sum(axis=1), 1)
    target = jnp.asarray(rng.normal(size=(6, K)), jnp.float32)
    single = jnp.asarray(m, jnp.float32)
    np.testing.assert_allclose(jax.jit(lambda m: decoded(table, m))(single), expected, atol=1e-6)
    found, wanted = (
        jax.jit(jax.grad(lambda m, way=way: jnp.sum(target * way(jnp.asarray(table, jnp.float32), m))))(single)
        for way in (decoded, multilinear)
    )
    np.testing.assert_allclose(found, wanted, atol=1e-5)


def test_two_classes_keep_one_neuron() -> None:
    assert code_length(2) == 1
    np.testing.assert_array_equal(decode_table(code_words(2, 1)), np.eye(2))


def test_the_word_nearest_to_the_mean_output_is_another_predictor() -> None:
    """It may err where three fifths of the networks are right: no bound on their vote covers it."""
    words = np.array([[1, 1, 1], [-1, -1, -1]], np.int8)
    outputs = np.array([[1.0, 1.0, -1.0], [-1.0, -1.0, -1.0]])
    shares = np.array([0.6, 0.4])
    votes = shares @ np.eye(2)[nearest_word(words, outputs)]
    assert votes.tolist() == [0.6, 0.4]
    assert nearest_word(words, (shares @ outputs)[None]).tolist() == [1]
