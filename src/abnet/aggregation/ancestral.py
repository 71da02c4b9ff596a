"""Ancestral sampling: unbiased outputs of an aggregation of any width, along paths drawn layer by layer."""

from typing import Any

from abnet.aggregation.exact import lift, mean_activation
from abnet.cube import erf

__all__ = ["normal_output", "output", "paths"]


def paths(layers: tuple[Any, ...], lifted: Any, key: Any) -> Any:
    """One path per row: ``s_1 ~ P_1(x)``, ``s_k ~ Π_i Bernoulli(1/2 + m_k(s_{k-1})_i/2)``; output ``m_L(s_{L-1})``, shape (rows,).

    Its mean is ``F_A(x)`` for every depth and width. Differentiable: straight-through (``s`` forwards, ``m`` backwards).
    """
    import jax
    import jax.numpy as jnp

    below = lifted
    for V, k in zip(layers[:-1], jax.random.split(key, len(layers) - 1), strict=True):
        m = mean_activation(V, below)
        s = jnp.where(jax.random.uniform(k, m.shape, m.dtype, -1, 1) < m, 1, -1).astype(m.dtype)
        below = lift(m + jax.lax.stop_gradient(s - m))
    return mean_activation(layers[-1], below)[:, 0]


def output(layers: tuple[Any, ...], lifted: Any, key: Any, n_samples: int) -> Any:
    """Mean output over `n_samples` independent paths per row: an unbiased estimate of ``F_A``.

    Parameters
    ----------
    layers : tuple of arrays (d_k, d_{k-1} + 1)
    lifted : array (rows, d_0 + 1)
    key : JAX PRNG key
    n_samples : int

    Returns
    -------
    array (rows,)
        In [-1, 1].
    """
    import jax

    return jax.vmap(lambda k: paths(layers, lifted, k))(jax.random.split(key, n_samples)).mean(axis=0)


def normal_output(layers: tuple[Any, ...], lifted: Any) -> Any:
    """One hidden layer, the sum ``W_2 s`` taken as normal: ``F_A ≈ erf((W_2 m + b_2)/sqrt(2(d_1 + 1 + v)))``.

    ``v = Σ_i W_{2,i}² (1 - m_i²)`` is exact; normality is not. A surrogate to train with, never to certify with.
    """
    import jax.numpy as jnp

    m = mean_activation(layers[0], lifted)
    W, b = layers[1][:, :-1], layers[1][:, -1]
    v = (1 - m**2) @ (W**2).T
    return erf((m @ W.T + b[None, :]) / jnp.sqrt(2 * (W.shape[1] + 1 + v)))[:, 0]
