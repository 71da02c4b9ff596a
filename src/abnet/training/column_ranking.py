"""Useful columns: the few columns of a wide table that predict the class, found on training rows.

The columns are ranked by their importance to two quick models: a linear one, which sees weak effects that add up, and
boosted trees, which see interactions and cuts. The k first columns are the first of each ranking in turn, so neither
view alone can drop a column that the other needs. The number k is the one whose models predict check rows best; these
had no part in the ranking. Then all training rows rank again.
"""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.training.pooled_predictions import pool_weights, pooled
from abnet.utils.groups import number_groups

__all__ = ["useful_columns"]

COUNTS = (4, 8, 16, 32, 64, 128, 256)
"""Numbers of columns that are tried."""
LARGEST_SHARE = 0.5
"""Maximum share of the columns that is tried: if more are useful, all are kept."""
LEAST_ROWS = 200
"""With fewer training rows, check rows could not tell a good choice from a bad one."""
CHECK_SHARE = 1 / 3
"""Share of the training rows that are check rows."""
MOST_CELLS = 4_000_000
"""Maximum number of cells, rows times features, that rank columns; of more rows, a random part."""
LEAST_LIMIT = 1_500
"""Tables with many features are not cut below this number of rows."""
TREES = 60
"""Boosted trees that rank columns, over all classes."""
LEAST_ROUNDS = 10
"""Minimum number of rounds of boosting; each round grows a tree for every class."""
SPLIT_SHARE = 0.2
"""Share of the features that a split looks at, so that an important column does not hide others."""
SHRINKAGE = 0.01
"""Inverse strength of the linear model's penalty, so that many columns of noise do not add up."""
LEAST_PROBABILITY = 1e-6


@dataclass(frozen=True, eq=False)
class _Rows:
    """Training rows: features, the column of each feature, classes and weights."""

    X: NDArray[np.float32]
    owners: NDArray[np.intp]
    codes: NDArray[np.intp]
    weights: NDArray[np.float64]

    def take(self, some: NDArray[np.intp]) -> "_Rows":
        return _Rows(self.X[some], self.owners, self.codes[some], self.weights[some])

    def with_columns(self, columns: NDArray[np.intp]) -> "_Rows":
        own = np.flatnonzero(np.isin(self.owners, columns))
        return _Rows(self.X[:, own], self.owners[own], self.codes, self.weights)


def useful_columns(
    X: NDArray[np.float32],
    owners: NDArray[np.intp],
    codes: NDArray[np.intp],
    rng: np.random.Generator,
    *,
    weights: NDArray[np.float64] | None = None,
    groups: NDArray[Any] | None = None,
) -> NDArray[np.intp] | None:
    """The columns that are enough, in increasing order; None if all are needed, or if there is no way to tell.

    Parameters
    ----------
    X : array (n, features)
        Prepared training rows.
    owners : int array (features,)
        The column of each feature.
    codes : int array (n,)
        Classes.
    rng : numpy.random.Generator
    weights : array (n,), optional
    groups : array (n,), optional
        Group of each row; check rows are whole groups.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(600, 100)).astype(np.float32)
    >>> codes = (X[:, 3] + X[:, 70] > 0).astype(int)
    >>> chosen = useful_columns(X, np.arange(100), codes, rng)
    >>> {3, 70} <= set(chosen.tolist()), len(chosen) <= 16
    (True, True)
    """
    n_columns = len(np.unique(owners))
    counts = [count for count in COUNTS if count <= LARGEST_SHARE * n_columns]
    if weights is None:
        weights = np.ones(len(codes))
    some = _rows_to_rank(X.shape, weights, rng)
    if len(some) < LEAST_ROWS or not counts:
        return None
    rows = _Rows(_scaled(X[some]), owners, codes[some], weights[some])
    if groups is not None:
        groups = groups[some]
    seed = int(rng.integers(2**31))
    is_check = _check_rows(len(some), groups, rng)
    fit_rows = rows.take(np.flatnonzero(~is_check))
    check_rows = rows.take(np.flatnonzero(is_check))
    if not _has_same_classes(rows.codes, fit_rows.codes) or not len(check_rows.codes):
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of convergence: the models are judged by their predictions
        models = _fitted(fit_rows, seed)
        order = _order(models, fit_rows.owners)
        loss_with_all = _pool_loss(models, check_rows)
        losses = {}
        for count in counts:
            few = order[:count]
            models = _fitted(fit_rows.with_columns(few), seed)
            losses[count] = _pool_loss(models, check_rows.with_columns(few))
        best = min(losses, key=lambda count: losses[count])
        if losses[best] >= loss_with_all:
            return None
        return np.sort(_order(_fitted(rows, seed), owners)[:best])


