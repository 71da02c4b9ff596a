"""What the comparison methods minimise, their outputs, and the inverse Mills ratio of their gradients.

Two classes have one output, whose sign is the label, and targets y in {-1, +1}. Several have one output for each, and
targets +1 for the true class and -1 for the others; the largest output is the label.
"""

import math

import jax.numpy as jnp
from jax.scipy.special import ndtr
from jaxtyping import Array, Float

from abnet.networks.bam import check_sizes

__all__ = [
    "check_outputs",
    "inverse_mills_ratio",
    "normal_density",
    "output_scores",
    "square_hinge",
    "zero_one_error",
]


TAIL = 8.0  # below -TAIL the continued fraction is used: Φ(-8) = 6e-16 is still far from underflow in float32
DEPTH = 16  # terms of the continued fraction: relative error below 1e-14 for u >= TAIL


def normal_density(t: Float[Array, "..."]) -> Float[Array, "..."]:
    """``φ(t) = exp(-t²/2) / sqrt(2π)``.

    Examples
    --------
    >>> round(float(normal_density(jnp.array(0.0))), 5)
    0.39894
    """
    return jnp.exp(-0.5 * t * t) / math.sqrt(2 * math.pi)


def inverse_mills_ratio(t: Float[Array, "..."]) -> Float[Array, "..."]:
    """``φ(t) / Φ(t)``, the derivative of ``log Φ(t)``, without 0/0 for any finite t.

    For ``t = -u`` far in the lower tail Laplace's continued fraction ``u + 1/(u + 2/(u + 3/(u + …)))`` is used. There
    ``exp(log φ - log Φ)`` would subtract two numbers of size t²/2 and lose all digits of float32 around t = -3000.

    Examples
    --------
    >>> [round(float(r), 4) for r in inverse_mills_ratio(jnp.array([-1e4, -1.0, 0.0, 40.0]))]
    [10000.0, 1.5251, 0.7979, 0.0]
    """
    u = jnp.maximum(-t, TAIL)
    fraction = u
    for k in range(DEPTH, 0, -1):
        fraction = u + k / fraction
    body = jnp.maximum(t, -TAIL)  # keeps the branch that is not taken free of 0/0
    return jnp.where(t < -TAIL, fraction, normal_density(body) / ndtr(body))


def square_hinge(
    outputs: Float[Array, "batch *classes"], targets: Float[Array, "batch *classes"], weights: Float[Array, " batch"]
) -> Float[Array, ""]:
    """Weighted mean ``Σ_i w_i max(0, 1 - y_i f_i)² / Σ_i w_i``; 0 if there is no weight at all.

    With several outputs a row's loss is the mean over them (Courbariaux, Bengio and David 2015).

    Parameters
    ----------
    outputs, targets : arrays (batch,) or (batch, K)
        Scores f and targets y in {-1, +1}.
    weights : array (batch,)
        Sample weights w ≥ 0 (0 for padding; only their proportions matter).

    Examples
    --------
    >>> float(square_hinge(jnp.array([0.0, 3.0]), jnp.array([1.0, 1.0]), jnp.ones(2)))
    0.5
    >>> float(square_hinge(jnp.array([[1.0, 0.0, -1.0, -1.0]]), jnp.array([[1.0, -1.0, -1.0, -1.0]]), jnp.ones(1)))
    0.25
    """
    total = jnp.sum(weights)
    losses = jnp.square(jnp.maximum(0, 1 - targets * outputs))
    if losses.ndim == 2:
        losses = losses.mean(axis=1)
    return weights @ losses / jnp.where(total > 0, total, 1)


def check_outputs(sizes: tuple[int, ...]) -> None:
    """Refuse sizes that end neither in one output, for two classes, nor in one for each of several.

    Examples
    --------
    >>> check_outputs((4, 3, 1))
    >>> check_outputs((4, 3, 2))
    Traceback (most recent call last):
    ...
    ValueError: sizes must end in one output, whose sign is the label, or in one for each of three classes or more; got 2 outputs in (4, 3, 2).
    """  # noqa: E501
    check_sizes(sizes)
    if sizes[-1] == 2:
        raise ValueError(
            "sizes must end in one output, whose sign is the label, or in one for each of three classes or more; "
            f"got 2 outputs in {sizes}."
        )


def output_scores(f: Float[Array, "batch outputs"]) -> Float[Array, "batch *classes"]:
    """Outputs as scores: a single one without its axis.

    Examples
    --------
    >>> output_scores(jnp.zeros((5, 1))).shape, output_scores(jnp.zeros((5, 3))).shape
    ((5,), (5, 3))
    """
    if f.shape[1] == 1:
        return f[:, 0]
    return f


def zero_one_error(
    outputs: Float[Array, "batch *classes"], targets: Float[Array, "batch *classes"], weights: Float[Array, " batch"]
) -> Float[Array, ""]:
    """Weighted share of rows whose sign is wrong: ``Σ_i w_i 1{sgn(f_i) ≠ y_i} / Σ_i w_i``, with ``sgn(0) = +1``.

    With several outputs a row is wrong where the largest one, the first of several, is not the true class's.

    Parameters
    ----------
    outputs, targets : arrays (batch,) or (batch, K)
        Scores, and targets in {-1, +1}.
    weights : array (batch,)
        Sample weights of which at least one is positive.

    Examples
    --------
    >>> float(zero_one_error(jnp.array([0.0, -2.0, 5.0]), jnp.array([1.0, 1.0, -1.0]), jnp.array([2.0, 1.0, 1.0])))
    0.5
    >>> float(zero_one_error(jnp.array([[0.5, 0.2, 0.1]]), jnp.array([[-1.0, 1.0, -1.0]]), jnp.ones(1)))
    1.0
    """
    if outputs.ndim == 2:
        wrong = jnp.argmax(outputs, axis=1) != jnp.argmax(targets, axis=1)
    else:
        wrong = (outputs >= 0) != (targets > 0)
    return jnp.sum(weights * wrong) / jnp.sum(weights)
