"""`prediction_sets`: sets of classes that miss the true one at a certified rate, for any model with probabilities."""

import os
from dataclasses import dataclass
from typing import Any, Protocol

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from abnet.bounds.prediction_sets import set_rank
from abnet.certificates.certificate import Certificate
from abnet.certificates.evidence import observe
from abnet.certificates.facts import Facts
from abnet.certificates.grouped_rows import check_groups
from abnet.certificates.joint_shares import JointNames, Makes, hold_jointly
from abnet.certificates.judged_answers import Judged, judge_answers
from abnet.certificates.recorded_model import RecordedModel
from abnet.certificates.row_by_row import check_row_by_row
from abnet.certificates.set_rule import SLACK, SetRule, Sets
from abnet.certificates.statements.missed_class import MissedClass
from abnet.certificates.statements.set_size import SetSize
from abnet.certificates.statements.single_answers import SingleAnswerError, SingleAnswers
from abnet.certificates.statements.statement import Statement
from abnet.certificates.terms import Terms
from abnet.certificates.training_rows import find_fitted, refuse_fitted

__all__ = [
    "HasProbabilities",
    "PredictionSets",
    "SetRows",
    "certify_sets",
    "judge_sets",
    "prediction_sets",
    "set_statements",
]

Floats = NDArray[np.float64]


class HasProbabilities(Protocol):
    """A fitted classifier with probabilities, of this or any other library."""

    def predict_proba(self, X: Any, /) -> Any:
        """Probabilities of the classes, (n, K)."""
        ...

    @property
    def classes_(self) -> Any:
        """The classes, in the order of the probabilities."""
        ...


