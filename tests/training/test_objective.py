"""What a posterior minimises, against the formulas, and what a step does."""

from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from abnet.networks import Aggregation, Exact, PBGNet, exact, expected_output, pbgnet
from abnet.networks.bam import BAM
from abnet.networks.codebook import code_words, decode_table
from abnet.networks.lifting import lift
from abnet.networks.posterior import Posterior
from abnet.training.compilation import compiled_epoch
from abnet.training.flat_parameters import flattened, unflattened
from abnet.training.loop import Limits, Span
from abnet.training.objective import LOG_MIXTURE, Objective
from abnet.training.posterior_learner import PosteriorLearner, State, start
from abnet.training.runner import Stage, train
from abnet.training.stages import lifted_rows
from conftest import random_network

SIZES = (3, 2, 2, 1)


def problem(rng: np.random.Generator) -> tuple[BAM, BAM, np.ndarray, np.ndarray]:
    network, prior = (random_network(rng, SIZES).astype(np.float32) for _ in range(2))
    return network, prior, rng.normal(size=(8, 3)), np.where(rng.random(8) < 0.5, -1.0, 1.0)


def state_of(network: BAM, prior: BAM, objective: Objective, n: int) -> State:
    return start(Posterior.from_networks([network], [prior], Exact()), objective, n, 0.05)


def monitored(learner: PosteriorLearner, network: BAM, prior: BAM, objective: Objective, X: np.ndarray, y: np.ndarray,
              weights: np.ndarray) -> float:  # fmt: skip
    state = state_of(network, prior, objective, 500)
    inputs = jnp.asarray(lift(X), jnp.float32)
    out = jax.jit(learner.output)(state, inputs, jax.random.key(0))
    return float(jax.jit(learner.monitor)(state, out, np.asarray(y, np.float32), np.asarray(weights, np.float32)))


def test_flatten_and_back(rng: np.random.Generator) -> None:
    networks = [random_network(rng, SIZES).astype(np.float32) for _ in range(3)]
    layers = Posterior.from_networks(networks, networks, Exact()).layers
    again = unflattened(flattened(layers), SIZES)
    for a, b in zip(layers, again, strict=True):
        np.testing.assert_array_equal(a, b)


def test_linear_and_log_losses_are_those_of_the_exact_output(rng: np.random.Generator) -> None:
    network, prior, X, y = problem(rng)
    F = expected_output(network.astype(np.float64), X)
    w = rng.random(8)
    linear = np.sum(w * (1 - y * F) / 2) / w.sum()
    chance = (1 - LOG_MIXTURE) * (1 + y * F) / 2 + LOG_MIXTURE / 2
    learner = PosteriorLearner(SIZES)
    assert monitored(learner, network, prior, Objective.LINEAR, X, y, w) == pytest.approx(linear, rel=1e-5)
    log_loss = -np.sum(w * np.log(chance)) / w.sum()
    assert monitored(learner, network, prior, Objective.LOG, X, y, w) == pytest.approx(log_loss, rel=1e-5)


@pytest.mark.parametrize(("aggregation", "module"), [(Exact(), exact), (PBGNet(), pbgnet)])
def test_the_bound_is_catonis_with_the_aggregations_own_kl(
    aggregation: Aggregation, module: Any, rng: np.random.Generator
) -> None:
    network, prior, X, y = problem(rng)
    F = module.expected_output(network.astype(np.float64), X)
    kl = module.kl(network.astype(np.float64), prior.astype(np.float64))
    risk = np.mean((1 - y * F) / 2)
    expected = (1 - np.exp(-risk - (kl + np.log(2 * np.sqrt(500) / 0.05)) / 500)) / (1 - np.exp(-1))
    value = monitored(PosteriorLearner(SIZES, aggregation), network, prior, Objective.BOUND, X, y, np.ones(8))
    assert value == pytest.approx(expected, rel=1e-5)


def test_steps_lower_each_objective_and_learn_C_with_the_bound_only(rng: np.random.Generator) -> None:
    network, _, X, _ = problem(rng)
    y = np.sign(X[:, 0])
    learner = PosteriorLearner(SIZES)
    output, step, monitor = (jax.jit(rule) for rule in (learner.output, learner.step, learner.monitor))
    inputs, targets, weights = (jnp.asarray(a, jnp.float32) for a in (lift(X), y, np.ones(8)))
    for objective in Objective:
        state = state_of(network, network, objective, 5000)
        before = monitor(state, output(state, inputs, None), targets, weights)
        for _ in range(30):
            state = step(state, inputs, targets, weights, 0.02, jax.random.key(0))
        after = monitor(state, output(state, inputs, None), targets, weights)
        assert after < before
        assert (float(state.learned.log_c) != 0) == (objective is Objective.BOUND)


