"""ABNet's exact output against the formula as written, and against sampled networks."""

from typing import Any

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest
import scipy.special
from jax import enable_x64
from jaxtyping import TypeCheckError

from abnet.networks import (
    Exact,
    PBGNet,
    cube,
    exact,
    expected_output,
    independent_signs,
    kl,
    pbgnet,
    region_values,
    representation_probabilities,
    square_wave,
)
from abnet.networks.bam import BAM
from abnet.networks.cube import corner_probabilities, corners
from abnet.networks.exact import check_width
from abnet.networks.lifting import lift, mean_activation
from conftest import random_network
from networks.as_written import abnet_output

ARCHITECTURES = [
    (3, 1, 1),
    (3, 2, 1),
    (2, 5, 1),
    (4, 3, 2, 1),
    (1, 2, 4, 1),
    (3, 1, 3, 1),
    (3, 4, 4, 4, 1),
    (2, 3, 1, 3, 1),
    (2, 2, 3, 2, 3, 1),
    (3, 3, 2, 2, 2, 3, 1),
    (2, 1, 1, 1, 1, 1, 1),
]


def inputs(rng: np.random.Generator, d: int) -> np.ndarray:
    return np.concatenate([np.zeros((1, d)), 2 * rng.normal(size=(5, d))])


def compiled_output(bam: BAM, X: np.ndarray) -> Any:
    """By JAX, in one program: uncompiled, each of its operations is compiled by itself, which takes far longer."""
    return jax.jit(lambda b: expected_output(b, X))(bam)


def enumerate_outputs(bam: BAM, X: np.ndarray) -> np.ndarray:
    return np.array([abnet_output(bam.weights, bam.biases, x, np, scipy.special.erf) for x in X])


@pytest.mark.parametrize("sizes", ARCHITECTURES, ids=str)
def test_equals_enumeration_in_float64(sizes: tuple[int, ...], rng: np.random.Generator) -> None:
    bam = random_network(rng, sizes)
    X = inputs(rng, sizes[0])
    np.testing.assert_allclose(expected_output(bam, X), enumerate_outputs(bam, X), rtol=0, atol=1e-12)


@pytest.mark.parametrize("sizes", [(3, 2, 1), (3, 4, 4, 4, 1), (3, 3, 2, 2, 2, 3, 1)], ids=str)
def test_jax_equals_enumeration_in_both_precisions(sizes: tuple[int, ...], rng: np.random.Generator) -> None:
    bam = random_network(rng, sizes)
    X = inputs(rng, sizes[0])
    single = compiled_output(jax.tree.map(lambda a: np.asarray(a, np.float32), bam), X)
    assert single.dtype == jnp.float32
    np.testing.assert_allclose(single, enumerate_outputs(bam, X), rtol=0, atol=1e-5)
    with enable_x64(True):
        double = compiled_output(bam, X)
        assert double.dtype == jnp.float64
        np.testing.assert_allclose(double, enumerate_outputs(bam, X), rtol=0, atol=1e-12)


@pytest.mark.parametrize("sizes", ARCHITECTURES, ids=str)
def test_is_the_mean_over_sampled_networks(sizes: tuple[int, ...], rng: np.random.Generator) -> None:
    """z-test against networks with every weight and bias perturbed and sign activations: the definition itself."""
    bam = random_network(rng, sizes, 1.0)
    X = inputs(rng, sizes[0])
    draws = 20_000
    F = expected_output(bam, X)
    s = np.broadcast_to(X, (draws, *X.shape))
    for W, b in zip(bam.weights, bam.biases, strict=True):
        W = W + rng.normal(size=(draws, *W.shape))
        b = b + rng.normal(size=(draws, *b.shape))
        s = np.where(np.einsum("tij,tnj->tni", W, s) + b[:, None, :] >= 0, 1.0, -1.0)
    z = (s[:, :, 0].mean(0) - F) / np.sqrt((1 - F**2) / draws)
    assert np.abs(z).max() < 4.5


