"""Stochastic ABNet (the paper's): uniformly drawn representations in place of all of them. An estimate, biased."""

from typing import Any

from abnet.aggregation.exact import lift, mean_activation
from abnet.cube import corners

__all__ = ["log_transition", "output", "representations"]


def representations(key: Any, d: int, n: int, dtype: Any) -> Any:
    """n representations drawn uniformly from {-1,+1}^d with replacement, shape (n, d); all of them if ``n >= 2^d``."""
    import jax
    import jax.numpy as jnp

    if n >= 2**d:
        return jnp.asarray(corners(d, dtype))
    return 2 * jax.random.bernoulli(key, 0.5, (n, d)).astype(dtype) - 1


def log_transition(V: Any, lifted: Any, s: Any) -> Any:
    """``log Ψ[s, s̄] = Σ_i log(1/2 + s_i/2 · m_i(s̄))`` for all drawn s and lifted s̄, shape (rows of lifted, rows of s).

    Affine in s: ``Σ_i (l⁺_i + l⁻_i)/2 + s_i (l⁺_i - l⁻_i)/2`` with ``l± = log Φ(±V s̃)``, so one matrix product. The difference
    of the two logs of a normal tail is taken before the product, which keeps far tails finite.
    """
    import jax

    z = lifted @ V.T
    plus, minus = jax.scipy.special.log_ndtr(z), jax.scipy.special.log_ndtr(-z)
    return 0.5 * (plus + minus).sum(axis=1, keepdims=True) + 0.5 * (plus - minus) @ s.T


def output(layers: tuple[Any, ...], lifted: Any, key: Any, n_samples: int) -> Any:
    """The layer-normalised pass on fresh draws: ``log P_k = logsumexp(log P_{k-1} + log Ψ_k)`` minus its normaliser.

    Parameters
    ----------
    layers : tuple of arrays (d_k, d_{k-1} + 1)
    lifted : array (rows, d_0 + 1)
    key : JAX PRNG key
    n_samples : int
        Draws of each hidden layer, shared by all rows.

    Returns
    -------
    array (rows,)
        In [-1, 1].
    """
    import jax

    keys = jax.random.split(key, len(layers))
    below, log_p = lifted, None
    for V, k in zip(layers[:-1], keys[:-1], strict=True):
        s = representations(k, V.shape[0], n_samples, V.dtype)
        log_psi = log_transition(V, below, s)
        log_p = jax.nn.log_softmax(log_psi if log_p is None else _log_matmul(log_p, log_psi), axis=1)
        below = lift(s)
    return jax.numpy.exp(log_p) @ mean_activation(layers[-1], below)[:, 0]


def _log_matmul(a: Any, b: Any) -> Any:
    """``log(exp(a) @ exp(b))`` for a (rows, n) with rows normalised, b (n, m), one matrix product; columns are shifted by their maximum."""
    import jax
    import jax.numpy as jnp

    shift = jax.lax.stop_gradient(b.max(axis=0, keepdims=True))
    product = jnp.exp(a) @ jnp.exp(b - shift)
    return jnp.log(jnp.maximum(product, jnp.finfo(b.dtype).tiny)) + shift
