from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.scipy.special import erf as jax_erf
from jax.scipy.special import log_ndtr
from scipy.special import erf

from abnet.model.predictors.moments import posterior_average
from abnet.networks.bam import BAM
from abnet.paper.methods.ebp import EBP, EBPAdam, ascent_direction, uniform_means

Train = Callable[..., Any]
Blobs = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
KEY = jax.random.key(0)
output = jax.jit(posterior_average, static_argnames="e")
direction = jax.jit(ascent_direction, static_argnames=("e", "updated_weights"))


def random_network(seed: int, sizes: tuple[int, ...]) -> BAM:
    rng = np.random.default_rng(seed)
    pairs = list(zip(sizes[1:], sizes[:-1], strict=True))
    return BAM(
        tuple(rng.normal(size=p) for p in pairs),
        tuple(rng.normal(size=d) for d, _ in pairs),
    )


def random_rows(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Twelve rows of five inputs, in all tests: each new shape costs a compilation."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(12, 5)), rng.choice([-1.0, 1.0], 12), rng.uniform(0.5, 2, 12)


def one_row(x: list[float], y: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """One row that counts, and eleven of weight 0."""
    return np.tile(x, (12, 1)), np.full(12, y), np.eye(12)[0]


def objective(network: BAM, x: jax.Array, y: jax.Array, w: jax.Array, e: float) -> jax.Array:
    """``Σ w log Φ(y z_L)`` with every s_l behind a stop_gradient, to be differentiated by JAX."""
    v = x
    variance = jnp.sum(x**2, 1)[:, None] + 1
    for k, (M, b) in enumerate(zip(*network, strict=True)):
        if k:
            variance = (M.shape[1] + 1) + (1 - v**2) @ (M**2).T + e
        z = (v @ M.T + b[None]) / jax.lax.stop_gradient(jnp.sqrt(variance))
        v = jax_erf(z / jnp.sqrt(2))
    return jnp.sum(w[:, None] * log_ndtr(y.reshape(z.shape) * z))


def assert_same_tree(found: BAM, expected: BAM, *, rtol: float, atol: float = 0) -> None:
    for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(a, b, rtol=rtol, atol=atol)


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize(("sizes", "e"), [((5, 1), 1.0), ((5, 3, 1), 1.0), ((5, 3, 4, 1), 0.0), ((5, 4, 3, 2, 1), 1.0)])
def test_update_is_the_gradient_with_constant_deviations(sizes: tuple[int, ...], e: float) -> None:
    network = random_network(1, sizes)
    rows = random_rows(2)
    expected = jax.jit(jax.grad(objective), static_argnums=4)(network, *rows, e)
    assert_same_tree(direction(network, *rows, e=e), expected, rtol=1e-8, atol=1e-12)


@pytest.mark.usefixtures("x64")
def test_update_of_several_classes_is_the_gradient_of_the_sum_over_outputs() -> None:
    network, (x, _, w) = random_network(1, (5, 3, 4)), random_rows(2)
    y = 2 * np.eye(4)[np.random.default_rng(3).integers(0, 4, 12)] - 1
    expected = jax.jit(jax.grad(objective), static_argnums=4)(network, x, y, w, 1.0)
    assert_same_tree(direction(network, x, y, w, e=1.0), expected, rtol=1e-8, atol=1e-12)


@pytest.mark.usefixtures("x64")
def test_step_adds_the_update_to_the_means_whatever_the_rate() -> None:
    network = random_network(1, (5, 3, 1))
    rows = random_rows(2)
    expected = jax.tree.map(np.add, network, direction(network, *rows, e=1.0))
    step = jax.jit(EBP().step)
    assert_same_tree(step(network, *rows, 0.1, KEY), expected, rtol=1e-12)
    assert_same_tree(step(network, *rows, 7.0, jax.random.key(9)), expected, rtol=1e-12)


@pytest.mark.usefixtures("x64")
def test_one_layer_from_zero_has_a_closed_form() -> None:
    x = [0.5, -2.0, 1.0, 0.0, 3.0]
    zero = BAM((np.zeros((1, 5)),), (np.zeros(1),))
    for y in (-1.0, 1.0):
        step = direction(zero, *one_row(x, y), e=1.0)
        extended = np.append(x, 1)
        expected = y * extended * np.sqrt(2 / np.pi) / np.linalg.norm(extended)
        np.testing.assert_allclose(np.append(step.weights[0], step.biases[0]), expected, rtol=1e-12)


@pytest.mark.usefixtures("x64")
def test_one_layer_moves_to_the_exact_posterior_mean() -> None:
    rng = np.random.default_rng(3)
    # the last input is the bias's 1
    mean = rng.normal(size=6) / 2
    x = np.append(rng.normal(size=5), 1)
    y = -1.0
    step = direction(BAM((mean[None, :5],), (mean[5:],)), *one_row(x[:5].tolist(), y), e=1.0)
    draws = mean + rng.normal(size=(400_000, 6))
    kept = draws[y * (draws @ x) > 0]
    z = (mean + np.append(step.weights[0], step.biases[0]) - kept.mean(0)) / (kept.std(0) / np.sqrt(len(kept)))
    assert np.abs(z).max() < 4


@pytest.mark.usefixtures("x64")
def test_first_layer_sees_only_the_direction_of_the_extended_input() -> None:
    network, (x, y, w) = random_network(4, (5, 1)), random_rows(5)
    W = np.asarray(network.weights[0][0])
    b = float(network.biases[0][0])
    extended = np.hstack([x, np.ones((12, 1))])
    expected = erf(extended @ np.append(W, b) / (np.sqrt(2) * np.linalg.norm(extended, axis=1)))
    np.testing.assert_allclose(output(network, x, e=1.0), expected, rtol=1e-12)
    # (x, 1) times t: move the 1 into a sixth input, with its own weight, and compare two scales up to the new bias's 1
    wide = BAM((np.append(W, b)[None],), (np.zeros(1),))
    big, bigger = (t * extended for t in (1e6, 3e6))
    np.testing.assert_allclose(output(wide, big, e=1.0), output(wide, bigger, e=1.0), rtol=1e-9)
    steps = [direction(wide, rows, y, w, e=1.0).weights[0] for rows in (big, bigger)]
    np.testing.assert_allclose(steps[0], steps[1], rtol=1e-9)
    np.testing.assert_allclose(steps[0][0, :5], direction(network, x, y, w, e=1.0).weights[0][0], rtol=1e-9)


@pytest.mark.usefixtures("x64")
def test_saturated_hidden_units_make_a_perceptron() -> None:
    network, (x, _, _) = random_network(6, (5, 3, 1)), random_rows(7)
    s = np.array([1.0, -1.0, 1.0])
    network = network._replace(biases=(1e4 * s, network.biases[1]))
    expected = erf((np.asarray(network.weights[1][0]) @ s + float(network.biases[1][0])) / np.sqrt(2 * 4))
    np.testing.assert_allclose(output(network, x, e=0.0), expected, rtol=1e-12)


def test_hidden_updates_vanish_below_a_zero_output_layer() -> None:
    network = random_network(8, (5, 3, 1))
    rows = random_rows(9)
    network = network._replace(weights=(network.weights[0], np.zeros((1, 3))))
    step = direction(network, *rows, e=1.0)
    assert not step.weights[0].any()
    assert not step.biases[0].any()
    assert step.weights[1].all()


@pytest.mark.usefixtures("x64")
def test_flipping_a_hidden_unit_changes_no_output() -> None:
    network, (x, _, _) = random_network(10, (5, 3, 4, 1)), random_rows(11)
    (M_1, M_2, M_3), (b_1, b_2, b_3) = network
    s = np.array([1.0, -1.0, 1.0])
    flipped = BAM((s[:, None] * M_1, M_2 * s, M_3), (s * b_1, b_2, b_3))
    np.testing.assert_allclose(output(flipped, x, e=1.0), output(network, x, e=1.0), rtol=1e-12)


@pytest.mark.usefixtures("x64")
def test_negating_labels_and_output_layer_leaves_hidden_updates() -> None:
    network, (x, y, w) = random_network(12, (5, 3, 1)), random_rows(13)
    negated = BAM((network.weights[0], -network.weights[1]), (network.biases[0], -network.biases[1]))
    step = direction(network, x, y, w, e=1.0)
    mirrored = direction(negated, x, -y, w, e=1.0)
    np.testing.assert_allclose(mirrored.weights[0], step.weights[0], rtol=1e-12)
    np.testing.assert_allclose(mirrored.weights[1], -step.weights[1], rtol=1e-12)


@pytest.mark.usefixtures("x64")
def test_tails() -> None:
    def update(a: float) -> float:  # x = 1, so s² = 2; all of the pre-activation a is bias
        network = BAM((np.zeros((1, 5)),), (np.array([a]),))
        return float(direction(network, *one_row([1.0, 0, 0, 0, 0], 1.0), e=1.0).biases[0][0])

    assert update(-50.0) == pytest.approx(25.020, abs=5e-4)
    assert 0 < update(50.0) < 1e-270
    assert update(-5e5) == pytest.approx(5e5 / 2)


def test_tails_are_finite_in_float32() -> None:
    network = BAM((np.zeros((1, 5)),), (np.array([-5e5]),))
    wrong, right = (direction(network, *one_row([1.0, 0, 0, 0, 0], y), e=1.0) for y in (1.0, -1.0))
    assert float(wrong.biases[0][0]) == pytest.approx(2.5e5, rel=1e-6)
    assert float(right.biases[0][0]) == 0


def explicit_update(network: BAM, x: np.ndarray, y: float, e: float, updated: bool) -> list[tuple]:
    """The recursion in loops over units, with the normal's functions from the error function."""
    phi = lambda z: np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)  # noqa: E731
    M = [np.asarray(m) for m in network.weights]
    b = [np.asarray(c) for c in network.biases]
    v = [x]
    z = []
    s = []
    for k in range(len(M)):
        if k == 0:
            spread = x @ x + 1
        else:
            spread = len(v[k]) + 1 + e + np.array([sum(r**2 * (1 - v[k] ** 2)) for r in M[k]])
        s.append(np.sqrt(spread) * np.ones(len(M[k])))
        z.append((M[k] @ v[k] + b[k]) / s[k])
        v.append(erf(z[k] / np.sqrt(2)))
    delta = y * phi(z[-1]) / ((1 + y * v[-1]) / 2) / s[-1]
    steps = [(np.outer(delta, v[-2]), delta)]
    for k in range(len(M) - 2, -1, -1):
        if updated:
            above = M[k + 1] + steps[0][0]
        else:
            above = M[k + 1]
        delta = (delta @ above) * 2 * phi(z[k]) / s[k]
        steps.insert(0, (np.outer(delta, v[k]), delta))
    return steps


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("updated", [False, True])
def test_old_and_updated_weights_against_loops_over_one_row(updated: bool) -> None:
    network, (x, y, _) = random_network(14, (5, 3, 4, 1)), random_rows(15)
    step = direction(network, *one_row(x[0].tolist(), y[0]), e=1.0, updated_weights=updated)
    expected = explicit_update(network, x[0], y[0], 1.0, updated)
    for dM, db, (M, b) in zip(*step, expected, strict=True):
        np.testing.assert_allclose(dM, M, rtol=1e-10)
        np.testing.assert_allclose(db, b, rtol=1e-10)


@pytest.mark.usefixtures("x64")
def test_update_is_a_sum_over_rows_and_an_integer_weight_repeats_a_row() -> None:
    network, (x, y, _) = random_network(16, (5, 3, 1)), random_rows(17)
    counts = np.array([2.0, 0.0, 3.0, 0, 1, 1, 1, 0, 4, 0, 0, 0])
    rows = np.repeat(np.arange(12), counts.astype(int))
    repeated = direction(network, x[rows], y[rows], np.ones(12), e=1.0)
    assert_same_tree(direction(network, x, y, counts, e=1.0), repeated, rtol=1e-12, atol=1e-14)


def test_initial_means_are_uniform_with_variance_one_over_fan_in() -> None:
    network = uniform_means(KEY, (300, 50, 1))
    assert not any(b.any() for b in network.biases)
    for M in network.weights:
        m = np.asarray(M)
        bound = np.sqrt(3 / M.shape[1])
        assert np.abs(m).max() <= bound
        assert abs(m.var() * M.shape[1] - 1) < 4 * np.sqrt(0.8 / m.size)  # var(u²)/E(u²)² = 4/5 for a uniform u


def test_learns_blobs_posterior_average_and_sign_network(train: Train, blobs: Blobs) -> None:
    x, y, x_test, y_test = blobs
    learner = EBP()
    state = train(learner, (8, 10, 1), x, y, batch=10, epochs=10, rate=1.0)
    votes = np.asarray(output(state, x_test, e=1.0))
    assert np.mean(np.where(votes >= 0, 1, -1) != y_test) < 0.05
    assert np.mean(learner.network(state).predict(x_test) != y_test) < 0.05


def four_inputs(seed: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 4)), rng.choice([-1.0, 1.0], n)


