"""Stochastic PBGNet: the mean-field sums replaced by means over sampled representations. An estimate."""

from typing import Any

from abnet.aggregation.exact import mean_activation
from abnet.aggregation.signs import sign_means

__all__ = ["output"]


def output(layers: tuple[Any, ...], lifted: Any, key: Any, n_samples: int) -> Any:
    """PBGNet by sampling: at each layer T vectors ``s^t ~ Bernoulli(1/2 + F^{k-1}/2)``, and ``F^k = mean_t m_k(s^t)``.

    The gradient with respect to ``F^{k-1}_i`` is the likelihood-ratio one,
    ``mean_t m_k(s^t) s^t_i / (1 + s^t_i F^{k-1}_i)``; the one with respect to the weights is the plain mean.

    Parameters
    ----------
    layers : tuple of arrays (d_k, d_{k-1} + 1)
        At least one hidden layer.
    lifted : array (rows, d_0 + 1)
    key : JAX PRNG key
    n_samples : int
        T, for every row.

    Returns
    -------
    array (rows,)
        In [-1, 1].
    """
    import jax

    F = mean_activation(layers[0], lifted)
    for V, k in zip(layers[1:], jax.random.split(key, len(layers) - 1), strict=True):
        F = _sampled_layer(V, F, k, n_samples)
    return F[:, 0]


def _sampled_layer(V: Any, F: Any, key: Any, n_samples: int) -> Any:
    """One layer; the likelihood ratio enters as a term of value zero, ``m · (log p(s) - stop_gradient(log p(s)))``."""
    import jax
    import jax.numpy as jnp

    uniform = jax.random.uniform(key, (n_samples, *F.shape), F.dtype, -1, 1)
    s = jnp.where(uniform < F[None], 1, -1).astype(F.dtype)
    m, stop = sign_means(V, s), jax.lax.stop_gradient
    log_p = _log_probability(s, F)
    return (m + stop(m) * (log_p - stop(log_p))[..., None]).mean(axis=0)


def _log_probability(s: Any, F: Any) -> Any:
    """``log p(s)`` up to a constant, whose gradient in F_i is ``s_i / (1 + s_i F_i)``, shape (T, rows).

    Rounding lets a sign of probability zero be drawn where F saturates; the floor makes its gradient zero instead of
    infinite.
    """
    import jax.numpy as jnp

    return jnp.log(jnp.maximum(1 + s * F[None], jnp.finfo(F.dtype).eps)).sum(axis=2)
