"""Stochastic PBGNet: the mean-field sums replaced by means over sampled representations."""

from typing import Any

from abnet.aggregation.exact import lift, mean_activation

__all__ = ["output"]


def output(layers: tuple[Any, ...], lifted: Any, key: Any, n_samples: int) -> Any:
    """PBGNet by sampling: at each layer T vectors ``s^t ~ Bernoulli(1/2 + F^{k-1}/2)``, and ``F^k = mean_t m_k(s^t)``.

    The gradient with respect to ``F^{k-1}_i`` is the likelihood-ratio one, ``mean_t m_k(s^t) s^t_i / (1 + s^t_i F^{k-1}_i)``; the
    one with respect to the weights is the plain mean.

    Parameters
    ----------
    layers : tuple of arrays (d_k, d_{k-1} + 1)
    lifted : array (rows, d_0 + 1)
    key : JAX PRNG key
    n_samples : int
        T.

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
    """One layer; the likelihood ratio enters as a factor of value one, ``p(s)/stop_gradient(p(s))``."""
    import jax
    import jax.numpy as jnp

    uniform = jax.random.uniform(key, (n_samples, *F.shape), F.dtype, -1, 1)
    s = jnp.where(uniform < F, 1, -1).astype(F.dtype)
    m = mean_activation(V, lift(s.reshape(-1, F.shape[1]))).reshape(n_samples, F.shape[0], -1)
    ratio = _log_ratio(s, F)
    return (m + jax.lax.stop_gradient(m) * (ratio - jax.lax.stop_gradient(ratio))[..., None]).mean(axis=0)


def _log_ratio(s: Any, F: Any) -> Any:
    """``log p(s)`` up to a constant, whose gradient in F_i is ``s_i / (1 + s_i F_i)``, kept finite where F saturates."""
    import jax.numpy as jnp

    return jnp.log(jnp.maximum(1 + s * F, jnp.finfo(F.dtype).eps)).sum(axis=2)
