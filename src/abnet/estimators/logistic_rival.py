"""Logistic regression on the rows of a fit, certified on the same held-out rows, for comparison."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.bounds import clopper_pearson_bound
from abnet.bounds.counted import group_error_bound
from abnet.certificates.evidence import Evidence
from abnet.certificates.terms import Terms
from abnet.estimators.fit import Fitted
from abnet.model.card import Rival
from abnet.utils.groups import number_groups

__all__ = ["MOST_ROWS", "counted_rival", "held_out_rival", "learned_logistic", "logistic_name", "logistic_regression"]

MOST_ROWS = 100_000
"""Maximum number of training rows of logistic regression: more would take longer and change little."""


FARTHEST = 30.0
"""Deviations at which features are cut off for logistic regression: cells farther away would decide its weights."""


def logistic_regression() -> Any:
    """Unfitted logistic regression for scaled features."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer

    cut = FunctionTransformer(np.clip, kw_args={"a_min": -FARTHEST, "a_max": FARTHEST})
    return make_pipeline(cut, LogisticRegression(max_iter=1000))


def learned_logistic(fitted: Fitted) -> Any:
    """Logistic regression on training rows of the fit, or a constant if there is only one class."""
    from sklearn.dummy import DummyClassifier

    rows = slice(min(fitted.rows.n_first, MOST_ROWS))  # they are in random order
    X, codes = fitted.rows.features.base[rows], fitted.rows.codes[rows]
    model = logistic_regression() if len(np.unique(codes)) > 1 else DummyClassifier()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its doubts about convergence and classes: it is judged by what it says
        return model.fit(X, codes)


def logistic_name(fitted: Fitted) -> str:
    """Its name, with the number of its training rows if these are not all."""
    return "logistic regression" + (f" ({MOST_ROWS:,} rows)" if fitted.rows.n_first > MOST_ROWS else "")


def held_out_rival(fitted: Fitted) -> Rival:
    """Logistic regression with its bound from the bound rows of a fit, at the same δ and number of candidates."""
    n_first, groups = fitted.rows.n_first, fitted.rows.groups
    codes = fitted.rows.codes[n_first:]
    wrong = learned_logistic(fitted).predict(fitted.rows.features.bound) != codes
    errors, delta, K = int(np.count_nonzero(wrong)), fitted.terms.delta, fitted.terms.n_candidates
    if groups is None:
        bound = clopper_pearson_bound(errors, len(wrong), delta, n_candidates=K)
    else:
        bound = _group_bound(wrong, groups[n_first:], fitted.terms)
    return Rival(
        name=logistic_name(fitted), bound=bound, errors=errors, n_examples=len(wrong),
        base_rate=1 - float(np.bincount(codes).max() / len(codes)), n_candidates=K,
    )  # fmt: skip


def counted_rival(fitted: Fitted, errors: int, seen: Evidence) -> Rival:
    """Logistic regression with its bound from its errors on the streamed rows of a large table."""
    delta, K = fitted.terms.delta, fitted.terms.n_candidates
    return Rival(
        name=logistic_name(fitted), bound=clopper_pearson_bound(errors, seen.n_rows, delta, n_candidates=K),
        errors=errors, n_examples=seen.n_rows, base_rate=1 - float(seen.class_rows[:-1].max() / seen.n_rows),
        n_candidates=K,
    )  # fmt: skip


def _group_bound(wrong: NDArray[np.bool_], groups: NDArray[Any], terms: Terms) -> float:
    """The bound on the error on a new group."""
    numbers = number_groups(groups, len(wrong))  # in the order of the split
    rows, failed = np.bincount(numbers), np.bincount(numbers, wrong).astype(np.intp)
    return group_error_bound(rows.tolist(), failed.tolist(), terms.delta, n_candidates=terms.n_candidates)