def flat(network: BAM) -> np.ndarray:
    return np.concatenate([np.ravel(leaf) for leaf in jax.tree.leaves(network)])


@pytest.mark.usefixtures("x64")
def test_steps_of_the_variant_are_adam_on_the_mean_loss() -> None:
    learner = EBPAdam()
    state = learner.start(learner.init(KEY, (4, 3, 1)))
    step = jax.jit(learner.step)
    gradient = jax.jit(lambda *a: ascent_direction(*a, e=1.0))
    theta = flat(state.means)
    m = np.zeros_like(theta)
    v = np.zeros_like(theta)
    for t in range(1, 4):
        x, y = four_inputs(t, 6)
        g = -flat(gradient(state.means, x, y, np.ones(6))) / 6
        m = 0.9 * m + 0.1 * g
        v = 0.999 * v + 0.001 * g**2
        theta = theta - 0.01 * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
        state = step(state, x, y, np.ones(6), 0.01, KEY)
        np.testing.assert_allclose(flat(learner.network(state)), theta, rtol=1e-10)


@pytest.mark.usefixtures("x64")
def test_only_proportions_of_weights_matter_to_adam() -> None:
    learner, (x, y) = EBPAdam(), four_inputs(5, 6)
    state = learner.start(learner.init(KEY, (4, 3, 1)))
    step = jax.jit(learner.step)
    w = np.array([1.0, 2.0, 0.0, 1.0, 3.0, 1.0])
    np.testing.assert_allclose(
        flat(step(state, x, y, 10 * w, 0.01, KEY).means), flat(step(state, x, y, w, 0.01, KEY).means), rtol=1e-12
    )


def test_adam_learns_blobs(train: Train, blobs: Blobs) -> None:
    x, y, x_test, y_test = blobs
    learner = EBPAdam()
    state = train(learner, (8, 10, 1), x, y, batch=50, epochs=10, rate=0.1)
    votes = np.asarray(jax.jit(learner.output)(state, x_test, KEY))
    assert np.mean(np.where(votes >= 0, 1, -1) != y_test) < 0.05
