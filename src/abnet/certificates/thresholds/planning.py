"""Estimate of the number of rows that a goal needs."""

import math

from scipy.special import bdtr, bdtrik

from abnet.certificates.terms import Terms

__all__ = ["rows_needed"]

LIKELY = 0.8
"""Probability with which the rows that `rows_needed` names certify the limit, if the rates are as observed."""

MOST_TRIALS = 10**9
"""More trials than this are never suggested."""


def rows_needed(failures: int, trials: int, n_rows: int, limit: float, terms: Terms) -> int | None:
    """Estimate of the number of rows that would probably certify a limit; None if no number would.

    At the observed rates, `LIKELY` samples of this size pass the test. For planning only, without a guarantee.

    Parameters
    ----------
    failures, trials : int
        What was counted among `n_rows` rows.
    n_rows : int
    limit : float
        Largest rate of failures that the goal allows.
    terms : Terms

    Examples
    --------
    >>> rows_needed(0, 30, 100, 0.05, Terms()), rows_needed(6, 60, 100, 0.05, Terms())
    (197, None)
    >>> rows_needed(1, 60, 100, 0.05, Terms())
    347
    """
    rate = failures / max(trials, 1)
    if rate >= limit:
        return None
    delta = terms.delta / terms.n_candidates
    passing = math.ceil(math.log(delta) / math.log1p(-limit))
    while not _is_enough(passing, rate, limit, delta):
        passing *= 2
        if passing > MOST_TRIALS:
            return None
    # The number of failures is an integer, so passing is not quite monotone in the number of trials: any number that
    # passes is good enough.
    failing = passing // 2
    while passing - failing > 1:
        middle = (failing + passing) // 2
        if _is_enough(middle, rate, limit, delta):
            passing = middle
        else:
            failing = middle
    return math.ceil(passing * n_rows / max(trials, 1))


def _is_enough(trials: int, rate: float, limit: float, delta: float) -> bool:
    """Whether so many trials pass the test with the probability `LIKELY`, if failures have this rate."""
    most_failures = math.floor(bdtrik(delta, trials, limit))
    if bdtr(most_failures, trials, limit) > delta:
        most_failures -= 1
    if most_failures < 0:
        return False
    return bool(bdtr(most_failures, trials, rate) >= LIKELY)
