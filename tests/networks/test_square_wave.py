"""The series of a square wave against enumeration, exact arithmetic, drawn signs and finite differences."""

from itertools import product
from typing import Any

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest
import scipy.special

from abnet.networks import square_wave
from abnet.networks.square_wave import square_waves, wave_error, wave_means


def enumerated(V: np.ndarray, m: np.ndarray) -> np.ndarray:
    """``Σ_s erf((W s + b)/sqrt(2(d + 1))) Π_j (1/2 + s_j/2 m_j)``, over all signs."""
    signs = np.array(list(product((-1.0, 1.0), repeat=m.shape[1])))
    outputs = scipy.special.erf((signs @ V[:, :-1].T + V[:, -1]) / np.sqrt(2 * V.shape[1]))
    probabilities = np.array([np.prod(0.5 + 0.5 * signs * row, axis=1) for row in m])
    return np.asarray(probabilities @ outputs)


def mean_by_convolution(V: np.ndarray, m: np.ndarray, step: float) -> float:
    """The mean output of a neuron (d + 1,) whose weights are multiples of a step, by the distribution of ``W s``."""
    whole = np.abs(np.round(V[:-1] / step)).astype(int)
    distribution = np.ones(1)  # of (Σ_j |W_j| s_j + Σ_j |W_j|)/2 in steps
    for w, mean in zip(whole, m * np.where(V[:-1] < 0, -1, 1), strict=True):
        moved = np.zeros(len(distribution) + w)
        moved[: len(distribution)] += (0.5 - 0.5 * mean) * distribution
        moved[w:] += (0.5 + 0.5 * mean) * distribution
        distribution = moved
    sums = step * (2 * np.arange(len(distribution)) - whole.sum())
    return float(distribution @ scipy.special.erf((sums + V[-1]) / np.sqrt(2 * len(V))))


def layer(rng: np.random.Generator, units: int, d: int, largest: float) -> np.ndarray:
    return rng.uniform(-largest, largest, (units, d + 1))


def means_of_all_kinds(rng: np.random.Generator, d: int) -> np.ndarray:
    """Means anywhere, none known, all known, and some known."""
    m = rng.uniform(-1, 1, (8, d))
    m[1] = 0
    m[2:4] = np.sign(m[2:4])
    m[4, ::2] = np.sign(m[4, ::2])
    return m


@pytest.mark.parametrize("d", [1, 2, 5, 10, 14])
@pytest.mark.parametrize("largest", [0.0, 0.1, 1.0, 10.0])
def test_equals_enumeration(d: int, largest: float, rng: np.random.Generator) -> None:
    V = layer(rng, 3, d, largest)
    m = means_of_all_kinds(rng, d)
    error = np.abs(wave_means(V, m) - enumerated(V, m)).max(axis=0)
    assert error.max() <= 1e-13
    assert (error <= wave_error(V)).all()


def test_equals_exact_arithmetic(rng: np.random.Generator) -> None:
    V = layer(rng, 1, 6, 4.0)
    m = rng.uniform(-1, 1, (1, 6))
    with mpmath.workdps(40):
        total = mpmath.mpf(0)
        for signs in product((-1, 1), repeat=6):
            z = sum(mpmath.mpf(w) * s for w, s in zip(V[0], (*signs, 1), strict=True)) / mpmath.sqrt(14)
            total += mpmath.erf(z) * mpmath.fprod((1 + s * mpmath.mpf(p)) / 2 for s, p in zip(signs, m[0], strict=True))
        error = abs(mpmath.mpf(float(wave_means(V, m)[0, 0])) - total)
    assert error <= 2e-15
    assert error <= wave_error(V)[0]


