import jax.numpy as jnp
import pytest

from abnet.baselines.losses import check_single_output, zero_one_error


def test_error_weighs_rows_and_counts_a_zero_score_as_plus_one() -> None:
    outputs, targets = jnp.array([0.0, 0.0, 1.0, -1.0, -3.0]), jnp.array([1.0, -1.0, 1.0, 1.0, 1.0])
    weights = jnp.array([1.0, 2.0, 3.0, 4.0, 0.0])
    assert float(zero_one_error(outputs, targets, weights)) == pytest.approx((2 + 4) / 10)


@pytest.mark.parametrize("sizes", [(3,), (3, 0, 1), (3, 2)])
def test_sizes_without_one_output_are_refused(sizes: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="sizes must"):
        check_single_output(sizes)
