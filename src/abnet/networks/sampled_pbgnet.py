"""Sampled PBGNet: means over sampled representations replace the sums of `pbgnet`. It is an estimate."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from abnet.networks.ancestral import sign_means
from abnet.networks.cube import map_blocks
from abnet.networks.jax_helpers import uniform
from abnet.networks.lifting import mean_activation
from abnet.networks.pbgnet import path_kl
from abnet.networks.protocol import Aggregation, check_outputs, refuse_table, require_key
from abnet.networks.shapes import Answers, Float, Key, Lifted, Matrices, Table
from abnet.utils.checks import count

__all__ = ["SampledPBGNet", "output"]

ROWS = 64
"""Rows processed at a time, so that their draws (T per row) nearly fit into the cache."""


def output(layers: Matrices, lifted: Float[Any, "rows _"], key: Key, n_samples: int) -> Float[Any, "rows"]:
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
    import jax.numpy as jnp

    check_outputs(layers, None)
    F = mean_activation(layers[0], lifted)

    def block(start: Any, count: int) -> Any:
        values = jax.lax.dynamic_slice_in_dim(F, start, count)
        keys = jax.random.split(jax.random.fold_in(key, start), len(layers) - 1)
        for V, k in zip(layers[1:], keys, strict=True):
            values = _sampled_layer(V, values, k, n_samples)
        return values[:, 0]

    rows = F.shape[0]
    block_rows = rows
    if rows % ROWS == 0:
        block_rows = ROWS
    return map_blocks(block, rows, jnp, block=block_rows)


def draw(key: Key, F: Float[Any, "rows d"], n_samples: int) -> Float[Any, "rows {n_samples} d"]:
    """T representations of every row, ``s_i = +1`` with probability ``1/2 + F_i/2``, shape (rows, T, d).

    ``s^t_i = +1`` where ``frac(u^t_i + v_i) < 1/2 + F_i/2``, with u drawn for every t and v for every row. The draws of
    one row are independent, and a draw of one row is independent of a draw of another. So the outputs of two rows are
    uncorrelated, and the mean loss has the same variance as with new random numbers for every row and draw, which would
    take most of the time.
    """
    import jax
    import jax.numpy as jnp

    rows, d = F.shape
    first, second = jax.random.split(key)
    u = uniform(first, (1, n_samples, d), F.dtype)
    v = uniform(second, (rows, 1, d), F.dtype)
    fraction = (u + v) - jnp.floor(u + v)
    return jnp.where(fraction < 0.5 + 0.5 * F[:, None, :], 1, -1).astype(F.dtype)


def _sampled_layer(V: Any, F: Any, key: Key, n_samples: int) -> Any:
    """One layer on fresh draws, with the likelihood-ratio gradient."""
    import jax

    return _layer_with_gradient()(V, F, draw(key, jax.lax.stop_gradient(F), n_samples))


@cache
def _layer_with_gradient() -> Any:
    """``mean_t m(s^t)`` for given draws s, as a function of V, F and s with a custom gradient.

    A custom rule lets a pass without gradients skip the likelihood ratio. It is correct for first derivatives only.
    """
    import jax

    @jax.custom_jvp
    def layer(V: Any, F: Any, s: Any) -> Any:
        return sign_means(V, s).mean(axis=1)

    @layer.defjvp
    def rule(primals: Any, tangents: Any) -> Any:
        V, F, s = primals
        dV, dF, _ = tangents
        m, dm = jax.jvp(lambda V: sign_means(V, s), (V,), (dV,))
        return m.mean(axis=1), dm.mean(axis=1) + (m * _log_ratio(s, F, dF)[..., None]).mean(axis=1)

    return layer


def _log_ratio(s: Any, F: Any, dF: Any) -> Any:
    """``d log p(s) = Σ_i dF_i s_i/(1 + s_i F_i)``, shape (rows, T).

    The factor has two values, ``1/(1 + F)`` and ``-1/(1 - F)``, so it is affine in s and needs one product. It is
    written relative to the likelier sign, whose factor is at most 1: near saturation the other factor is huge and would
    cancel. Where F saturates, rounding may draw a sign of probability zero; its factor is set to 0 instead of infinity.
    """
    import jax.numpy as jnp

    plus, minus = (jnp.where(p > jnp.finfo(F.dtype).eps, 1 / p, 0) for p in (1 + F, 1 - F))
    likely = jnp.where(F >= 0, 1, -1).astype(F.dtype)
    constant = (jnp.where(F >= 0, plus, -minus) * dF).sum(axis=1, keepdims=True)
    return constant + jnp.einsum("rti,ri->rt", s - likely[:, None, :], 0.5 * (plus + minus) * dF)


@dataclass(frozen=True)
class SampledPBGNet(Aggregation):
    """Stochastic PBGNet, an estimate. It feeds means of draws into the next layer, so it has no unbiased `losses`.

    Parameters
    ----------
    n_samples : int
        Number of draws per layer and row.
    """

    n_samples: int = 100

    def __post_init__(self) -> None:
        count("n_samples", self.n_samples)

    def output(self, layers: Matrices, lifted: Lifted, key: Key = None, table: Table = None) -> Answers:
        """The means of fresh draws."""
        refuse_table(table, "SampledPBGNet")
        require_key(key, "SampledPBGNet")
        return output(layers, lifted, key, self.n_samples)

    def kl(self, layers: Matrices, prior: Matrices, log_sigma: Sequence[Any]) -> Float[Any, ""]:
        """Every layer once per path."""
        return path_kl(layers, prior, log_sigma)