@pytest.mark.parametrize("d", [100, 500])
@pytest.mark.parametrize("scale", [1.0, 10.0])
def test_is_the_mean_over_drawn_signs(d: int, scale: float, rng: np.random.Generator) -> None:
    V = scale * rng.normal(size=(2, d + 1))
    m = rng.uniform(-1, 1, (3, d))
    draws = 20_000
    F = wave_means(V, m)
    for row, means in zip(m, F, strict=True):
        s = np.where(rng.uniform(-1, 1, (draws, d)) < row, 1.0, -1.0)
        outputs = scipy.special.erf((s @ V[:, :-1].T + V[:, -1]) / np.sqrt(2 * (d + 1)))
        z = (outputs.mean(axis=0) - means) / (outputs.std(axis=0) / np.sqrt(draws))
        assert np.abs(z).max() < 4.5


@pytest.mark.parametrize(("d", "largest"), [(100, 1.0), (100, 10.0), (1000, 1.0), (1000, 10.0)])
def test_equals_the_distribution_of_sums_of_multiples(d: int, largest: float, rng: np.random.Generator) -> None:
    V = layer(rng, 2, d, largest)
    m = means_of_all_kinds(rng, d)
    V[:, :-1] = np.round(10 / largest * V[:, :-1]) * largest / 10
    expected = [[mean_by_convolution(neuron, row, largest / 10) for neuron in V] for row in m]
    error = np.abs(wave_means(V, m) - expected).max(axis=0)
    assert error.max() <= 1e-12
    assert (error <= wave_error(V) + 1e-13).all()


def test_the_normal_approximation_would_not_pass(rng: np.random.Generator) -> None:
    """Of one large weight among small ones it is wrong by far more than the tolerances here."""
    from abnet.networks.ancestral import normal_mean

    V = np.array([[6.0, 0.5, 0.5, 0.5, 0.0]])
    m = np.zeros((1, 4)) + 0.3
    assert abs(normal_mean(V, m)[0] - enumerated(V, m)[0, 0]) > 1e-2