def test_deviations_are_learned_through_the_bound_alone(rng: np.random.Generator) -> None:
    network, prior, X, y = problem(rng)
    learner = PosteriorLearner(SIZES, deviations=True)
    begin = Posterior.from_networks([network], [prior], Exact(), [0.2, -0.1, 0.3])
    inputs, targets, weights = (jnp.asarray(a, jnp.float32) for a in (lift(X), y, np.ones(8)))
    step = jax.jit(learner.step)
    for objective in Objective:
        state = start(begin, objective, 5000, 0.05, deviations=True)
        moved = step(state, inputs, targets, weights, 0.02, jax.random.key(0)).learned
        assert not np.array_equal(moved.weights, state.learned.weights)
        assert np.array_equal(moved.log_sigma, state.learned.log_sigma) == (objective is not Objective.BOUND)


def test_the_gradient_of_the_deviations_is_that_of_the_bound_in_numpy(rng: np.random.Generator) -> None:
    """Central differences in float64 of Eq. 6 on the posterior's own output and divergence."""
    network, prior, X, y = problem(rng)
    logs = np.array([0.2, -0.1, 0.3])
    n = 50
    delta = 0.05
    lifted = lift(X)

    def bound(log_sigma: np.ndarray) -> float:
        some = Posterior.from_networks([network], [prior], Exact(), list(log_sigma)).astype(np.float64)
        some = replace(some, log_sigma=tuple(log_sigma))
        risk = np.mean((1 - y * some.output(lifted)) / 2)
        return float((1 - np.exp(-risk - (some.kl() + np.log(2 * n**0.5 / delta)) / n)) / (1 - np.exp(-1)))

    step = 1e-5
    differences = [(bound(logs + step * e) - bound(logs - step * e)) / (2 * step) for e in np.eye(3)]
    learner = PosteriorLearner(SIZES, deviations=True)
    begin = Posterior.from_networks([network], [prior], Exact(), list(logs))
    state = jax.tree.map(jnp.asarray, start(begin, Objective.BOUND, n, delta, deviations=True))
    inputs = jnp.asarray(lifted, jnp.float32)
    targets = np.asarray(y, np.float32)

    def objective(log_sigma: Any) -> Any:
        moved = state._replace(learned=state.learned._replace(log_sigma=log_sigma))
        return learner.monitor(moved, learner.output(moved, inputs, None), targets, np.ones(8, np.float32))

    np.testing.assert_allclose(jax.jit(jax.grad(objective))(state.learned.log_sigma), differences, rtol=2e-4)


def test_rows_of_weight_zero_do_not_move_a_step(rng: np.random.Generator) -> None:
    network, prior, X, y = problem(rng)
    learner = PosteriorLearner(SIZES)
    state = state_of(network, prior, Objective.BOUND, 500)
    inputs = jnp.asarray(lift(X), jnp.float32)
    targets = jnp.asarray(y, jnp.float32)
    weights = jnp.asarray([1.0, 1, 1, 1, 0, 0, 0, 0])
    step = jax.jit(learner.step)
    full = step(state, inputs, targets, weights, 0.01, jax.random.key(0))
    spoiled = step(state, inputs.at[4:].set(0.5), -targets.at[:4].multiply(-1), weights, 0.01, jax.random.key(0))
    np.testing.assert_array_equal(full.learned.weights, spoiled.learned.weights)


def test_the_saturated_log_loss_stays_finite() -> None:
    learner = PosteriorLearner((1, 1, 1))
    network = BAM((np.array([[1e4]]), np.array([[1e4]])), (np.zeros(1), np.zeros(1))).astype(np.float32)
    state = state_of(network, network, Objective.LOG, 10)
    inputs = jnp.asarray(lift(np.array([[5.0]])), jnp.float32)
    wrong = jnp.asarray([-1.0])
    output, step, monitor = (jax.jit(rule) for rule in (learner.output, learner.step, learner.monitor))
    after = step(state, inputs, wrong, jnp.ones(1), 0.1, jax.random.key(0))
    assert np.isfinite(after.learned.weights).all()
    value = monitor(state, output(state, inputs, None), wrong, jnp.ones(1))
    assert value == pytest.approx(-np.log(LOG_MIXTURE / 2), rel=1e-3)


one_step = jax.jit(lambda learner, *arguments: learner.step(*arguments), static_argnums=0)


def after(learner: Any, state: Any, *batches: Any) -> Any:
    """The state after steps on minibatches of (inputs, targets, weights)."""
    for inputs, targets, weights in batches:
        state = one_step(learner, state, inputs, targets, np.asarray(weights, np.float32), 0.05, jax.random.key(0))
    return state


