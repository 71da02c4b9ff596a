"""Calibration: no vote changes, the log loss is the least, and it heals a vote that is too sure."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from abnet.model.calibration import PENALTY, Calibration

maps = st.builds(Calibration, st.floats(0.05, 20), st.floats(0, 1))


def log_loss(P: np.ndarray, codes: np.ndarray) -> float:
    return float(-np.mean(np.log(np.maximum(P[np.arange(len(codes)), codes], 1e-300))))


@given(maps, st.integers(2, 5), st.integers(0, 2**32 - 1))
def test_no_vote_changes(calibration: Calibration, K: int, seed: int) -> None:
    shares = np.random.default_rng(seed).dirichlet(np.full(K, 0.3), 50)
    P = calibration.apply(shares)
    np.testing.assert_allclose(P.sum(axis=1), 1)
    top = np.arange(50), shares.argmax(axis=1)
    assert (P[top] >= P.max(axis=1) - 1e-12).all()


@given(maps)
def test_one_half_stays_one_half(calibration: Calibration) -> None:
    np.testing.assert_array_equal(calibration.apply(np.array([[0.5, 0.5]])), 0.5)


@pytest.mark.parametrize("K", [2, 4])
@pytest.mark.parametrize("distortion", [0.3, 1.0, 2.0])
def test_distorted_probabilities_are_found_again(K: int, distortion: float, rng: np.random.Generator) -> None:
    truth = rng.dirichlet(np.ones(K), 20_000)
    codes = np.array([rng.choice(K, p=p) for p in truth])
    shares = truth**distortion / (truth**distortion).sum(axis=1, keepdims=True)
    fitted = Calibration.fitted(shares, np.eye(K)[codes])
    assert log_loss(fitted.apply(shares), codes) < log_loss(truth, codes) + 2e-3
    assert fitted.power * distortion == pytest.approx(1, abs=0.12)


def test_loss_is_no_larger_than_anywhere_on_a_grid(rng: np.random.Generator) -> None:
    shares = rng.dirichlet([0.2, 0.3], 400)
    codes = (rng.random(400) < 0.8 * shares[:, 1] + 0.1).astype(int)
    fitted = Calibration.fitted(shares, np.eye(2)[codes])
    grid = [Calibration(a, b) for a in np.geomspace(0.05, 20, 60) for b in np.geomspace(1e-5, 1, 60)]

    def penalised(c: Calibration) -> float:
        return log_loss(c.apply(shares), codes) + PENALTY * math.log(c.power) ** 2 / len(codes)

    assert penalised(fitted) < min(map(penalised, grid)) + 1e-5


def test_record_comes_back(rng: np.random.Generator) -> None:
    calibration = Calibration(1.7, 0.003)
    assert Calibration.from_dict(calibration.to_dict()) == calibration


@pytest.mark.parametrize(
    "record", [None, {}, {"power": 1.0}, {"power": "1", "floor": 0.0}, {"power": float("nan"), "floor": 0.0},
               {"power": -1.0, "floor": 0.0}, {"power": 1.0, "floor": 2.0}, {"power": True, "floor": 0.0}],
)  # fmt: skip
def test_other_records_are_refused(record: object) -> None:
    with pytest.raises(ValueError, match="calibration"):
        Calibration.from_dict(record)
