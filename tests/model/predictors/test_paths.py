"""Votes of fixed paths: what they compute, and that blocks do not matter."""

import numpy as np
import pytest
from scipy.special import erf

from abnet.model.predictors.compact import Compact
from abnet.model.predictors.paths import BLOCK_SIGNS, Paths, block_rows, path_outputs
from abnet.networks import exact
from abnet.networks.codebook import code_words, decode_table
from conftest import random_network


def test_huge_inputs_are_scored(rng: np.random.Generator) -> None:
    predictor = Paths.from_networks([random_network(rng, (4, 6, 5, 1))], rng, n_paths=9)
    X = np.array([[4.0, -2.0, 1.0, 0.5]]) * 2.0**100
    np.testing.assert_allclose(predictor.scores(X), predictor.scores(X * 2.0**-60), atol=1e-12)


@pytest.mark.parametrize("sizes", [(3, 4, 1), (3, 4, 3, 1), (3, 3, 2, 3, 1)], ids=str)
def test_kept_paths_have_the_exact_output_as_their_mean(sizes: tuple[int, ...], rng: np.random.Generator) -> None:
    """z-test over draws of the noise, for each row by itself."""
    network = random_network(rng, sizes, 2.0)
    X = rng.normal(size=(6, 3))
    paths = path_outputs(
        network.layers, X, 20_000, lambda k, shape: np.random.default_rng(k).standard_normal(shape[1:])
    )
    z = (paths.mean(axis=1) - exact.expected_output(network, X)) / (paths.std(axis=1) / np.sqrt(20_000))
    assert np.abs(z).max() < 4.5


def test_path_predictor_is_the_loop_over_its_noise(rng: np.random.Generator) -> None:
    network = random_network(rng, (4, 6, 5, 1))
    x = rng.normal(size=4).astype(np.float32).astype(np.float64)
    predictor = Paths.from_networks([network], rng, n_paths=7)
    outputs = []
    for t in range(7):
        signal = x
        length = float(x @ x) + 1
        for W, b, noise in zip(network.weights[:-1], network.biases[:-1], predictor.noise, strict=True):
            signal = np.where((W @ signal + b) / np.sqrt(length) + noise[0, t] >= 0, 1.0, -1.0)
            length = len(signal) + 1
        outputs.append(erf((network.weights[-1] @ signal + network.biases[-1])[0] / np.sqrt(2 * length)))
    np.testing.assert_allclose(predictor.scores(x[None]), [np.mean(outputs)], atol=1e-14)


@pytest.mark.parametrize(
    ("K", "sizes"), [(2, (3, 4, 1)), (2, (3, 4, 3, 1)), (3, (3, 4, 5)), (5, (3, 3, 4, 6))], ids=str
)
def test_many_paths_come_near_the_exact_output(K: int, sizes: tuple[int, ...], rng: np.random.Generator) -> None:
    networks = [random_network(rng, sizes, 2.0) for _ in range(3)]
    X = rng.normal(size=(4, 3))
    words = None if K == 2 else code_words(K, sizes[-1])
    paths = Paths.from_networks(networks, rng, n_paths=30_000, words=words)
    truth = Compact.from_networks(networks, words).scores(X)
    assert np.abs(paths.scores(X) - truth).max() < 5 / np.sqrt(30_000 / 3)


def test_the_kept_words_are_those_that_decode(rng: np.random.Generator) -> None:
    """A file made with other words than today's search would find must go on to mean what it meant."""
    networks = [random_network(rng, (3, 4, 5), 2.0) for _ in range(3)]
    X = rng.normal(size=(30, 3))
    words = np.roll(code_words(3, 5), -1, axis=0)  # class j has the word of class j + 1
    usual, other = (
        Paths.from_networks(networks, np.random.default_rng(1), n_paths=9, words=w) for w in (code_words(3, 5), words)
    )
    rows = X.astype(np.float32).astype(np.float64)

    def shares(m: int) -> np.ndarray:
        return path_outputs(networks[m].layers, rows, 3, lambda k, shape: other.noise[k][m], decode_table(words))

    outputs = [shares(m).mean(axis=1) for m in range(3)]
    np.testing.assert_allclose(other.scores(X), np.mean(outputs, axis=0), atol=1e-12)
    assert not np.allclose(other.scores(X), usual.scores(X))


@pytest.mark.parametrize(
    "words",
    [None, code_words(3, 5)[:2], code_words(3, 5)[:, :4], code_words(3, 5) * 2, code_words(3, 5)[[0, 0, 1]],
     code_words(3, 5).astype(float)],
)  # fmt: skip
def test_words_that_do_not_fit_are_refused(words: np.ndarray | None, rng: np.random.Generator) -> None:
    with pytest.raises(ValueError, match="words"):
        Paths.from_networks([random_network(rng, (3, 4, 5))], rng, n_paths=3, words=words)


def test_blocks_bound_the_memory_and_do_not_change_the_scores(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    network = random_network(rng, (4, 30, 20, 1))
    X = rng.normal(size=(50, 4))
    predictor = Paths.from_networks([network], rng, n_paths=9)
    whole = predictor.scores(X)
    assert block_rows(network.layers, 9) * 9 * 31 <= BLOCK_SIGNS
    monkeypatch.setattr("abnet.model.predictors.paths.BLOCK_SIGNS", 1)
    np.testing.assert_allclose(predictor.scores(X), whole, atol=1e-12)
