from fractions import Fraction

import hypothesis.strategies as st
import jax
import numpy as np
import pytest
from hypothesis import given, settings

from abnet.model.predictors.layers import Affine, Layers, Step, first_nonnegative
from abnet.networks.codebook import code_words, nearest_word
from abnet.paper.methods.binary_learner import BinaryParameters, BinaryState, Statistics
from abnet.paper.methods.binaryconnect import BinaryConnect
from abnet.paper.methods.bnn import BNN
from conftest import random_network

KEY = jax.random.key(0)
SIZES = (6, 5, 4, 1)


def random_state(seed: int) -> BinaryState:
    """Statistics and parameters on a coarse grid, so that integer rows meet exact ties, with γ of every sign."""
    rng = np.random.default_rng(seed)
    parameters = BinaryParameters(
        tuple(rng.uniform(-1, 1, (d, inputs)) for d, inputs in zip(SIZES[1:], SIZES[:-1], strict=True)),
        tuple(rng.choice([-2.0, -0.5, 0.0, 1.0, 1.5], d) for d in SIZES[1:]),
        tuple(rng.choice([-1.0, 0.0, 0.0, 0.5], d) for d in SIZES[1:]),
    )
    running = (Statistics(rng.integers(-2, 3, d) * 1.0, rng.choice([0.25, 1, 4], d)) for d in SIZES[1:])
    return BinaryState(parameters, None, tuple(running))


LEARNERS = {
    "bnn": BNN(epsilon=0.0),
    "binaryconnect": BinaryConnect(epsilon=0.0),
    "stochastic binaryconnect": BinaryConnect(epsilon=0.0, stochastic=True),
    "bnn with epsilon": BNN(),
}


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("name", LEARNERS)
def test_folding_gives_the_labels_of_evaluation_mode_ties_included(name: str) -> None:
    learner = LEARNERS[name]
    X = np.random.default_rng(1).integers(-3, 4, (200, 6)).astype(float)
    output = jax.jit(learner.output)
    ties = 0
    for seed in range(6):
        state = random_state(seed)
        scores = np.asarray(output(state, X, KEY))
        network = learner.fold(state)
        np.testing.assert_array_equal(network.votes(X), scores >= 0)
        np.testing.assert_allclose(network.scores(X), scores, rtol=1e-12, atol=1e-12)
        a = X @ network.weights[0].T
        ties += np.sum(a == np.asarray(state.running[0].mean))
    assert ties > 0 or name.startswith("stochastic")  # real weights meet no ties


def float_or_grid(bound: float) -> st.SearchStrategy[float]:
    return st.one_of(st.floats(-bound, bound), st.integers(-4, 4).map(float))


@settings(deadline=None, max_examples=150)
@given(float_or_grid(1e3), float_or_grid(1e3), float_or_grid(1e3), st.lists(float_or_grid(1e4), max_size=5))
def test_step_is_the_sign_of_the_affine_map_at_every_float(centre: float, scale: float, shift: float, at: list) -> None:
    affine = Affine(np.array([centre]), np.array([scale]), np.array([shift]))
    step = Step.from_affine(affine)
    edge = float(step.flips[0] * step.thresholds[0])
    with np.errstate(over="ignore"):  # a constant unit's edge is the largest float
        near = [v for v in (edge, np.nextafter(edge, -np.inf), np.nextafter(edge, np.inf)) if np.isfinite(v)]
    a = np.array([*near, *at, centre, 0.0, -0.0])[:, None]
    with np.errstate(over="ignore"):
        expected = np.where(affine(a) >= 0, 1, -1)
    np.testing.assert_array_equal(step(a), expected)


@pytest.mark.parametrize("gamma", [0.8, -0.8])
def test_threshold_is_the_formula_up_to_rounding(gamma: float) -> None:
    step = Step.from_affine(Affine.from_normalisation([1.3], [2.0], [gamma], [0.6], epsilon=1e-4))
    tau = 1.3 - 0.6 * np.sqrt(2.0 + 1e-4) / gamma
    assert step.flips[0] == np.sign(gamma)
    assert step.flips[0] * step.thresholds[0] == pytest.approx(tau, rel=1e-14)


def test_constant_units() -> None:
    constant = Affine(np.zeros(3), np.zeros(3), np.array([-0.5, 0.0, 0.5]))
    assert Step.from_affine(constant)(np.array([[-1e300] * 3, [1e300] * 3])).tolist() == [[-1, 1, 1]] * 2


def test_first_nonnegative_is_the_next_float_above_an_irrational_root() -> None:
    root = first_nonnegative(lambda t: np.where([Fraction(v) ** 2 >= 2 and v > 0 for v in t], 1.0, -1.0), 1)[0]
    assert Fraction(root) ** 2 >= 2 > Fraction(np.nextafter(root, 0)) ** 2


def test_binary_weights_are_int8_and_real_ones_stay_real() -> None:
    binary, real = (LEARNERS[name].fold(random_state(0)) for name in ("bnn", "stochastic binaryconnect"))
    assert {W.dtype for W in binary.weights} == {np.dtype(np.int8)}
    assert {W.dtype for W in real.weights} == {np.dtype(np.float64)}
    assert binary.sizes == SIZES


def test_rows_do_not_depend_on_their_batch() -> None:
    network = BinaryConnect().fold(random_state(2))
    X = np.random.default_rng(3).normal(size=(9, 6))
    one_by_one = np.concatenate([network.scores(X[i : i + 1]) for i in range(9)])
    np.testing.assert_allclose(network.scores(X), one_by_one, rtol=1e-12, atol=1e-12)


def test_layers_without_units_are_refused() -> None:
    with pytest.raises(ValueError, match="units"):
        Layers((np.ones((1, 2)),), ())


@pytest.mark.parametrize("sizes", [(3, 1), (3, 4, 1), (3, 50, 40, 30, 1), (3, 6, 4)], ids=str)
def test_a_sign_network_of_any_depth_and_width(sizes: tuple[int, ...], rng: np.random.Generator) -> None:
    network = random_network(rng, sizes)
    X = rng.normal(size=(2000, 3)).astype(np.float32)
    words = None if sizes[-1] == 1 else code_words(5, sizes[-1])
    layers = Layers.from_network(network, words)
    signal = X.astype(np.float64)
    for W, b in zip(network.weights, network.biases, strict=True):
        signal = np.where(signal @ W.T + b >= 0, 1.0, -1.0)
    if words is None:
        expected = signal[:, 0]
    else:
        expected = np.eye(5)[nearest_word(words, signal)]
    np.testing.assert_array_equal(layers.scores(X), expected)
    assert layers.network is not None
    for mine, theirs in zip(
        (*layers.network.weights, *layers.network.biases), (*network.weights, *network.biases), strict=True
    ):
        np.testing.assert_array_equal(mine, theirs)


def test_a_zero_activation_is_plus_one(rng: np.random.Generator) -> None:
    network = random_network(rng, (2, 3, 1))
    zero = type(network)(network.weights, (np.zeros(3), network.biases[1]))
    x = np.zeros((1, 2))
    assert Layers.from_network(zero).scores(x)[0] == zero.predict(x)[0]


def test_other_units_are_no_sign_network() -> None:
    assert BNN().fold(random_state(0)).network is None
