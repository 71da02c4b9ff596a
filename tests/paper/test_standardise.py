import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

from abnet.paper import load
from abnet.paper.data.datasets import standardise_all


def test_it_is_what_a_scaler_fitted_on_everything_gives() -> None:
    X = load("breast_cancer").X
    assert np.allclose(
        load("breast_cancer", standardise=True).X, StandardScaler().fit_transform(X.astype(float)), atol=1e-5
    )


@pytest.mark.parametrize("value", [0.0, 0.1, 1e30, -3.0])
def test_constant_columns_become_zero(value: float) -> None:
    X = np.full((1000, 2), value, np.float32)
    X[:, 1] = np.arange(1000)
    out = standardise_all(X)
    assert (out[:, 0] == 0).all()
    assert out.dtype == np.float32
    assert abs(out[:, 1].std() - 1) < 1e-5


@pytest.mark.parametrize("name", ["digits", "digits17", "circles"])
def test_sets_of_fixed_scale_stay_as_they_are(name: str) -> None:
    assert np.array_equal(load(name, standardise=True).X, load(name).X)
