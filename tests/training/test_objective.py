from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from abnet.aggregation import exact, expected_output, meanfield
from abnet.bam import BAM, flatten, unflatten
from abnet.training.learners import LOG_MIXTURE, AggregationLearner, Objective, start
from abnet.training.mixture_trainer import MixtureLearner, start_mixture
from conftest import random_network

SIZES = (3, 2, 2, 1)


def problem(rng: np.random.Generator) -> tuple[BAM, BAM, np.ndarray, np.ndarray]:
    network, prior = (random_network(rng, SIZES).astype(np.float32) for _ in range(2))
    return network, prior, rng.normal(size=(8, 3)), np.where(rng.random(8) < 0.5, -1.0, 1.0)


def monitored(learner: AggregationLearner, network: BAM, prior: BAM, objective: Objective, X: np.ndarray, y: np.ndarray,
              weights: np.ndarray) -> float:  # fmt: skip
    state = start(network, prior, objective, 500, 0.05)
    inputs = jnp.asarray(exact.lift(X), jnp.float32)
    out = jax.jit(learner.output)(state, inputs, jax.random.key(0))
    return float(jax.jit(learner.monitor)(state, out, np.asarray(y, np.float32), np.asarray(weights, np.float32)))


def test_flatten_and_back(rng: np.random.Generator) -> None:
    layers = random_network(rng, SIZES).astype(np.float32).layers
    again = unflatten(np.append(flatten(layers), 7), SIZES)
    for a, b in zip(layers, again, strict=True):
        np.testing.assert_array_equal(a, b)


def test_linear_and_log_losses_are_those_of_the_exact_output(rng: np.random.Generator) -> None:
    network, prior, X, y = problem(rng)
    F, w = expected_output(network.astype(np.float64), X), rng.random(8)
    linear = np.sum(w * (1 - y * F) / 2) / w.sum()
    chance = (1 - LOG_MIXTURE) * (1 + y * F) / 2 + LOG_MIXTURE / 2
    learner = AggregationLearner(SIZES)
    assert monitored(learner, network, prior, Objective.LINEAR, X, y, w) == pytest.approx(linear, rel=1e-5)
    log_loss = -np.sum(w * np.log(chance)) / w.sum()
    assert monitored(learner, network, prior, Objective.LOG, X, y, w) == pytest.approx(log_loss, rel=1e-5)


@pytest.mark.parametrize("method", ["exact", "meanfield"])
def test_the_bound_is_catonis_with_the_methods_own_kl(method: str, rng: np.random.Generator) -> None:
    network, prior, X, y = problem(rng)
    module = {"exact": exact, "meanfield": meanfield}[method]
    F = module.expected_output(network.astype(np.float64), X)
    kl = module.kl(network.astype(np.float64), prior.astype(np.float64))
    risk = np.mean((1 - y * F) / 2)
    expected = (1 - np.exp(-risk - (kl + np.log(2 * np.sqrt(500) / 0.05)) / 500)) / (1 - np.exp(-1))
    value = monitored(AggregationLearner(SIZES, method), network, prior, Objective.BOUND, X, y, np.ones(8))
    assert value == pytest.approx(expected, rel=1e-5)


def test_steps_lower_each_objective_and_learn_C_with_the_bound_only(rng: np.random.Generator) -> None:
    network, _, X, _ = problem(rng)
    y = np.sign(X[:, 0])
    learner = AggregationLearner(SIZES)
    output, step, monitor = (jax.jit(rule) for rule in (learner.output, learner.step, learner.monitor))
    inputs, targets, weights = (jnp.asarray(a, jnp.float32) for a in (exact.lift(X), y, np.ones(8)))
    for objective in Objective:
        state = start(network, network, objective, 5000, 0.05)
        before = monitor(state, output(state, inputs, None), targets, weights)
        for _ in range(30):
            state = step(state, inputs, targets, weights, 0.02, jax.random.key(0))
        after = monitor(state, output(state, inputs, None), targets, weights)
        assert after < before
        assert (float(state.theta[-1]) != 0) == (objective is Objective.BOUND)


def test_rows_of_weight_zero_do_not_move_a_step(rng: np.random.Generator) -> None:
    network, prior, X, y = problem(rng)
    learner, state = AggregationLearner(SIZES), start(network, prior, Objective.BOUND, 500, 0.05)
    inputs, targets = jnp.asarray(exact.lift(X), jnp.float32), jnp.asarray(y, jnp.float32)
    weights = jnp.asarray([1.0, 1, 1, 1, 0, 0, 0, 0])
    step = jax.jit(learner.step)
    full = step(state, inputs, targets, weights, 0.01, jax.random.key(0))
    spoiled = step(state, inputs.at[4:].set(0.5), -targets.at[:4].multiply(-1), weights, 0.01, jax.random.key(0))
    np.testing.assert_array_equal(full.theta, spoiled.theta)


def test_the_saturated_log_loss_stays_finite() -> None:
    learner = AggregationLearner((1, 1, 1))
    network = BAM((np.array([[1e4]]), np.array([[1e4]])), (np.zeros(1), np.zeros(1))).astype(np.float32)
    state = start(network, network, Objective.LOG, 10, 0.05)
    inputs, wrong = jnp.asarray(exact.lift(np.array([[5.0]])), jnp.float32), jnp.asarray([-1.0])
    output, step, monitor = (jax.jit(rule) for rule in (learner.output, learner.step, learner.monitor))
    after = step(state, inputs, wrong, jnp.ones(1), 0.1, jax.random.key(0))
    assert np.isfinite(after.theta).all()
    value = monitor(state, output(state, inputs, None), wrong, jnp.ones(1))
    assert value == pytest.approx(-np.log(LOG_MIXTURE / 2), rel=1e-3)


one_step = jax.jit(lambda learner, *arguments: learner.step(*arguments), static_argnums=0)


def after(learner: Any, state: Any, *batches: Any) -> Any:
    """The state after steps on minibatches of (inputs, targets, weights)."""
    for inputs, targets, weights in batches:
        state = one_step(learner, state, inputs, targets, np.asarray(weights, np.float32), 0.05, jax.random.key(0))
    return state


@pytest.mark.parametrize("mixed", [False, True], ids=["one network", "mixture"])
def test_light_rows_stay_light_in_a_minibatch_of_their_own(mixed: bool, rng: np.random.Generator) -> None:
    """Rows of weight .001 that say the opposite move hardly more than rows of weight 0."""
    network, _, X, y = problem(rng)
    inputs, targets = jnp.asarray(exact.lift(X), jnp.float32), jnp.asarray(y, jnp.float32)
    learner: Any = MixtureLearner(SIZES) if mixed else AggregationLearner(SIZES)
    for objective in (Objective.LINEAR, Objective.LOG):
        state: Any = start(network, network, objective, 500, 0.05)
        if mixed:
            state = start_mixture((network,), (network,), objective, 500, 0.05)
        heavy = inputs, targets, np.ones(8)
        light, none, equal = ((inputs, -targets, np.full(8, weight)) for weight in (1e-3, 0, 1))
        moved, kept, turned = (after(learner, state, heavy, batch).theta for batch in (light, none, equal))
        assert np.abs(moved - kept).max() < 1e-3
        assert np.abs(turned - kept).max() > 1e-2
