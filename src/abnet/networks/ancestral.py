"""Ancestral sampling: unbiased outputs of an aggregation of any width, along paths drawn layer by layer.

A path draws every hidden layer but the last, each given the one below. The estimators of this file differ in how they
treat the last hidden layer and in their gradients. All use straight-through gradients for the layers below it (`s` in
the forward pass, `m` in the backward pass).

The layers above the first read signs, so their inputs need not be lifted.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from abnet.networks.cube import erf
from abnet.networks.gaussian_kl import gaussian_kl
from abnet.networks.independent_signs import normal_means
from abnet.networks.jax_helpers import uniform
from abnet.networks.lifting import mean_activation
from abnet.networks.protocol import Aggregation, check_hidden_layer, check_outputs, linear_loss, require_key
from abnet.networks.shapes import Answers, Float, Key, Lifted, Losses, Matrices, Table
from abnet.utils.checks import count

__all__ = [
    "TRAINING_PATHS",
    "Ancestral",
    "draw_signs",
    "last_means",
    "local_expectation",
    "mean_of_paths",
    "normal_mean",
    "normal_output",
    "output",
    "path_losses",
    "sign_means",
    "sign_scores",
    "straight_through",
]


def sign_scores(V: Float[Any, "d_k _"], s: Float[Any, "*rows d"]) -> Float[Any, "*rows d_k"]:
    """``z(s) = (W s + b)/sqrt(d + 1)`` for inputs ±1: a neuron with Gaussian weights outputs ``sgn(z + ε)``.

    with ``ε ~ N(0, 1)``. All vectors of d signs and a constant 1 have the same norm, so lifting them is a division by a
    constant.

    Parameters
    ----------
    V : array (d_k, d + 1)
        The layer, its bias as last column.
    s : array (..., d)

    Returns
    -------
    array (..., d_k)

    Examples
    --------
    >>> import numpy as np
    >>> sign_scores(np.array([[1.0, 1.0, 1.0, 3.0]]), np.array([[1.0, -1.0, 1.0]]))
    array([[2.]])
    """
    # One matrix product: NumPy multiplies a stack of matrices one by one, more than ten times slower.
    flat = s.reshape(-1, s.shape[-1])
    z = (flat @ V[:, :-1].T + V[:, -1][None, :]) * V.dtype.type(V.shape[1] ** -0.5)
    return z.reshape(*s.shape[:-1], V.shape[0])


def sign_means(V: Float[Any, "d_k _"], s: Float[Any, "*rows d"]) -> Float[Any, "*rows d_k"]:
    """``m(s) = erf((W s + b)/sqrt(2(d + 1)))``: means of the neurons over their Gaussian weights, shape (..., d_k)."""
    return erf(sign_scores(V, s) * V.dtype.type(0.5**0.5))


TRAINING_PATHS = 1
"""Paths per row in a training step: a minibatch of new rows is worth more than further paths of the same rows."""


def output(layers: Matrices, lifted: Float[Any, "rows _"], key: Key, n_samples: int) -> Float[Any, "rows"]:
    """Mean output of independent paths: an unbiased estimate of ``F_A(x)`` for every depth and width.

    ``s_1 ~ P_1(x)``, ``s_k ~ Π_i Bernoulli(1/2 + m_k(s_{k-1})_i/2)``; a path's output is ``m_L(s_{L-1})``. Its
    gradient is that of `local_expectation`.

    Parameters
    ----------
    layers : tuple of arrays (d_k, d_{k-1} + 1)
        At least one hidden layer.
    lifted : array (rows, d_0 + 1)
    key : JAX PRNG key
    n_samples : int
        Paths of each row.

    Returns
    -------
    array (rows,)
        In [-1, 1].
    """
    check_outputs(layers, None)
    return mean_of_paths(local_expectation, layers, lifted, key, n_samples)


def normal_output(layers: Matrices, lifted: Float[Any, "rows _"], key: Key, n_samples: int) -> Float[Any, "rows"]:
    """Mean over paths of `normal_mean` of the last hidden layer: a surrogate for training, not for certificates.

    The last hidden layer is not drawn, so with one hidden layer there is no randomness. Parameters and result are those
    of `output`.
    """
    check_outputs(layers, None)
    if len(layers) == 2:
        return normal_mean(layers[1], mean_activation(layers[0], lifted))
    return mean_of_paths(_normal_path, layers, lifted, key, n_samples)


def straight_through(layers: Matrices, lifted: Float[Any, "rows _"], key: Key) -> Float[Any, "rows"]:
    """One path per row, shape (rows,), with the biased gradient that sets ``∂s/∂m = 1`` in every hidden layer."""
    check_outputs(layers, None)
    m, key = last_means(layers, lifted, key)
    return sign_means(layers[-1], draw_signs(m, key))[:, 0]


def local_expectation(layers: Matrices, lifted: Float[Any, "rows _"], key: Key) -> Float[Any, "rows"]:
    """One path per row, shape (rows,); the gradient with respect to the last hidden layer's means is unbiased.

    ``∂F/∂m_i = E[(f(s: s_i = +1) - f(s: s_i = -1))/2]`` with ``f(s) = m_L(s)``. f depends on s only through the number
    ``W_L s``, so each of the d differences needs only scalar evaluations of f. (Titsias and Lázaro-Gredilla 2015, Local
    expectation gradients.)
    """
    import jax

    check_outputs(layers, None)
    m, key = last_means(layers, lifted, key)
    V = layers[-1]
    stop = jax.lax.stop_gradient
    s = stop(draw_signs(m, key))
    # The second term is 0, and its gradient is that of the expectation.
    slope = stop(_half_differences(V, s))
    return sign_means(V, s)[:, 0] + ((m - stop(m)) * slope).sum(axis=1)


def normal_mean(V: Float[Any, "1 _"], m: Float[Any, "rows d"]) -> Float[Any, "rows"]:
    """`abnet.networks.independent_signs.normal_means` of the output neuron, with the rows first.

    Parameters
    ----------
    V : array (1, d + 1)
    m : array (rows, d)

    Returns
    -------
    array (rows,)
    """
    if V.shape != (1, m.shape[1] + 1):
        raise ValueError(f"V must have the shape (1, {m.shape[1] + 1}) for {m.shape[1]} signs; got {V.shape}.")
    return normal_means(V, m.T)[0]


def mean_of_paths(
    path: Callable[[Matrices, Any, Key], Any], layers: Matrices, lifted: Float[Any, "rows _"], key: Key, n_samples: int
) -> Float[Any, "rows *K"]:
    """The mean of `n_samples` paths of each row; the first layer's means are shared and computed once."""
    import jax

    if n_samples == 1:
        return path(layers, lifted, key)
    keys = jax.random.split(key, n_samples)
    return jax.vmap(lambda k: path(layers, lifted, k))(keys).mean(axis=0)