def test_leaving_the_bias_variance_out_is_caught_by_that_test() -> None:
    """The divisor sqrt(2‖x‖²) of the public PBGNet code is far from what sampled networks do."""
    bam = BAM((np.array([[0.5]]), np.array([[1.0]])), (np.array([0.4]), np.array([0.2])))
    x = np.array([[0.3]])
    right = expected_output(bam, x)[0]
    m = scipy.special.erf((0.5 * 0.3 + 0.4) / np.sqrt(2 * 0.3**2))
    above = scipy.special.erf(np.array([-1.0 + 0.2, 1.0 + 0.2]) / np.sqrt(2))
    wrong = above @ np.array([0.5 - 0.5 * m, 0.5 + 0.5 * m])
    assert abs(wrong - right) > 0.1


def test_transition_columns_and_layer_probabilities_sum_to_one(rng: np.random.Generator) -> None:
    bam = random_network(rng, (3, 4, 3, 1))
    P_1 = corner_probabilities(mean_activation(bam.layers[0], lift(rng.normal(size=(5, 3)))))
    Psi = corner_probabilities(mean_activation(bam.layers[1], lift(corners(4, np.float64)))).T
    np.testing.assert_allclose(P_1.sum(1), 1)
    np.testing.assert_allclose(Psi.sum(0), 1)
    np.testing.assert_allclose((Psi @ P_1.T).sum(0), 1)


@pytest.mark.parametrize("sizes", [(3, 4, 1), (3, 6, 5, 1)], ids=str)
def test_region_values_are_bounded_and_give_the_output(sizes: tuple[int, ...], rng: np.random.Generator) -> None:
    bam = random_network(rng, sizes, 3.0)
    X = inputs(rng, sizes[0])
    H = region_values(bam)
    assert H.shape == (2 ** sizes[1],)
    assert np.abs(H).max() <= 1
    P_1 = corner_probabilities(mean_activation(bam.layers[0], lift(X)))
    np.testing.assert_allclose(P_1 @ H, expected_output(bam, X), atol=1e-14)


def test_a_table_of_class_probabilities_fits_as_well_as_signs(rng: np.random.Generator) -> None:
    """Three classes on two output neurons: rows sum to one, and equal enumeration over the outputs."""
    bam = random_network(rng, (2, 3, 2, 2))
    table = np.eye(3)[[0, 1, 2, 1]]
    H = region_values(bam, table)
    assert H.shape == (8, 3)
    np.testing.assert_allclose(H.sum(1), 1)
    Psi_2: Any = corner_probabilities(mean_activation(bam.layers[1], lift(corners(3, np.float64))))
    Psi_3 = corner_probabilities(mean_activation(bam.layers[2], lift(corners(2, np.float64))))
    expected: Any = Psi_2 @ Psi_3 @ table
    np.testing.assert_allclose(H, expected, atol=1e-14)


def test_two_classes_by_table_are_the_signed_table(rng: np.random.Generator) -> None:
    bam = random_network(rng, (2, 3, 4, 1))
    H = region_values(bam, np.eye(2))
    np.testing.assert_allclose(H[:, 1] - H[:, 0], region_values(bam), atol=1e-14)


def test_layer_one_sees_only_the_direction_of_the_lifted_input(rng: np.random.Generator) -> None:
    x = rng.normal(size=(4, 3))
    homogeneous = np.concatenate([x, np.ones((4, 1))], axis=1)
    for scale in (1e-3, 7.0):
        scaled = scale * homogeneous
        np.testing.assert_allclose(scaled / np.linalg.norm(scaled, axis=1, keepdims=True), lift(x), atol=1e-15)


def test_lift_survives_huge_and_empty_rows() -> None:
    lifted = lift(np.array([[1e30, -1e30], [3e38, 0.0]], np.float32))
    np.testing.assert_allclose(lifted, [[0.70710678, -0.70710678, 0.0], [1.0, 0.0, 0.0]], atol=1e-7)
    np.testing.assert_allclose(lift(np.zeros((1, 0))), [[1.0]])


