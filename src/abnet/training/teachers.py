"""Teachers: stronger classifiers that the networks are distilled from.

Teachers see the training rows (the first part) only. A prior may be learned from that part in any way, so distillation
does not change what a certificate means. The lesson that networks are trained on has two kinds of rows: the training
rows, with their labels as targets (with two classes, halfway between the label and the teachers' out-of-fold
prediction), and synthetic rows made by recombining cells, with the teachers' predictions as soft targets.
"""

import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from abnet.training.pooling import pool_weights, pooled
from abnet.utils.groups import number_groups
from abnet.utils.progress import tell
from abnet.utils.threads import cores, mapped
from abnet.utils.wording import whole_percents

__all__ = [
    "TEACHERS",
    "Lesson",
    "Teaching",
    "n_recombined",
    "recombined_rows",
    "teach",
    "teachers_named",
]

TEACHERS = ("forest", "linear", "kernel", "metric-kernel", "laplace-kernel", "boosting")
"""Teachers known by name. "kernel" is Gaussian; "metric-kernel", Gaussian too, and "laplace-kernel" have a learned
metric. "all" pools their predictions (`abnet.training.pooling`)."""
WITH_METRIC, ROWS_PER_FEATURE = ("metric-kernel", "laplace-kernel"), 10
"""Used by "all" only with several classes and at least so many rows per feature. With several classes, the two
brought 4 to 17% fewer errors of the pool on held-out rows of vehicle, segment, satimage and digits; with two classes
the metric brought none (10 tables, .166 against .164). With few rows, a metric makes their
leave-one-out predictions too hopeful, and the pool relies on them too much."""

FOLDS = 3

TREES = 150
"""Trees of the forest. 300 take twice the time, and the pool makes as many errors with them on held-out rows."""

ROUNDS, ROUNDS_OF_SEVERAL = (50, 0.2), (30, 0.3)
"""Rounds of boosting, and their rate. With several classes a round grows a tree for each class."""

ROWS_PER_ROW, LEAST_ROWS, MOST_ROWS = 30, 12_000, 60_000
"""Synthetic rows: thirty for each training row, within limits. With fewer, a network learns the rows and not the
teacher."""

MOST_OF_A_TREE = 25_000
"""Upper limit of the rows that each tree of the forest is grown on: 150 trees of 160,000 rows fill a gigabyte."""

MANY_CELLS = 20_000_000
"""Rows times features above which a teacher may use more than one thread. One thread boosts 20,000 rows of 20 columns
in a third of a second; two that shared their cores with other programs took fifteen."""

LEAST_SHARE = 0.05
"""Share of the sum of the weights below which a teacher is dropped: by the rows of the first fold, before its other
folds are fitted, and again by all rows, before synthetic rows are predicted."""

TOLERANCE = 1e-3
"""How far a teacher's probabilities may be from a distribution."""

Report = Callable[[str, float], None]


def teachers_named(teacher: Any, seed: int, shape: tuple[int, int] = (0, 1), n_classes: int = 2) -> dict[str, Any]:
    """Unfitted classifiers by name, for rows of a shape and classes: all, the one named, or a clone of the user's own.

    Examples
    --------
    >>> list(teachers_named("all", 0)), list(teachers_named("linear", 0))
    (['forest', 'linear', 'kernel', 'boosting'], ['linear'])
    >>> list(teachers_named("all", 0, (300, 30), n_classes=3))
    ['forest', 'linear', 'kernel', 'metric-kernel', 'laplace-kernel', 'boosting']
    """
    if isinstance(teacher, type):
        raise TypeError(f"teacher must be a classifier, such as {teacher.__name__}(); got the class itself.")
    if not isinstance(teacher, str):
        from sklearn.base import clone

        return {type(teacher).__name__: clone(teacher)}
    n_rows, n_features = shape
    with_metric = n_classes > 2 and n_rows >= ROWS_PER_FEATURE * n_features
    every = (name for name in TEACHERS if with_metric or name not in WITH_METRIC)
    return {name: _known(name, seed, n_rows, n_classes) for name in (every if teacher == "all" else (teacher,))}


