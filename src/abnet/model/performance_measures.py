"""Measures of a model's answers and probabilities on test rows: estimates without a guarantee."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.bounds.clopper_pearson import clopper_pearson_bound, clopper_pearson_lower
from abnet.tables.labels import Labels

__all__ = ["auc", "balanced_error", "calibration_error", "interval", "log_loss"]


def interval(count: int, n: int, delta: float = 0.05) -> tuple[float, float]:
    """Clopper-Pearson limits of a rate with confidence 1 - δ, from a count among n independent rows.

    Examples
    --------
    >>> [round(limit, 4) for limit in interval(1, 20)]
    [0.0013, 0.2487]
    """
    return clopper_pearson_lower(count, n, delta / 2), clopper_pearson_bound(count, n, delta / 2)


def balanced_error(answers: NDArray[Any], labels: NDArray[Any]) -> float:
    """Mean of the per-class error rates.

    Examples
    --------
    >>> balanced_error(np.array(["a", "a", "a", "a"]), np.array(["a", "a", "a", "b"]))
    0.5
    """
    return float(np.mean([np.mean(answers[labels == label] != label) for label in np.unique(labels)]))


def auc(scores: NDArray[np.float64], classes: NDArray[Any], labels: NDArray[Any]) -> float | None:
    """Area under the ROC curve; for several classes the one-vs-rest mean. None if only one class occurs.

    Examples
    --------
    >>> auc(np.array([0.1, 0.4, 0.35, 0.8]), np.array([0, 1]), np.array([0, 0, 1, 1]))
    0.75
    """
    from sklearn.metrics import roc_auc_score

    if len(classes) == 2:  # one score is enough: that of the second class
        scores_of_class = {classes[1]: scores.T.reshape(-1, len(scores))[-1]}
    else:
        scores_of_class = dict(zip(classes.tolist(), scores.T, strict=True))
    areas = []
    for label, own_scores in scores_of_class.items():
        is_label = labels == label
        if is_label.any() and not is_label.all():
            areas.append(roc_auc_score(is_label, own_scores))
    if not areas:
        return None
    return float(np.mean(areas))


def log_loss(proba: NDArray[np.float64], classes: NDArray[Any], labels: NDArray[Any]) -> float:
    """Mean of ``-ln P(true class)``, in nats; probabilities are at least 1e-6, also for unknown labels.

    Examples
    --------
    >>> round(log_loss(np.array([[0.5, 0.5], [0.2, 0.8]]), np.array(["a", "b"]), np.array(["a", "b"])), 4)
    0.4581
    """
    at = Labels(classes).encode(labels)
    chance = np.where(at >= 0, proba[np.arange(len(labels)), at], 0.0)
    return float(-np.log(np.maximum(chance, 1e-6)).mean())


CALIBRATION_BINS = 15


def calibration_error(proba: NDArray[np.float64], right: NDArray[np.bool_]) -> float:
    """Expected calibration error: mean gap between confidence and accuracy, over bins of the confidence.

    Examples
    --------
    >>> calibration_error(np.array([[0.25, 0.75]] * 4), np.array([True, True, True, False]))
    0.0
    """
    top = proba.max(axis=1)
    bins = np.minimum((top * CALIBRATION_BINS).astype(int), CALIBRATION_BINS - 1)
    count = np.bincount(bins, minlength=CALIBRATION_BINS)
    gaps = np.bincount(bins, weights=right - top, minlength=CALIBRATION_BINS)
    return float(np.abs(gaps).sum() / max(count.sum(), 1))