def test_flipping_a_unit_changes_nothing(rng: np.random.Generator) -> None:
    bam = random_network(rng, (3, 4, 3, 1))
    X = rng.normal(size=(6, 3))
    V1, V2, V3 = (V.copy() for V in bam.layers)
    V1[2] *= -1
    V2[:, 2] *= -1
    flipped = BAM.from_layers((V1, V2, V3))
    np.testing.assert_allclose(expected_output(flipped, X), expected_output(bam, X), atol=1e-14)


def test_large_weights_approach_the_sign_network(rng: np.random.Generator) -> None:
    bam = random_network(rng, (3, 4, 3, 1))
    X = rng.normal(size=(40, 3))
    huge = BAM(tuple(1e6 * W for W in bam.weights), tuple(1e6 * b for b in bam.biases))
    np.testing.assert_allclose(expected_output(huge, X), bam.predict(X), atol=1e-3)


def test_the_vote_and_the_map_network_can_disagree() -> None:
    """One strong unit outvotes two weak ones in the mean, but not after the signs."""
    bam = BAM((np.array([[3.0], [-0.1], [-0.1]]), np.ones((1, 3))), (np.zeros(3), np.zeros(1)))
    x = np.array([[1.0]])
    assert expected_output(bam, x)[0] > 0.1
    assert bam.predict(x)[0] == -1


def test_gradients_match_finite_differences(rng: np.random.Generator) -> None:
    bam = random_network(rng, (2, 3, 3, 2, 1))
    X = rng.normal(size=(3, 2))
    weights = rng.normal(size=3)

    def value(b: BAM) -> float:
        return weights @ expected_output(b, X)

    with enable_x64(True):
        gradient = jax.jit(jax.grad(lambda b: jnp.dot(weights, expected_output(b, X))))(bam)
        leaves, tree = jax.tree.flatten(bam)
        for i, leaf in enumerate(leaves):
            at = tuple(rng.integers(0, n) for n in leaf.shape)
            ends = []
            for step in (1e-5, -1e-5):
                moved = [a.copy() for a in leaves]
                moved[i][at] += step
                ends.append(value(jax.tree.unflatten(tree, moved)))
            assert jax.tree.leaves(gradient)[i][at] == pytest.approx((ends[0] - ends[1]) / 2e-5, rel=1e-6, abs=1e-9)


def test_streamed_layers_have_the_same_gradient(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    bam = jax.tree.map(lambda a: np.asarray(a, np.float32), random_network(rng, (2, 5, 5, 1)))
    X = rng.normal(size=(3, 2)).astype(np.float32)
    plain = jax.jit(jax.grad(lambda b: expected_output(b, X).sum()))(bam)
    streamed_blocks = cube.map_blocks
    monkeypatch.setattr(exact, "map_blocks", lambda f, rows, xp, *, block: streamed_blocks(f, rows, xp, block=8))
    streamed = jax.jit(jax.grad(lambda b: expected_output(b, X).sum()))(bam)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, atol=1e-6), streamed, plain)


def test_works_under_jit_and_vmap_over_networks(rng: np.random.Generator) -> None:
    nets = [jax.tree.map(lambda a: jnp.asarray(a, jnp.float32), random_network(rng, (2, 3, 1))) for _ in range(3)]
    X = rng.normal(size=(4, 2)).astype(np.float32)
    stacked = jax.tree.map(lambda *a: jnp.stack(a), *nets)
    together = jax.jit(jax.vmap(expected_output, in_axes=(0, None)))(stacked, X)
    np.testing.assert_allclose(together, [expected_output(net, X) for net in nets], atol=1e-6)


def test_kl_counts_every_weight_and_bias(rng: np.random.Generator) -> None:
    a = random_network(rng, (3, 2, 1))
    b = random_network(rng, (3, 2, 1))
    expected = sum(((p - q) ** 2).sum() for p, q in zip(a.layers, b.layers, strict=True)) / 2
    assert kl(a, b) == pytest.approx(expected, rel=1e-14)
    assert kl(a, a) == 0


