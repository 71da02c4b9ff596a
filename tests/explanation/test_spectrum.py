"""The Walsh spectrum against its definition, Parseval, and tables whose neurons act alone or together."""

from itertools import combinations, product
from math import prod

import numpy as np
import pytest

from abnet.cube import corners, multilinear, walsh
from abnet.explanation.spectrum import WalshSpectrum, spectra


def by_definition(h: np.ndarray) -> dict[tuple[int, ...], float]:
    """``2^{-d} Σ_s h(s) Π_{i∈A} s_i`` for every set A."""
    d = len(h).bit_length() - 1
    points = list(product((-1, 1), repeat=d))
    sets = [A for size in range(d + 1) for A in combinations(range(d), size)]
    return {A: sum(h[n] * prod(s[i] for i in A) for n, s in enumerate(points)) / 2**d for A in sets}


@pytest.mark.parametrize("d", [0, 1, 2, 5])
def test_coefficients_are_those_of_the_definition(d: int, rng: np.random.Generator) -> None:
    h = rng.normal(size=2**d)
    spectrum, expected = WalshSpectrum.of(h), by_definition(h)
    assert {spectrum.neurons(place): value for place, value in enumerate(spectrum.coefficients)} == pytest.approx(
        expected
    )


def test_the_columns_of_a_table_are_transformed_one_by_one(rng: np.random.Generator) -> None:
    h = rng.normal(size=(16, 3))
    np.testing.assert_allclose(walsh(h), np.column_stack([walsh(column) for column in h.T]), atol=1e-15)


@pytest.mark.parametrize("d", [1, 4, 9])
def test_parseval(d: int, rng: np.random.Generator) -> None:
    h = rng.uniform(-1, 1, size=2**d)
    spectrum = WalshSpectrum.of(h)
    assert spectrum.variance_by_order.sum() == pytest.approx(np.mean(h**2), rel=1e-12)
    assert spectrum.variance == pytest.approx(np.var(h), rel=1e-10)
    assert spectrum.coefficients[0] == pytest.approx(h.mean(), abs=1e-14)
    assert len(spectrum.variance_by_order) == d + 1


def test_the_spectrum_is_the_multilinear_extension_written_out(rng: np.random.Generator) -> None:
    h, m = rng.normal(size=8), rng.uniform(-1, 1, size=(5, 3))
    spectrum = WalshSpectrum.of(h)
    terms = [c * m[:, list(spectrum.neurons(place))].prod(axis=1) for place, c in enumerate(spectrum.coefficients)]
    np.testing.assert_allclose(np.sum(terms, axis=0), multilinear(h, m), atol=1e-14)


def test_neurons_that_act_alone_and_together_are_told_apart() -> None:
    s = corners(4, np.float64)
    spectrum = WalshSpectrum.of(0.1 + 0.5 * s[:, 1] - 0.25 * s[:, 0] * s[:, 3])
    assert [(one.neurons, round(one.coefficient, 12)) for one in spectrum.strongest(2)] == [
        ((1,), 0.5),
        ((0, 3), -0.25),
    ]
    total = 0.5**2 + 0.25**2
    np.testing.assert_allclose(spectrum.variance_by_order, [0.01, 0.25, 0.0625, 0, 0], atol=1e-15)
    alone, together = spectrum.shares().T
    np.testing.assert_allclose(alone, [0, 0.25 / total, 0, 0], atol=1e-15)
    np.testing.assert_allclose(together, [0.0625 / total, 0.25 / total, 0, 0.0625 / total], atol=1e-15)


def test_there_is_a_spectrum_for_each_member_and_score(rng: np.random.Generator) -> None:
    H = rng.normal(size=(2, 8, 3))
    found = spectra(H)
    assert [(one.member, one.output) for one in found] == [(m, c) for m in range(2) for c in range(3)]
    np.testing.assert_allclose(found[4].coefficients, walsh(H[1, :, 1]))


def test_a_table_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="2\\^d rows; got 6"):
        walsh(np.zeros(6))
