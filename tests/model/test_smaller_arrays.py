"""Arrays in fewer bytes come back as they were."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import abnet
from abnet.model.model import Model
from abnet.model.predictors.moments import MomentsPredictor
from abnet.model.predictors.weight_steps import rounded_to, steps_of
from abnet.model.smaller_arrays import restored, shrunk
from abnet.networks.bam import BAM


def arrays(seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    W = rng.normal(size=(2, 5, 7)) * 10.0 ** rng.integers(-9, 9, (2, 5, 1))
    return {
        "double": W,
        "single": W.astype(np.float32).astype(np.float64),
        "rounded": rounded_to(8, W),
        "six": rounded_to(6, W),
        "signs": np.sign(W),
        "zeros": np.zeros((3, 4)),
        "negative zero": np.array([[-0.0, 1.0]]),
        "huge": np.array([[1e300, 1.0]]),
        "bytes": np.array([[1, -1]], np.int8),
    }


@pytest.mark.parametrize("seed", range(5))
def test_every_number_comes_back(seed: int) -> None:
    given = arrays(seed)
    stored = shrunk(given)
    found = restored(stored)
    assert list(found) == list(given)
    for name, array in given.items():
        assert found[name].dtype == array.dtype
        np.testing.assert_array_equal(found[name], array)
        np.testing.assert_array_equal(np.signbit(found[name]), np.signbit(array))
    kinds = {name: array.dtype.name for name, array in stored.items()}
    assert (kinds["double"], kinds["single"]) == ("float64", "float32")
    assert kinds["rounded"] == kinds["six"] == kinds["signs"] == "int8"


def test_steps_are_the_largest_powers_of_two() -> None:
    rng = np.random.default_rng(0)
    W = rng.integers(-99, 99, (20, 8)) * 2.0 ** rng.integers(-40, 40, (20, 1))
    whole = W / steps_of(W)[:, None]
    assert (whole == np.round(whole)).all()
    assert (whole % 2 != 0).any(axis=1).all()


def test_rounded_weights_are_near_and_few() -> None:
    W = np.random.default_rng(1).normal(size=(50, 30))
    found = rounded_to(8, W)
    assert np.abs(found / steps_of(found)[:, None]).max() <= 127
    assert (np.abs(found - W) <= np.abs(W).max(axis=1, keepdims=True) / 127 + 1e-12).all()


@pytest.mark.parametrize("change", ["shape", "lone", "type"])
def test_steps_that_do_not_fit_are_refused(change: str) -> None:
    stored = shrunk({"W": np.array([[0.5, 3.0], [1.0, 2.0]])})
    if change == "shape":
        stored["W.step"] = np.ones(3, np.float32)
    elif change == "lone":
        stored["b.step"] = np.ones(3, np.float32)
    else:
        stored["W"] = np.ones((2, 2))
    with pytest.raises(ValueError, match="step"):
        restored(stored)


def test_a_file_of_rounded_weights_takes_a_byte_for_each_and_predicts_the_same(tmp_path: Path) -> None:
    networks = [BAM.init(np.random.default_rng(seed), (200, 30, 1)) for seed in range(2)]
    model = Model(MomentsPredictor.from_networks(networks).rounded())
    model.save(tmp_path / "model.abnet")
    assert (tmp_path / "model.abnet").stat().st_size < 2 * 30 * 200 + 4000
    X = np.random.default_rng(2).normal(size=(50, 200))
    np.testing.assert_array_equal(abnet.load(tmp_path / "model.abnet").scores(X), model.scores(X))
