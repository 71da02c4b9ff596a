"""Weights of classes, as weights of rows whose targets are distributions over the classes."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["weighted_targets", "weights_of_classes"]


def weights_of_classes(class_weight: Any, codes: NDArray[np.intp], classes: NDArray[Any]) -> NDArray[np.float64] | None:
    """A weight for each class, from training rows only; None if all weigh the same.

    Parameters
    ----------
    class_weight : None, "balanced" or mapping
        As passed to the classifier. "balanced" weights are inversely proportional to the counts of the classes.
    codes : array (n,)
        Classes of the training rows.
    classes : array (K,)
        The labels of the classes.

    Examples
    --------
    >>> weights_of_classes("balanced", np.array([0, 0, 0, 1]), np.array(["no", "yes"])).round(2)
    array([0.67, 2.  ])
    """
    if class_weight is None:
        return None
    if isinstance(class_weight, str):
        counts = np.bincount(codes, minlength=len(classes))
        return np.asarray(len(codes) / (len(classes) * np.maximum(counts, 1)))
    return np.array([float(class_weight.get(label, 1.0)) for label in classes.tolist()])


def weighted_targets(
    targets: NDArray[np.float64], class_weights: NDArray[np.float64] | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Targets under class weights, and a weight for each row: ``w = Σ_c w_c y_c`` and ``y_c' = w_c y_c / w``.

    Parameters
    ----------
    targets : array (n, K)
        A distribution over the classes for each row.
    class_weights : array (K,) or None

    Examples
    --------
    >>> weighted_targets(np.array([[0.5, 0.5], [1.0, 0.0]]), np.array([1.0, 3.0]))
    (array([[0.25, 0.75],
           [1.  , 0.  ]]), array([2., 1.]))
    """
    if class_weights is None:
        return targets, np.ones(len(targets))
    weighted = targets * class_weights
    totals = np.maximum(weighted.sum(axis=1), np.finfo(float).tiny)
    return weighted / totals[:, None], totals