@pytest.mark.parametrize("count", [1, 2], ids=["one network", "mixture"])
def test_light_rows_stay_light_in_a_minibatch_of_their_own(count: int, rng: np.random.Generator) -> None:
    """Rows of weight .001 that say the opposite move hardly more than rows of weight 0."""
    network, _, X, y = problem(rng)
    inputs = jnp.asarray(lift(X), jnp.float32)
    targets = jnp.asarray(y, jnp.float32)
    learner = PosteriorLearner(SIZES, n_members=count)
    posterior = Posterior.from_networks([network] * count, [network] * count, Exact())
    for objective in (Objective.LINEAR, Objective.LOG):
        state = start(posterior, objective, 500, 0.05)
        heavy = inputs, targets, np.ones(8)
        light, none, equal = ((inputs, -targets, np.full(8, weight)) for weight in (1e-3, 0, 1))
        moved, kept, turned = (after(learner, state, heavy, batch).learned.weights for batch in (light, none, equal))
        assert np.abs(moved - kept).max() < 1e-3
        assert np.abs(turned - kept).max() > 1e-2


def oracle(members: list[np.ndarray], targets: np.ndarray, K: int, together: float) -> dict[str, float]:
    """Linear and log loss from the members' probabilities (rows, K) and a distribution for each row."""

    def log_loss(P: np.ndarray) -> float:
        mixed = (1 - LOG_MIXTURE) * P + LOG_MIXTURE / K
        return float(np.mean(-np.sum(targets * np.log(mixed), axis=1)))

    mean = np.mean(members, axis=0)
    alone = np.mean([log_loss(P) for P in members])
    return {
        "linear": 1 - float(np.mean(np.sum(targets * mean, axis=1))),
        "log": together * log_loss(mean) + (1 - together) * float(alone),
    }


@pytest.mark.parametrize(("sizes", "K"), [((3, 4, 1), 2), ((3, 4, 4), 3)])
def test_objectives_are_the_formulas(sizes: tuple[int, ...], K: int, rng: np.random.Generator) -> None:
    networks = tuple(random_network(rng, sizes, scale=2.0) for _ in range(3))
    X = rng.normal(size=(7, 3))
    soft = rng.dirichlet(np.ones(K), 7)
    table = decode_table(code_words(K, sizes[-1]))
    expected = oracle([exact.expected_output(n, X, table) for n in networks], soft, K, 0.5)
    learner = PosteriorLearner(sizes, Exact(), 3, K, together=0.5)
    targets = 2 * soft[:, 1] - 1 if K == 2 else soft
    posterior = Posterior.from_networks(networks, networks, Exact())
    state = start(posterior, Objective.LOG, 7, 0.05)
    members = jax.jit(learner._outputs)(state, jnp.asarray(lift(X), jnp.float32), jax.random.key(0))
    for one in (learner, replace(learner, bounded=False)):
        value = jax.jit(one._objective)
        for objective, name in ((Objective.LINEAR, "linear"), (Objective.LOG, "log")):
            state = start(posterior, objective, 7, 0.05)
            found = value(state, members, jnp.asarray(targets, jnp.float32), jnp.ones(7))
            assert float(found) == pytest.approx(expected[name], abs=2e-6)


def test_divergence_in_the_bound_is_the_mean_of_the_members(rng: np.random.Generator) -> None:
    sizes = (3, 2, 1)
    moved = 0.3
    priors = tuple(random_network(rng, sizes) for _ in range(4))
    shifted = BAM.from_layers(tuple(V + moved for V in priors[0].layers))
    learner = PosteriorLearner(sizes, n_members=4)
    args = (jnp.zeros((1, 5)), jnp.ones(5), jnp.ones(5))
    kl = 0.5 * moved**2 * sum(V.size for V in priors[0].layers) / 4
    posterior = Posterior.from_networks((shifted, *priors[1:]), priors, Exact())
    one = learner._objective(start(posterior, Objective.BOUND, 50, 0.05), *args)
    # Catoni at C = 1, risk one half
    n = 50
    delta = 0.05
    bound = (1 - np.exp(-0.5 - (kl + np.log(2 * n**0.5 / delta)) / n)) / (1 - np.exp(-1))
    assert float(one) == pytest.approx(bound, abs=1e-5)


def test_one_program_serves_all_objectives(rng: np.random.Generator) -> None:
    network, prior, X, y = problem(rng)
    learner = PosteriorLearner((*SIZES[:-1], 1), Exact())
    program = compiled_epoch((learner,))
    before = program._cache_size()
    rows = lifted_rows(X, y, None)
    every_row = Span(0, len(y))
    for objective in Objective:
        stage = Stage("any", state_of(network, prior, objective, 8), every_row, every_row, 0.1, 7, Limits(max_epochs=2))
        assert len(train(learner, stage, rows, rng).curve) == 3
    assert program._cache_size() == before + 1
