"""EBP's posterior-averaged prediction, with NumPy and SciPy alone."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import erf

from abnet.bam import BAM
from abnet.baselines.row_blocks import map_rows

__all__ = ["ebp_output"]


def ebp_output(network: BAM, X: ArrayLike, *, e: float = 1.0) -> NDArray[np.float64]:
    """EBP's approximate mean output ``v_L`` of networks drawn from ``N(network, I)``, in float64.

    ``v_l = erf(a_l / (√2 s_l))`` with ``a_l = M_l v_{l-1} + b_l``, ``s_1² = ‖x‖² + 1`` and, for l ≥ 2,
    ``s_l² = (d_{l-1} + 1) + M_l² (1 - v_{l-1}²) + e``. The label is the sign of v_L, and ``P(y|x) = (1 + y v_L)/2``.

    Parameters
    ----------
    network : BAM
        Posterior means, one output; NumPy or JAX arrays.
    X : array (n, d_0)
    e : float
        Extra variance of the layers above the first, as in training.

    Returns
    -------
    array (n,)
        Values in [-1, 1].

    Examples
    --------
    >>> network = BAM((np.array([[1.0, 0.0]]),), (np.array([0.0]),))
    >>> ebp_output(network, [[0.0, 0.0], [3.0, 0.0]]).round(3)
    array([0.   , 0.657])
    """
    means = network.astype(np.float64)

    def output(x: NDArray[np.float64]) -> NDArray[np.float64]:
        v, variance = x, np.sum(x * x, axis=1, keepdims=True) + 1
        for layer, (M, b) in enumerate(zip(means.weights, means.biases, strict=True)):
            if layer > 0:
                variance = M.shape[1] + 1 + e + (1 - v * v) @ (M * M).T
            v = erf((v @ M.T + b) / np.sqrt(2 * variance))
        return v[:, 0]

    return map_rows(output, X, columns=network.sizes[0])
