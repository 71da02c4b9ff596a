"""Catoni's bound as a training objective in JAX."""

import jax.numpy as jnp
from jaxtyping import Array, Float, Real

__all__ = ["catoni_objective"]


Scalar = Float[Array, ""] | float


def catoni_objective(
    risk: Scalar, kl: Scalar, n: Real[Array, ""] | int | float, delta: Scalar, log_c: Scalar
) -> Float[Array, ""]:
    r"""Catoni's bound at ``C = exp(log_c)``, the function that learning minimises.

    .. math:: \frac{1 - \exp\big(-C \hat r - \frac1n(\mathrm{KL} + \ln\frac{2\sqrt n}\delta)\big)}{1 - e^{-C}}

    Differentiable in every argument, never clipped: a vacuous bound still shows the way down. All arguments may be
    traced, so that neither the number of rows nor δ is built into a compiled program. Accurate in float32 for ``log_c``
    between -20 and 20. To report a bound, use :func:`abnet.bounds.gibbs_bound`.

    Parameters
    ----------
    risk : float
        Empirical Gibbs risk.
    kl : float
        Divergence of the posterior from the prior, in nats.
    n : int
        Number of examples of the bound (not of the batch).
    delta : float
        Probability with which the bound may fail.
    log_c : float
        Logarithm of C, learned along with the posterior.

    Returns
    -------
    Array
        A scalar, of the common type of the arguments.

    Examples
    --------
    >>> print(f"{catoni_objective(0.1, 20.0, 1000, 0.05, -0.356675):.4f}")
    0.1839
    """
    size = jnp.asarray(n, dtype=jnp.result_type(risk, kl, log_c, float))
    c = jnp.exp(log_c)
    complexity = (kl + jnp.log(2.0) + 0.5 * jnp.log(size) - jnp.log(delta)) / size
    return jnp.expm1(-c * risk - complexity) / jnp.expm1(-c)
