"""Synthetic rows: cells are replaced as a whole, and come from one other row."""

import numpy as np

from abnet.training.synthetic_rows import recombined_rows


def test_synthetic_rows_hold_cells_of_the_table(rng: np.random.Generator) -> None:
    X = np.arange(40.0).reshape(10, 4)
    synthetic = recombined_rows(X, np.array([0, 1, 1, 2]), rng)
    assert all(set(synthetic[:, j]) <= set(X[:, j]) for j in range(4))
    np.testing.assert_array_equal(synthetic[:, 2] - synthetic[:, 1], 1)
    rows = {tuple(row // 4) for row in synthetic}  # where each cell comes from
    assert max(len(set(row)) for row in rows) == 2
    moved = np.mean(synthetic[:, 0] != synthetic[:, 3] - 3)
    assert 0.25 < moved < 0.35  # one of the two cells and not the other (1/3), but for draws of the same row
