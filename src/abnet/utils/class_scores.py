"""Scores of classes: the class that each row's scores predict, and the linear loss."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["losses_of", "winners"]


def winners(scores: ArrayLike) -> NDArray[np.intp]:
    """The predicted class code of each row, from its scores.

    Parameters
    ----------
    scores : array (n,) or (n, K)
        With one score per row there are two classes: code 1 if the score is at least 0, otherwise 0. With K scores the
        largest wins; ties go to the first.

    Examples
    --------
    >>> winners([-0.5, 0.0, 2.0])
    array([0, 1, 1])
    >>> winners([[0.2, 0.5, 0.3], [0.4, 0.2, 0.4]])
    array([1, 0])
    """
    array = np.asarray(scores)
    if array.ndim == 1:
        return (array >= 0).astype(np.intp)
    if array.ndim != 2 or array.shape[1] < 2:
        raise ValueError(f"scores must have the shape (rows,) or (rows, classes), but have {array.shape}.")
    return np.argmax(array, axis=1)


def losses_of(scores: NDArray[np.float64], codes: NDArray[np.intp]) -> NDArray[np.float64]:
    """``1 - P(true class)`` of each row; 1 for a label that the model does not know.

    One score s per row is the difference of the probabilities of two classes, so that ``P(class 1) = (1 + s) / 2``.

    Examples
    --------
    >>> losses_of(np.array([0.5, 0.5]), np.array([1, 0])), losses_of(np.array([[0.2, 0.8, 0.0]]), np.array([1]))
    (array([0.25, 0.75]), array([0.2]))
    """
    if scores.ndim == 1:
        signs = 2.0 * codes - 1
        losses = (1 - signs * scores) / 2
        return np.where(codes > 1, 1.0, losses)
    known = codes < scores.shape[1]
    columns = np.where(known, codes, 0)  # an unknown label has no column of its own
    losses = 1 - scores[np.arange(len(codes)), columns]
    return np.where(known, losses, 1.0)
