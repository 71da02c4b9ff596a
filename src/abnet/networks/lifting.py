"""Inputs and signs as unit vectors with a constant coordinate, and the mean outputs of a layer on them.

A bias is a weight on a constant input. On lifted inputs all layers have the same formula, ``erf(V x̃ / √2)``.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abnet.networks.bam import BAM, check_inputs
from abnet.networks.cube import erf, namespace
from abnet.networks.shapes import Float

__all__ = ["lift", "lift_into", "lifted_inputs", "mean_activation"]


def lift(x: Float[Any, "rows d"]) -> Float[Any, "rows d+1"]:
    """Rows as unit vectors with a constant input: ``x̃ = (x, 1)/sqrt(‖x‖² + 1)``.

    Parameters
    ----------
    x : array (rows, d)

    Examples
    --------
    >>> import numpy as np
    >>> lift(np.array([[0.0, 0.0], [2.0, 2.0]]))
    array([[0.        , 0.        , 1.        ],
           [0.66666667, 0.66666667, 0.33333333]])
    """
    if x.ndim != 2:
        raise ValueError(f"x must be an array of rows, (rows, d); got the shape {x.shape}.")
    if isinstance(x, np.ndarray):
        return lift_into(np.empty((len(x), x.shape[1] + 1), x.dtype), x)
    xp = namespace(x)
    x1 = _below_overflow(x, xp)
    return x1 / xp.sqrt(xp.sum(x1**2, axis=1, keepdims=True))


def _below_overflow(x: Any, xp: Any) -> Any:
    """``(x, 1)`` divided by its largest entry: squares of entries above 1e19 overflow float32."""
    largest = xp.maximum(xp.max(xp.abs(x), axis=1, keepdims=True, initial=0), x.dtype.type(1))
    return xp.concatenate([x / largest, 1 / largest], axis=1)


_LIFTED_ROWS = 64


def lift_into(out: NDArray[Any], x: NDArray[Any]) -> NDArray[Any]:
    """`lift` written to a NumPy array (rows, d + 1), block by block.

    Blocks keep intermediate results in the cache: allocating large temporaries takes longer than the arithmetic.
    """
    buffer = np.empty((_LIFTED_ROWS, x.shape[1] + 1), x.dtype)
    for first in range(0, len(x), _LIFTED_ROWS):
        rows = x[first : first + _LIFTED_ROWS]
        lifted = out[first : first + _LIFTED_ROWS]
        spare = buffer[: len(rows)]
        sizes = np.abs(rows, out=spare[:, :-1])
        largest = np.maximum(sizes.max(axis=1, keepdims=True, initial=0), x.dtype.type(1))
        np.divide(rows, largest, out=lifted[:, :-1])
        np.divide(1, largest, out=lifted[:, -1:])
        squares = np.square(lifted, out=spare)
        lifted /= np.sqrt(squares.sum(axis=1, keepdims=True))
    return out


def lifted_inputs(bam: BAM, X: ArrayLike) -> Float[Any, "n _"]:
    """Lift plain inputs of a network, in its array library and precision; wrong shapes raise a ValueError.

    Parameters
    ----------
    bam : BAM
    X : array (n, d_0)
    """
    rows: Any = X
    if not hasattr(X, "dtype"):
        rows = np.asarray(X)
    check_inputs(bam, rows)
    return lift(namespace(bam.weights[0]).asarray(rows, dtype=bam.weights[0].dtype))


def mean_activation(V: Float[Any, "d_k d"], lifted: Float[Any, "rows d"]) -> Float[Any, "rows d_k"]:
    """Means of a layer of neurons with Gaussian weights on fixed inputs: ``m(x̃) = erf(V x̃ / √2)``.

    With the lifted input this is ``erf((W x + b)/sqrt(2(‖x‖² + 1)))`` at layer 1 and
    ``erf((W s + b)/sqrt(2(d + 1)))`` above.

    Parameters
    ----------
    V : array (d_k, d_{k-1} + 1)
    lifted : array (rows, d_{k-1} + 1)

    Returns
    -------
    array (rows, d_k)
    """
    if not V.ndim == lifted.ndim == 2 or V.shape[1] != lifted.shape[1]:
        raise ValueError(f"a layer of shape {V.shape} does not match lifted rows of shape {lifted.shape}.")
    return erf((lifted @ V.T) * V.dtype.type(0.5**0.5))
