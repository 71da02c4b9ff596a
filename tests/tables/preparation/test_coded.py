"""Features and codes side by side: the signs of thresholds, the same from a file, row by row."""

import numpy as np
import polars  # noqa: F401  (with it, distinct values are found in another way)
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.preprocessing import StandardScaler

from abnet.tables.preparation import StandardMap, as_preparation, preparation_from_dict, preparation_to_dict
from abnet.tables.preparation.coded import CodedMap
from abnet.tables.preparation.thermometer_map import _COLUMNS, column_thresholds, contiguous_columns, thresholds_of
from abnet.utils.threads import MANY


@pytest.fixture
def sample(rng: np.random.Generator) -> np.ndarray:
    columns = [rng.normal(size=200), rng.integers(0, 2, 200), rng.integers(0, 5, 200), np.full(200, 3.0)]
    return np.column_stack(columns)


def coded(X: np.ndarray) -> CodedMap:
    base = as_preparation(StandardScaler().fit(X))
    return CodedMap.of(base, base.transform(X))


def test_signs_by_the_definition(sample: np.ndarray) -> None:
    fitted = coded(sample)
    prepared = np.asarray(fitted.base.transform(sample), np.float32)
    expected = [prepared] + [
        np.where(prepared[:, j : j + 1] >= np.array(t)[None], 1.0, -1.0) for j, t in enumerate(fitted.thresholds) if t
    ]
    np.testing.assert_array_equal(fitted.transform(sample), np.hstack(expected))
    assert [len(t) for t in fitted.thresholds] == [32, 0, 4, 0]
    assert fitted.n_features_out == 4 + 36


def test_thresholds_are_spaced_by_rank_not_by_rows() -> None:
    column = np.concatenate([np.zeros(990), np.arange(1.0, 11.0)])[:, None]
    assert np.floor(thresholds_of(column, 4)).tolist() == [[0, 3, 6, 9]]


def test_record_comes_back(sample: np.ndarray) -> None:
    fitted = coded(sample)
    again = preparation_from_dict(preparation_to_dict(fitted))
    assert again == fitted
    np.testing.assert_array_equal(again.transform(sample), fitted.transform(sample))
    assert as_preparation(fitted) is fitted


@settings(deadline=None)  # a loaded machine
@given(st.integers(0, 2**32 - 1), st.integers(1, 20))
def test_pieces_give_the_whole(seed: int, at: int) -> None:
    X = np.random.default_rng(seed).normal(size=(21, 3)).round(1)
    fitted = coded(X)
    pieces = np.vstack([fitted.transform(X[:at]), fitted.transform(X[at:])])
    np.testing.assert_array_equal(pieces, fitted.transform(X))


def test_missing_numbers_stay_missing(sample: np.ndarray) -> None:
    row = sample[:1].copy()
    row[0, 0] = np.nan
    assert np.isnan(coded(sample).transform(row)).any()


@pytest.mark.parametrize("change", [{"thresholds": [[1.0]]}, {"thresholds": [[2.0, 1.0], [], [], []]}, {"extra": 1}])
def test_other_records_are_refused(sample: np.ndarray, change: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="preparation"):
        preparation_from_dict({**preparation_to_dict(coded(sample)), **change})


def test_codes_of_codes_are_refused(sample: np.ndarray) -> None:
    record = preparation_to_dict(coded(sample))
    with pytest.raises(ValueError, match="codes"):
        preparation_from_dict({"kind": "coded", "base": record, "thresholds": []})


@settings(deadline=None)
@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=40, unique=True),
    st.lists(st.floats(width=32), min_size=1, max_size=40),
)
def test_a_number_reaches_as_many_thresholds_as_are_not_above_it(thresholds: list[float], values: list[float]) -> None:
    rising = tuple(sorted({value + 0.0 for value in thresholds}))
    near = np.array(rising).clip(-3e38, 3e38).astype(np.float32)
    near = np.concatenate([near, np.nextafter(near, np.float32(np.inf)), np.nextafter(near, np.float32(-np.inf))])
    column = np.concatenate([np.array(values, np.float32), near])
    rows = CodedMap(StandardMap((0.0,), (1.0,)), (rising,)).with_codes(column[:, None])
    np.testing.assert_array_equal(rows.reached[0], np.searchsorted(rising, column.astype(np.float64), side="right"))


