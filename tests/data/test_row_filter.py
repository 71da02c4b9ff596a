"""The filter of fitted rows finds them all, few others, and stays small."""

import numpy as np
import pytest

from abnet.data.fingerprint import MOST_ROWS, count_seen, row_filter


def rows(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 4)).astype(np.float32), np.where(rng.random(n) < 0.5, 1.0, -1.0)


@pytest.mark.parametrize("n", [1, 7, 500, MOST_ROWS])
def test_every_row_is_found_again_and_few_others(n: int) -> None:
    X, y = rows(n)
    text = row_filter(X, y)
    assert text is not None
    assert len(text) <= 64_000
    assert count_seen(text, X, y) == n
    if n >= 500:
        assert count_seen(text, *rows(5000, seed=1)) < 15  # 1 in 2,000 are expected
        assert count_seen(text, X, -y) < n / 100


def test_a_filter_that_would_be_too_large_is_not_made() -> None:
    assert row_filter(np.zeros((MOST_ROWS + 1, 1), np.float32), np.ones(MOST_ROWS + 1)) is None


def test_a_damaged_filter_is_named() -> None:
    with pytest.raises(ValueError, match="filter of the fitted rows is damaged"):
        count_seen("###", *rows(3))
