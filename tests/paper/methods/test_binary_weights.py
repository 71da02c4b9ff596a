from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from abnet.model.predictors.layers import Affine, Ramp
from abnet.paper.methods.binary_learner import (
    BinaryLearner,
    BinaryParameters,
    BinaryState,
    inverse_glorot,
    nearest_signs,
    random_signs,
    uniform_store,
)
from abnet.paper.methods.binaryconnect import BinaryConnect
from abnet.paper.methods.bnn import BNN

KEY = jax.random.key(0)
SIZES = (10, 3, 2, 1)
step = jax.jit(lambda learner, *arguments: learner.step(*arguments), static_argnums=0)


@dataclass(frozen=True, kw_only=True)
class RealConnect(BinaryLearner):
    """Binarisation off: a plain network of rectified linear units with batch normalisation."""

    average: float = 0.15

    def training_weights(self, stored: tuple[jax.Array, ...], key: Any) -> tuple[jax.Array, ...]:
        return stored

    def test_weights(self, stored: tuple[jax.Array, ...]) -> tuple[jax.Array, ...]:
        return stored

    def activation(self, a: jax.Array) -> jax.Array:
        return jax.nn.relu(a)

    def folded(self, normalisation: Affine) -> Ramp:
        return Ramp(normalisation)


class Oracle:
    """The same training in NumPy, with the backward pass derived by hand (for tests only)."""

    def __init__(self, parameters: BinaryParameters, *, binary: bool, sign_units: bool, average: float) -> None:
        self.p = [np.asarray(leaf, np.float64) for group in parameters for leaf in group]
        self.layers = len(parameters.weights)
        self.binary = binary
        self.sign_units = sign_units
        self.average = average
        self.m = [np.zeros_like(p) for p in self.p]
        self.v = [np.zeros_like(p) for p in self.p]
        self.running = [(np.zeros(len(w)), np.ones(len(w))) for w in self.p[: self.layers]]
        self.t = 0

    def gradient(self, x: np.ndarray, y: np.ndarray, w: np.ndarray) -> list[np.ndarray]:
        L = self.layers
        W = [np.where(p >= 0, 1.0, -1.0) if self.binary else p for p in self.p[:L]]
        gamma = self.p[L : 2 * L]
        beta = self.p[2 * L :]
        h = x
        tape = []
        for k in range(L):
            a = h @ W[k].T
            mu = a.mean(0)
            var = a.var(0)
            unit = (a - mu) / np.sqrt(var + 1e-4)
            f = unit * gamma[k] + beta[k]
            tape.append((h, unit, np.sqrt(var + 1e-4), f))
            if self.sign_units:
                h = np.where(f >= 0, 1.0, -1.0)
            else:
                h = np.maximum(f, 0)
            self.running[k] = tuple(
                (1 - self.average) * r + self.average * s for r, s in zip(self.running[k], (mu, var), strict=True)
            )
        df = (-2 * w * y * np.maximum(0, 1 - y * tape[-1][3][:, 0]) / w.sum())[:, None]
        out: list[Any] = [None] * (3 * L)
        for k in range(L - 1, -1, -1):
            h, unit, deviation, f = tape[k]
            out[L + k] = (df * unit).sum(0)
            out[2 * L + k] = df.sum(0)
            du = df * gamma[k]
            da = (du - du.mean(0) - unit * (du * unit).mean(0)) / deviation
            out[k] = da.T @ h
            if k:
                below = tape[k - 1][3]
                df = (da @ W[k]) * (np.abs(below) <= 1 if self.sign_units else below > 0)
        return out

    def step(self, x: np.ndarray, y: np.ndarray, w: np.ndarray, rate: float) -> None:
        self.t += 1
        for i, g in enumerate(self.gradient(x, y, w)):
            self.m[i] = 0.9 * self.m[i] + 0.1 * g
            self.v[i] = 0.999 * self.v[i] + 0.001 * g**2
            u = self.m[i] / (1 - 0.9**self.t) / (np.sqrt(self.v[i] / (1 - 0.999**self.t)) + 1e-8)
            if i < self.layers:
                self.p[i] = np.clip(self.p[i] - rate * np.sqrt(sum(g.shape) / 1.5) * u, -1, 1)
            else:
                self.p[i] = self.p[i] - rate * u


def rows(seed: int, n: int = 12) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, SIZES[0])), rng.choice([-1.0, 1.0], n), rng.uniform(0.5, 2, n)


def edge_parameters(learner: BinaryLearner) -> BinaryParameters:
    """A random start with stored weights at 0 and ±1, and γ of both signs."""
    rng = np.random.default_rng(6)
    shapes = jax.eval_shape(lambda k: learner.init(k, SIZES), KEY)
    parameters = jax.tree.map(lambda leaf: rng.uniform(-1, 1, leaf.shape).astype(leaf.dtype), shapes)
    for W, gamma, k in zip(parameters.weights[:2], parameters.gammas, range(2), strict=False):
        W[0, :3] = [0.0, 1.0, -1.0]
        gamma[-1] = 0.7 - k
    return parameters


