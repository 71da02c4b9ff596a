"""The answers of any fitted classifier on labelled rows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abnet.certificates.row_by_row import check_row_by_row
from abnet.utils.caller_rows import n_rows_of, take_rows
from abnet.utils.wording import number_of

__all__ = ["AnyModel", "HasPredict", "Judged", "answers_of", "count_answers", "judge_answers", "judge_model"]

Predict = Callable[[Any], Any]


class HasPredict(Protocol):
    """A fitted classifier of this or any other library."""

    def predict(self, X: Any, /) -> Any:
        """Labels of rows."""
        ...


AnyModel = HasPredict | Predict
"""A fitted classifier, or a function from rows to labels."""


@dataclass(frozen=True)
class Judged:
    """Answers of a classifier and true labels, as codes.

    Attributes
    ----------
    answers : array of int (n,)
        Index of each answer in `classes`; ``len(classes)`` for a missing answer or one that is not in `classes`.
    truth : array of int (n,)
        Index of each label in `classes`.
    classes : tuple
        Labels that occur or that the model knows, in order.
    unanswered : int
        Number of rows without an answer: an exception, None or NaN.
    """

    answers: NDArray[np.intp]
    truth: NDArray[np.intp]
    classes: tuple[Any, ...]
    unanswered: int

    @property
    def wrong(self) -> NDArray[np.bool_]:
        """Whether the answer differs from the label; a missing answer is an error."""
        return np.asarray(self.answers != self.truth)

    @property
    def names(self) -> tuple[str, ...]:
        """The labels as text."""
        return tuple(map(str, self.classes))


def judge_model(model: AnyModel, X: Any, y: ArrayLike) -> Judged:
    """Predict rows with a classifier, and compare the answers with the labels.

    Parameters
    ----------
    model : object with ``predict``, or callable
        Maps rows to labels. Raises a ValueError if the answer to a row depends on the other rows of the batch.
    X : array, sparse matrix, frame or list
        Rows held out from training.
    y : array-like (n,)
        Their labels. A label that the model does not know counts as an error.

    Examples
    --------
    >>> judge_model(lambda X: np.where(X[:, 0] > 0, "yes", "no"), np.array([[1.0], [-1.0]]), ["yes", "yes"]).wrong
    array([False,  True])
    """
    labels = _labels(y)
    if n_rows_of(X) != len(labels):
        raise ValueError(f"X has {n_rows_of(X)} rows, but there are {len(labels)} labels.")
    known = getattr(model, "classes_", ())
    return judge_answers(labels, answers_of(model, X), known=np.asarray(known).tolist())


def answers_of(model: AnyModel, X: Any) -> list[Any]:
    """The answers of a classifier; None for a row that raises an exception on its own, and for a missing answer.

    Parameters
    ----------
    model : object with ``predict``, or callable
        Raises a ValueError if the answer to a row depends on the other rows of the batch.
    X : array, sparse matrix, frame or list

    Examples
    --------
    >>> answers_of(lambda rows: [None if row < 0 else row % 2 for row in rows], [3, 4, -1])
    [1, 0, None]
    """
    predict = _predict_of(model)
    _check_answers_some(predict, X)
    reason = check_row_by_row(lambda rows: _column(_answers(predict, rows)), X)
    if reason:
        raise ValueError(
            f"There is no certificate, because predict does not work row by row: {reason}. A certificate is about "
            "single rows, so the answer to a row must not depend on the other rows of a batch."
        )
    return [_answer_or_none(answer) for answer in _answers(predict, X)]


def count_answers(answers: Sequence[Any], classes: Sequence[Any]) -> tuple[int, ...]:
    """How often each class is answered; the last number is for other answers and for none.

    Examples
    --------
    >>> count_answers(["a", "b", "a", None, "x"], ("a", "b"))
    (2, 1, 2)
    """
    places = {label: place for place, label in enumerate(classes)}
    codes = [_place(answer, places) for answer in answers]
    return tuple(np.bincount(codes, minlength=len(classes) + 1).tolist())


def judge_answers(y: ArrayLike, answers: Any, *, known: Any = ()) -> Judged:
    """Compare given answers with the labels.

    Parameters
    ----------
    y, answers : array-like (n,)
        None and NaN are missing answers, which count as errors; missing labels raise a ValueError.
    known : sequence
        Labels that the model knows, in its order; others follow.

    Examples
    --------
    >>> judged = judge_answers([0, 1, 1], [0, None, 2])
    >>> judged.wrong.tolist(), judged.unanswered, judged.classes
    ([False, True, True], 1, (0, 1))
    """
    labels, given = _labels(y), _list(answers)
    if len(given) != len(labels):
        raise ValueError(f"There are {len(labels)} labels, but {len(given)} answers.")
    missing = np.array([_is_missing(answer) for answer in given])
    _check_kinds(labels, [answer for answer, none in zip(given, missing, strict=True) if not none])
    classes = [*known, *_sorted({*labels} - {*known})]
    places = {label: place for place, label in enumerate(classes)}
    truth = np.array([places[label] for label in labels], np.intp)
    codes = np.full(len(given), len(classes), np.intp)
    for row in np.flatnonzero(~missing):
        codes[row] = _place(given[row], places)
    return Judged(codes, truth, tuple(classes), int(missing.sum()))


def _place(answer: Any, places: dict[Any, int]) -> int:
    try:
        return places.get(answer, len(places))
    except TypeError:  # a list, which is no label
        return len(places)


def _predict_of(model: AnyModel) -> Predict:
    predict = getattr(model, "predict", None)
    if callable(predict):
        return predict
    if callable(model):
        return model
    raise ValueError(f"model must have a method `predict`, or be a function from rows to labels; got {model!r}.")


def _answers(predict: Predict, X: Any) -> list[Any]:
    """Answers to all rows; None for rows that raise an exception on their own."""
    n = n_rows_of(X)
    answers = _attempt(predict, X)
    if not isinstance(answers, Exception):
        return answers
    if n == 1:
        return [None]
    # Predict the two halves separately: the half without the failing row needs one call only.
    halves = (np.arange(n // 2), np.arange(n // 2, n))
    return [answer for half in halves for answer in _answers(predict, take_rows(X, half))]


def _attempt(predict: Predict, X: Any) -> list[Any] | Exception:
    try:
        answers = _list(predict(X))
    except (MemoryError, RecursionError):
        raise
    except Exception as error:  # whatever the caller's model raises
        return error
    n = n_rows_of(X)
    if len(answers) != n:
        return ValueError(f"predict gives {len(answers)} answers to {n} rows.")
    return answers


def _check_answers_some(predict: Predict, X: Any) -> None:
    """Raise a ValueError if neither all rows together nor any of some single rows are answered."""
    problem = _attempt(predict, X)
    if not isinstance(problem, Exception):
        return
    n = n_rows_of(X)
    places = np.unique(np.linspace(0, n - 1, min(n, 20)).astype(np.intp)).tolist()
    if all(isinstance(_attempt(predict, take_rows(X, [place])), Exception) for place in places):
        raise ValueError(f"predict answers no row: {type(problem).__name__}: {str(problem)[:200]}") from problem


def _column(answers: list[Any]) -> NDArray[Any]:
    column = np.empty(len(answers), dtype=object)
    column[:] = answers
    return column


def _list(values: Any) -> list[Any]:
    """Plain values of a vector, or of a matrix of one column."""
    array = values
    if hasattr(values, "to_numpy"):
        array = values.to_numpy()
    if isinstance(array, np.ndarray):
        if array.ndim == 2 and array.shape[1] == 1:
            array = array[:, 0]
        if array.ndim != 1:
            raise ValueError(f"labels must be a vector; got the shape {array.shape}.")
        return list(array.tolist())
    return [value.item() if isinstance(value, np.generic) else value for value in array]


def _labels(y: ArrayLike) -> list[Any]:
    labels = _list(y)
    missing = [row for row, label in enumerate(labels) if _is_missing(label)]
    if missing:
        raise ValueError(
            f"{number_of(len(missing), 'row')} without a label, the first is row {missing[0]}: leave them out."
        )
    if not labels:
        raise ValueError("There are no rows to certify on.")
    return labels


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and value != value)


def _answer_or_none(answer: Any) -> Any:
    if _is_missing(answer):
        return None
    return answer


def _check_kinds(labels: list[Any], answers: list[Any]) -> None:
    """Raise a ValueError for text labels and numeric answers, or vice versa: they would never match."""
    if answers and {isinstance(label, str) for label in labels}.isdisjoint({isinstance(a, str) for a in answers}):
        one, other = type(labels[0]).__name__, type(answers[0]).__name__
        raise ValueError(f"the labels are of type {one}, the answers of type {other}: use the same type for both.")


def _sorted(values: set[Any]) -> list[Any]:
    try:
        return sorted(values)
    except TypeError:
        return sorted(values, key=lambda value: (type(value).__name__, str(value)))