def _normal_path(layers: Matrices, lifted: Any, key: Key) -> Any:
    m, _ = last_means(layers, lifted, key)
    return normal_mean(layers[-1], m)


def last_means(layers: Matrices, lifted: Float[Any, "rows _"], key: Key) -> tuple[Float[Any, "rows d"], Key]:
    """Means of the last hidden layer given a draw of the layers below it, and an unused key."""
    import jax

    check_hidden_layer(layers)
    m = mean_activation(layers[0], lifted)
    keys = jax.random.split(key, len(layers) - 1)
    for V, k in zip(layers[1:-1], keys[1:], strict=True):
        m = sign_means(V, draw_signs(m, k))
    return m, keys[0]


def draw_signs(m: Float[Any, "*shape"], key: Key) -> Float[Any, "*shape"]:
    """Independent signs with means m, with straight-through gradients."""
    import jax
    import jax.numpy as jnp

    u = uniform(key, m.shape, m.dtype)
    s = jnp.where(2 * u - 1 < m, 1, -1).astype(u.dtype)
    return m + jax.lax.stop_gradient(s - m)


def _half_differences(V: Any, s: Any) -> Any:
    """``(f(s: s_i = +1) - f(s: s_i = -1))/2`` for every unit i, shape (rows, d)."""
    W = V[0, :-1]
    b = V[0, -1]
    others = (s @ W + b)[:, None] - s * W[None, :]
    scale = V.dtype.type((2 * V.shape[1]) ** -0.5)
    above = erf((others + W[None, :]) * scale)
    below = erf((others - W[None, :]) * scale)
    return (above - below) * V.dtype.type(0.5)


def path_losses(
    layers: Matrices, lifted: Float[Any, "rows _"], targets: Float[Any, "rows *K"], key: Key, table: Table = None
) -> Float[Any, "rows"]:
    """Linear loss of each row along a path of its own; its expectation is the Gibbs risk, for every depth and width."""
    from abnet.networks.classes import path_probabilities

    if table is None:
        return linear_loss(output(layers, lifted, key, 1), targets)
    return linear_loss(path_probabilities(layers, lifted, key, 1, table), targets)


@dataclass(frozen=True)
class Ancestral(Aggregation):
    """ABNet with sampled paths, for any width: trained with a closed-form surrogate, certified with fresh paths.

    Parameters
    ----------
    n_samples : int
        Number of paths that a deployed predictor keeps. A training step uses `TRAINING_PATHS` per row.
    """

    n_samples: int = 100
    certified: ClassVar[bool] = True
    sampled: ClassVar[bool] = True

    def __post_init__(self) -> None:
        count("n_samples", self.n_samples)

    def by_library(self, sizes: tuple[int, ...]) -> bool:
        """Yes: paths need no table. `results/certificates.csv` was computed with the library."""
        return True

    def output(self, layers: Matrices, lifted: Lifted, key: Key = None, table: Table = None) -> Answers:
        """Mean of `n_samples` paths of each row, which is unbiased."""
        require_key(key, "Ancestral")
        check_outputs(layers, table)
        if table is None:
            return output(layers, lifted, key, self.n_samples)
        from abnet.networks.classes import path_probabilities

        return path_probabilities(layers, lifted, key, self.n_samples, table)

    def surrogate(self, layers: Matrices, lifted: Lifted, key: Key = None, table: Table = None) -> Answers:
        """`normal_output`, or `normal_probabilities` for several classes."""
        from abnet.networks.classes import normal_probabilities

        if table is None:
            return normal_output(layers, lifted, key, TRAINING_PATHS)
        check_outputs(layers, table)
        return normal_probabilities(layers, lifted, key, TRAINING_PATHS, table)

    def losses(
        self, layers: Matrices, lifted: Lifted, targets: Answers, key: Key = None, table: Table = None
    ) -> Losses:
        """`path_losses`."""
        return path_losses(layers, lifted, targets, key, table)

    def kl(self, layers: Matrices, prior: Matrices, log_sigma: Sequence[Any]) -> Float[Any, ""]:
        """Every layer once."""
        return gaussian_kl(layers, prior, log_sigma)
