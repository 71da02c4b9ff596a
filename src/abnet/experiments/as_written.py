"""ABNet's output as the paper writes it: forwards, with every transition matrix in full. The reference of Figure 2."""

from typing import Any

from abnet.aggregation.exact import lift, mean_activation
from abnet.cube import corners

__all__ = ["WIDEST", "output_as_written"]

WIDEST = 13
"""The paper's limit: one transition matrix of width 14 takes 1 GB."""


def output_as_written(layers: tuple[Any, ...], lifted: Any) -> Any:
    """``F_A = P_L[+1] - P_L[-1]`` with ``P_k = Ψ_k P_{k-1}`` and ``Ψ_k[s, s̄] = Π_i (1/2 + s_i/2 · m_k(s̄)_i)``.

    Parameters
    ----------
    layers : tuple of JAX arrays (d_k, d_{k-1} + 1)
    lifted : JAX array (rows, d_0 + 1)

    Returns
    -------
    array (rows,)
    """
    import jax.numpy as jnp

    P = _products(mean_activation(layers[0], lifted))
    for V in layers[1:]:
        below = jnp.asarray(lift(corners(V.shape[1] - 1, V.dtype)))
        P = P @ _products(mean_activation(V, below))
    return P[:, 1] - P[:, 0]


def _products(m: Any) -> Any:
    """``Π_i (1/2 + s_i/2 · m_i)`` for all s, factor by factor; in the rows of Ψᵀ."""
    import jax.numpy as jnp

    signs = jnp.asarray(corners(m.shape[1], m.dtype))
    return jnp.prod(0.5 + 0.5 * signs[None, :, :] * m[:, None, :], axis=2)
