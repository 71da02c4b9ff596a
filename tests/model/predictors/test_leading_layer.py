"""The one formula of the leading layer, against mpmath and against the lifted form."""

import mpmath
import numpy as np
import pytest

from abnet.model.predictors.leading import (
    leading_arguments,
    leading_means,
    leading_scores,
    leading_weights,
)
from abnet.networks.bam import BAM
from abnet.networks.lifting import lift


def layer(rng: np.random.Generator, dtype: type) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    W = rng.normal(size=(3, 5))
    b = rng.normal(size=3)
    X = 3 * rng.normal(size=(20, 5))
    return W.astype(dtype), b.astype(dtype), X.astype(dtype)


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-14), (np.float32, 3e-6)])
def test_means_are_the_formula_in_the_type_of_the_arrays(
    dtype: type, tolerance: float, rng: np.random.Generator
) -> None:
    W, b, X = layer(rng, dtype)
    found = leading_means(W, b, X)
    assert found.dtype == dtype
    with mpmath.workdps(30):
        for m, x in zip(found, X, strict=True):
            length = mpmath.sqrt(2 * (mpmath.fsum(mpmath.mpf(float(v)) ** 2 for v in x) + 1))
            for i in range(3):
                dot = mpmath.fsum(mpmath.mpf(float(w)) * mpmath.mpf(float(v)) for w, v in zip(W[i], x, strict=True))
                assert abs(float(mpmath.erf((dot + mpmath.mpf(float(b[i]))) / length)) - m[i]) < tolerance


def test_scores_are_the_product_with_lifted_rows(rng: np.random.Generator) -> None:
    W, b, X = layer(rng, np.float64)
    V = np.column_stack([W, b])
    np.testing.assert_allclose(leading_scores(V, X), lift(X) @ V.T, rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_row_that_is_not_finite_has_no_finite_argument(bad: float, dtype: type, rng: np.random.Generator) -> None:
    W, b, X = layer(rng, dtype)
    X[4, 2] = bad
    finite = np.isfinite(leading_arguments(W, b, X))
    assert not finite[4].any()
    assert np.delete(finite, 4, axis=0).all()


@pytest.mark.parametrize("size", [1.2e19, 1.5e19, 3e38])
def test_squares_too_large_for_the_type_are_not_taken_for_zero(size: float) -> None:
    X = np.array([[size, 0.0]], np.float32)
    with np.errstate(over="ignore"):
        twice = 2 * (X[0] @ X[0] + 1)
    found = leading_arguments(np.ones((1, 2), np.float32), np.zeros(1, np.float32), X)
    assert np.isfinite(found).all() == np.isfinite(twice)
    exact = leading_arguments(np.ones((1, 2)), np.zeros(1), X.astype(np.float64))
    np.testing.assert_allclose(exact, 0.5**0.5, rtol=1e-14)


def test_weights_come_in_the_order_of_a_file(rng: np.random.Generator) -> None:
    W = np.asfortranarray(rng.normal(size=(3, 4)))
    found, b = leading_weights(BAM((W, np.ones((1, 3))), (np.zeros(6)[::2], np.zeros(1))))
    assert found.flags.c_contiguous
    assert b.flags.c_contiguous
    np.testing.assert_array_equal(found, W)
