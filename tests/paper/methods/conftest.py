"""A minimal training loop, and blobs to learn."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

Data = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


@pytest.fixture
def blobs() -> Data:
    """``x = N(0, I_8) + 1.2 y``, standardised by the training part: 800 rows to learn from, 200 to test on."""
    rng = np.random.default_rng(7)
    y = rng.choice([-1.0, 1.0], 1000)
    x = rng.normal(size=(1000, 8)) + 1.2 * y[:, None]
    x = (x - x[:800].mean(0)) / x[:800].std(0)
    return x[:800], y[:800], x[800:], y[800:]


@pytest.fixture
def train() -> Callable[..., Any]:
    """Train a learner: every epoch a fresh order, minibatches in one compiled loop."""

    def run(learner: Any, sizes: tuple[int, ...], x: Any, y: Any, *, batch: int, epochs: int, rate: float) -> Any:
        rng = np.random.default_rng(0)
        key = jax.random.key(3)
        order = np.concatenate([rng.permutation(len(x)) for _ in range(epochs)]).reshape(-1, batch)

        @jax.jit
        def loop(state: Any, x: Any, y: Any, order: Any) -> Any:
            def body(i: Any, state: Any) -> Any:
                rows = order[i]
                return learner.step(state, x[rows], y[rows], jnp.ones(batch), rate, jax.random.fold_in(key, i))

            return jax.lax.fori_loop(0, len(order), body, state)

        # drawn outside, so that learners share the compiled draws
        return loop(learner.start(learner.init(jax.random.key(0), sizes)), x, y, order)

    return run
