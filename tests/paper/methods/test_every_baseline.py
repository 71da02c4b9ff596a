"""What the shared training loop relies on, for every learner."""

import subprocess
import sys
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from abnet.paper.methods import BNN, EBP, BinaryConnect, EBPAdam

LEARNERS: dict[str, Any] = {
    "EBP": EBP(),
    "EBP updated": EBP(updated_weights=True),
    "EBPAdam": EBPAdam(),
    "BC": BinaryConnect(),
    "BC stochastic": BinaryConnect(stochastic=True),
    "BNN": BNN(),
}
SIZES = (6, 3, 1)
rng = np.random.default_rng(11)
X = rng.normal(size=(9, 6))
Y = rng.choice([-1.0, 1.0], 9)
W = np.array([1.0, 2.0, 1.0, 0.5, 1.0, 1.0, 0.0, 0.0, 0.0])
RATES = np.array([0.1, 0.01, 0.001])
step = jax.jit(lambda learner, *arguments: learner.step(*arguments), static_argnums=0)


@pytest.fixture(params=LEARNERS)
def learner(request: pytest.FixtureRequest) -> Any:
    return LEARNERS[request.param]


def leaves(state: Any) -> list[np.ndarray]:
    return [np.asarray(leaf) for leaf in jax.tree.leaves(state)]


def begin(learner: Any, seed: int) -> Any:
    """A state of the learner's own shapes, filled by NumPy: compiling `init` costs more than the rest of a test."""
    rng = np.random.default_rng(seed)
    shapes = jax.eval_shape(lambda k: learner.init(k, SIZES), jax.random.key(0))
    return learner.start(jax.tree.map(lambda leaf: rng.uniform(-1, 1, leaf.shape).astype(leaf.dtype), shapes))


def test_learner_is_a_value(learner: Any) -> None:
    assert hash(learner) == hash(type(learner)(**vars(learner)))
    assert learner == type(learner)(**vars(learner))
    assert len(set(LEARNERS.values())) == len(LEARNERS)


# In float64: Adam divides by the gradient's size, so that float32 would turn the rounding of tiny gradients into steps.
@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("name", ["EBP", "EBPAdam", "BC stochastic", "BNN"])  # the others run the same program or less
def test_side_by_side_equals_one_by_one_and_padding_has_no_influence(name: str) -> None:
    learner = LEARNERS[name]
    keys = jax.random.split(jax.random.key(2), 3)
    separate = [begin(learner, seed) for seed in range(3)]
    states = jax.tree.map(lambda *each: np.stack(each), *separate)
    together = jax.jit(jax.vmap(learner.step, in_axes=(0, None, None, None, 0, 0)))
    elsewhere = np.where(W[:, None] > 0, X, 1e3), np.where(W > 0, Y, -Y), W
    for _ in range(3):
        states = together(states, X, Y, W, RATES, keys)
        separate = [step(learner, s, *elsewhere, rate, key) for s, rate, key in zip(separate, RATES, keys, strict=True)]
    for i, state in enumerate(separate):
        for found, expected in zip(leaves(states), leaves(state), strict=True):
            np.testing.assert_allclose(found[i], expected, rtol=1e-6, atol=1e-8)
    assert any((leaf[0] != leaf[1]).any() for leaf in leaves(states))


@pytest.mark.usefixtures("x64")
def test_padding_alone_leaves_the_state(learner: Any) -> None:
    state = begin(learner, 0)
    after = step(learner, state, X, Y, np.zeros(9), RATES[0], jax.random.key(1))
    assert all(np.array_equal(a, b) for a, b in zip(leaves(after), leaves(state), strict=True))


def test_output_is_a_row_wise_score_and_monitor_its_weighted_error(learner: Any) -> None:
    state = begin(learner, 0)
    output = jax.jit(learner.output)
    scores = np.asarray(output(state, X, jax.random.key(1)))
    assert scores.shape == (9,)
    np.testing.assert_allclose(output(state, X[::-1], jax.random.key(1)), scores[::-1], rtol=1e-5, atol=1e-6)
    wrong = np.where(scores >= 0, 1, -1) != Y
    assert float(learner.monitor(state, *map(jnp.asarray, (scores, Y, W)))) == pytest.approx(
        np.average(wrong, weights=W), rel=1e-6
    )


@pytest.mark.parametrize("x64", [False, True])
def test_state_keeps_its_shapes_and_types_through_a_step(learner: Any, x64: bool) -> None:
    with jax.enable_x64(x64):
        state = begin(learner, 0)
        rows = (jnp.asarray(a) for a in (X, Y, W))
        after = jax.eval_shape(learner.step, state, *rows, 0.1, jax.random.key(1))
    kinds = [[(leaf.shape, leaf.dtype) for leaf in jax.tree.leaves(tree)] for tree in (state, after)]
    assert kinds[0] == kinds[1]
    assert {str(dtype) for shape, dtype in kinds[0] if shape} == {"float64" if x64 else "float32"}


def test_two_outputs_are_refused(learner: Any) -> None:
    with pytest.raises(ValueError, match="output"):
        learner.init(jax.random.key(0), (6, 3, 2))


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("name", ["EBP", "EBPAdam", "BC", "BNN"])
def test_several_outputs_without_a_hidden_layer_are_as_many_networks(name: str) -> None:
    """Nothing is shared then: every output, one against the rest, must learn as a network of its own does."""
    learner = LEARNERS[name]
    K = 3
    winner = np.arange(9) % K
    targets = 2.0 * np.eye(K)[winner] - 1
    shapes = jax.eval_shape(lambda k: learner.init(k, (6, K)), jax.random.key(0))
    drawn = np.random.default_rng(5)
    whole = learner.start(jax.tree.map(lambda leaf: drawn.uniform(-1, 1, leaf.shape), shapes))
    # The steps of a weight matrix are scaled by its shape, which is the one thing that differs.
    same = learner
    if name in ("BC", "BNN"):
        same = replace(learner, glorot_scale=False)
    alone = [jax.tree.map(lambda leaf, j=j: leaf[j : j + 1] if np.ndim(leaf) else leaf, whole) for j in range(K)]
    if name != "EBP":  # Adam's moments are one vector: begun anew for each
        parts = [state[0] for state in alone]
        alone = [learner.start(part) for part in parts]
    for _ in range(3):
        whole = step(same, whole, X, targets, W, 0.05, jax.random.key(1))
        alone = [step(same, state, X, targets[:, j], W, 0.05, jax.random.key(1)) for j, state in enumerate(alone)]
    output = jax.jit(learner.output)
    together = np.asarray(output(whole, X, jax.random.key(1)))
    assert together.shape == (9, K)
    for j, state in enumerate(alone):
        # Adam's ε is felt by a third of the gradient, which is the mean over outputs.
        np.testing.assert_allclose(together[:, j], output(state, X, jax.random.key(1)), rtol=1e-4, atol=1e-6)
    wrong = together.argmax(axis=1) != winner
    assert float(learner.monitor(whole, together, targets, W)) == pytest.approx(np.average(wrong, weights=W))


def test_prediction_does_not_import_jax() -> None:
    program = "import sys; import abnet.model.predictors.layers; sys.exit('jax' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