def _known(name: str, seed: int, n_rows: int, n_classes: int) -> Any:
    if name == "forest":
        from sklearn.ensemble import RandomForestClassifier

        share = MOST_OF_A_TREE / n_rows if n_rows > MOST_OF_A_TREE else None
        return RandomForestClassifier(TREES, oob_score=True, n_jobs=-1, random_state=seed, max_samples=share)
    if name == "boosting":
        from sklearn.ensemble import HistGradientBoostingClassifier

        rounds, rate = ROUNDS if n_classes == 2 else ROUNDS_OF_SEVERAL
        return HistGradientBoostingClassifier(max_iter=rounds, learning_rate=rate, random_state=seed)
    if name in ("kernel", "metric-kernel", "laplace-kernel"):
        from abnet.training.kernel_teacher import KernelTeacher

        return KernelTeacher(random_state=seed, metric=name != "kernel", laplace=name == "laplace-kernel")
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=1000)


@dataclass(frozen=True, eq=False)
class Teaching:
    """Fitted teachers, the weights of their pool, and its predictions for the rows they were fitted on.

    Attributes
    ----------
    models : mapping of str to fitted classifier
    weights : array (teachers,)
        See `abnet.training.pooling`.
    unseen : array (n, K)
        Out-of-bag or out-of-fold predictions of the pool for the training rows.
    n_classes : int
    """

    models: Mapping[str, Any]
    weights: NDArray[np.float64]
    unseen: NDArray[np.float64]
    n_classes: int

    @staticmethod
    def of(
        models: Mapping[str, Any],
        X: NDArray[Any],
        codes: NDArray[np.intp],
        n_classes: int,
        seed: int,
        report: Report | None = None,
        groups: NDArray[Any] | None = None,
        weights: NDArray[np.float64] | None = None,
    ) -> "Teaching":
        """Fit the teachers and weigh them.

        With `groups`, the out-of-fold prediction for a row comes from teachers that saw no row of its group. `weights`
        of the rows are passed to all teachers that accept any; equal ones are none.
        """
        tell(f"{'Teachers' if len(models) > 1 else 'Teacher'}: {', '.join(models)}")
        rows = _Rows(X, codes, n_classes, groups, None if weights is None or np.ptp(weights) == 0 else weights)
        candidates = {name: _Candidate(model, rows) for name, model in models.items()}
        fitted = _fit_useful(candidates, rows, _folds(codes, seed, groups))
        if report is not None:
            for name, one in fitted.items():
                report(f"teacher: {name}", float(np.mean(one.unseen.argmax(axis=1) != codes)))
        mixed = rows.pool_weights(fitted.values())
        kept = {
            name: one for (name, one), share in zip(fitted.items(), _shares(mixed), strict=True) if share >= LEAST_SHARE
        }
        if len(kept) < len(fitted):
            mixed = rows.pool_weights(kept.values())
        answers = np.stack([one.unseen for one in kept.values()])
        return Teaching({name: one.fitted for name, one in kept.items()}, mixed, pooled(mixed, answers), n_classes)

    def probabilities(self, X: NDArray[Any]) -> NDArray[np.float64]:
        """Predictions of the pool, shape (n, K)."""
        models = self.models.values()
        each = _side_by_side(lambda model: _predicted(model, X, self.n_classes), models, X)
        return pooled(self.weights, np.stack(each))

    def dismissed(self) -> "Teaching":
        """Their names, weights and predictions, without the fitted models."""
        return replace(self, models=dict.fromkeys(self.models))

    def describe(self) -> str:
        """The teachers with their shares of the pool, in words.

        Examples
        --------
        >>> Teaching({"forest": 0, "linear": 0}, np.array([0.75, 0.25]), np.zeros((0, 2)), 2).describe()
        'forest (75%), linear (25%)'
        """
        percents = whole_percents(_shares(self.weights).tolist())
        shares = {name: share for name, share in zip(self.models, percents, strict=True) if share}
        if len(shares) == 1:
            return next(iter(shares))
        return ", ".join(f"{name} ({share}%)" for name, share in shares.items())


