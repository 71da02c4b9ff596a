"""The paper's stochastic ABNet: uniformly drawn representations instead of all of them. A biased estimate.

The paper's forward pass divides each layer's probabilities by their sum. The backward form of it used here needs two
vectors over the draws of each layer. A step costs n² for any batch size, and works in log space at any width. It
accepts NumPy and JAX arrays.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from abnet.networks import jax_helpers
from abnet.networks.ancestral import path_losses, sign_means, sign_scores
from abnet.networks.cube import corners, namespace
from abnet.networks.gaussian_kl import gaussian_kl
from abnet.networks.protocol import Aggregation, check_hidden_layer, check_outputs, refuse_table, require_key
from abnet.networks.shapes import Answers, Float, Key, Lifted, Losses, Matrices, Table
from abnet.utils.checks import count

__all__ = ["Uniform", "draw", "log_transition", "output", "read", "regions", "representations"]


def representations(key: Key, d: int, n: int, dtype: Any) -> Float[Any, "_ {d}"]:
    """n representations drawn uniformly from {-1,+1}^d with replacement, shape (n, d); all of them if ``n >= 2^d``.

    Parameters
    ----------
    key : JAX PRNG key or numpy.random.Generator
        A generator gives a NumPy array.
    """
    if n >= 2**d:
        return corners(d, dtype)
    if isinstance(key, np.random.Generator):
        return (2 * key.integers(0, 2, (n, d)) - 1).astype(dtype)
    import jax

    draws = jax_helpers.uniform(key, (n, d), np.float32)
    return 2 * (draws < 0.5).astype(jax.dtypes.canonicalize_dtype(dtype)) - 1


def draw(key: Key, sizes: tuple[int, ...], n: int, dtype: Any) -> Matrices:
    """Representations ``R'_k`` of each hidden layer of a network of the given sizes."""
    hidden = sizes[1:-1]
    if isinstance(key, np.random.Generator):
        return tuple(representations(key, d, n, dtype) for d in hidden)
    import jax

    keys = jax.random.split(key, len(hidden))
    return tuple(representations(k, d, n, dtype) for d, k in zip(hidden, keys, strict=True))


def log_transition(z: Float[Any, "rows d"], s: Float[Any, "n d"]) -> Float[Any, "rows n"]:
    """``log Ψ[s̄, s] = Σ_i log Φ(s_i z_i(s̄))``, the log probability of each s in each row, shape (rows, n).

    Affine in s: ``Σ_i (l⁺_i + l⁻_i)/2 + s_i (l⁺_i - l⁻_i)/2`` with ``l± = log Φ(±z)``, so one matrix product.

    Parameters
    ----------
    z : array (rows, d)
        Pre-activations, ``V s̃``.
    s : array (n, d)
        Representations.
    """
    if not z.ndim == s.ndim == 2:
        raise ValueError(f"pre-activations and representations are matrices; got the shapes {z.shape} and {s.shape}.")
    one_half = z.dtype.type(0.5)
    plus = _log_ndtr(z)
    minus = _log_ndtr(-z)
    constant = (plus + minus).sum(axis=1, keepdims=True) * one_half
    slope = (plus - minus) * one_half
    return constant + slope @ s.T


def regions(layers: Matrices, draws: Matrices) -> tuple[Float[Any, "n"], Float[Any, "n"]]:
    """The two vectors of the compact form over the draws of the leading hidden layer: ``H`` and ``log D``.

    ``H = m_L``, ``D = 1`` on ``R'_{L-1}``; going down, ``D'(s̄) = Σ_s D(s) Ψ_k[s, s̄]`` and
    ``H'(s̄) = Σ_s H(s) D(s) Ψ_k[s, s̄] / D'(s̄)``.

    Parameters
    ----------
    layers : tuple of arrays (d_k, d_{k-1} + 1)
    draws : tuple of arrays (n_k, d_k)
        ``R'_1 … R'_{L-1}``.

    Returns
    -------
    H, log_D : arrays (n_1,)
    """
    H = sign_means(layers[-1], draws[-1])[:, 0]
    log_D = H * 0
    for V, s, below in zip(layers[-2:0:-1], draws[:0:-1], draws[-2::-1], strict=True):
        H, log_D = _expect(log_transition(sign_scores(V, below), s) + log_D[None, :], H)
    return H, log_D


def read(
    z: Float[Any, "rows d"], s: Float[Any, "n d"], H: Float[Any, "n"], log_D: Float[Any, "n"]
) -> Float[Any, "rows"]:
    """``F = Σ_s H D P_1 / Σ_s D P_1`` over the leading draws, from the leading pre-activations z, shape (rows,)."""
    return _expect(log_transition(z, s) + log_D[None, :], H)[0]


def output(layers: Matrices, lifted: Float[Any, "rows _"], key: Key, n_samples: int) -> Float[Any, "rows"]:
    """Stochastic ABNet on fresh draws.

    Parameters
    ----------
    layers : tuple of arrays (d_k, d_{k-1} + 1)
        At least one hidden layer.
    lifted : array (rows, d_0 + 1)
    key : JAX PRNG key or numpy.random.Generator
    n_samples : int
        Draws per hidden layer, shared by all rows; from ``2^d`` draws on the result is exact.

    Returns
    -------
    array (rows,)
        In [-1, 1].
    """
    check_outputs(layers, None)
    check_hidden_layer(layers)
    sizes = (layers[0].shape[1] - 1, *(V.shape[0] for V in layers))
    draws = draw(key, sizes, n_samples, layers[0].dtype)
    return read(lifted @ layers[0].T, draws[0], *regions(layers, draws))


def _expect(log_weights: Any, values: Any) -> tuple[Any, Any]:
    """Mean of the values under weights given by their logarithms, row by row, and the logarithm of the weights' sum."""
    xp = namespace(log_weights)
    top = log_weights.max(axis=1, keepdims=True)
    weights = xp.exp(log_weights - top)
    total = weights.sum(axis=1)
    return (weights @ values) / total, xp.log(total) + top[:, 0]


def _log_ndtr(z: Any) -> Any:
    """``log Φ(z)``, accurate in both tails."""
    if namespace(z) is np:
        import scipy.special

        return scipy.special.log_ndtr(z)
    import jax

    return jax.scipy.special.log_ndtr(z)


@dataclass(frozen=True)
class Uniform(Aggregation):
    """Stochastic ABNet (the paper's), an estimate.

    Parameters
    ----------
    n_samples : int
        Draws of each hidden layer, shared by all rows.
    """

    n_samples: int = 100
    sampled: ClassVar[bool] = True

    def __post_init__(self) -> None:
        count("n_samples", self.n_samples)

    def output(self, layers: Matrices, lifted: Lifted, key: Key = None, table: Table = None) -> Answers:
        """The output on fresh draws."""
        refuse_table(table, "Uniform")
        require_key(key, "Uniform")
        return output(layers, lifted, key, self.n_samples)

    def losses(
        self, layers: Matrices, lifted: Lifted, targets: Answers, key: Key = None, table: Table = None
    ) -> Losses:
        """Losses of ancestral paths: the posterior is that of ABNet, only its output is estimated differently."""
        return path_losses(layers, lifted, targets, key, table)

    def kl(self, layers: Matrices, prior: Matrices, log_sigma: Sequence[Any]) -> Float[Any, ""]:
        """Every layer once."""
        return gaussian_kl(layers, prior, log_sigma)
