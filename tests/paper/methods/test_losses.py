import jax
import jax.numpy as jnp
import numpy as np
import pytest
from sklearn.metrics import zero_one_loss

from abnet.paper.methods.losses import check_outputs, square_hinge, zero_one_error


def test_zero_score_costs_one() -> None:
    assert float(square_hinge(jnp.zeros(4), jnp.array([1.0, -1.0, 1.0, -1.0]), jnp.ones(4))) == 1


def test_value_and_gradient_follow_the_formula() -> None:
    f = np.array([1.0, 2.5, 0.4, -0.5, 0.5], np.float32)
    y = np.array([1.0, 1.0, 1.0, 1.0, -1.0], np.float32)
    value, gradient = jax.value_and_grad(square_hinge)(jnp.array(f), jnp.array(y), jnp.ones(5))
    inside = y * f < 1
    np.testing.assert_allclose(value, np.mean(inside * (1 - y * f) ** 2), rtol=1e-6)
    np.testing.assert_allclose(gradient, inside * -2 * y * (1 - y * f) / 5, rtol=1e-6)
    assert not gradient[:2].any()


def test_an_integer_weight_repeats_a_row_and_a_zero_removes_it() -> None:
    f = jnp.array([0.3, -2.0, 0.1])
    y = jnp.array([1.0, 1.0, -1.0])
    weighted = square_hinge(f, y, jnp.array([3.0, 0.0, 1.0]))
    repeated = square_hinge(f[jnp.array([0, 0, 0, 2])], y[jnp.array([0, 0, 0, 2])], jnp.ones(4))
    np.testing.assert_allclose(weighted, repeated, rtol=1e-6)


def test_no_weight_at_all_costs_nothing() -> None:
    value, gradient = jax.value_and_grad(square_hinge)(jnp.ones(2), -jnp.ones(2), jnp.zeros(2))
    assert value == 0
    assert not gradient.any()


def test_zero_one_error_is_that_of_scikit_learn_with_a_zero_score_as_plus_one(rng: np.random.Generator) -> None:
    outputs = rng.integers(-2, 3, 40).astype(np.float32)  # many of them 0
    targets = rng.choice([-1.0, 1.0], 40)
    weights = rng.integers(0, 3, 40) * 1.0
    expected = zero_one_loss(targets, np.where(outputs < 0, -1.0, 1.0), sample_weight=weights)
    assert float(zero_one_error(*map(jnp.asarray, (outputs, targets, weights)))) == pytest.approx(expected, rel=1e-6)


def test_several_outputs_cost_the_mean_over_rows_and_outputs(rng: np.random.Generator) -> None:
    """As the authors write it, over all elements at once; and one output of several columns is the two-class loss."""
    f = rng.normal(size=(7, 4)).astype(np.float32)
    winner = rng.integers(0, 4, 7)
    y = np.where(np.arange(4) == winner[:, None], 1.0, -1.0).astype(np.float32)
    expected = np.mean([max(0.0, 1 - y[i, j] * f[i, j]) ** 2 for i in range(7) for j in range(4)])
    assert float(square_hinge(jnp.array(f), jnp.array(y), jnp.ones(7))) == pytest.approx(expected, rel=1e-6)
    repeated = square_hinge(jnp.tile(f[:, :1], (1, 3)), jnp.tile(y[:, :1], (1, 3)), jnp.arange(7.0))
    assert float(repeated) == pytest.approx(
        float(square_hinge(jnp.array(f[:, 0]), jnp.array(y[:, 0]), jnp.arange(7.0)))
    )


def test_the_largest_of_several_outputs_is_the_label(rng: np.random.Generator) -> None:
    outputs = rng.integers(-1, 2, (60, 3)).astype(np.float32)  # ties in most rows: the first of the largest wins
    truth = rng.integers(0, 3, 60)
    weights = rng.integers(0, 3, 60) * 1.0
    labels = [row.index(max(row)) for row in outputs.tolist()]
    targets = 2.0 * np.eye(3)[truth] - 1
    expected = zero_one_loss(truth, labels, sample_weight=weights)
    assert float(zero_one_error(*map(jnp.asarray, (outputs, targets, weights)))) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("sizes", [(3,), (3, 0, 1), (3, 2)])
def test_sizes_that_fit_no_number_of_classes_are_refused(sizes: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="sizes"):
        check_outputs(sizes)