@pytest.mark.parametrize("reach", [1.5, 2.5, 4.0])
@pytest.mark.parametrize("largest", [0.5, 4.0, 20.0])
def test_the_proved_error_holds_where_it_is_large(
    reach: float, largest: float, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a smaller T both error terms can be seen; half periods of both kinds occur, and rows with a sure sign."""
    monkeypatch.setitem(square_wave.REACH, "float64", reach)
    V = layer(rng, 40, 9, largest)
    V[20:, -1] += 3 * largest
    # Means with the signs of the weights put U near B, where the wave turns.
    m = np.concatenate([means_of_all_kinds(rng, 9), np.sign(V[:5, :-1])])
    error = np.abs(wave_means(V, m) - enumerated(V, m)).max(axis=0)
    assert (error <= wave_error(V)).all()
    assert error.max() > 1e-4 * wave_error(V).max()


def test_the_proved_error_is_no_larger_than_needed(rng: np.random.Generator) -> None:
    for d in (10, 100, 1000):
        assert wave_error(layer(rng, 3, d, 10.0)).max() < 1e-14 * max(d, 100)


def test_wide_neurons_have_the_shorter_half_period_and_sure_rows(rng: np.random.Generator) -> None:
    V = layer(rng, 2, 1000, 4.0)
    m = rng.uniform(-1, 1, (3, 1000))
    m[1] = 0.9 * np.sign(V[0, :-1])
    waves = square_waves(V)
    assert not waves.plain.any()
    assert (np.abs(V).sum(axis=1) / np.sqrt(1001) > waves.half_period).all()
    assert wave_means(V, m)[1, 0] == 1.0


def test_errors_of_the_means_are_counted(rng: np.random.Generator) -> None:
    V = layer(rng, 5, 8, 3.0)
    m = rng.uniform(-0.9, 0.9, (50, 8))
    moved = m + 1e-3 * rng.choice([-1.0, 1.0], m.shape)
    change = np.abs(wave_means(V, moved) - wave_means(V, m)).max(axis=0)
    assert (change <= wave_error(V, 1e-3)).all()
    assert change.max() > 1e-4


def test_a_mean_that_is_no_number_is_no_sign() -> None:
    m = np.array([[np.nan, 1.0], [1.0, 1.0]])
    assert np.isnan(wave_means(np.ones((1, 3)), m)).tolist() == [[True], [False]]


def test_blocks_of_rows_and_neurons_do_not_change_the_result(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    V = layer(rng, 5, 12, 3.0)
    m = rng.uniform(-1, 1, (7, 12))
    whole = wave_means(V, m)
    monkeypatch.setattr(square_wave, "BLOCK", 50)
    monkeypatch.setattr(square_wave, "TABLE", 600)
    np.testing.assert_allclose(wave_means(V, m), whole, rtol=0, atol=1e-14)


def test_weights_that_need_too_many_terms_are_refused() -> None:
    with pytest.raises(ValueError, match=r"\b29 weights"):
        wave_means(np.full((1, 30), 1e6), np.zeros((1, 29)))


def test_a_layer_without_a_bias_column_is_refused() -> None:
    with pytest.raises(ValueError, match="bias"):
        wave_means(np.ones((1, 3)), np.zeros((1, 3)))


@pytest.mark.parametrize(("d", "largest", "tolerance"), [(60, 1.0, 2e-6), (60, 12.0, 2e-3)])
def test_in_jax_in_single_precision(d: int, largest: float, tolerance: float, rng: np.random.Generator) -> None:
    """Where the fixed number of terms is not enough for the usual T, T is smaller, and the error larger."""
    V = layer(rng, 2, d, largest).astype(np.float32)
    m = means_of_all_kinds(rng, d).astype(np.float32)
    F = jax.jit(wave_means)(V, jnp.asarray(m))
    assert F.dtype == jnp.float32
    waves = square_waves(V, square_wave.TERMS["float32"])
    assert (waves.reach < square_wave.REACH["float32"]).any() == (largest > 1)
    np.testing.assert_allclose(F, wave_means(V.astype(float), m.astype(float)), rtol=0, atol=tolerance)


def test_gradients_match_finite_differences(x64: None, rng: np.random.Generator) -> None:
    V = layer(rng, 2, 30, 2.0)
    m = rng.uniform(-1, 1, (3, 30))
    # a factor may be exactly 0, and nothing is divided by it
    m[0, 0] = 0.0
    V[0, 1] = 0.0
    weights = rng.normal(size=(3, 2))

    def value(V: Any, m: Any) -> Any:
        return (weights * wave_means(V, m)).sum()

    by_V, by_m = jax.jit(jax.grad(value, argnums=(0, 1)))(V, jnp.asarray(m))
    for array, gradient, moved in ((V, by_V, lambda V: value(V, m)), (m, by_m, lambda m: value(V, m))):
        for _ in range(6):
            at = tuple(int(rng.integers(n)) for n in array.shape)
            ends = []
            for step in (1e-5, -1e-5):
                end = array.copy()
                end[at] += step
                ends.append(moved(end))
            assert gradient[at] == pytest.approx((ends[0] - ends[1]) / 2e-5, rel=1e-6, abs=1e-8)


def test_gradients_match_those_of_the_enumeration(rng: np.random.Generator) -> None:
    """Under vmap over networks, too."""
    V = jnp.asarray(rng.uniform(-3, 3, (2, 2, 7)), jnp.float32)
    m = jnp.asarray(rng.uniform(-1, 1, (5, 6)), jnp.float32)
    signs = np.array(list(product((-1.0, 1.0), repeat=6)), np.float32)

    def by_enumeration(V: Any, m: Any) -> Any:
        outputs = jax.lax.erf((signs @ V[:, :-1].T + V[None, :, -1]) / np.float32(14**0.5))
        return jnp.prod(0.5 + 0.5 * signs[None] * m[:, None], axis=2) @ outputs

    def gradient(function: Any) -> Any:
        return jax.jit(jax.vmap(jax.grad(lambda V, m: (function(V, m) ** 2).sum(), argnums=(0, 1)), in_axes=(0, None)))

    for found, expected in zip(gradient(wave_means)(V, m), gradient(by_enumeration)(V, m), strict=True):
        np.testing.assert_allclose(found, expected, rtol=0, atol=2e-5)