def _rows_to_rank(shape: tuple[int, int], weights: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.intp]:
    """Rows with a weight above 0: all, or a random part if there are many cells."""
    n_features = shape[1]
    most = max(MOST_CELLS // max(n_features, 1), LEAST_LIMIT)
    weighted = np.flatnonzero(weights > 0)
    if len(weighted) <= most:
        return weighted
    return np.sort(rng.permutation(weighted)[:most])


def _scaled(X: NDArray[np.float32]) -> NDArray[np.float32]:
    """Features with mean 0 and deviation 1; constant ones are 0."""
    deviations = X.std(axis=0)
    return np.asarray((X - X.mean(axis=0)) / np.where(deviations > 0, deviations, 1), np.float32)


def _check_rows(n: int, groups: NDArray[Any] | None, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Which rows are check rows: a share at random, of the rows or of the groups."""
    unit_of_row: NDArray[Any] = np.arange(n)
    if groups is not None:
        unit_of_row = number_groups(groups, n)
    n_units = int(unit_of_row.max()) + 1
    is_check = np.zeros(n_units, np.bool_)
    is_check[rng.permutation(n_units)[: round(CHECK_SHARE * n_units)]] = True
    return np.asarray(is_check[unit_of_row])


def _has_same_classes(codes: NDArray[np.intp], among: NDArray[np.intp]) -> bool:
    """Whether there are two classes or more, and some rows have all of them."""
    n_classes = len(np.unique(codes))
    return n_classes > 1 and len(np.unique(among)) == n_classes


def _fitted(rows: _Rows, seed: int) -> tuple[Any, Any]:
    """The linear model and the boosted trees, fitted."""
    from sklearn.ensemble import GradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression

    n_trees_each = len(np.unique(rows.codes))
    if n_trees_each == 2:
        n_trees_each = 1
    linear = LogisticRegression(C=SHRINKAGE, max_iter=200)
    boosting = GradientBoostingClassifier(
        n_estimators=max(TREES // n_trees_each, LEAST_ROUNDS),
        learning_rate=0.2,
        max_features=max(SPLIT_SHARE, min(1.0, 10 / rows.X.shape[1])),
        subsample=0.7,
        min_samples_leaf=5,
        random_state=seed,
    )
    return (
        linear.fit(rows.X, rows.codes, sample_weight=rows.weights),
        boosting.fit(rows.X, rows.codes, sample_weight=rows.weights),
    )


def _order(models: tuple[Any, Any], owners: NDArray[np.intp]) -> NDArray[np.intp]:
    """Columns, the most important first: the first of each ranking in turn."""
    linear, boosting = models
    by_linear = _ranks(np.abs(linear.coef_).max(axis=0), owners)
    by_boosting = _ranks(boosting.feature_importances_, owners)
    return np.asarray(np.lexsort((by_linear + by_boosting, np.minimum(by_linear, by_boosting))))


def _ranks(importance: NDArray[np.float64], owners: NDArray[np.intp]) -> NDArray[np.intp]:
    """Rank of every column by its most important feature, 0 for the first."""
    of_column = np.full(int(owners.max()) + 1, -np.inf)
    np.maximum.at(of_column, owners, importance)
    ranks = np.empty(len(of_column), np.intp)
    ranks[np.argsort(-of_column, kind="stable")] = np.arange(len(of_column))
    return ranks


def _pool_loss(models: tuple[Any, Any], rows: _Rows) -> float:
    """Mean log loss of the models' pool, with weights that suit these rows."""
    predictions = np.stack([model.predict_proba(rows.X) for model in models])
    codes = np.searchsorted(models[0].classes_, rows.codes)
    proba = pooled(pool_weights(predictions, codes, rows.weights), predictions)
    of_label = np.maximum(proba[np.arange(len(codes)), codes], LEAST_PROBABILITY)
    return float(-np.average(np.log(of_label), weights=rows.weights))
