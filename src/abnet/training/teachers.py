"""Teachers: stronger learners whose probabilities a network learns from.

Everything here sees the first part of the rows alone. A prior may be learned in any way from that part, so a teacher
changes nothing in what a certificate means. A lesson has the part's own rows, with targets halfway between the label
and what the teachers say of a row that they were not fitted on, and rows made by recombining cells, with the teachers'
probabilities.
"""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from abnet.calibration import Calibration
from abnet.groups import number_groups
from abnet.progress import tell
from abnet.words import whole_percents

__all__ = [
    "TEACHERS",
    "Lesson",
    "Teaching",
    "n_recombined",
    "recombined_rows",
    "stack_weights",
    "teach",
    "teachers_named",
]

TEACHERS = ("forest", "linear", "kernel", "boosting")
"""Teachers known by name; "all" asks all of them and weighs their answers, the kernel with several classes only.

The slowest comes last: by then one fold tells whether it adds anything to the others (`LEAST_WEIGHT`)."""

FOLDS = 3
SWAP = 0.3
"""Probability that a cell of a made row comes from another row."""

ROWS_PER_ROW, LEAST_ROWS, MOST_ROWS = 30, 12_000, 60_000
"""Made rows: thirty for each row, within limits. With fewer a network learns the rows, not the teacher."""

CERTAINTY = 1e-3
"""Probabilities are kept this far from 0 and 1 when teachers are weighed."""

MOST_OF_A_TREE = 25_000
"""Rows that each tree of the forest is grown on, at the most: 300 trees of 160,000 rows fill two gigabytes."""

MANY_CELLS = 20_000_000
"""Rows times features from which on a teacher has more than one thread. One thread boosts 20,000 rows of 20
columns in a third of a second; two that share their cores with other programs took fifteen."""

LEAST_WEIGHT = 0.05
"""Weight beside the other teachers below which a teacher is left out: by the first fold alone before the others are
fitted, and by all rows before it is asked about made ones."""

Report = Callable[[str, float], None]


def teachers_named(teacher: Any, seed: int, n_rows: int = 0, n_classes: int = 2) -> dict[str, Any]:
    """Unfitted classifiers by name, for so many rows and classes: all, the one named, or a clone of the user's own.

    Examples
    --------
    >>> list(teachers_named("all", 0)), list(teachers_named("linear", 0))
    (['forest', 'linear', 'boosting'], ['linear'])
    >>> list(teachers_named("all", 0, n_classes=3))
    ['forest', 'linear', 'kernel', 'boosting']
    """
    if not isinstance(teacher, str):
        from sklearn.base import clone

        return {type(teacher).__name__: clone(teacher)}
    known = [name for name in TEACHERS if name != "kernel" or n_classes > 2]
    return {name: _known(name, seed, n_rows) for name in (known if teacher == "all" else (teacher,))}


