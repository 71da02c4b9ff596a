"""Teachers: stronger learners whose probabilities a network learns from.

Everything here sees the first part of the rows alone. A prior may be learned in any way from that part, so a teacher
changes nothing in what a certificate means. A lesson has the part's own rows, with targets halfway between the label
and what the teachers say of a row that they were not fitted on, and rows made by recombining cells, with the teachers'
probabilities.
"""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.bounds.grouped import number_groups

__all__ = ["TEACHERS", "Lesson", "Teaching", "recombined_rows", "stack_weights", "teach", "teachers_named"]

TEACHERS = ("forest", "boosting", "linear")
"""Teachers known by name; "all" asks all of them and weighs their answers."""

FOLDS = 5
SWAP = 0.3
"""Probability that a cell of a made row comes from another row."""

ROWS_PER_ROW, LEAST_ROWS, MOST_ROWS = 30, 12_000, 60_000
"""Made rows: thirty for each row, within limits. With fewer a network learns the rows, not the teacher."""

CERTAINTY = 1e-3
"""Probabilities are kept this far from 0 and 1 when teachers are weighed."""

Report = Callable[[str, int, float], None]


def teachers_named(teacher: Any, seed: int) -> dict[str, Any]:
    """Unfitted classifiers by name: all that are known, the one named, or a clone of the user's own.

    Examples
    --------
    >>> list(teachers_named("all", 0)), list(teachers_named("linear", 0))
    (['forest', 'boosting', 'linear'], ['linear'])
    """
    if not isinstance(teacher, str):
        from sklearn.base import clone

        return {type(teacher).__name__: clone(teacher)}
    return {name: _known(name, seed) for name in (TEACHERS if teacher == "all" else (teacher,))}


def _known(name: str, seed: int) -> Any:
    if name == "forest":
        from sklearn.ensemble import RandomForestClassifier

        return RandomForestClassifier(300, oob_score=True, n_jobs=-1, random_state=seed)
    if name == "boosting":
        from sklearn.ensemble import HistGradientBoostingClassifier

        return HistGradientBoostingClassifier(random_state=seed)
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=1000)


@dataclass(frozen=True, eq=False)
class Teaching:
    """Fitted teachers with their weights, and what they say of their own rows without having seen them.

    Attributes
    ----------
    models : mapping of str to fitted classifier
    weights : array (teachers,)
    unseen : array (n, K)
        Weighted probabilities of the rows they were fitted on, out of bag or out of fold.
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
    ) -> "Teaching | None":
        """Fit the teachers and weigh them; Ctrl-C leaves those that are ready, None if there are none.

        With `groups`, what is said of a row comes from teachers that saw no row of its group.
        """
        ready: dict[str, Any] = {}
        unseen: list[NDArray[np.float64]] = []
        try:
            for number, (name, model) in enumerate(models.items(), start=1):
                fitted = _fit(model, X, codes)
                unseen.append(_unseen_probabilities(fitted, X, codes, n_classes, seed, groups))
                ready[name] = fitted
                if report is not None:
                    report(f"teacher: {name}", number, float(np.mean(unseen[-1].argmax(axis=1) != codes)))
        except KeyboardInterrupt:
            pass
        if not ready:
            return None
        answers = np.stack(unseen[: len(ready)])
        weights = stack_weights(answers[:, np.arange(len(codes)), codes])
        return Teaching(ready, weights, np.tensordot(weights, answers, 1), n_classes)

    def probabilities(self, X: NDArray[Any]) -> NDArray[np.float64]:
        """Weighted probabilities of rows, shape (n, K)."""
        with _few_threads(X):
            said = [
                weight * _aligned(model.predict_proba(X), model.classes_, self.n_classes)
                for model, weight in zip(self.models.values(), self.weights, strict=True)
                if weight > 0
            ]
        return np.asarray(sum(said))

    def describe(self) -> str:
        """The teachers with their weights, in words.

        Examples
        --------
        >>> Teaching({"forest": 0, "linear": 0}, np.array([0.75, 0.25]), np.zeros((0, 2)), 2).describe()
        'forest 75 %, linear 25 %'
        """
        if len(self.models) == 1:
            return next(iter(self.models))
        pairs = zip(self.models, self.weights, strict=True)
        return ", ".join(f"{name} {round(100 * weight)} %" for name, weight in pairs if round(100 * weight))


@dataclass(frozen=True, eq=False)
class Lesson:
    """Rows to learn from, and a distribution over the classes for each: the part's own rows, then made ones."""

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
    """The lesson that the teachers give with the rows they were fitted on.

    Parameters
    ----------
    teaching : Teaching
    X : array (n, d)
        Prepared rows of the first part.
    codes : array (n,)
        Their classes, 0 to K - 1.
    cells : array (d,)
        Which column of the table every feature comes from: a cell is moved as a whole.
    rng : numpy.random.Generator
    most : int
        Made rows at the most.
    watched : array of int, optional
        Rows that only say which epoch to keep: no row is made of them.
    """
    made = recombined_rows(X if watched is None else np.delete(X, watched, axis=0), cells, rng, most)
    labels = np.eye(teaching.n_classes)[codes]
    targets = np.concatenate([(labels + teaching.unseen) / 2, teaching.probabilities(made)])
    return Lesson(np.concatenate([X, made]), targets, len(X))


