"""The filter of fitted rows finds them all, few others, stays small, and tells reuse from chance."""

from typing import Any

import msgspec
import numpy as np
import pytest

from abnet.certificates.fitted_rows import MOST_ROWS, FittedRows, RowFilter, row_filter


def rows(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 4)).astype(np.float32), np.where(rng.random(n) < 0.5, 1.0, -1.0)


def made_of(X: np.ndarray, y: np.ndarray) -> RowFilter:
    made = row_filter(X, y)
    assert made is not None
    return made


def looked(fitted: tuple[np.ndarray, np.ndarray], new: tuple[np.ndarray, np.ndarray]) -> FittedRows:
    seen = FittedRows(made_of(*fitted))
    seen.add(*new)
    return seen


@pytest.mark.parametrize("n", [1, 7, 500, MOST_ROWS])
def test_every_row_is_found_again_and_few_others(n: int) -> None:
    X, y = rows(n)
    made = row_filter(X, y)
    assert made is not None
    assert len(made.bits) <= 64_000
    assert looked((X, y), (X, y)).found == n
    if n >= 500:
        assert looked((X, y), rows(5000, seed=1)).found < 15  # 1 in 2,000 are expected
        assert looked((X, y), (X, -y)).found < n / 100
        assert not looked((X, y), rows(5000, seed=1)).reused


def test_the_rate_of_false_positives_is_the_stated_one() -> None:
    """All rows of 10 filters times 20,000 others: 100 are expected at 1/2000, with a standard deviation of 10."""
    found = 0
    for seed in range(10):
        found += looked(rows(1000, seed), rows(20_000, seed + 100)).found
    assert 50 < found < 150


def categorical(rng: np.random.Generator, n: int, columns: int, levels: int) -> tuple[np.ndarray, np.ndarray]:
    X = rng.choice(levels, size=(n, columns)).astype(np.float32)
    return X, (rng.random(n) < 0.3 + 0.1 * X[:, 0]).astype(float)


@pytest.mark.parametrize(("columns", "levels"), [(2, 3), (4, 3), (6, 3), (8, 2), (12, 2)])
def test_rows_that_repeat_by_chance_are_no_alarm(columns: int, levels: int) -> None:
    rng = np.random.default_rng(3)
    alarms = 0
    for _ in range(100):
        alarms += looked(categorical(rng, 150, columns, levels), categorical(rng, 150, columns, levels)).reused
    assert alarms <= 3


@pytest.mark.parametrize("share", [0.2, 1.0])
def test_reuse_is_found_where_rows_are_distinct(share: float) -> None:
    (X, y), (Z, z) = rows(300), rows(300, seed=1)
    k = int(300 * share)
    assert looked((X, y), (np.r_[X[:k], Z[k:]], np.r_[y[:k], z[k:]])).reused


def test_a_whole_table_is_known_again_in_any_order_and_in_blocks_however_few_rows_are_distinct() -> None:
    rng = np.random.default_rng(5)
    X, y = categorical(rng, 400, 2, 3)
    order = rng.permutation(400)
    seen = FittedRows(made_of(X, y))
    for block in (order[:150], order[150:]):
        assert not seen.reused
        seen.add(X[block], y[block])
    assert seen.reused
    assert seen.found == seen.allowed == 400


def test_a_sample_that_could_well_come_twice_is_not_known_again() -> None:
    X = np.zeros((20, 1), np.float32)
    y = np.repeat([0.0, 1.0], 10)
    assert not looked((X, y), (X, y)).reused


@pytest.mark.parametrize("change", [{"bits": "###"}, {"bits": ""}, {"once": 9}, {"rows": 0}])
def test_a_damaged_filter_is_named(change: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="filter"):
        FittedRows(msgspec.structs.replace(made_of(*rows(3)), **change))
