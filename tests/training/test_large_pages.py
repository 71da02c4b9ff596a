"""Large arrays reach JAX without a copy."""

import sys

import jax
import numpy as np
import pytest

from abnet.training.large_pages import LARGE, zeros_in_large_pages


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems give no large pages on request")
def test_jax_takes_a_large_array_without_a_copy() -> None:
    rows = zeros_in_large_pages((2, LARGE // 4))
    rows[1, -1] = 5.0
    placed = jax.device_put(rows)
    assert placed.unsafe_buffer_pointer() == rows.ctypes.data
    assert float(placed[1, -1]) == 5.0


def test_every_entry_is_zero() -> None:
    for columns in (3, LARGE // 4):
        rows = zeros_in_large_pages((2, columns))
        assert rows.shape == (2, columns)
        assert rows.dtype == np.float32
        assert not rows.any()
