"""Training objectives: the linear loss, the log loss, or Catoni's bound (Eq. 6 of the paper)."""

from collections.abc import Callable
from enum import IntEnum
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from abnet.networks.aggregation import linear_loss
from abnet.networks.posterior import mean_of_members

__all__ = ["LOG_MIXTURE", "Minibatch", "Objective", "log_loss", "n_unpadded", "weighted_mean"]

LOG_MIXTURE = 1e-3
"""Weight of the uniform distribution that is mixed into the log loss to keep it finite."""


class Minibatch(NamedTuple):
    """What an objective is computed from.

    Attributes
    ----------
    outputs : array (M, rows) or (M, rows, K)
        Outputs of every member.
    targets : array (rows,) or (rows, K)
    weights : array (rows,)
    total : float or None
        What the weighted sum of losses is divided by; None for the sum of the weights.
    together : float
        Weight of the loss of the mean output in the log loss; the rest is the mean of the members' own losses.
    bound : callable
        Maps an empirical risk to Catoni's bound of the posterior.
    """

    outputs: Any
    targets: Any
    weights: Any
    total: Any
    together: float
    bound: Callable[[Any], Any]


def gibbs_risk(batch: Minibatch) -> Any:
    """The linear loss of the mean output."""
    losses = linear_loss(mean_of_members(batch.outputs), batch.targets)
    return weighted_mean(losses, batch.weights, batch.total)


def shared_log_loss(batch: Minibatch) -> Any:
    """The log loss of the mean output, with a share of the members' own."""
    losses = log_loss(mean_of_members(batch.outputs), batch.targets)
    if batch.together < 1 and len(batch.outputs) > 1:
        own = jax.vmap(log_loss, in_axes=(0, None))(batch.outputs, batch.targets).mean(axis=0)
        losses = batch.together * losses + (1 - batch.together) * own
    return weighted_mean(losses, batch.weights, batch.total)


def catoni_bound_of_risk(batch: Minibatch) -> Any:
    """Catoni's bound at the linear loss of the minibatch."""
    return batch.bound(gibbs_risk(batch))


class Objective(IntEnum):
    """What a run minimises.

    Its number is an argument of the compiled program, so that one program serves all objectives. Numbers are
    consecutive.

    Attributes
    ----------
    loss : callable
        The value on a `Minibatch`.
    """

    loss: Callable[[Minibatch], Any]

    LINEAR = 0, gibbs_risk
    LOG = 1, shared_log_loss
    BOUND = 2, catoni_bound_of_risk

    def __new__(cls, number: int, loss: Callable[[Minibatch], Any]) -> "Objective":
        """A number with its loss."""
        objective = int.__new__(cls, number)
        objective._value_ = number
        objective.loss = loss
        return objective


def log_loss(outputs: Any, targets: Any) -> Any:
    """``-Σ_c y_c ln P_c`` of each row, with P mixed with the uniform distribution; targets may be soft.

    Parameters
    ----------
    outputs, targets : arrays (rows,) in [-1, 1], or (rows, K)
    """
    if outputs.ndim == 1:
        negative = (0.5 - 0.5 * targets) * jnp.log(_mixed(0.5 - 0.5 * outputs, 2))
        positive = (0.5 + 0.5 * targets) * jnp.log(_mixed(0.5 + 0.5 * outputs, 2))
        return -(negative + positive)
    return -jnp.sum(targets * jnp.log(_mixed(outputs, outputs.shape[-1])), axis=-1)


def _mixed(probability: Any, n_classes: int) -> Any:
    """A probability mixed with the uniform distribution."""
    mixed = (1 - LOG_MIXTURE) * probability + LOG_MIXTURE / n_classes
    # Rounding may have made the probability slightly negative.
    return jnp.maximum(mixed, 0.25 * LOG_MIXTURE / n_classes)


def weighted_mean(losses: Any, weights: Any, total: Any = None) -> Any:
    """``Σ_i w_i ℓ_i / total``; the total is that of the weights by default."""
    if total is None:
        total = jnp.sum(weights)
    return jnp.sum(weights * losses) / jnp.maximum(total, jnp.finfo(weights.dtype).tiny)


def n_unpadded(weights: Any) -> Any:
    """Number of rows of a minibatch without padding: a step divides the weighted losses by it.

    A step does not divide by the sum of the weights: otherwise a minibatch without heavily weighted rows would change
    the network as much as one with them, and large weights of rare classes would have little effect.
    """
    return jnp.count_nonzero(weights).astype(weights.dtype)
