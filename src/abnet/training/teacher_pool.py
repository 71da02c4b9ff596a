"""`TeacherPool`: fitted teachers and the weights of their pool, from out-of-fold predictions."""

import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from abnet.training.pooled_predictions import pool_weights, pooled
from abnet.utils.groups import number_groups
from abnet.utils.progress import report_progress
from abnet.utils.threads import cores, parallel_map
from abnet.utils.wording import whole_percents

__all__ = ["TeacherPool", "fit_pool"]

FOLDS = 3
"""Number of folds for out-of-fold predictions."""
MANY_CELLS = 20_000_000
"""Rows times features above which a teacher may use more than one thread. One thread boosts 20,000 rows of 20 columns
in a third of a second; two that share their cores with other programs take far longer."""
LEAST_SHARE = 0.05
"""Share of the sum of the weights below which a teacher is dropped: after the first fold, before its other folds are
fitted, and again after all folds, before synthetic rows are predicted."""
TOLERANCE = 1e-3
"""How far a teacher's probabilities may be from a distribution."""


@dataclass(frozen=True, eq=False)
class TeacherPool:
    """Fitted teachers, the weights of their pool, and its predictions for the rows they were fitted on.

    Attributes
    ----------
    models : mapping of str to fitted classifier
    weights : array (teachers,)
        See `abnet.training.pooled_predictions`.
    out_of_fold : array (n, K)
        Out-of-bag or out-of-fold predictions of the pool for the training rows.
    n_classes : int
    """

    models: Mapping[str, Any]
    weights: NDArray[np.float64]
    out_of_fold: NDArray[np.float64]
    n_classes: int

    def probabilities(self, X: NDArray[Any]) -> NDArray[np.float64]:
        """Predictions of the pool, shape (n, K)."""
        predictions = _for_each(lambda model: _predicted(model, X, self.n_classes), self.models.values(), X)
        return pooled(self.weights, np.stack(predictions))

    def without_models(self) -> "TeacherPool":
        """Names, weights and out-of-fold predictions, without the fitted models, which take much memory."""
        return replace(self, models=dict.fromkeys(self.models))

    def error(self, codes: NDArray[np.intp]) -> float:
        """Error rate of the pool's out-of-fold predictions for the training rows."""
        return float(np.mean(self.out_of_fold.argmax(axis=1) != codes))

    def describe(self) -> str:
        """The teachers with their shares of the pool, in words.

        Examples
        --------
        >>> TeacherPool({"forest": 0, "linear": 0}, np.array([0.75, 0.25]), np.zeros((0, 2)), 2).describe()
        'forest (75%), linear (25%)'
        """
        percents = whole_percents(_shares(self.weights).tolist())
        shares = {name: share for name, share in zip(self.models, percents, strict=True) if share}
        if len(shares) == 1:
            return next(iter(shares))
        return ", ".join(f"{name} ({share}%)" for name, share in shares.items())


def fit_pool(
    models: Mapping[str, Any],
    X: NDArray[Any],
    codes: NDArray[np.intp],
    n_classes: int,
    seed: int,
    *,
    report: Callable[[str, float], None] | None = None,
    groups: NDArray[Any] | None = None,
    weights: NDArray[np.float64] | None = None,
) -> TeacherPool:
    """Fit teachers and the weights of their pool.

    Parameters
    ----------
    models : mapping of str to unfitted classifier
    X : array (n, d)
        Prepared training rows.
    codes : array (n,)
        Their classes, 0 to K - 1.
    n_classes : int
    seed : int
        Of the folds.
    report : callable, optional
        Called for each fitted teacher with its name and its out-of-fold error.
    groups : array (n,), optional
        Group of each row: its out-of-fold prediction comes from teachers that saw no row of its group.
    weights : array (n,), optional
        Passed to all teachers that accept weights. Equal weights are left out.
    """
    label = "Teacher"
    if len(models) > 1:
        label = "Teachers"
    report_progress(f"{label}: {', '.join(models)}")
    if weights is not None and np.ptp(weights) == 0:
        weights = None
    rows = _Rows(X, codes, n_classes, groups, weights)
    candidates = {name: _Candidate(model, rows) for name, model in models.items()}
    fitted = _fit_useful(candidates, rows, _folds(codes, seed, groups))
    if report is not None:
        for name, candidate in fitted.items():
            report(f"teacher: {name}", float(np.mean(candidate.out_of_fold.argmax(axis=1) != codes)))
    pool = rows.pool_weights(fitted.values())
    useful = _with_weight(fitted, pool)
    if len(useful) < len(fitted):
        pool = rows.pool_weights(useful.values())
    predictions = np.stack([candidate.out_of_fold for candidate in useful.values()])
    return TeacherPool(
        models={name: candidate.model for name, candidate in useful.items()},
        weights=pool,
        out_of_fold=pooled(pool, predictions),
        n_classes=n_classes,
    )


