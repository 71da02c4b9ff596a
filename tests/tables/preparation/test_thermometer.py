import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from abnet import ABNetClassifier
from abnet.tables.preparation.thermometer_codes import ThermometerCodes


@given(st.lists(st.integers(-50, 50), min_size=2, max_size=40).filter(lambda v: len(set(v)) > 1), st.integers(1, 100))
def test_codes_count_the_thresholds_below_and_keep_the_order(values: list[int], most: int) -> None:
    codes = ThermometerCodes(most).fit(np.array(values, float)[:, None])
    signs = codes.transform(np.array(values, float)[:, None])
    below = [sum(v > t for t in codes.thresholds_[0]) for v in values]
    np.testing.assert_array_equal((signs > 0).sum(1), below)
    assert set(np.unique(signs)) <= {-1.0, 1.0}
    assert (np.diff(signs, axis=1) <= 0).all()  # a thermometer: first all above, then all below
    assert signs.shape[1] == min(most, len(set(values)) - 1)
    if most >= len(set(values)) - 1:
        assert len(set(below)) == len(set(values))  # enough thresholds tell all values apart


@settings(deadline=None)
@given(st.lists(st.integers(-9, 9), min_size=4, max_size=20).filter(lambda v: len(set(v)) > 1))
def test_every_row_is_coded_by_itself(values: list[int]) -> None:
    """A fit with this preprocessor relies on it, and checks nothing."""
    X = np.column_stack([np.array(values, float), np.arange(len(values), dtype=float)])
    codes = ThermometerCodes(5).fit(X)
    alone = [codes.transform(X[[i]]) for i in range(len(X))]
    np.testing.assert_array_equal(np.vstack(alone), codes.transform(X))


def test_rare_values_of_a_column_that_is_mostly_zero_get_thresholds() -> None:
    column = np.concatenate([np.zeros(1000), np.arange(1, 101)])[:, None]
    (thresholds,) = ThermometerCodes(10).fit(column).thresholds_
    assert len(thresholds) == 10
    assert np.floor(thresholds[[0, -1]]).tolist() == [0, 99]
    assert np.ptp(np.diff(np.floor(thresholds))) <= 1  # evenly by rank


def test_a_constant_column_disappears_and_a_binary_one_is_a_sign() -> None:
    X = np.array([[7.0, 0.0], [7.0, 1.0]])
    np.testing.assert_array_equal(ThermometerCodes().fit_transform(X), [[-1.0], [1.0]])
    with pytest.raises(ValueError, match=r"\b2 rows"):
        ThermometerCodes().fit(X[:, :1])


@pytest.mark.parametrize("bad", [0, -3])
def test_thresholds_must_be_positive(bad: int) -> None:
    with pytest.raises(ValueError, match=str(bad)):
        ThermometerCodes(bad).fit(np.eye(3))


def test_unsound_rows_are_refused() -> None:
    codes = ThermometerCodes().fit(np.eye(3))
    with pytest.raises(ValueError, match="NaN"):
        codes.transform([[np.nan, 0.0, 0.0]])
    with pytest.raises(ValueError, match="2 features"):
        codes.transform([[1.0, 0.0]])
    assert clone(ThermometerCodes(5)).n_thresholds == 5


def test_a_classifier_fits_the_thresholds_on_its_first_part_alone() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = rng.integers(0, 2, 60)
    fitted = []

    class Watched(ThermometerCodes):
        def fit(self, X: np.ndarray, y: object = None) -> ThermometerCodes:
            fitted.append(len(X))
            return super().fit(X, y)

    model = ABNetClassifier((2,), preprocessor=Watched(), prior_fraction=0.5, max_iter=2, random_state=0).fit(X, y)
    assert fitted == [30]
    assert model.predict(X).shape == (60,)


def test_neighbouring_numbers_are_told_apart() -> None:
    column = 1 + np.spacing(1.0) * np.array([[1.0], [2.0], [3.0], [4.0]])
    codes = ThermometerCodes().fit(column)
    assert (np.diff(codes.thresholds_[0]) > 0).all()
    np.testing.assert_array_equal((codes.transform(column) > 0).sum(axis=1), [0, 1, 2, 3])


def test_a_single_threshold_stands_in_the_middle() -> None:
    assert ThermometerCodes(1).fit(np.arange(100.0)[:, None]).thresholds_[0].round().tolist() == [49]
