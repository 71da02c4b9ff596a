"""Predictors of wide networks: what they compute, row by row, and that they survive being taken apart."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.special import erf

from abnet.aggregation import exact, uniform
from abnet.bam import BAM
from abnet.predictors.mean_field_network import SampledMeanField
from abnet.predictors.paths import (
    BLOCK_SIGNS,
    PathPredictor,
    block_rows,
    path_outputs,
)
from abnet.predictors.predictor import ModelInfo, Predictor
from abnet.predictors.uniform_draws import CompactUniform
from conftest import random_network

MAKERS: dict[str, Callable[[BAM, np.random.Generator], Predictor]] = {
    "paths": lambda network, rng: PathPredictor.from_network(network, rng, n_paths=9),
    "uniform": lambda network, rng: CompactUniform.from_network(network, rng, n_samples=9),
    "mean field": lambda network, rng: SampledMeanField.from_network(network, rng, n_samples=9),
}
each_kind = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS.keys())


@each_kind
def test_a_row_scores_the_same_in_any_company(make: Any, rng: np.random.Generator) -> None:
    predictor, X = make(random_network(rng, (4, 30, 20, 1)), rng), rng.normal(size=(50, 4))
    together = predictor.decision_function(X)
    order = rng.permutation(50)
    np.testing.assert_allclose(predictor.decision_function(X[order]), together[order], atol=1e-12)
    np.testing.assert_allclose([predictor.decision_function(x[None])[0] for x in X], together, atol=1e-12)
    assert np.abs(together).max() <= 1


@each_kind
def test_arrays_give_the_predictor_back_and_others_are_refused(make: Any, rng: np.random.Generator) -> None:
    predictor, X = make(random_network(rng, (4, 6, 5, 1)), rng), rng.normal(size=(20, 4))
    arrays = predictor.arrays()
    again = type(predictor).from_arrays(arrays, ModelInfo())
    np.testing.assert_array_equal(again.decision_function(X), predictor.decision_function(X))
    for name in arrays:
        for bad in (arrays[name][:-1], arrays[name].astype(np.float32), arrays[name][None]):
            with pytest.raises(ValueError, match=r"array|table|hidden"):
                type(predictor).from_arrays({**arrays, name: bad}, ModelInfo())
        with pytest.raises(ValueError, match="arrays"):
            type(predictor).from_arrays({k: v for k, v in arrays.items() if k != name}, ModelInfo())


@each_kind
def test_missing_values_are_named_and_not_scored(make: Any, rng: np.random.Generator) -> None:
    predictor = make(random_network(rng, (4, 6, 5, 1)), rng)
    X = rng.normal(size=(5, 4))
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match="row 3"):
        predictor.decision_function(X)


def test_huge_inputs_are_scored(rng: np.random.Generator) -> None:
    predictor = MAKERS["paths"](random_network(rng, (4, 6, 5, 1)), rng)
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


def test_compact_stochastic_abnet_is_the_pass_on_its_draws(rng: np.random.Generator) -> None:
    network, X = random_network(rng, (4, 30, 20, 1)), rng.normal(size=(10, 4))
    predictor = CompactUniform.from_network(network, np.random.default_rng(3), n_samples=12)
    X = X.astype(np.float32).astype(np.float64)
    again = uniform.output(network.layers, exact.lift(X), np.random.default_rng(3), 12)
    np.testing.assert_allclose(predictor.decision_function(X), again, atol=1e-12)


def test_stochastic_mean_field_is_the_loop_over_its_thresholds(rng: np.random.Generator) -> None:
    network, x = random_network(rng, (4, 6, 5, 1)), rng.normal(size=4).astype(np.float32).astype(np.float64)
    predictor = SampledMeanField.from_network(network, rng, n_samples=7)
    F = erf((network.weights[0] @ x + network.biases[0]) / np.sqrt(2 * (x @ x + 1)))
    for W, b, u in zip(network.weights[1:], network.biases[1:], predictor.thresholds, strict=True):
        signs = [np.where(u_t < F, 1.0, -1.0) for u_t in u]
        F = np.mean([erf((W @ s + b) / np.sqrt(2 * (len(s) + 1))) for s in signs], axis=0)
    np.testing.assert_allclose(predictor.decision_function(x[None]), F, atol=1e-14)
