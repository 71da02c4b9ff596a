"""Training objectives: the linear loss, the log loss, or Catoni's bound (Eq. 6 of the paper)."""

from enum import IntEnum
from typing import Any

import jax.numpy as jnp

__all__ = ["LOG_MIXTURE", "Objective", "counted", "log_loss", "weighted_mean"]

LOG_MIXTURE = 1e-3
"""Weight of the uniform distribution that is mixed into the log loss to keep it finite."""


class Objective(IntEnum):
    """The objective of a run; an argument of the compiled program."""

    LINEAR = 0
    LOG = 1
    BOUND = 2


def log_loss(outputs: Any, targets: Any) -> Any:
    """``-Σ_c y_c ln P_c`` of each row, with P mixed with the uniform distribution; targets may be soft.

    Parameters
    ----------
    outputs, targets : arrays (rows,) in [-1, 1], or (rows, K)
    """
    if outputs.ndim == 1:
        chances, shares = ((0.5 - 0.5 * v, 0.5 + 0.5 * v) for v in (outputs, targets))
        return -sum(q * jnp.log(_mixed(p, 2)) for p, q in zip(chances, shares, strict=True))
    return -jnp.sum(targets * jnp.log(_mixed(outputs, outputs.shape[-1])), axis=-1)


def _mixed(chance: Any, n_classes: int) -> Any:
    """A probability mixed with the uniform distribution; before, rounding may have made it negative."""
    mixed = (1 - LOG_MIXTURE) * chance + LOG_MIXTURE / n_classes
    return jnp.maximum(mixed, 0.25 * LOG_MIXTURE / n_classes)


def weighted_mean(losses: Any, weights: Any, total: Any = None) -> Any:
    """``Σ_i w_i ℓ_i / total``; the total is that of the weights by default."""
    total = jnp.sum(weights) if total is None else total
    return jnp.sum(weights * losses) / jnp.maximum(total, jnp.finfo(weights.dtype).tiny)


def counted(weights: Any) -> Any:
    """Number of rows of a minibatch without padding: a step divides the weighted losses by it.

    It is not the sum of the weights: otherwise a minibatch without heavily weighted rows would change the network as
    much as one with them, and large weights of rare classes would have little effect.
    """
    return jnp.count_nonzero(weights).astype(weights.dtype)
