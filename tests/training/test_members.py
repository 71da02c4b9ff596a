"""Members that learn a lesson together, whatever the padding."""

import numpy as np
import pytest

from abnet.networks import exact
from abnet.networks.lifting import lift
from abnet.training import train_members
from abnet.training.centring import STREAMED, Centring
from abnet.training.compilation import compiled_epoch
from abnet.training.mixture_plan import MixturePlan
from abnet.training.posterior_learner import PosteriorLearner
from abnet.training.train_members import compile_members, learn_members


def circle(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    X = rng.uniform(-1, 1, (n, 2)).astype(np.float32)
    return X, np.where((X**2).sum(axis=1) < 0.6, 1.0, -1.0)


def test_members_learn_what_one_neuron_cannot(rng: np.random.Generator) -> None:
    X, y = circle(rng, 600)
    outcome = learn_members(PosteriorLearner((2, 6, 1), n_members=3), lift(X), y, MixturePlan(400, 64), rng)
    F = np.mean([exact.expected_output(n.astype(np.float64), X.astype(np.float64)) for n in outcome.networks], axis=0)
    assert np.mean((F > 0) != (y > 0)) < 0.08
    assert outcome.curve[-1] < outcome.curve[0] - 0.2
    assert not any(np.allclose(outcome.networks[0].weights[0], n.weights[0]) for n in outcome.networks[1:])


def test_padded_columns_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = circle(np.random.default_rng(5), 120)
    plans = []
    for least in (2, 7):
        monkeypatch.setattr(train_members, "LEAST_INPUTS", least)
        learner = PosteriorLearner((2, 3, 1), n_members=2)
        plans.append(learn_members(learner, lift(X), y, MixturePlan(20, 32), np.random.default_rng(0)))
    for one, other in zip(*(outcome.networks for outcome in plans), strict=True):
        assert one.sizes == other.sizes == (2, 3, 1)
        np.testing.assert_allclose(one.weights[0], other.weights[0], rtol=2e-4, atol=2e-4)


def test_rows_are_written_centred_beside_their_padding(rng: np.random.Generator) -> None:
    lifted = lift(rng.normal(size=(2 * STREAMED + 5, 7)).astype(np.float32))
    centring = Centring.of(lifted)
    order = rng.permutation(len(lifted))
    rows = train_members._centred(centring, lifted, order, 3)
    np.testing.assert_array_equal(rows[: len(order), :7], centring.apply(lifted[order])[:, :-1])
    np.testing.assert_array_equal(rows[: len(order), -1], centring.apply(lifted[order])[:, -1])
    assert not rows[:, 7:10].any()
    assert not rows[len(order) :].any()
    assert rows.ctypes.data % 64 == 0


@pytest.mark.parametrize(("n_classes", "outputs"), [(2, 1), (3, 4)])
def test_a_program_that_was_compiled_ahead_is_the_one_that_learns(n_classes: int, outputs: int) -> None:
    learner = PosteriorLearner((5, 3, outputs), n_members=2, n_classes=n_classes)
    rng = np.random.default_rng(0)
    lifted = lift(rng.normal(size=(300, 5)).astype(np.float32))
    codes = rng.integers(0, n_classes, 300)
    if n_classes == 2:
        targets = 2.0 * codes - 1
    else:
        targets = np.eye(n_classes)[codes]
    program = compiled_epoch((learner,))
    before = program._cache_size()
    compile_members(learner, len(lifted), batch_size=16)
    assert program._cache_size() == before + 1
    learn_members(learner, lifted, targets, MixturePlan(40, 16), rng, weights=np.ones(300))
    assert program._cache_size() == before + 1