def _shares(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weights as shares of their sum; equal shares if no teacher has any weight."""
    total = weights.sum()
    if total > 0:
        return np.asarray(weights / total)
    return np.full(len(weights), 1 / len(weights))


def _with_weight(candidates: dict[str, "_Candidate"], weights: NDArray[np.float64]) -> dict[str, "_Candidate"]:
    """The candidates with at least `LEAST_SHARE` of the weights."""
    shares = dict(zip(candidates, _shares(weights), strict=True))
    return {name: candidate for name, candidate in candidates.items() if shares[name] >= LEAST_SHARE}


@dataclass(frozen=True, eq=False)
class _Rows:
    """The rows that teachers are fitted on."""

    X: NDArray[Any]
    codes: NDArray[np.intp]
    n_classes: int
    groups: NDArray[Any] | None
    weights: NDArray[np.float64] | None

    @property
    def class_shares(self) -> NDArray[np.float64]:
        """Shares of the classes: the prediction for a row that has no out-of-fold model."""
        counts = np.bincount(self.codes, self.weights, minlength=self.n_classes)
        return np.asarray(counts / counts.sum())

    def pool_weights(
        self, candidates: Iterable["_Candidate"], some: NDArray[np.intp] | slice = slice(None)
    ) -> NDArray[np.float64]:
        """Weights of the teachers by their predictions for all rows, or for some."""
        predictions = np.stack([candidate.out_of_fold[some] for candidate in candidates])
        row_weights = None
        if self.weights is not None:
            row_weights = self.weights[some]
        return pool_weights(predictions, self.codes[some], row_weights)


class _Fold(NamedTuple):
    """Rows to fit on, and rows to predict."""

    fit: NDArray[np.intp]
    predict: NDArray[np.intp]


class _Candidate:
    """A teacher that is being fitted.

    Attributes
    ----------
    model : classifier or None
        The model fitted on all rows, once there is one.
    out_of_fold : array (n, K)
        Predictions by models that were fitted without the row; the shares of the classes until there are any.
    has_bag : bool
        Whether the model of all rows has out-of-bag predictions, so that no folds are needed.
    """

    def __init__(self, unfitted: Any, rows: _Rows) -> None:
        self._unfitted = unfitted
        self._rows = rows
        self._weights = _weights_for(unfitted, rows.weights)
        self.model: Any = None
        self.out_of_fold = np.tile(rows.class_shares, (len(rows.codes), 1))
        # Out-of-bag predictions are no use with groups: a tree that never saw a row has seen others of its group.
        self.has_bag = rows.groups is None and bool(getattr(unfitted, "oob_score", False))

    def fit_all(self) -> None:
        """Fit on all rows, and note the out-of-bag predictions if there are any."""
        self.model = self._fitted(slice(None))
        if not self.has_bag:
            return
        bag = np.asarray(self.model.oob_decision_function_)
        predictions = _aligned(bag, self.model.classes_, self._rows.n_classes)
        finite = np.isfinite(predictions).all(axis=1, keepdims=True)
        in_some_bag = predictions.sum(axis=1, keepdims=True) > 0
        self.out_of_fold = np.where(finite & in_some_bag, predictions, self.out_of_fold)

    def fit_fold(self, fold: _Fold) -> None:
        """Fit on the rows of a fold, and predict its other rows."""
        model = self._fitted(fold.fit)
        self.out_of_fold[fold.predict] = _predicted(model, self._rows.X[fold.predict], self._rows.n_classes)

    def _fitted(self, some: NDArray[np.intp] | slice) -> Any:
        from sklearn.base import clone

        model = clone(self._unfitted)
        X = self._rows.X[some]
        codes = self._rows.codes[some]
        if self._weights is None:
            return model.fit(X, codes)
        return model.fit(X, codes, sample_weight=self._weights[some])


def _weights_for(model: Any, weights: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
    """The weights of the rows if the model accepts weights; otherwise None, with a warning."""
    from sklearn.utils.validation import has_fit_parameter

    if weights is None or has_fit_parameter(model, "sample_weight"):
        return weights
    warnings.warn(
        f"The teacher {type(model).__name__} takes no sample_weight, so it is fitted without weights. They still apply "
        "when the networks are trained.",
        stacklevel=2,
    )
    return None


def _fit_useful(candidates: dict[str, _Candidate], rows: _Rows, folds: list[_Fold]) -> dict[str, _Candidate]:
    """Fit the teachers and their folds; a teacher that adds nothing to the others on the first fold is dropped."""
    if len(candidates) > 1 and folds:
        first_jobs = []
        for candidate in candidates.values():
            if candidate.has_bag:
                first_jobs.append(candidate.fit_all)
            else:
                first_jobs.append(_fold_job(candidate, folds[0]))
        _for_each(_call, first_jobs, rows.X)
        useful = _with_weight(candidates, rows.pool_weights(candidates.values(), folds[0].predict))
        candidates = {
            name: candidate for name, candidate in candidates.items() if candidate.model is not None or name in useful
        }
        folds = folds[1:]
    jobs = []
    for candidate in candidates.values():
        if candidate.model is not None:
            continue
        jobs.append(candidate.fit_all)
        if not candidate.has_bag:
            jobs += [_fold_job(candidate, fold) for fold in folds]
    _for_each(_call, jobs, rows.X)
    return candidates


def _fold_job(candidate: _Candidate, fold: _Fold) -> Callable[[], None]:
    return lambda: candidate.fit_fold(fold)


def _call(job: Callable[[], None]) -> None:
    job()


def _for_each(function: Callable[[Any], Any], items: Iterable[Any], X: NDArray[Any]) -> list[Any]:
    """Call a function that fits or predicts for every item.

    The calls run in parallel threads of one core each or, for large `X`, in sequence with all cores. Warnings of
    models (no convergence, few trees) are dropped: their predictions decide their weights.
    """
    n_parallel = 1
    threads_each = None
    if X.size < MANY_CELLS:
        n_parallel = cores()
        threads_each = 1

    def limited(item: Any) -> Any:
        with threadpool_limits(threads_each, user_api="openmp"):  # each thread has its own setting
            return function(item)

    with warnings.catch_warnings(), threadpool_limits(threads_each):
        warnings.simplefilter("ignore")
        return parallel_map(limited, items, n_parallel)


def _folds(codes: NDArray[np.intp], seed: int, groups: NDArray[Any] | None = None) -> list[_Fold]:
    """A few stratified folds, or folds of whole groups at random.

    A fold whose rows to fit on have only one class is left out.
    """
    unit_of_row = np.arange(len(codes))
    if groups is not None:
        unit_of_row = number_groups(groups, len(codes))
    n_units = int(unit_of_row.max()) + 1
    n_folds = min(FOLDS, n_units)
    order = np.random.default_rng(seed).permutation(n_units)
    if groups is None:
        order = order[np.argsort(codes[order], kind="stable")]
    fold_of_unit = np.empty(n_units, np.intp)
    fold_of_unit[order] = np.arange(n_units) % n_folds
    fold_of_row = fold_of_unit[unit_of_row]
    folds = []
    for number in range(n_folds):
        fold = _Fold(fit=np.flatnonzero(fold_of_row != number), predict=np.flatnonzero(fold_of_row == number))
        if len(np.unique(codes[fold.fit])) > 1:
            folds.append(fold)
    return folds


def _predicted(model: Any, X: NDArray[Any], n_classes: int) -> NDArray[np.float64]:
    """Predictions of a fitted teacher for all classes; ValueError if they are not probabilities."""
    proba = np.asarray(model.predict_proba(X), np.float64)
    not_negative = np.all(proba >= -TOLERANCE)
    sums_to_one = np.all(np.abs(proba.sum(axis=1) - 1) <= TOLERANCE)
    if not (not_negative and sums_to_one):
        raise ValueError(
            f"the teacher {type(model).__name__} must predict probabilities between 0 and 1 that sum to 1 in every "
            "row; its predict_proba returned something else."
        )
    return _aligned(proba, model.classes_, n_classes)


def _aligned(proba: NDArray[np.float64], classes: NDArray[Any], n_classes: int) -> NDArray[np.float64]:
    """Probabilities with a column for every class, also for classes that a model was not fitted on."""
    aligned = np.zeros((len(proba), n_classes))
    aligned[:, np.asarray(classes, np.intp)] = proba
    return aligned
