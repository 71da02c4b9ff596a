"""Compare two models on the same rows: a bound on the difference of their error rates, and a test which is better."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from abnet.certificates.certificate import Certificate
from abnet.certificates.evidence import observe
from abnet.certificates.facts import Facts
from abnet.certificates.grouped_rows import check_groups
from abnet.certificates.outside import Judged, judge_model
from abnet.certificates.statements.difference import BetterModel, DifferenceBound
from abnet.certificates.terms import Terms
from abnet.certificates.training_rows import find_fitted, refuse_fitted

__all__ = ["compare_errors", "compare_judged"]


def compare_errors(
    a: Any,
    b: Any,
    X: Any,
    y: ArrayLike,
    *,
    delta: float = 0.05,
    n_candidates: int = 1,
    names: tuple[str, str] = ("A", "B"),
) -> Certificate:
    """Compare two classifiers on the same rows, held out from the training of both.

    Parameters
    ----------
    a, b : objects with ``predict``, or callables
    X, y, delta
        As for `abnet.certify`.
    n_candidates : int
        Number of comparisons made on the same rows. Testing "is A better?" and then "is B better?" counts as two.
    names : pair of str
        Names of the two models in the certificate.

    Returns
    -------
    Certificate
        With ``difference_bound``, an upper bound on the error rate of A minus that of B, and a statement from the exact
        sign test that A has the lower error rate; its value is None if the rows do not show it.

    Examples
    --------
    >>> X, y = np.arange(200.0)[:, None], np.arange(200) % 2
    >>> made = compare_errors(lambda X: X[:, 0].astype(int) % 2, lambda X: np.zeros(len(X), int), X, y)
    >>> difference, better = made.statements
    >>> round(difference.value, 3), better.value
    (-0.434, 0.0)
    """
    for model in (a, b):
        refuse_fitted(find_fitted(model, X, y), instead="Compare on others.")
        check_groups(model, X, None)
    terms = Terms(delta=delta, n_candidates=n_candidates, source="test set")
    return compare_judged(judge_model(a, X, y), judge_model(b, X, y), terms, names=names)


def compare_judged(one: Judged, other: Judged, terms: Terms, *, names: tuple[str, str] = ("A", "B")) -> Certificate:
    """`compare_errors` for given answers; the certificate's facts are those of the first model.

    References
    ----------
    Q. McNemar (1947), Note on the sampling error of the difference between correlated proportions.
    """
    if len(one.truth) != len(other.truth):
        raise ValueError(f"there are {len(one.truth)} answers of {names[0]}, but {len(other.truth)} of {names[1]}.")
    counts: dict[str, Any] = {
        "a": names[0],
        "b": names[1],
        "only_a": int(np.sum(one.wrong & ~other.wrong)),
        "only_b": int(np.sum(other.wrong & ~one.wrong)),
        "delta": terms.delta,
        "n_candidates": terms.n_candidates,
    }
    difference = DifferenceBound.from_counts(n=len(one.truth), **counts)
    better = BetterModel.from_counts(**counts)
    facts = Facts.of(observe(one.answers, one.truth, one.names), terms)
    return Certificate(statements=(difference, better), facts=facts)