def test_kl_is_the_divergence_of_the_gaussians(rng: np.random.Generator) -> None:
    """Monte Carlo mean of the log density ratio under the posterior."""
    a = random_network(rng, (2, 2, 1), 0.3)
    b = random_network(rng, (2, 2, 1), 0.3)
    mean, other = (np.concatenate([V.ravel() for V in net.layers]) for net in (a, b))
    draws = mean + rng.normal(size=(40_000, mean.size))
    ratio = 0.5 * ((draws - other) ** 2 - (draws - mean) ** 2).sum(1)
    assert abs(ratio.mean() - kl(a, b)) < 4.5 * ratio.std() / np.sqrt(len(ratio))


def test_too_wide_networks_are_refused_with_cost_and_alternatives() -> None:
    for sizes in ((5, 4, 30, 3, 1), (5, 4, 30, 2)):
        with pytest.raises(ValueError, match=r"Hidden layer 2 has 30 units.*2\^30.*ancestral.*uniform"):
            check_width(sizes)
    wide = BAM.init(np.random.default_rng(0), (2, 25, 3, 1))
    with pytest.raises(ValueError, match=r"2\^25"):
        expected_output(wide, np.zeros((1, 2)))
    with pytest.raises(ValueError, match=r"2\^25"):
        region_values(BAM.init(np.random.default_rng(0), (2, 25, 1)))
    with pytest.raises(ValueError, match=r"2\^25"):
        representation_probabilities(BAM.init(np.random.default_rng(0), (2, 25, 1)), np.zeros((1, 2)), 1)


class ManyDigits:
    """NumPy's functions on arrays of mpmath's numbers."""

    erf = np.frompyfunc(mpmath.erf, 1, 1)
    prod = staticmethod(np.prod)
    stack = staticmethod(np.stack)

    @staticmethod
    def asarray(values: Any, dtype: Any = None) -> Any:
        return np.vectorize(mpmath.mpf, otypes=[object])(np.asarray(values, float))


WIDE = [(3, 30, 1), (3, 4, 30, 1), (3, 3, 2, 40, 1)]


@pytest.mark.parametrize("sizes", WIDE, ids=str)
def test_a_wide_last_hidden_layer_is_the_mean_over_drawn_networks(
    sizes: tuple[int, ...], rng: np.random.Generator
) -> None:
    bam = random_network(rng, sizes)
    X = inputs(rng, sizes[0])
    draws = 4000
    F = expected_output(bam, X)
    votes = np.mean([bam.perturb(rng).predict(X) for _ in range(draws)], axis=0)
    assert np.abs((votes - F) / np.sqrt((1 - F**2) / draws)).max() < 4.5