def test_many_rows_have_the_thresholds_of_their_distinct_values(rng: np.random.Generator) -> None:
    X = np.column_stack([rng.normal(size=MANY), rng.integers(-3, 4, MANY), rng.normal(size=MANY).round(2)])
    X[:2, 0] = 0.0, -0.0
    for column in (X.astype(np.float32).T, X.T):
        for values in column:
            np.testing.assert_array_equal(column_thresholds(values, 32), column_thresholds(np.unique(values), 32))


def test_columns_have_the_thresholds_that_each_has_alone(rng: np.random.Generator) -> None:
    X = rng.integers(-9, 9, (MANY + 5, 2 * _COLUMNS + 1)).astype(np.float32)
    np.testing.assert_array_equal(contiguous_columns(X), X.T)
    alone = [tuple(column_thresholds(column, 32).tolist()) for column in X.T]
    assert thresholds_of(X) == tuple(alone)


@settings(deadline=None)
@given(
    st.lists(st.floats(-1e30, 1e30), min_size=2, max_size=40, unique=True),
    st.lists(st.floats(-1e30, 1e30), max_size=40),
)
def test_a_number_and_its_float32_are_on_one_side_of_a_threshold(values: list[float], others: list[float]) -> None:
    assume(len(np.unique(np.array(values, np.float32))) > 1)
    t = column_thresholds(np.array(values), 100)
    near = np.concatenate([t, np.nextafter(t, np.inf), np.nextafter(t, -np.inf), t.astype(np.float32), values, others])
    reached = near[:, None] >= t
    single = near.astype(np.float32)
    np.testing.assert_array_equal(single[:, None].astype(np.float64) >= t, reached)
    np.testing.assert_array_equal(single[:, None] >= t.astype(np.float32), reached)
    assert len(t) == len(np.unique(np.array(values, np.float32))) - 1
    assert (np.diff(t) > 0).all()


@pytest.mark.parametrize(("decimals", "more"), [(0, 0), (0, 1), (1, 0), (1, 1), (1, 2), (2, 0), (2, 1)])
@pytest.mark.parametrize("n", [60, 600, 6000])
def test_scaled_decimals_have_the_codes_of_their_float32(decimals: int, more: int, n: int) -> None:
    rng = np.random.default_rng(n)

    def rows(n: int, digits: int) -> np.ndarray:
        return (rng.normal(size=(n, 5)) * [1, 3, 10, 30, 100] + [0, 5, 37, 1000, 2000]).round(digits)

    fitted = coded(rows(n, decimals))
    new = rows(20_000, decimals + more)
    np.testing.assert_array_equal(
        fitted.with_codes(fitted.base.transform(new)).reached,
        fitted.with_codes(fitted.base.transform(new.astype(np.float32))).reached,
    )


def test_whole_numbers_beyond_float32_have_thresholds_where_it_tells_them_apart() -> None:
    rng = np.random.default_rng(0)
    column = 2**24 + rng.integers(0, 4000, 500)
    t = column_thresholds(column.astype(np.float64), 32)
    new = 2.0**24 + np.arange(4000)
    np.testing.assert_array_equal(new[:, None] >= t, new.astype(np.float32)[:, None].astype(np.float64) >= t)


def test_values_on_one_side_stay_there() -> None:
    """The middle of an even gap, if it comes, counts as above, wherever in the gap the threshold lies."""
    t = column_thresholds(np.array([0.0, 1.0, 3.0, 7.0, 10.0]), 9)
    assert (np.arange(11.0)[:, None] >= t).sum(axis=1).tolist() == [0, 1, 2, 2, 2, 3, 3, 3, 3, 4, 4]


def test_numbers_beyond_the_range_of_float32_have_thresholds() -> None:
    t = column_thresholds(np.array([-1.7e308, 0.0, 1e300, 1.7e308]), 9)
    assert (np.searchsorted([-1.7e308, 0.0, 1e300, 1.7e308], t) == [1, 2, 3]).all()