def _known(name: str, seed: int, n_rows: int) -> Any:
    if name == "forest":
        from sklearn.ensemble import RandomForestClassifier

        share = MOST_OF_A_TREE / n_rows if n_rows > MOST_OF_A_TREE else None
        return RandomForestClassifier(300, oob_score=True, n_jobs=-1, random_state=seed, max_samples=share)
    if name == "boosting":
        from sklearn.ensemble import HistGradientBoostingClassifier

        return HistGradientBoostingClassifier(max_iter=50, learning_rate=0.2, random_state=seed)
    if name == "kernel":
        from abnet.training.kernel_teacher import KernelTeacher

        return KernelTeacher(random_state=seed)
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
    calibrations : tuple of Calibration
        Of the teachers of several classes, from what they say of rows they have not seen: a forest that is right, but
        says so with half its trees, would otherwise weigh nothing beside one that is surer and wrong more often.
    """

    models: Mapping[str, Any]
    weights: NDArray[np.float64]
    unseen: NDArray[np.float64]
    n_classes: int
    calibrations: tuple[Calibration, ...] = ()

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
    ) -> "Teaching | None":
        """Fit the teachers and weigh them; Ctrl-C leaves those that are ready, None if there are none.

        With `groups`, what is said of a row comes from teachers that saw no row of its group. `weights` of the rows go
        to all teachers that take any.
        """
        rows = _Rows(X, codes, n_classes, seed, groups, weights)
        ready: dict[str, Any] = {}
        unseen: list[NDArray[np.float64]] = []
        calibrations: tuple[Calibration, ...] = ()
        try:
            for name, model in models.items():
                tell(f"Teacher: {name}")
                fitted, said = _asked(model, rows, unseen)
                if fitted is None:
                    continue
                if report is not None:
                    report(f"teacher: {name}", float(np.mean(said.argmax(axis=1) != codes)))
                if n_classes > 2:
                    calibrations += (Calibration.fitted(said, np.eye(n_classes)[codes]),)
                    said = calibrations[-1].apply(said)
                unseen.append(said)
                ready[name] = fitted
        except KeyboardInterrupt:
            pass
        if not ready:
            return None
        answers = np.stack(unseen[: len(ready)])
        mixed = stack_weights(answers[:, np.arange(len(codes)), codes], weights=weights)
        heard = np.flatnonzero(mixed >= LEAST_WEIGHT)
        mixed, names = mixed[heard] / mixed[heard].sum(), list(ready)
        return Teaching(
            {names[k]: ready[names[k]] for k in heard}, mixed, np.tensordot(mixed, answers[heard], 1), n_classes,
            tuple(calibrations[k] for k in heard) if calibrations else (),
        )  # fmt: skip

    def probabilities(self, X: NDArray[Any]) -> NDArray[np.float64]:
        """Weighted probabilities of rows, shape (n, K)."""
        with _threads_for(X):
            said = [_aligned(model.predict_proba(X), model.classes_, self.n_classes) for model in self.models.values()]
        return np.tensordot(self.weights, np.stack(_calibrated(said, self.calibrations)), 1)

    def dismissed(self) -> "Teaching":
        """What they said of their own rows and how they are called, without the fitted models."""
        return replace(self, models=dict.fromkeys(self.models))

    def describe(self) -> str:
        """The teachers with their weights, in words.

        Examples
        --------
        >>> Teaching({"forest": 0, "linear": 0}, np.array([0.75, 0.25]), np.zeros((0, 2)), 2).describe()
        'forest (75%), linear (25%)'
        """
        percents = whole_percents(self.weights.tolist())
        shares = {name: share for name, share in zip(self.models, percents, strict=True) if share}
        if len(shares) == 1:
            return next(iter(shares))
        return ", ".join(f"{name} ({share}%)" for name, share in shares.items())


def _calibrated(said: list[NDArray[np.float64]], calibrations: tuple[Calibration, ...]) -> list[NDArray[np.float64]]:
    """What each teacher says, by its calibration if there are any."""
    if not calibrations:
        return said
    return [calibration.apply(one) for calibration, one in zip(calibrations, said, strict=True)]


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
    tell("Rows for the networks")
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
    n, count = len(X), n_recombined(len(X), most)
    base = rng.permutation(np.resize(np.arange(n), count)) if count >= n else rng.choice(n, count, replace=False)
    made = X[base]
    for cell in range(int(cells.max()) + 1):
        features = np.flatnonzero(cells == cell)
        rows = np.flatnonzero(rng.random(count) < SWAP)
        made[np.ix_(rows, features)] = X[np.ix_(rng.integers(0, n, len(rows)), features)]
    return np.asarray(made)


def n_recombined(n_rows: int, most: int = MOST_ROWS) -> int:
    """How many rows are made of so many.

    Examples
    --------
    >>> [n_recombined(n) for n in (100, 1_000, 10_000)]
    [12000, 30000, 60000]
    """
    return min(int(np.clip(ROWS_PER_ROW * n_rows, LEAST_ROWS, MOST_ROWS)), most)


def stack_weights(
    chances: NDArray[np.float64], steps: int = 300, *, weights: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Weights on the simplex that minimise the log loss of the weighted probability of the true class.

    By exponentiated gradient from equal weights; the loss is convex.

    Parameters
    ----------
    chances : array (teachers, n)
        The probability that each teacher gives to the true class of each row.
    weights : array (n,), optional
        Of the rows.

    Examples
    --------
    >>> bool(stack_weights(np.array([[0.9, 0.8, 0.9], [0.5, 0.5, 0.5]])).round(2)[0] > 0.95)
    True
    """
    chances = np.clip(chances, CERTAINTY, 1 - CERTAINTY)
    mixed = np.full(len(chances), 1 / len(chances))
    for _ in range(steps):
        slope = -np.average(chances / (mixed @ chances), axis=1, weights=weights)
        mixed = mixed * np.exp(-0.5 * (slope - slope.min()))
        mixed /= mixed.sum()
    return np.asarray(mixed)


