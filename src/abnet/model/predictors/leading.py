"""The leading hidden layer, in single or double precision, depending on the arrays."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import erf

from abnet.networks.bam import BAM
from abnet.utils.row_norms import over_norms

__all__ = ["leading_arguments", "leading_means", "leading_scores", "leading_weights", "weighted_sums"]


def leading_weights(network: BAM) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """``W_1`` and ``b_1`` in C order, as in a file: the memory order may change the last bit of a product."""
    return np.ascontiguousarray(network.weights[0]), np.ascontiguousarray(network.biases[0])


def weighted_sums(W: Any, b: Any, X: Any) -> Any:
    """``W_1 x + b_1`` of every row, shape (rows, d_1)."""
    return X @ W.T + b


def leading_arguments(W: Any, b: Any, X: Any) -> Any:
    """``t_1(x) = (W_1 x + b_1)/sqrt(2(‖x‖² + 1))``, shape (rows, d_1), without a lifted copy of X.

    Its error function is the mean output of a unit whose weights and bias are drawn from N(·, 1). Not finite where a
    row is not, nor where its squared norm is too large for the type.

    Parameters
    ----------
    W : array (d_1, d_0)
    b : array (d_1,)
    X : array (rows, d_0)

    Examples
    --------
    >>> leading_arguments(np.array([[1.0, 0.0]]), np.array([3.0]), np.array([[1.0, 0.0]]))
    array([[2.]])
    """
    with np.errstate(over="ignore", invalid="ignore"):
        return over_norms(weighted_sums(W, b, X), np.vecdot(X, X))


def leading_means(W: Any, b: Any, X: Any) -> Any:
    """Mean output of every unit, ``m_1(x) = erf(t_1(x))``, shape (rows, d_1)."""
    return erf(leading_arguments(W, b, X))


def leading_scores(V: Any, X: Any) -> Any:
    """``z_1(x) = √2 t_1(x)``, for the layer ``V = (W_1, b_1)``: a unit outputs ``sgn(z_1 + ε)`` with ε ~ N(0, 1)."""
    return leading_arguments(V[:, :-1], V[:, -1], X) * X.dtype.type(2**0.5)
