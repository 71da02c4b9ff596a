"""Columns without their part in the constant."""

import numpy as np
import pytest

from abnet.networks.lifting import lift
from abnet.training.centring import FLOOR, STREAMED, Centring


def test_centred_columns_have_no_part_in_the_constant(rng: np.random.Generator) -> None:
    lifted = lift((3 + rng.normal(size=(500, 4)) * [1, 10, 0.1, 5]).astype(np.float32))
    centred = Centring.of(lifted).apply(lifted)
    np.testing.assert_allclose(np.mean(centred[:, :-1] * lifted[:, -1:], axis=0), 0, atol=1e-4)
    assert np.mean(centred[:, -1] ** 2) == pytest.approx(1, abs=1e-3)


def test_rows_are_centred_in_pieces_as_at_once(rng: np.random.Generator) -> None:
    """Bit for bit: the sums of a block go on where those before it ended."""
    lifted = lift(rng.normal(size=(2 * STREAMED + 5, 7)).astype(np.float32))
    z = lifted[:, :-1]
    last = lifted[:, -1:]
    constant = last[:, 0].astype(np.float64)
    centring = Centring.of(lifted)
    square = np.mean(constant**2)
    mean = np.mean(z * last, axis=0, dtype=np.float64)
    np.testing.assert_array_equal(centring.shift, mean / square)
    second = np.einsum("ij,ij->j", z, z, dtype=np.float64) / len(z)
    first = np.mean(z, axis=0, dtype=np.float64) - centring.shift * constant.mean()
    variance = second - centring.shift**2 * square - first**2
    factor = 1 / np.sqrt(variance + FLOOR**2 * variance.mean() + 1e-12) / np.sqrt(7)
    np.testing.assert_array_equal(centring.factor, factor)
