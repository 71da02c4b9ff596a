"""Batch normalisation of a dense layer, with padded rows and running statistics."""

from typing import Any, NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

__all__ = ["Statistics", "batch_statistics", "normalise", "running_average", "unit_statistics"]


class Statistics(NamedTuple):
    """Mean and (biased) variance of each unit of a layer, two arrays (units,)."""

    mean: Any
    variance: Any


def unit_statistics(units: int) -> Statistics:
    """Mean 0 and variance 1: the running statistics before the first batch."""
    return Statistics(jnp.zeros(units), jnp.ones(units))


def batch_statistics(a: Float[Array, "batch units"], real: Float[Array, " batch"]) -> Statistics:
    """Mean and biased variance over the real rows of a batch.

    Rows are counted, not weighted: sample weights belong to the loss, and a unit's scale should not move with them.

    Parameters
    ----------
    a : array (batch, units)
        Pre-activations.
    real : array (batch,)
        1 for a row that counts, 0 for padding.

    Examples
    --------
    >>> batch_statistics(jnp.array([[1.0], [3.0], [99.0]]), jnp.array([1.0, 1.0, 0.0]))
    Statistics(mean=Array([2.], dtype=float32), variance=Array([1.], dtype=float32))
    """
    # products with the mask rather than masked sums: fewer and faster operations on the CPU
    share = real / jnp.maximum(jnp.sum(real), 1)
    mean = share @ a
    return Statistics(mean, share @ jnp.square(a - mean[None, :]))


def normalise(
    a: Float[Array, "batch units"],
    statistics: Statistics,
    gamma: Float[Array, " units"],
    beta: Float[Array, " units"],
    *,
    epsilon: float,
) -> Float[Array, "batch units"]:
    """``(a - μ) · γ/sqrt(σ² + ε) + β``, in this order, so that a = μ gives exactly β (Ioffe and Szegedy 2015).

    Examples
    --------
    >>> statistics = Statistics(jnp.array([2.0]), jnp.array([4.0]))
    >>> normalise(jnp.array([[2.0], [6.0]]), statistics, jnp.array([3.0]), jnp.array([1.0]), epsilon=0.0)
    Array([[1.],
           [7.]], dtype=float32)
    """
    scale = gamma / jnp.sqrt(statistics.variance + epsilon)
    return (a - statistics.mean[None, :]) * scale[None, :] + beta[None, :]


def running_average(running: Statistics, batch: Statistics, *, rate: float) -> Statistics:
    """``(1 - α) running + α batch``.

    Examples
    --------
    >>> batch = Statistics(jnp.array([2.0]), jnp.array([5.0]))
    >>> running_average(unit_statistics(1), batch, rate=0.5)
    Statistics(mean=Array([1.], dtype=float32), variance=Array([3.], dtype=float32))
    """
    return Statistics(*((1 - rate) * old + rate * new for old, new in zip(running, batch, strict=True)))
