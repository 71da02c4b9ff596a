import jax.numpy as jnp
import numpy as np

from abnet.baselines.binary_weights import BinaryParameters, clipped_step

PARAMETERS = BinaryParameters((jnp.zeros((2, 10)).at[0, 0].set(0.99),), (jnp.full(2, 5.0),), (jnp.full(2, -5.0),))
DIRECTION = BinaryParameters((-jnp.ones((2, 10)),), (jnp.ones(2),), (jnp.ones(2),))


def test_weights_move_by_the_scaled_rate_and_stop_at_one() -> None:
    moved = clipped_step(PARAMETERS, DIRECTION, 0.1, glorot_scale=True)
    expected = np.full((2, 10), 0.1 * np.sqrt(12 / 1.5))
    expected[0, 0] = 1.0
    np.testing.assert_allclose(moved.weights[0], expected, rtol=1e-6)


def test_normalisation_is_neither_scaled_nor_clipped() -> None:
    moved = clipped_step(PARAMETERS, DIRECTION, 0.1, glorot_scale=True)
    np.testing.assert_allclose(moved.gammas[0], 4.9, rtol=1e-6)
    np.testing.assert_allclose(moved.betas[0], -5.1, rtol=1e-6)


def test_scale_can_be_left_out() -> None:
    moved = clipped_step(PARAMETERS, DIRECTION, 0.1, glorot_scale=False)
    np.testing.assert_allclose(moved.weights[0][1], 0.1, rtol=1e-6)