def _fit(model: Any, X: NDArray[Any], codes: NDArray[np.intp], weights: NDArray[np.float64] | None = None) -> Any:
    """The model fitted, its doubts about its own convergence or few trees left out: it is judged by what it says."""
    with warnings.catch_warnings(), _threads_for(X):
        warnings.simplefilter("ignore")
        return model.fit(X, codes) if weights is None else model.fit(X, codes, sample_weight=weights)


def _weights_for(model: Any, weights: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
    """The rows' weights where the model takes any; a warning where it does not."""
    from sklearn.utils.validation import has_fit_parameter

    if weights is None or has_fit_parameter(model, "sample_weight"):
        return weights
    warnings.warn(
        f"The teacher {type(model).__name__} takes no sample_weight: it learns from all rows alike, and the weights "
        "shape what the networks learn from their own rows only.",
        stacklevel=2,
    )
    return None


def _threads_for(X: NDArray[Any]) -> threadpool_limits:
    return threadpool_limits(1 if X.size < MANY_CELLS else None)


@dataclass(frozen=True, eq=False)
class _Rows:
    """The rows that teachers learn from, and how they are split to ask about rows that a teacher has not seen."""

    X: NDArray[Any]
    codes: NDArray[np.intp]
    n_classes: int
    seed: int
    groups: NDArray[Any] | None
    weights: NDArray[np.float64] | None

    @property
    def shares(self) -> NDArray[np.float64]:
        """Shares of the classes: what is said of a row that no fitted model may be asked about."""
        counts = np.bincount(self.codes, self.weights, minlength=self.n_classes)
        return np.asarray(counts / counts.sum())


def _asked(model: Any, rows: _Rows, others: list[NDArray[np.float64]]) -> tuple[Any, NDArray[np.float64]]:
    """The fitted teacher and what it says of rows it has not seen; None for one that adds nothing to the others.

    Out of bag where the model offers that, else by folds. The first fold decides whether the others are worth fitting.
    """
    weights = _weights_for(model, rows.weights)
    unseen = np.tile(rows.shares, (len(rows.codes), 1))
    # A tree that never saw a row has seen others of its group.
    if rows.groups is None and getattr(model, "oob_score", False):
        fitted = _fit(model, rows.X, rows.codes, weights)
        known = _aligned(np.asarray(fitted.oob_decision_function_), fitted.classes_, rows.n_classes)
        answered = np.isfinite(known).all(axis=1, keepdims=True) & (known.sum(axis=1, keepdims=True) > 0)
        return fitted, np.where(answered, known, unseen)
    from sklearn.base import clone

    for number, (learn, judge) in enumerate(_folds(rows.codes, rows.seed, rows.groups)):
        own = None if weights is None else weights[learn]
        partial = _fit(clone(model), rows.X[learn], rows.codes[learn], own)
        with _threads_for(rows.X):
            unseen[judge] = _aligned(partial.predict_proba(rows.X[judge]), partial.classes_, rows.n_classes)
        if number == 0 and others and _weight_among(unseen, others, rows, judge) < LEAST_WEIGHT:
            return None, unseen
    return _fit(model, rows.X, rows.codes, weights), unseen


def _weight_among(
    said: NDArray[np.float64], others: list[NDArray[np.float64]], rows: _Rows, judge: NDArray[np.intp]
) -> float:
    """The weight that a teacher would have beside others, which are calibrated, by what all say of some rows."""
    own, truth = said[judge], rows.codes[judge]
    if rows.n_classes > 2:
        own = Calibration.fitted(own, np.eye(rows.n_classes)[truth]).apply(own)
    chances = np.stack([*(one[judge] for one in others), own])[:, np.arange(len(judge)), truth]
    weights = None if rows.weights is None else rows.weights[judge]
    return float(stack_weights(chances, weights=weights)[-1])


def _folds(
    codes: NDArray[np.intp], seed: int, groups: NDArray[Any] | None = None
) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """A few folds (fewer for few rows), the classes spread over them, or whole groups at random.

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
