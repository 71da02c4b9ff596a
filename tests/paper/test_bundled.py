import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, make_circles

from abnet.paper import load


def test_digits_are_low_against_high() -> None:
    data = load("digits")
    bunch = load_digits()
    assert data.X.shape == (1797, 64)
    assert np.array_equal(data.X * 16, bunch.data)
    assert np.array_equal(data.y == 1, bunch.target > 4)


@pytest.mark.parametrize(
    ("name", "low", "high"), [("digits17", 1, 7), ("digits49", 4, 9), ("digits56", 5, 6), ("digits08", 0, 8)]
)
def test_digit_pairs_have_the_lower_digit_first(name: str, low: int, high: int) -> None:
    data = load(name)
    bunch = load_digits()
    rows = [i for i, digit in enumerate(bunch.target) if digit in (low, high)]
    assert data.classes == (str(low), str(high))
    assert np.array_equal(data.X * 16, bunch.data[rows])
    assert [int(label) for label in data.y] == [-1 if bunch.target[i] == low else 1 for i in rows]


def test_breast_cancer_has_malignant_as_plus_one() -> None:
    data = load("breast_cancer")
    bunch = load_breast_cancer()
    malignant = bunch.target_names.tolist().index("malignant")
    assert np.array_equal(data.y == 1, bunch.target == malignant)
    assert np.allclose(data.X, bunch.data, rtol=1e-6)
    assert data.feature_names[0] == "mean radius"


def test_the_centre_of_the_circles_is_plus_one() -> None:
    data = load("circles")
    radius = np.hypot(*data.X.T)
    assert radius[data.y == 1].mean() < 0.6 < 0.9 < radius[data.y == -1].mean()
    assert np.array_equal(data.X, load("circles").X)
    assert np.allclose(data.X, make_circles(1000, noise=0.1, factor=0.4, random_state=0)[0], atol=1e-6)
