"""Labels of rows with scores, as codes for a goal."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abnet.certificates.cost_table import EVERY
from abnet.certificates.judged_answers import judge_answers
from abnet.utils.wording import first_few

__all__ = ["ScoredLabels", "labels_and_answers", "labels_of_columns", "one_against_other", "one_against_rest"]


class ScoredLabels(NamedTuple):
    """Codes of the labels of rows with scores.

    Attributes
    ----------
    names : tuple of str
        The classes; of two classes with one score, the second is the one that the scores belong to.
    truth : int array (n,)
        Codes of the labels; the number of classes stands for a label that the goal does not name.
    answers : int array (n,) or None
        Codes of the answers, if the goal is about the model's own answers.
    """

    names: tuple[str, ...]
    truth: NDArray[np.intp]
    answers: NDArray[np.intp] | None = None


def labels_and_answers(labels: NDArray[Any], answers: ArrayLike) -> ScoredLabels:
    """The labels beside the model's answers."""
    judged = judge_answers(labels, answers)
    return ScoredLabels(judged.names, judged.truth, judged.answers)


def labels_of_columns(labels: NDArray[Any], n_columns: int, classes: Sequence[Any] | None) -> ScoredLabels:
    """The labels as places among the classes that the columns of a matrix of probabilities belong to.

    Examples
    --------
    >>> names, truth, _ = labels_of_columns(np.array(["b", "d"]), 3, ["a", "b", "c"])
    >>> names, truth.tolist()
    (('a', 'b', 'c'), [1, 3])
    """
    if n_columns < 3:
        raise ValueError("for two classes, pass the scores of one of them as a vector.")
    if classes is None or len({str(label) for label in classes}) != n_columns:
        raise ValueError(f"classes must name the class of each of the {n_columns} columns of the probabilities.")
    places = {str(label): place for place, label in enumerate(classes)}
    truth = [places.get(str(label), n_columns) for label in labels.tolist()]
    return ScoredLabels(tuple(places), np.array(truth, np.intp))


def one_against_rest(labels: NDArray[Any], positive: Any) -> ScoredLabels:
    """The positive label against all others.

    Examples
    --------
    >>> names, truth, _ = one_against_rest(np.array(["ill", "well", "unsure"]), "ill")
    >>> names, truth.tolist()
    (('not ill', 'ill'), [1, 0, 0])
    """
    is_positive = _positive_rows(labels, positive)
    return ScoredLabels((f"not {positive}", str(positive)), is_positive.astype(np.intp))


def one_against_other(labels: NDArray[Any], positive: Any, costs: Mapping[Any, float]) -> ScoredLabels:
    """The positive label against the only other one that the costs name; 2 for any other label.

    Examples
    --------
    >>> costs = {("ill", "well"): 10.0, ("well", "ill"): 1.0}
    >>> names, truth, _ = one_against_other(np.array(["ill", "well", "unsure"]), "ill", costs)
    >>> names, truth.tolist()
    (('well', 'ill'), [1, 0, 2])
    """
    is_positive = _positive_rows(labels, positive)
    named = {str(label) for pair in costs if isinstance(pair, tuple) for label in pair}
    found = set(map(str, labels.tolist()))
    if EVERY in named and EVERY not in found and len(found) == 2:
        named = found
    others = sorted(named - {str(positive)})
    is_open = EVERY in named and EVERY not in found
    if str(positive) not in named or len(others) != 1 or is_open:
        raise ValueError(f"costs must name two labels, {positive} and one other; they name {', '.join(sorted(named))}.")
    other = others[0]
    truth = np.full(len(labels), 2, np.intp)
    truth[[str(label) == other for label in labels.tolist()]] = 0
    truth[is_positive] = 1
    return ScoredLabels((other, str(positive)), truth)


def _positive_rows(labels: NDArray[Any], positive: Any) -> NDArray[np.bool_]:
    if positive is None or not np.any(labels == positive):
        found = first_few(sorted(set(map(repr, labels.tolist()))))
        raise ValueError(f"the positive class must be one of the labels ({found}); got {positive!r}.")
    return np.asarray(labels == positive)
