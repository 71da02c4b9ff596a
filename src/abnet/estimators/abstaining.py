"""Abstaining in an estimator: thresholds from validation rows, certificates from bound rows, labels with gaps."""

from numpy.typing import ArrayLike

from abnet.decisions.abstain import Abstention, RiskCoverage, abstention, risk_coverage, score_thresholds
from abnet.decisions.answers import sureness

__all__ = ["abstention_records"]


def abstention_records(
    validation_scores: ArrayLike,
    bound_scores: ArrayLike,
    bound_wrong: ArrayLike,
    target: float,
    delta: float = 0.05,
    *,
    n_candidates: int = 1,
    n_thresholds: int = 20,
) -> tuple[Abstention, RiskCoverage]:
    """``abstention_`` and ``risk_coverage_`` of a classifier that never learned from the bound rows.

    Parameters
    ----------
    validation_scores : array (m,) or (m, K)
        Scores of validation rows of the first part, which fix the thresholds; never of bound rows.
    bound_scores : array (n,) or (n, K)
        Scores of the bound rows.
    bound_wrong : array of bool (n,)
        Where the answer would be wrong.
    target, delta : float
        The error to be certified among answered rows, and the probability with which that may fail.
    n_candidates, n_thresholds : int
        Models judged on the same rows, and how many thresholds are tried.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> F, noise = rng.uniform(-1, 1, 4000), rng.uniform(-1, 1, 4000)
    >>> made, curve = abstention_records(F[:1000], F[1000:], (np.abs(F) < np.abs(noise) ** 3)[1000:], target=0.1)
    >>> made.threshold is not None, made.error_bound, len(curve.thresholds)
    (True, 0.1, 20)
    """
    known, seen = sureness(validation_scores), sureness(bound_scores)
    share = delta / n_candidates
    thresholds = score_thresholds(known, len(seen), target, share, n_thresholds=n_thresholds)
    made = abstention(seen, bound_wrong, thresholds, target, delta, n_candidates=n_candidates)
    return made, risk_coverage(seen, bound_wrong, thresholds, delta, n_candidates=n_candidates)
