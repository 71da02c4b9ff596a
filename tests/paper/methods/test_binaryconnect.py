from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from abnet.paper.methods.binaryconnect import BinaryConnect

Train = Callable[..., Any]
Blobs = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
KEY = jax.random.key(0)
STORED = (jnp.array([[-0.5, 0.0, 0.25]]),)


def test_deterministic_weights_are_signs_in_training_and_after() -> None:
    learner = BinaryConnect()
    assert learner.training_weights(STORED, KEY)[0].tolist() == [[-1, 1, 1]]
    assert learner.test_weights(STORED)[0].tolist() == [[-1, 1, 1]]


def test_stochastic_weights_are_drawn_in_training_and_real_after() -> None:
    learner = BinaryConnect(stochastic=True)
    draws = [learner.training_weights(STORED, jax.random.key(k))[0].tolist()[0] for k in range(20)]
    assert {abs(w) for draw in draws for w in draw} == {1.0}
    assert len({tuple(draw) for draw in draws}) > 1
    assert learner.test_weights(STORED)[0].tolist() == STORED[0].tolist()


def test_one_draw_serves_the_whole_minibatch() -> None:
    # equal rows must stay equal: with one draw a batch of two kinds of rows has batch statistics of two values only
    learner = BinaryConnect(stochastic=True)
    state = learner.start(learner.init(KEY, (4, 3, 1)))
    x = jnp.repeat(jnp.array([[1.0, 2.0, 3.0, 4.0]]), 6, axis=0)
    after = jax.jit(learner.step)(state, x, jnp.ones(6), jnp.ones(6), 0.01, KEY)
    np.testing.assert_allclose(after.running[0].variance, 1 - learner.average, rtol=1e-6)


@pytest.mark.parametrize("stochastic", [False, True])
def test_learns_blobs(train: Train, blobs: Blobs, stochastic: bool) -> None:
    x, y, x_test, y_test = blobs
    learner = BinaryConnect(stochastic=stochastic)
    state = train(learner, (8, 10, 1), x, y, batch=50, epochs=20, rate=0.01)
    assert np.mean(learner.fold(state).votes(x_test) != (y_test > 0)) < 0.05
