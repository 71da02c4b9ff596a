"""Pool several classifiers' probabilities into one prediction: a weighted geometric mean.

With ``p_t(x)`` the probabilities of classifier t, the pool is ``p(x)_j ∝ Π_t p_t(x)_j^{w_t}`` with weights ``w_t >= 0``
(a logarithmic opinion pool). The weights minimise the log loss of out-of-fold predictions, a convex problem. They need
not sum to 1: a sum above 1 sharpens classifiers that are too timid, such as a forest that is right with half of its
trees, so no further calibration is needed.
"""

import numpy as np
from numpy.typing import NDArray

__all__ = ["pool_weights", "pooled", "softmax"]

LEAST_PROBABILITY = 1e-3
"""Smaller probabilities are raised to this one: one classifier must not veto a class."""
RIDGE = 0.3
"""Nats, over all rows, that a weight one unit away from equal weights costs, times the number of classifiers. On few
rows the smallest loss would follow chance."""
MOST_ROWS = 20_000
"""Rows that the weights are fitted on; of more rows, evenly spaced ones."""


def pooled(weights: NDArray[np.float64], probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """The pool of predictions, shape (n, K), from probabilities of shape (T, n, K).

    Examples
    --------
    >>> two = np.array([[[0.2, 0.8]], [[0.5, 0.5]]])
    >>> pooled(np.array([1.0, 0.0]), two), pooled(np.array([0.0, 3.0]), two)
    (array([[0.2, 0.8]]), array([[0.5, 0.5]]))
    """
    return softmax(np.tensordot(weights, _logs(probabilities), 1))


def pool_weights(
    probabilities: NDArray[np.float64], codes: NDArray[np.intp], row_weights: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Weights of least log loss, shape (T,).

    Parameters
    ----------
    probabilities : array (T, n, K)
        Predictions for rows that the classifiers were not fitted on.
    codes : array (n,)
        The rows' classes, 0 to K - 1.
    row_weights : array (n,), optional

    Examples
    --------
    >>> informed = np.array([[0.9, 0.1], [0.1, 0.9]] * 50)
    >>> pool_weights(np.stack([informed, informed[::-1]]), np.array([0, 1] * 50)).round(1)
    array([2.1, 0. ])
    """
    from scipy.optimize import minimize

    n_classifiers = len(probabilities)
    step = -(-len(codes) // MOST_ROWS)
    codes = codes[::step]
    shares = np.ones(len(codes))
    if row_weights is not None:
        shares = row_weights[::step] / np.mean(row_weights[::step])
    minimum = minimize(
        _loss_and_gradient,
        np.full(n_classifiers, 1 / n_classifiers),
        (_logs(probabilities[:, ::step]), codes, shares),
        jac=True,
        bounds=[(0.0, None)] * n_classifiers,
        method="L-BFGS-B",
    )
    return np.asarray(minimum.x)


def _loss_and_gradient(
    weights: NDArray[np.float64], logs: NDArray[np.float64], codes: NDArray[np.intp], shares: NDArray[np.float64]
) -> tuple[float, NDArray[np.float64]]:
    """Log loss of the pool over all rows with the ridge, and its gradient."""
    rows = np.arange(len(codes))
    deviations = weights - 1 / len(weights)
    ridge = RIDGE * len(weights)
    pool = softmax(np.tensordot(weights, logs, 1))
    log_loss = -np.sum(shares * np.log(np.maximum(pool[rows, codes], np.finfo(float).tiny)))
    by_logits = pool * shares[:, None]
    by_logits[rows, codes] -= shares
    loss = float(log_loss + ridge * np.sum(deviations**2))
    gradient = np.tensordot(logs, by_logits, 2) + 2 * ridge * deviations
    return loss, gradient


def _logs(probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.log(np.maximum(probabilities, LEAST_PROBABILITY))


def softmax(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    """Probabilities ``p_j ∝ exp(logits_j)`` along the last axis.

    Examples
    --------
    >>> softmax(np.log([[1.0, 3.0]]))
    array([[0.25, 0.75]])
    """
    odds = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return np.asarray(odds / odds.sum(axis=-1, keepdims=True))
