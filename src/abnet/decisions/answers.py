"""Labels with gaps: which rows are answered at a threshold that was certified."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abnet.decisions.abstain import Abstention

__all__ = ["answered", "labels_or_none", "sureness", "threshold_of"]


def sureness(scores: ArrayLike) -> NDArray[np.float64]:
    """How sure a model is of each row: ``|F(x)|`` for two classes, the largest share of the vote for several.

    Examples
    --------
    >>> sureness([-0.5, 0.2]), sureness([[0.2, 0.7, 0.1]])
    (array([0.5, 0.2]), array([0.7]))
    """
    values = np.asarray(scores, dtype=np.float64)
    return np.abs(values) if values.ndim == 1 else np.asarray(values.max(axis=1))


def answered(scores: ArrayLike, threshold: float | None) -> NDArray[np.bool_]:
    """Which rows are answered; none where nothing could be certified.

    Examples
    --------
    >>> answered([-0.5, 0.2], 0.3), answered([0.9], None)
    (array([ True, False]), array([False]))
    """
    sure = sureness(scores)
    return np.zeros(len(sure), dtype=bool) if threshold is None else sure > threshold


def labels_or_none(labels: ArrayLike, scores: ArrayLike, threshold: float | None) -> NDArray[Any]:
    """Labels as objects, None for rows that are not answered: what `predict_or_abstain` returns.

    Examples
    --------
    >>> labels_or_none(["no", "yes"], [-0.5, 0.2], 0.3)
    array(['no', None], dtype=object)
    """
    out = np.empty(len(np.asarray(labels)), dtype=object)
    out[:] = np.asarray(labels).tolist()
    out[~answered(scores, threshold)] = None
    return out


def threshold_of(details: Mapping[str, Any]) -> float | None:
    """The threshold in ``details["abstention"]`` of a stored model; ValueError if it was fitted without a target.

    Examples
    --------
    >>> threshold_of({})
    Traceback (most recent call last):
    ValueError: the model was fitted without target_error, so that it knows no threshold to abstain by.
    """
    if "abstention" not in details:
        raise ValueError("the model was fitted without target_error, so that it knows no threshold to abstain by.")
    return Abstention.from_dict(details["abstention"]).threshold
