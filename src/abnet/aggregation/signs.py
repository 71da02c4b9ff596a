"""Neurons that read signs: the layers above the first, without lifting their inputs."""

from typing import Any

from abnet.cube import erf

__all__ = ["sign_means", "sign_scores"]


def sign_scores(V: Any, s: Any) -> Any:
    """``z(s) = (W s + b)/sqrt(d + 1)`` for inputs ±1: a neuron with Gaussian weights outputs ``sgn(z + ε)``.

    ``ε ~ N(0, 1)``. All vectors of d signs and a constant 1 have the same length, so lifting them is a division by a
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


def sign_means(V: Any, s: Any) -> Any:
    """``m(s) = erf((W s + b)/sqrt(2(d + 1)))``: means of the neurons over their Gaussian weights, shape (..., d_k)."""
    return erf(sign_scores(V, s) * V.dtype.type(0.5**0.5))
