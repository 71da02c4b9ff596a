"""Pooled predictions: the formula, weights of least log loss, weights of rows, few rows."""

from itertools import product

import numpy as np
import pytest
from scipy.optimize import check_grad

from abnet.training import pooling
from abnet.training.pooling import pool_weights, pooled


def predictions(
    rng: np.random.Generator, n: int, classes: int, sharpness: float, noise: float = 0.3
) -> tuple[np.ndarray, np.ndarray]:
    """True probabilities raised to a power and disturbed, twice, and classes drawn from the true ones."""
    logits = rng.normal(size=(n, classes))
    truth = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    codes = np.array([rng.choice(classes, p=row) for row in truth])
    told = sharpness * logits + noise * rng.normal(size=(2, n, classes))
    return np.exp(told) / np.exp(told).sum(axis=-1, keepdims=True), codes


def log_loss(P: np.ndarray, codes: np.ndarray) -> float:
    return -float(np.log(P[np.arange(len(codes)), codes]).mean())


def test_the_pool_is_the_weighted_geometric_mean(rng: np.random.Generator) -> None:
    P, _ = predictions(rng, 50, 4, 1.0)
    product_of_powers = np.maximum(P[0], 1e-3) ** 0.7 * np.maximum(P[1], 1e-3) ** 0.4
    expected = product_of_powers / product_of_powers.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(pooled(np.array([0.7, 0.4]), P), expected, rtol=1e-12)


@pytest.mark.parametrize("classes", [2, 5])
def test_weights_have_the_least_log_loss(classes: int, rng: np.random.Generator) -> None:
    P, codes = predictions(rng, 4_000, classes, 0.5)
    found = pool_weights(P, codes)
    grid = [np.array(pair) for pair in product(np.linspace(0, 2.5, 26), repeat=2)]
    best = min(log_loss(pooled(weights, P), codes) for weights in grid)
    assert log_loss(pooled(found, P), codes) < best + 1e-4


def test_weights_sharpen_predictions_that_are_too_timid(rng: np.random.Generator) -> None:
    """Each classifier predicts the square root of the true odds: the weights add up to 2."""
    P, codes = predictions(rng, 10_000, 3, 0.5, noise=0.0)
    assert pool_weights(P, codes).sum() == pytest.approx(2, rel=0.05)


def test_the_gradient_is_that_of_the_loss(rng: np.random.Generator) -> None:
    P, codes = predictions(rng, 40, 3, 1.0)
    rest = np.log(P), codes, rng.uniform(0.5, 2, 40)
    at = np.array([0.3, 1.1])

    def value(weights: np.ndarray) -> float:
        return pooling._loss_and_gradient(weights, *rest)[0]

    def gradient(weights: np.ndarray) -> np.ndarray:
        return pooling._loss_and_gradient(weights, *rest)[1]

    assert check_grad(value, gradient, at) < 1e-4 * np.linalg.norm(gradient(at))


def test_no_classifier_vetoes_a_class() -> None:
    P = np.array([[[1.0, 0.0]], [[0.1, 0.9]]])
    assert pooled(np.array([1.0, 5.0]), P)[0, 1] > 0.9


def test_weights_of_rows_are_those_of_repeated_rows(rng: np.random.Generator) -> None:
    P, codes = predictions(rng, 300, 3, 1.0)
    times = rng.integers(1, 4, 300)
    repeated = pool_weights(np.repeat(P, times, axis=1), np.repeat(codes, times))
    # The ridge counts for less among more rows.
    np.testing.assert_allclose(pool_weights(P, codes, times.astype(float)), repeated, atol=0.02)
    np.testing.assert_allclose(pool_weights(P, codes, np.full(300, 3.0)), pool_weights(P, codes))


def test_few_rows_leave_the_weights_near_equal() -> None:
    """The first is right in one row and undecided in the other, the second the other way round, and then once more."""
    P = np.array([[[0.9, 0.1], [0.5, 0.5], [0.5, 0.5]], [[0.5, 0.5], [0.9, 0.1], [0.9, 0.1]]])
    few = pool_weights(P, np.zeros(3, np.intp))
    many = pool_weights(np.tile(P, (1, 400, 1)), np.zeros(1200, np.intp))
    assert np.all(few > 0)
    assert np.all(few < many)


def test_weights_of_many_rows_are_fitted_on_some(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    P, codes = predictions(rng, 301, 3, 1.0)
    some = pool_weights(P[:, ::4], codes[::4])
    monkeypatch.setattr(pooling, "MOST_ROWS", 100)
    np.testing.assert_array_equal(pool_weights(P, codes), some)
