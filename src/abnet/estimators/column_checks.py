"""Quick checks of columns on the training rows: rows that belong together, and columns that say nearly all alone.

They look at rows of the first part only, and only notes come of them: the model stays as it is.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.tables.notes import Note
from abnet.training.learned import PreparedRows
from abnet.utils.wording import percent

__all__ = ["alone", "checked_notes", "with_and_without"]

FOLDS = 3
MOST_ROWS = 1_500
"""Rows that a check looks at: it should take a small part of the time of a fit."""
MOST_OF_A_GROUP = 20
"""Rows of a group that a check looks at, so that there are many groups."""
TREES = 30
LEAVES = 32
LEAST_OF_A_LEAF = 5
"""Of the tree that predicts from one column: enough for every category, and too few to learn single rows."""
BINS = 64
"""Of the rule by which columns are picked for a tree."""
NEARLY = 0.95
HALF = 0.5
"""A column says nearly all if it avoids this share of the errors that all columns avoid, and half of all errors. Of the
columns of 24 tables without a known leak, those that avoid half of all errors had shares of .91 and less."""
LOOSELY = 0.7
"""Share from which on the rule picks a column: a cut within a bin costs the rule some rows."""
MOST_TREES = 10
LEAST_ERRORS = 10
"""Errors that all columns must avoid: fewer may be chance."""


def checked_notes(rows: PreparedRows, together: float | None, seed: int) -> tuple[Note, ...]:
    """The notes of a table's preparation with what quick checks on its training rows found.

    Parameters
    ----------
    rows : PreparedRows
        Of the first part alone.
    together : float or None
        Error of models of all columns on rows of the first part that they were not fitted on; None if unknown.
    seed : int
    """
    features = rows.features
    groups = None
    if rows.groups is not None:
        groups = np.unique(rows.groups, return_inverse=True)[1]
    notes = [_about_groups(note, features.ids, rows, seed) for note in features.stored.notes]
    if together is None or len(features.stored.columns) < 2:
        return tuple(notes)
    known = {name for note in notes if note.severity == "leak" for name in note.columns}
    names = [column.name for column in features.stored.columns]
    for place, error in alone(features.first, features.cells, rows.codes, together, groups, seed):
        if names[place] not in known:
            facts: dict[str, str | int | float] = {"alone": percent(error), "together": percent(together)}
            notes.append(Note("column alone", (names[place],), len(rows.codes), facts=facts))
    return tuple(notes)


def _about_groups(note: Note, ids: Mapping[str, NDArray[np.intp]], rows: PreparedRows, seed: int) -> Note:
    """A note on a column that says which rows belong together, with what this does to the error of a forest."""
    if note.code != "shared identifier":
        return note
    name = note.columns[0]
    if rows.groups is not None:  # the advice to name the groups was followed
        return Note("identifier", note.columns, facts={"why": "rows share its values, and a name such as id"})
    within, apart = with_and_without(rows.features.first, rows.codes, ids[name], seed)
    found = {"within": percent(within), "apart": percent(apart)}
    return Note("measured groups", note.columns, note.rows, facts={**note.facts, **found})


def with_and_without(
    X: NDArray[Any], codes: NDArray[np.intp], groups: NDArray[np.intp], seed: int
) -> tuple[float, float]:
    """Error of a forest on held-back rows: of groups of which it knows other rows, and of groups that it does not know.

    Parameters
    ----------
    X : array (n, d)
    codes : int array (n,)
        Classes.
    groups : int array (n,)
    seed : int

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> groups = np.repeat(np.arange(60), 5)
    >>> X, codes = rng.normal(size=(60, 2))[groups], rng.integers(0, 2, 60)[groups]
    >>> within, apart = with_and_without(X, codes, groups, 0)
    >>> within < 0.05, apart > 0.35
    (True, True)
    """
    rng = np.random.default_rng(seed)
    some = _whole_groups(groups, rng)
    X = X[some]
    codes = codes[some]
    groups = groups[some]
    folds_of_rows = rng.permutation(len(some)) % FOLDS
    folds_of_groups = rng.permutation(groups.max() + 1)[groups] % FOLDS
    within = _forest_error(X, codes, folds_of_rows, seed)
    apart = _forest_error(X, codes, folds_of_groups, seed)
    return within, apart


def _whole_groups(groups: NDArray[np.intp], rng: np.random.Generator) -> NDArray[np.intp]:
    """Some rows: groups at random, with at most `MOST_OF_A_GROUP` rows each, until there are enough."""
    order = np.lexsort((rng.random(len(groups)), rng.permutation(groups.max() + 1)[groups]))
    starts = np.flatnonzero(np.diff(groups[order], prepend=-1))
    within = np.arange(len(order)) - np.repeat(starts, np.diff(starts, append=len(order)))
    return np.asarray(order[within < MOST_OF_A_GROUP][:MOST_ROWS])


def _forest_error(X: NDArray[Any], codes: NDArray[np.intp], folds: NDArray[np.intp], seed: int) -> float:
    from sklearn.ensemble import ExtraTreesClassifier

    return _cross_validated(ExtraTreesClassifier(TREES, random_state=seed), X, codes, folds)


def _cross_validated(model: Any, X: NDArray[Any], codes: NDArray[np.intp], folds: NDArray[np.intp]) -> float:
    """Share of the rows that models fitted on the other folds get wrong."""
    wrong = 0
    for fold in np.unique(folds):
        held = folds == fold
        if held.all():
            continue
        wrong += int(np.sum(model.fit(X[~held], codes[~held]).predict(X[held]) != codes[held]))
    return wrong / len(codes)


def alone(
    X: NDArray[Any],
    owners: NDArray[np.intp],
    codes: NDArray[np.intp],
    together: float,
    groups: NDArray[np.intp] | None,
    seed: int,
) -> Iterator[tuple[int, float]]:
    """Columns that predict nearly as well alone as all columns do together, with the error of a tree on held-back rows.

    A quick rule of at most `BINS` bins picks the columns that a tree is fitted on.

    Parameters
    ----------
    X : array (n, features)
    owners : int array (features,)
        The column of each feature.
    codes : int array (n,)
        Classes.
    together : float
        Error of models of all columns on rows that they were not fitted on.
    groups : int array (n,) or None
        A tree is tested on groups that it does not know.
    seed : int

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> codes = rng.integers(0, 2, 400)
    >>> X = np.stack([rng.normal(size=400), codes + rng.normal(scale=0.2, size=400)], axis=1)
    >>> [place for place, error in alone(X, np.arange(2), codes, 0.01, None, 0)]
    [1]
    """
    rng = np.random.default_rng(seed)
    if (_constant_error(codes) - together) * len(codes) < LEAST_ERRORS:
        return
    if groups is None:
        some = rng.permutation(len(codes))[:MOST_ROWS]
        folds = np.arange(len(some)) % FOLDS
    else:
        some = _whole_groups(groups, rng)
        folds = rng.permutation(groups.max() + 1)[groups[some]] % FOLDS
    X = X[some]
    codes = codes[some]
    base = _constant_error(codes)
    columns = [np.flatnonzero(owners == place) for place in range(int(owners.max()) + 1)]
    errors = np.array([_binned_error(X[:, own], codes) for own in columns])
    picked = [
        place for place in np.argsort(errors, kind="stable") if base - errors[place] >= LOOSELY * (base - together)
    ]
    for place in picked[:MOST_TREES]:
        error = _tree_error(X[:, columns[place]], codes, folds)
        if base - error >= NEARLY * (base - together) and error <= HALF * base:
            yield int(place), error


def _constant_error(codes: NDArray[np.intp]) -> float:
    """Error of always answering the most common class."""
    return float(1 - np.bincount(codes).max() / len(codes))


def _binned_error(X: NDArray[Any], codes: NDArray[np.intp]) -> float:
    """Training error of a rule that answers the most common class of each bin: equal features, or equal ranks."""
    _, bins = np.unique(X @ np.sqrt(np.arange(1.0, X.shape[1] + 1)), return_inverse=True)
    if bins.max() >= BINS:
        ranks = np.argsort(np.argsort(X[:, 0], kind="stable"))
        bins = ranks * BINS // len(codes) + BINS * (X[:, -1] == 1.0) * (X.shape[1] > 1)
    counts = np.bincount(bins * (codes.max() + 1) + codes, minlength=int((bins.max() + 1) * (codes.max() + 1)))
    return float(1 - counts.reshape(-1, codes.max() + 1).max(axis=1).sum() / len(codes))


def _tree_error(X: NDArray[Any], codes: NDArray[np.intp], folds: NDArray[np.intp]) -> float:
    from sklearn.tree import DecisionTreeClassifier

    tree = DecisionTreeClassifier(max_leaf_nodes=LEAVES, min_samples_leaf=LEAST_OF_A_LEAF, random_state=0)
    return _cross_validated(tree, X, codes, folds)