def _shares(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weights as shares of their sum; equal ones where no teacher has any weight."""
    total = weights.sum()
    return weights / total if total > 0 else np.full(len(weights), 1 / len(weights))


@dataclass(frozen=True, eq=False)
class Lesson:
    """Rows to train on, with a distribution over the classes for each: the training rows, then synthetic ones."""

    X: NDArray[Any]
    targets: NDArray[np.float64]
    n_own: int


def teach(
    teaching: Teaching,
    X: NDArray[Any],
    codes: NDArray[np.intp],
    cells: NDArray[np.intp],
    rng: np.random.Generator,
    most: int = MOST_ROWS,
    watched: NDArray[np.intp] | None = None,
) -> Lesson:
    """Training rows and synthetic rows with the targets that the teachers give them.

    Parameters
    ----------
    teaching : Teaching
    X : array (n, d)
        Prepared rows of the first part.
    codes : array (n,)
        Their classes, 0 to K - 1.
    cells : array (d,)
        Which column of the table each feature comes from: the features of a cell are replaced together.
    rng : numpy.random.Generator
    most : int
        Upper limit of the synthetic rows.
    watched : array of int, optional
        Rows that early stopping monitors: no synthetic row is made from them.
    """
    tell("Rows for the networks")
    made = recombined_rows(X if watched is None else np.delete(X, watched, axis=0), cells, rng, most)
    own = np.eye(teaching.n_classes)[codes]
    if teaching.n_classes == 2:
        own = (own + teaching.unseen) / 2
    targets = np.concatenate([own, teaching.probabilities(made)])
    return Lesson(np.concatenate([X, made]), targets, len(X))


def recombined_rows(
    X: NDArray[Any], cells: NDArray[np.intp], rng: np.random.Generator, most: int = MOST_ROWS
) -> NDArray[Any]:
    """Synthetic rows: each is a training row in which some cells are replaced by those of one other training row.

    The share of replaced cells is drawn from [0, 1/2] for each row. Cells that come from one row fit each other: on
    held-out rows of six tables with several classes, networks made 4% fewer errors than with cells from many rows.

    Examples
    --------
    >>> X = np.array([[0, 10, 20], [1, 11, 21]])
    >>> made = recombined_rows(X, np.array([0, 1, 1]), np.random.default_rng(0))
    >>> made.shape, bool((made[:, 2] - made[:, 1] == 10).all())
    ((12000, 3), True)
    """
    n, count = len(X), n_recombined(len(X), most)
    base = rng.permutation(np.resize(np.arange(n), count)) if count >= n else rng.choice(n, count, replace=False)
    made, other, shares = X[base], rng.integers(0, n, count), rng.uniform(0, 0.5, count)
    for cell in range(int(cells.max()) + 1):
        features = np.flatnonzero(cells == cell)
        rows = np.flatnonzero(rng.random(count) < shares)
        made[np.ix_(rows, features)] = X[np.ix_(other[rows], features)]
    return np.asarray(made)


def n_recombined(n_rows: int, most: int = MOST_ROWS) -> int:
    """The number of synthetic rows for so many training rows.

    Examples
    --------
    >>> [n_recombined(n) for n in (100, 1_000, 10_000)]
    [12000, 30000, 60000]
    """
    return min(int(np.clip(ROWS_PER_ROW * n_rows, LEAST_ROWS, MOST_ROWS)), most)


def _side_by_side(function: Callable[[Any], Any], items: Iterable[Any], X: NDArray[Any]) -> list[Any]:
    """Call a function that fits or predicts for every item: in threads of one core each, or one after the other with
    all cores where `X` is large.

    Warnings of models (no convergence, few trees) are dropped: their predictions decide their weights.
    """
    few = X.size < MANY_CELLS

    def alone(item: Any) -> Any:
        with threadpool_limits(1 if few else None, user_api="openmp"):  # a setting of each thread
            return function(item)

    with warnings.catch_warnings(), threadpool_limits(1 if few else None):
        warnings.simplefilter("ignore")
        return mapped(alone, items, cores() if few else 1)


def _weights_for(model: Any, weights: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
    """The rows' weights where the model takes any; a warning where it does not."""
    from sklearn.utils.validation import has_fit_parameter

    if weights is None or has_fit_parameter(model, "sample_weight"):
        return weights
    warnings.warn(
        f"The teacher {type(model).__name__} takes no sample_weight, so it is fitted without weights. They still apply "
        "when the networks are trained.",
        stacklevel=2,
    )
    return None


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
        answers = np.stack([one.unseen[some] for one in candidates])
        return pool_weights(answers, self.codes[some], None if self.weights is None else self.weights[some])


class _Candidate:
    """A teacher that is being fitted: the model of all rows once there is one, and predictions for unseen rows."""

    def __init__(self, model: Any, rows: _Rows) -> None:
        self._model, self._rows, self._weights = model, rows, _weights_for(model, rows.weights)
        self.fitted: Any = None
        self.unseen = np.tile(rows.class_shares, (len(rows.codes), 1))
        # With groups no bag will do: a tree that never saw a row has seen others of its group.
        self.has_bag = rows.groups is None and bool(getattr(model, "oob_score", False))

    def learn(self, fold: "_Fold | None") -> None:
        """Fit on all rows, or on those of a fold to predict its other rows."""
        from sklearn.base import clone

        rows, learn = self._rows, slice(None) if fold is None else fold[0]
        X, codes, model = rows.X[learn], rows.codes[learn], clone(self._model)
        model = (
            model.fit(X, codes) if self._weights is None else model.fit(X, codes, sample_weight=self._weights[learn])
        )
        if fold is not None:
            self.unseen[fold[1]] = _predicted(model, rows.X[fold[1]], rows.n_classes)
            return
        self.fitted = model
        if self.has_bag:
            known = _aligned(np.asarray(model.oob_decision_function_), model.classes_, rows.n_classes)
            answered = np.isfinite(known).all(axis=1, keepdims=True) & (known.sum(axis=1, keepdims=True) > 0)
            self.unseen = np.where(answered, known, self.unseen)


_Fold = tuple[NDArray[np.intp], NDArray[np.intp]]
"""Rows to fit on, and rows to predict."""


def _fit_useful(candidates: dict[str, _Candidate], rows: _Rows, folds: list[_Fold]) -> dict[str, _Candidate]:
    """Fit the teachers and their folds. A teacher that adds nothing to the others by its first fold is left out."""

    def learn(jobs: Iterable[tuple[_Candidate, _Fold | None]]) -> None:
        _side_by_side(lambda job: job[0].learn(job[1]), jobs, rows.X)

    if len(candidates) > 1 and folds:
        learn((one, None if one.has_bag else folds[0]) for one in candidates.values())
        shares = _shares(rows.pool_weights(candidates.values(), folds[0][1]))
        candidates = {
            name: one
            for (name, one), share in zip(candidates.items(), shares, strict=True)
            if one.fitted is not None or share >= LEAST_SHARE
        }
        folds = folds[1:]
    unfitted = [one for one in candidates.values() if one.fitted is None]
    learn((one, fold) for one in unfitted for fold in (None, *(() if one.has_bag else folds)))
    return candidates


def _folds(codes: NDArray[np.intp], seed: int, groups: NDArray[Any] | None = None) -> list[_Fold]:
    """Pairs of rows to fit on and rows to predict: a few stratified folds, or folds of whole groups at random.

    A fold whose training rows have one class is left out.
    """
    where = np.arange(len(codes)) if groups is None else number_groups(groups, len(codes))
    units = int(where.max()) + 1
    count = min(FOLDS, units)
    order = np.random.default_rng(seed).permutation(units)
    if groups is None:
        order = order[np.argsort(codes[order], kind="stable")]
    of_unit = np.empty(units, np.intp)
    of_unit[order] = np.arange(units) % count
    fold = of_unit[where]
    pairs = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(count)]
    return [(learn, judge) for learn, judge in pairs if len(np.unique(codes[learn])) > 1]


def _predicted(model: Any, X: NDArray[Any], n_classes: int) -> NDArray[np.float64]:
    """Predictions of a fitted teacher for all classes; ValueError if they are no probabilities."""
    proba = np.asarray(model.predict_proba(X), np.float64)
    if not (np.all(proba >= -TOLERANCE) and np.all(np.abs(proba.sum(axis=1) - 1) <= TOLERANCE)):
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