def recombined_rows(
    X: NDArray[Any], cells: NDArray[np.intp], rng: np.random.Generator, most: int = MOST_ROWS
) -> NDArray[Any]:
    """Rows in which each cell is replaced, with probability .3, by the same column's cell of another random row.

    Examples
    --------
    >>> X = np.array([[0, 10, 20], [1, 11, 21]])
    >>> made = recombined_rows(X, np.array([0, 1, 1]), np.random.default_rng(0))
    >>> made.shape, bool((made[:, 2] - made[:, 1] == 10).all())
    ((12000, 3), True)
    """
    n = len(X)
    count = min(int(np.clip(ROWS_PER_ROW * n, LEAST_ROWS, MOST_ROWS)), most)
    base = rng.permutation(np.resize(np.arange(n), count)) if count >= n else rng.choice(n, count, replace=False)
    made = X[base]
    for cell in range(int(cells.max()) + 1):
        features = np.flatnonzero(cells == cell)
        rows = np.flatnonzero(rng.random(count) < SWAP)
        made[np.ix_(rows, features)] = X[np.ix_(rng.integers(0, n, len(rows)), features)]
    return np.asarray(made)


def stack_weights(chances: NDArray[np.float64], steps: int = 300) -> NDArray[np.float64]:
    """Weights on the simplex that minimise the log loss of the weighted probability of the true class.

    By exponentiated gradient from equal weights; the loss is convex.

    Parameters
    ----------
    chances : array (teachers, n)
        The probability that each teacher gives to the true class of each row.

    Examples
    --------
    >>> bool(stack_weights(np.array([[0.9, 0.8, 0.9], [0.5, 0.5, 0.5]])).round(2)[0] > 0.95)
    True
    """
    chances = np.clip(chances, CERTAINTY, 1 - CERTAINTY)
    weights = np.full(len(chances), 1 / len(chances))
    for _ in range(steps):
        slope = -(chances / (weights @ chances)).mean(axis=1)
        weights = weights * np.exp(-0.5 * (slope - slope.min()))
        weights /= weights.sum()
    return np.asarray(weights)


def _fit(model: Any, X: NDArray[Any], codes: NDArray[np.intp]) -> Any:
    """The model fitted, its doubts about its own convergence or few trees left out: it is judged by what it says."""
    with warnings.catch_warnings(), _few_threads(X):
        warnings.simplefilter("ignore")
        return model.fit(X, codes)


FEW_CELLS = 1_000_000
"""Rows times features up to which a teacher has one thread of OpenMP and of the linear algebra."""


def _few_threads(X: NDArray[Any]) -> Any:
    """Boosting starts and ends its threads thousands of times: on few rows they wait for each other most of the time,
    and where other programs want the cores too, forty times as long as one thread takes. The answers are the same.
    """
    from threadpoolctl import threadpool_limits

    return threadpool_limits(1 if X.size <= FEW_CELLS else None)


def _unseen_probabilities(
    fitted: Any, X: NDArray[Any], codes: NDArray[np.intp], n_classes: int, seed: int, groups: NDArray[Any] | None = None
) -> NDArray[np.float64]:
    """Out-of-bag probabilities where the model has them, else those of models fitted on the other folds."""
    shares = np.bincount(codes, minlength=n_classes) / len(codes)
    # A tree that never saw a row has seen others of its group.
    bagged = None if groups is not None else getattr(fitted, "oob_decision_function_", None)
    if bagged is not None:
        known = _aligned(np.asarray(bagged), fitted.classes_, n_classes)
        return np.where(np.isfinite(known).all(axis=1, keepdims=True) & (known.sum(axis=1, keepdims=True) > 0),
                        known, shares)  # fmt: skip
    from sklearn.base import clone

    unseen = np.tile(shares, (len(codes), 1))
    for learn, judge in _folds(codes, seed, groups):
        model = _fit(clone(fitted), X[learn], codes[learn])
        with _few_threads(X):
            unseen[judge] = _aligned(model.predict_proba(X[judge]), model.classes_, n_classes)
    return unseen


def _folds(
    codes: NDArray[np.intp], seed: int, groups: NDArray[Any] | None = None
) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Five folds (fewer for few rows), the classes spread over them, or whole groups at random.

    A fold whose other rows have one class is left.
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


def _aligned(proba: NDArray[np.float64], classes: NDArray[Any], n_classes: int) -> NDArray[np.float64]:
    """Probabilities with a column for every class, also for those that a model never met."""
    aligned = np.zeros((len(proba), n_classes))
    aligned[:, np.asarray(classes, np.intp)] = proba
    return aligned
