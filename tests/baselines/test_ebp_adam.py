from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pytest

from abnet.bam import BAM
from abnet.baselines.ebp import EBPAdam, ascent_direction

Train = Callable[..., Any]
Blobs = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
KEY = jax.random.key(0)


def rows(seed: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 4)), rng.choice([-1.0, 1.0], n)


def flat(network: BAM) -> np.ndarray:
    return np.concatenate([np.ravel(leaf) for leaf in jax.tree.leaves(network)])


@pytest.mark.usefixtures("x64")
def test_steps_are_adam_on_the_mean_loss() -> None:
    learner = EBPAdam()
    state = learner.start(learner.init(KEY, (4, 3, 1)))
    step, gradient = jax.jit(learner.step), jax.jit(lambda *a: ascent_direction(*a, e=1.0))
    theta = flat(state.means)
    m, v = np.zeros_like(theta), np.zeros_like(theta)
    for t in range(1, 4):
        x, y = rows(t, 6)
        g = -flat(gradient(state.means, x, y, np.ones(6))) / 6
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2
        theta = theta - 0.01 * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
        state = step(state, x, y, np.ones(6), 0.01, KEY)
        np.testing.assert_allclose(flat(learner.network(state)), theta, rtol=1e-10)


@pytest.mark.usefixtures("x64")
def test_only_proportions_of_weights_matter() -> None:
    learner, (x, y) = EBPAdam(), rows(5, 6)
    state = learner.start(learner.init(KEY, (4, 3, 1)))
    step, w = jax.jit(learner.step), np.array([1.0, 2.0, 0.0, 1.0, 3.0, 1.0])
    np.testing.assert_allclose(
        flat(step(state, x, y, 10 * w, 0.01, KEY).means), flat(step(state, x, y, w, 0.01, KEY).means), rtol=1e-12
    )


def test_learns_blobs(train: Train, blobs: Blobs) -> None:
    x, y, x_test, y_test = blobs
    learner = EBPAdam()
    state = train(learner, (8, 10, 1), x, y, batch=50, epochs=10, rate=0.1)
    votes = np.asarray(jax.jit(learner.output)(state, x_test, KEY))
    assert np.mean(np.where(votes >= 0, 1, -1) != y_test) < 0.05
