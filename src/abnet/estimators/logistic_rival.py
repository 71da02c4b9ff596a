"""Logistic regression on the rows of a fit, certified on the same held-out rows, for comparison."""

import warnings
from typing import Any

import numpy as np

from abnet.bounds import clopper_pearson_bound
from abnet.bounds.counted import group_error_bound
from abnet.certificates.evidence import Evidence
from abnet.certificates.terms import Terms
from abnet.model.card import Rival
from abnet.training.learned import PreparedRows

__all__ = ["MOST_ROWS", "learned_logistic", "logistic_name", "logistic_regression", "rival_of"]

MOST_ROWS = 100_000
"""Maximum number of training rows of logistic regression: more would take longer and change little."""

FARTHEST = 30.0
"""Deviations at which features are cut off for logistic regression: cells farther away would decide its weights."""


def logistic_regression() -> Any:
    """Unfitted logistic regression for scaled features."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer

    cut_off = FunctionTransformer(np.clip, kw_args={"a_min": -FARTHEST, "a_max": FARTHEST})
    return make_pipeline(cut_off, LogisticRegression(max_iter=1000))


def learned_logistic(rows: PreparedRows) -> Any:
    """Logistic regression on training rows of a fit, or a constant if there is only one class."""
    from sklearn.dummy import DummyClassifier

    n_training = min(rows.n_first, MOST_ROWS)  # they are in random order
    codes = rows.codes[:n_training]
    model = logistic_regression()
    if len(np.unique(codes)) == 1:
        model = DummyClassifier()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of convergence and rare classes: it is judged by its answers
        return model.fit(rows.features.base[:n_training], codes)


def logistic_name(rows: PreparedRows) -> str:
    """Its name, with the number of its training rows if these are not all."""
    if rows.n_first > MOST_ROWS:
        return f"logistic regression ({MOST_ROWS:,} rows)"
    return "logistic regression"


def rival_of(rows: PreparedRows, seen: Evidence, terms: Terms) -> Rival:
    """Logistic regression with its bound, at the same δ and number of candidates as the model.

    Parameters
    ----------
    rows : PreparedRows
        Of the fit.
    seen : Evidence
        The errors of logistic regression on the bound rows.
    terms : Terms
        Of the model's certificate.
    """
    if seen.groups is None:
        bound = clopper_pearson_bound(seen.errors, seen.n_rows, terms.delta, n_candidates=terms.n_candidates)
    else:
        n_rows, errors, _, _ = seen.groups.in_order()
        bound = group_error_bound(n_rows.tolist(), errors.tolist(), terms.delta, n_candidates=terms.n_candidates)
    return Rival(
        name=logistic_name(rows),
        bound=bound,
        errors=seen.errors,
        n_examples=seen.n_rows,
        base_rate=1 - float(seen.class_rows[:-1].max() / seen.n_rows),
        n_candidates=terms.n_candidates,
    )
