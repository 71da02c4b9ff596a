"""The answers of any fitted classifier, ours or anybody's, and where they are wrong."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abnet.decisions.row_by_row import check_row_by_row
from abnet.tables.caller_rows import n_rows_of, take_rows
from abnet.words import number_of

__all__ = ["AnyModel", "HasPredict", "Judged", "judge_answers", "judge_model"]

Predict = Callable[[Any], Any]


class HasPredict(Protocol):
    """A fitted classifier, ours or anybody's."""

    def predict(self, X: Any, /) -> Any:
        """Labels of rows."""
        ...


AnyModel = HasPredict | Predict
"""A fitted classifier, or a function from rows to labels."""


@dataclass(frozen=True)
class Judged:
    """What a classifier answers to labelled rows.

    Attributes
    ----------
    answers : array of int (n,)
        The place of each answer among `classes`; their number where it is none of them, or missing.
    truth : array of int (n,)
        The place of each label.
    classes : tuple
        Labels that occur, or that the model knows, in order.
    unanswered : int
        Rows for which there is no answer: an exception, None or NaN.
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
    """Ask a classifier for its answers, and compare them with the labels.

    Parameters
    ----------
    model : object with ``predict``, or callable
        From rows to labels, row by row: ValueError if a row is answered otherwise by itself than among others.
    X : array, sparse matrix, frame or list
        Rows that had no part in making the model.
    y : array-like (n,)
        Their labels. One that the model does not know is an error of the model.

    Examples
    --------
    >>> judge_model(lambda X: np.where(X[:, 0] > 0, "yes", "no"), np.array([[1.0], [-1.0]]), ["yes", "yes"]).wrong
    array([False,  True])
    """
    predict = _predict_of(model)
    labels = _labels(y)
    if n_rows_of(X) != len(labels):
        raise ValueError(f"X has {n_rows_of(X)} rows, but there are {len(labels)} labels.")
    _check_answers_some(predict, X)
    reason = check_row_by_row(lambda rows: _column(_answers(predict, rows)), X)
    if reason:
        raise ValueError(
            f"There is no certificate, because predict does not work row by row: {reason}. A certificate is about "
            "single rows, so a model must answer each of them alone as it does among others."
        )
    known = getattr(model, "classes_", ())
    return judge_answers(labels, _answers(predict, X), known=np.asarray(known).tolist())


def judge_answers(y: ArrayLike, answers: Any, *, known: Any = ()) -> Judged:
    """Compare answers that were given elsewhere with the labels.

    Parameters
    ----------
    y, answers : array-like (n,)
        None and NaN among the answers are missing ones, and so errors; among the labels they are not taken.
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
    said = [len(classes) if none else _place(answer, places) for answer, none in zip(given, missing, strict=True)]
    return Judged(np.array(said, np.intp), truth, tuple(classes), int(missing.sum()))


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
    """Answers of all rows; None for those that raise an exception by themselves."""
    n = n_rows_of(X)
    answers = _attempt(predict, X)
    if not isinstance(answers, Exception):
        return answers
    if n == 1:
        return [None]
    # The half without the row that it cannot answer is answered at once.
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
    return answers if len(answers) == n else ValueError(f"predict gives {len(answers)} answers to {n} rows.")


def _check_answers_some(predict: Predict, X: Any) -> None:
    """ValueError where neither all rows together nor any of some single ones are answered: that is no model."""
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
    array = values.to_numpy() if hasattr(values, "to_numpy") else values
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


def _check_kinds(labels: list[Any], answers: list[Any]) -> None:
    """Text against numbers would never match: a mistake of the caller's, not errors of the model."""
    if answers and {isinstance(label, str) for label in labels}.isdisjoint({isinstance(a, str) for a in answers}):
        one, other = type(labels[0]).__name__, type(answers[0]).__name__
        raise ValueError(f"the labels are of type {one}, the answers of type {other}: give both in one form.")


def _sorted(values: set[Any]) -> list[Any]:
    try:
        return sorted(values)
    except TypeError:
        return sorted(values, key=lambda value: (type(value).__name__, str(value)))