@dataclass(frozen=True, eq=False)
class PredictionSets:
    """A model with thresholds for prediction sets, and what is certified about the sets.

    Attributes
    ----------
    model : classifier with probabilities
    certificate : Certificate
        About the sets; it holds the thresholds, too.
    """

    model: HasProbabilities
    certificate: Certificate

    @property
    def rule(self) -> SetRule:
        """The thresholds."""
        return self.certificate.each(MissedClass)[0].sets

    @property
    def thresholds(self) -> dict[Any, float]:
        """The least probability of each class in a set, by class; -inf for a class that is in every set."""
        values = [-np.inf if threshold is None else threshold for threshold in self.rule.thresholds]
        return dict(zip(np.asarray(self.model.classes_).tolist(), values, strict=True))

    def contains(self, X: Any) -> NDArray[np.bool_]:
        """Which classes are in the set of each row, (n, K), in the order of the model's classes."""
        return self.rule.contains(self.model.predict_proba(X))

    def predict(self, X: Any) -> list[tuple[Any, ...]]:
        """The set of each row: a tuple of classes, which may be empty."""
        classes = np.asarray(self.model.classes_)
        return [tuple(classes[inside].tolist()) for inside in self.contains(X)]

    def describe(self) -> str:
        """The certificate in plain English."""
        return self.certificate.describe()

    def __str__(self) -> str:
        return self.describe()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the certificate with the thresholds to a JSON file, for `abnet predict --sets-from`."""
        self.certificate.save(path)


def prediction_sets(
    model: HasProbabilities,
    X: Any,
    y: ArrayLike,
    *,
    alpha: float = 0.1,
    by_class: bool = False,
    delta: float = 0.05,
    n_candidates: int = 1,
    joint: JointNames | None = None,
) -> PredictionSets:
    """Find prediction sets for a fitted classifier, and certify how often they miss the true class.

    A set holds the classes whose probability is at least a threshold. The thresholds are computed from all rows, and
    the promise is about this one model with these thresholds: with confidence 1-δ, at most the share `alpha` of new
    rows has a set without the true class. A label that the model does not know is in no set.

    Parameters
    ----------
    model : object with ``predict_proba`` and ``classes_``
        The probabilities of a row must not depend on the other rows of a batch; this is tested on about 20 rows.
    X : array, sparse matrix, frame or list (n rows)
        Rows held out from training, selection and calibration of the model.
    y : array-like (n,)
        Labels.
    alpha : float
        Largest share of new rows whose true class is not in the set.
    by_class : bool
        Whether this holds for the rows of each class, jointly: each class then has a threshold of its own.
    delta : float
        Maximum probability that a statement is false.
    n_candidates : int
        Number of models, and of values of `alpha`, among which you choose with these rows.
    joint : sequence of str or dict, optional
        Statements that hold jointly, as for `abnet.certify`: "misses of the sets" (or "misses by class"),
        "average size of the sets", "share of sets with exactly one class",
        "error rate among sets with exactly one class".

    Returns
    -------
    PredictionSets
        With ``thresholds``, ``predict(X)``, ``certificate`` and ``save(path)``.

    Raises
    ------
    TrainingRowsError
        A ValueError: the model was fitted on more of the rows than chance explains.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = load_wine(return_X_y=True)
    >>> wine = LogisticRegression(max_iter=5000).fit(X[::3], y[::3])
    >>> sets = prediction_sets(wine, np.delete(X, np.s_[::3], 0), np.delete(y, np.s_[::3]))
    >>> sets.certificate.statements[0].value, sets.predict(X[:1])
    (0.1, [(0,)])
    """
    wanted = Sets(alpha, by_class)
    refuse_fitted(find_fitted(model, X, y), instead="Use other rows.")
    check_groups(model, X, None)
    probabilities, judged = judge_sets(model, X, y)
    terms = Terms(delta=delta, n_candidates=n_candidates, source="test set")
    made = certify_sets(probabilities, judged, wanted, terms, joint=joint)
    recorded = getattr(model, "model_", model)
    if isinstance(recorded, RecordedModel):
        made = msgspec.structs.replace(made, model=recorded.digest)
    return PredictionSets(model, made)


def judge_sets(model: HasProbabilities, X: Any, y: ArrayLike) -> tuple[Floats, Judged]:
    """The probabilities of labelled rows, and the most likely classes compared with the labels."""
    for name in ("predict_proba", "classes_"):
        if not hasattr(model, name):
            raise ValueError(
                f"prediction sets need a model with `predict_proba` and `classes_`; {model!r} lacks {name}."
            )
    reason = check_row_by_row(model.predict_proba, X)
    if reason:
        raise ValueError(f"There are no prediction sets, because predict_proba does not work row by row: {reason}.")
    classes = np.asarray(model.classes_)
    probabilities = np.asarray(model.predict_proba(X), np.float64)
    if probabilities.shape != (len(probabilities), len(classes)) or not np.isfinite(probabilities).all():
        raise ValueError(f"predict_proba must give {len(classes)} finite numbers for each row.")
    answers = classes[probabilities.argmax(axis=1)]
    return probabilities, judge_answers(y, answers, known=classes.tolist())


def certify_sets(
    probabilities: Floats, judged: Judged, wanted: Sets, terms: Terms, *, joint: JointNames | None = None
) -> Certificate:
    """The certificate of prediction sets, from probabilities of rows that took no part in the model.

    Parameters
    ----------
    probabilities : float array (n, K)
    judged : Judged
        Labels of the rows; the first K classes are those of the probabilities.
    wanted : Sets
    terms : Terms
    joint : sequence of str or dict, optional
        Statements that hold jointly.
    """
    facts = Facts.of(observe(judged.answers, judged.truth, judged.names), terms)
    rows = SetRows(probabilities, judged.truth, facts.classes[: probabilities.shape[1]])

    def made(makes: Makes) -> Certificate:
        return Certificate(statements=tuple(set_statements(rows, wanted, terms, makes)), facts=facts)

    return hold_jointly(made, terms.delta, joint)


@dataclass(frozen=True, eq=False)
class SetRows:
    """Rows for prediction sets, which took no part in the model.

    Attributes
    ----------
    probabilities : float array (n, K)
    truth : int array (n,)
        Classes; K and above stand for labels that the model does not know.
    names : tuple of K str
    """

    probabilities: Floats
    truth: NDArray[np.intp]
    names: tuple[str, ...]


def set_statements(rows: SetRows, wanted: Sets, terms: Terms, makes: Makes) -> list[Statement]:
    """Thresholds from labelled rows, and statements about the sets from the same rows.

    Parameters
    ----------
    rows : SetRows
    wanted : Sets
    terms : Terms
    makes : Makes
        At which δ; the thresholds depend on that of the misses.

    Returns
    -------
    list of Statement
        First the misses: of all rows, or of each class.
    """
    probabilities = rows.probabilities
    truth = rows.truth
    n_classes = probabilities.shape[1]
    of_true_class = np.full(len(truth), -np.inf)
    known = truth < n_classes
    of_true_class[known] = probabilities[known, truth[known]]
    labels: list[str | None] = [None]
    rows_of = [np.ones(len(truth), np.bool_)]
    share = makes.choosing("misses of the sets")
    if wanted.by_class:
        labels = list(rows.names)
        rows_of = [truth == code for code in range(n_classes)]
        share = makes.choosing("misses by class") / n_classes
    found = [_threshold(of_true_class[counted], wanted.alpha, share, terms.n_candidates) for counted in rows_of]
    thresholds = tuple(found)
    if not wanted.by_class:
        thresholds = thresholds * n_classes
    rule = SetRule(alpha=wanted.alpha, by_class=wanted.by_class, thresholds=thresholds)
    inside = rule.contains(probabilities)
    missed = ~known
    missed[known] = ~inside[known, truth[known]]
    statements: list[Statement] = []
    for label, counted in zip(labels, rows_of, strict=True):
        statements.append(
            MissedClass.from_counts(
                label=label,
                sets=rule,
                misses=int(missed[counted].sum()),
                n=int(counted.sum()),
                delta=share,
                n_candidates=terms.n_candidates,
            )
        )
    sizes = inside.sum(axis=1)
    others = np.ones(len(truth), np.bool_)
    for threshold, counted in zip(found, rows_of, strict=True):
        if threshold is not None:
            others[_row_of_threshold(of_true_class, sizes, counted, threshold)] = False
    if others.all() or not others.any():
        return statements  # every set holds all classes, or no row is left to count
    of_sets: dict[str, Any] = {
        "sets": rule,
        "n_rows": len(truth),
        "delta": makes.delta,
        "n_candidates": terms.n_candidates,
    }
    is_single = others & (sizes == 1)
    n_singles = int(is_single.sum())
    by_size = np.bincount(sizes[others], minlength=n_classes + 1)
    statements.append(SetSize.from_counts(rows_by_size=tuple(by_size.tolist()), **of_sets))
    statements.append(SingleAnswers.from_counts(singles=n_singles, n=int(others.sum()), **of_sets))
    if n_singles:
        errors = int(missed[is_single].sum())
        statements.append(SingleAnswerError.from_counts(errors=errors, n=n_singles, **of_sets))
    return statements


def _threshold(of_true_class: Floats, alpha: float, delta: float, n_candidates: int) -> float | None:
    """The threshold below the (k+1)-th smallest probability of the true class; None if every class is in the set."""
    rank = set_rank(len(of_true_class), alpha, delta, n_candidates=n_candidates)
    if rank is None:
        return None
    smallest = float(np.partition(of_true_class, rank)[rank])
    if smallest == -np.inf:
        return None  # labels that the model does not know
    return smallest - SLACK


def _row_of_threshold(of_true_class: Floats, sizes: NDArray[np.intp], rows: NDArray[np.bool_], threshold: float) -> int:
    """A row that the threshold comes from: of equal ones that with the smallest set, whatever their order."""
    candidates = np.flatnonzero(rows & (of_true_class - SLACK == threshold))
    return int(candidates[np.argmin(sizes[candidates])])