@pytest.mark.parametrize("sizes", [(3, 6, 1), (3, 4, 6, 1), (2, 3, 2, 5, 1)], ids=str)
def test_the_series_equals_enumeration_within_the_proved_error(
    sizes: tuple[int, ...], rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a smaller T the error can be seen; it would not be proved without that of the series."""
    monkeypatch.setattr(independent_signs, "WIDEST_TABLE", 0)
    bam = random_network(rng, sizes)
    X = inputs(rng, sizes[0])
    truth = enumerate_outputs(bam, X)
    error = np.abs(expected_output(bam, X) - truth).max()
    assert error <= exact.output_error(bam.layers) < 1e-11
    assert error < 1e-13
    monkeypatch.setitem(square_wave.REACH, "float64", 1.5)
    error = np.abs(expected_output(bam, X) - truth).max()
    assert 1e-5 < error <= exact.output_error(bam.layers)


def test_the_proved_error_holds_in_exact_arithmetic(rng: np.random.Generator) -> None:
    """Of the float64 computation, against forty digits; by tables and by series."""
    for narrow in (12, 0):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(independent_signs, "WIDEST_TABLE", narrow)
            bam = random_network(rng, (2, 3, 4, 1))
            X = rng.normal(size=(3, 2))
            with mpmath.workdps(40):
                weights = [ManyDigits.asarray(W) for W in bam.weights]
                biases = [ManyDigits.asarray(b) for b in bam.biases]
                rows = [ManyDigits.asarray(x) for x in X]
                many = [abnet_output(weights, biases, x, ManyDigits, ManyDigits.erf) for x in rows]
                error = max(abs(mpmath.mpf(float(F)) - G) for F, G in zip(expected_output(bam, X), many, strict=True))
            assert 0 < error <= exact.output_error(bam.layers)


def test_gradients_of_a_wide_last_hidden_layer_are_those_of_the_table(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    bam = jax.tree.map(lambda a: jnp.asarray(a, jnp.float32), random_network(rng, (3, 3, 13, 1)))
    X = inputs(rng, 3)

    def gradient() -> Any:
        return jax.jit(jax.grad(lambda b: (expected_output(b, X) ** 2).sum()))(bam)

    by_series = gradient()
    monkeypatch.setattr(independent_signs, "WIDEST_TABLE", 13)
    for found, expected in zip(jax.tree.leaves(by_series), jax.tree.leaves(gradient()), strict=True):
        np.testing.assert_allclose(found, expected, rtol=0, atol=2e-5)


def test_the_surrogate_is_the_normal_approximation_of_wide_layers_only(rng: np.random.Generator) -> None:
    narrow, wide = (random_network(rng, (3, 3, d, 1)) for d in (4, 40))
    lifted = lift(inputs(rng, 3))
    for module, aggregation in ((exact, Exact()), (pbgnet, PBGNet())):
        np.testing.assert_array_equal(
            aggregation.surrogate(narrow.layers, lifted), module.output(narrow.layers, lifted)
        )
        difference = np.abs(aggregation.surrogate(wide.layers, lifted) - module.output(wide.layers, lifted)).max()
        assert 1e-7 < difference < 0.05


def test_wrong_shapes_are_errors_and_not_numbers(rng: np.random.Generator) -> None:
    two = random_network(rng, (3, 2, 2))
    X = rng.normal(size=(4, 3))
    for compute in (expected_output, pbgnet.expected_output, lambda network, X: region_values(network)):
        with pytest.raises(ValueError, match=r"\b2 output"):
            compute(two, X)
    with pytest.raises(ValueError, match=r"\b2 output"):
        expected_output(two, X, np.eye(2))
    with pytest.raises(ValueError, match=r"\b2 output"):
        expected_output(random_network(rng, (3, 2)), X)


@pytest.mark.parametrize("module", [exact, pbgnet])
def test_kl_of_networks_of_different_widths_is_an_error(module: Any, rng: np.random.Generator) -> None:
    """Of broadcasting sizes: one hidden unit against three."""
    one = random_network(rng, (3, 1, 1))
    other = random_network(rng, (3, 3, 1))
    deeper = random_network(rng, (3, 1, 1, 1))
    with pytest.raises(ValueError, match="layer 1"):
        module.kl(one, other)
    with pytest.raises(ValueError, match="layers"):
        module.kl(deeper, one)


def test_shapes_in_annotations_are_checked_in_tests(rng: np.random.Generator) -> None:
    with pytest.raises(TypeCheckError):
        mean_activation(rng.normal(size=(2, 4)), rng.normal(size=(5, 3)))


def test_region_probabilities_are_products_of_their_units(rng: np.random.Generator) -> None:
    bam = random_network(rng, (3, 3, 1))
    X = rng.normal(size=(4, 3))
    m = scipy.special.erf((X @ bam.weights[0].T + bam.biases[0]) / np.sqrt(2 * (np.sum(X**2, axis=1) + 1))[:, None])
    expected = [[np.prod((1 + corner * row) / 2) for corner in corners(3, np.float64)] for row in m]
    np.testing.assert_allclose(exact.region_probabilities(bam.weights[0], bam.biases[0], X), expected, atol=1e-14)
