"""Votes of fixed paths: what they compute, and that blocks do not matter."""

import numpy as np
import pytest
from scipy.special import erf

from abnet.aggregation import exact
from abnet.predictors.paths import BLOCK_SIGNS, PathPredictor, block_rows, path_outputs
from conftest import random_network


def test_huge_inputs_are_scored(rng: np.random.Generator) -> None:
    predictor = PathPredictor.from_network(random_network(rng, (4, 6, 5, 1)), rng, n_paths=9)
    X = np.array([[4.0, -2.0, 1.0, 0.5]]) * 2.0**100
    np.testing.assert_allclose(predictor.decision_function(X), predictor.decision_function(X * 2.0**-60), atol=1e-12)


@pytest.mark.parametrize("sizes", [(3, 4, 1), (3, 4, 3, 1), (3, 3, 2, 3, 1)], ids=str)
def test_kept_paths_have_the_exact_output_as_their_mean(sizes: tuple[int, ...], rng: np.random.Generator) -> None:
    """z-test over draws of the noise, for each row by itself."""
    network, X = random_network(rng, sizes, 2.0), rng.normal(size=(6, 3))
    paths = path_outputs(
        network.layers, X, 20_000, lambda k, shape: np.random.default_rng(k).standard_normal(shape[1:])
    )
    z = (paths.mean(axis=1) - exact.expected_output(network, X)) / (paths.std(axis=1) / np.sqrt(20_000))
    assert np.abs(z).max() < 4.5


def test_path_predictor_is_the_loop_over_its_noise(rng: np.random.Generator) -> None:
    network, x = random_network(rng, (4, 6, 5, 1)), rng.normal(size=4).astype(np.float32).astype(np.float64)
    predictor = PathPredictor.from_network(network, rng, n_paths=7)
    outputs = []
    for t in range(7):
        signal, length = x, float(x @ x) + 1
        for W, b, noise in zip(network.weights[:-1], network.biases[:-1], predictor.noise, strict=True):
            signal = np.where((W @ signal + b) / np.sqrt(length) + noise[t] >= 0, 1.0, -1.0)
            length = len(signal) + 1
        outputs.append(erf((network.weights[-1] @ signal + network.biases[-1])[0] / np.sqrt(2 * length)))
    np.testing.assert_allclose(predictor.decision_function(x[None]), [np.mean(outputs)], atol=1e-14)


def test_blocks_bound_the_memory_and_do_not_change_the_scores(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    network, X = random_network(rng, (4, 30, 20, 1)), rng.normal(size=(50, 4))
    predictor = PathPredictor.from_network(network, rng, n_paths=9)
    whole = predictor.decision_function(X)
    assert block_rows(network.layers, 9) * 9 * 31 <= BLOCK_SIGNS
    monkeypatch.setattr("abnet.predictors.paths.BLOCK_SIGNS", 1)
    np.testing.assert_allclose(predictor.decision_function(X), whole, atol=1e-12)