CASES: dict[str, tuple[BinaryLearner, dict[str, Any]]] = {
    "binaryconnect": (BinaryConnect(), {"binary": True, "sign_units": False, "average": 0.15}),
    "bnn": (BNN(), {"binary": True, "sign_units": True, "average": 0.1}),
    "binarisation off": (RealConnect(), {"binary": False, "sign_units": False, "average": 0.15}),
}


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("case", CASES)
def test_training_equals_an_independent_implementation(case: str) -> None:
    learner, options = CASES[case]
    state = learner.start(edge_parameters(learner))
    oracle = Oracle(state.parameters, **options)
    for t in range(5):
        batch = rows(t)
        state = step(learner, state, *batch, 0.02, KEY)
        oracle.step(*batch, 0.02)
        assert max(np.abs(w).max() for w in state.parameters.weights) <= 1
    for found, expected in zip(jax.tree.leaves(state.parameters), oracle.p, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8)
    for found, statistics in zip(state.running, oracle.running, strict=True):
        np.testing.assert_allclose(found, statistics, rtol=1e-6, atol=1e-8)


def first_gradient(before: BinaryState, after: BinaryState) -> np.ndarray:
    """The gradient of the first step, read from Adam's first moment."""
    assert not np.any(before.moments.mu)
    return np.asarray(after.moments.mu) / 0.1


@pytest.mark.usefixtures("x64")
def test_gradient_of_the_store_is_the_straight_through_one_with_no_mask() -> None:
    learner = BinaryConnect()
    state = learner.start(edge_parameters(learner))
    batch = rows(3)
    x, y, w = (jnp.asarray(a) for a in batch)

    def straight_through(parameters: BinaryParameters) -> jax.Array:
        weights = tuple(s + jax.lax.stop_gradient(jnp.where(s >= 0, 1, -1) - s) for s in parameters.weights)
        return learner.loss(parameters._replace(weights=weights), x, y, w, jnp.ones(12))[0]

    expected = np.concatenate(
        [g.ravel() for g in jax.tree.leaves(jax.jit(jax.grad(straight_through))(state.parameters))]
    )
    found = first_gradient(state, step(learner, state, *batch, 0.01, KEY))
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    assert np.abs(expected[:3]).min() > 1e-6  # the weights at 0 and ±1 do learn


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize(("glorot_scale", "factor"), [(True, np.sqrt(13 / 1.5)), (False, 1.0)])
def test_first_step_of_an_unclipped_weight_is_the_scaled_rate(glorot_scale: bool, factor: float) -> None:
    learner = BinaryConnect(glorot_scale=glorot_scale)
    state = learner.start(edge_parameters(learner))
    after = step(learner, state, *rows(4), 1e-3, KEY)
    old = np.asarray(state.parameters.weights[0])
    new = np.asarray(after.parameters.weights[0])
    moved = (np.abs(new) < 1) & (np.abs(first_gradient(state, after)[:30].reshape(3, 10)) > 1e-4)
    assert moved.sum() > 10
    np.testing.assert_allclose(np.abs(new - old)[moved], factor * 1e-3, rtol=1e-3)


@pytest.mark.usefixtures("x64")
def test_fewer_than_two_real_rows_leave_the_state() -> None:
    learner = BNN()
    state, (x, y, w) = learner.start(edge_parameters(learner)), rows(5)
    for real in (0, 1):
        after = step(learner, state, x, y, np.where(np.arange(12) < real, w, 0), 0.1, KEY)
        assert all((a == b).all() for a, b in zip(jax.tree.leaves(after), jax.tree.leaves(state), strict=True))
    after = step(learner, state, x, y, np.where(np.arange(12) < 2, w, 0), 0.1, KEY)
    assert any((a != b).any() for a, b in zip(after.parameters.weights, state.parameters.weights, strict=True))


def test_store_is_uniform_on_the_interval_with_unit_normalisation() -> None:
    weights, gammas, betas = uniform_store(jax.random.key(0), (50, 40, 1))
    assert [w.shape for w in weights] == [(40, 50), (1, 40)]
    w = np.asarray(weights[0])
    assert np.abs(w).max() <= 1
    assert abs(w.mean()) < 4 * np.sqrt(1 / 3 / w.size)
    assert abs(w.var() - 1 / 3) < 4 * np.sqrt(4 / 45 / w.size)
    assert all((g == 1).all() for g in gammas)
    assert not any(b.any() for b in betas)


def test_nearest_signs_count_zero_as_plus_one() -> None:
    (signs,) = nearest_signs((jnp.array([[-1.0, -1e-9, -0.0, 0.0, 0.7]]),))
    assert signs.tolist() == [[-1, -1, 1, 1, 1]]


def test_random_signs_have_the_stored_weight_as_mean() -> None:
    stored = jnp.array([[-1.0, -0.9, -0.25, 0.0, 0.6, 1.0]])
    draws = jax.jit(jax.vmap(lambda k: random_signs((stored,), k)[0]))(jax.random.split(jax.random.key(1), 20_000))
    assert set(np.unique(draws)) == {-1.0, 1.0}
    w = np.asarray(stored, np.float64)
    deviation = np.sqrt((1 - w**2) / len(draws))
    assert (np.abs(np.mean(draws, axis=0) - w) <= 4 * deviation).all()  # w = ±1 exactly


def test_layers_are_drawn_apart() -> None:
    first, second = random_signs((jnp.zeros((8, 8)), jnp.zeros((8, 8))), jax.random.key(0))
    assert (first != second).any()


@pytest.mark.parametrize(("shape", "c"), [((2, 10), 2.8284271), ((1, 2), 1.4142136)])
def test_inverse_glorot(shape: tuple[int, int], c: float) -> None:
    assert inverse_glorot(shape) == pytest.approx(c)
