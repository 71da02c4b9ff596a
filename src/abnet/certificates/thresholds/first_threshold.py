"""The threshold with which a sequence of tests begins."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, xlogy

from abnet.certificates.decision import cuts_between

__all__ = ["first_threshold"]

Floats = NDArray[np.float64]

PENALTY = 0.5
"""Ridge penalty of the two slopes. With 60 held rows, counts without a model chose a threshold that was certified in
30% of samples, where the best one was certified in 56%; the smooth rates reached 50%."""

STEPS = 15
"""Newton steps, each at most 1 long: enough for slopes that matter."""


def first_threshold(marks: Floats, failing: Floats, cuts: Floats, limit: float, n_rows: int) -> int:
    r"""Place of the threshold that the bound rows are most likely to certify, judged on held rows only.

    A threshold can be certified if the rate of failures above it is below the limit and enough rows are above it. Both
    count: a strict threshold leaves few rows, where one failure may be too many; a loose one has a higher rate. The
    evidence that m rows with a rate e are expected to give against the limit is :math:`m \, kl(e \| limit)`, and the
    threshold where it is largest is tested first; looser ones follow. If no rate is below the limit, the threshold with
    the lowest rate is first.

    Parameters
    ----------
    marks : float array (m,)
        Scores of the held rows.
    failing : float array (m,)
        1 for a row that would be a failure above the threshold, 0 for any other row.
    cuts : float array
        Thresholds in decreasing order.
    limit : float
        Largest rate of failures that the goal allows.
    n_rows : int
        Number of bound rows.

    Examples
    --------
    >>> marks = np.linspace(0.0, 1.0, 400)
    >>> failing = (np.arange(400) % 3 == 0) & (marks < 0.5)  # every third of the lower half
    >>> cuts = np.array([0.9, 0.7, 0.55, 0.3, -1.0])
    >>> first_threshold(marks, failing, cuts, 0.1, 300), first_threshold(marks, failing, cuts, 0.3, 300)
    (2, 3)
    """
    downwards = np.argsort(-marks, kind="stable")
    above = np.searchsorted(-marks[downwards], -cuts, side="left")
    failures = np.append(0.0, np.cumsum(_smooth_rates(marks, failing)[downwards]))[above]
    rates = (failures + 0.5) / (above + 1.0)
    evidence = n_rows * above / len(marks) * (xlogy(rates, rates / limit) + xlogy(1 - rates, (1 - rates) / (1 - limit)))
    return int(np.argmax(np.where(rates < limit, evidence, -rates)))


def _smooth_rates(marks: Floats, failing: Floats) -> Floats:
    """Rate of failures for each row, by a logistic regression on its score and on the logit of the score's rank.

    Scores may be probabilities, margins or anything else that orders the rows: one of the two usually fits. Scores that
    rounding has split share a rank.
    """
    group = np.searchsorted(cuts_between(marks), marks)
    sizes = np.bincount(group)
    ranks = (np.cumsum(sizes) - sizes / 2)[group] / len(marks)
    # Constant columns become zeros.
    columns = [v - v.mean() for v in (marks / (np.abs(marks).max() or 1.0), logit(ranks))]
    inputs = np.column_stack([np.ones(len(marks)), *(v / (v.std() or 1.0) for v in columns)])
    n_failing = float(failing.sum())
    usual = np.array([np.log((n_failing + 0.5) / (len(marks) - n_failing + 0.5)), 0.0, 0.0])
    penalty = np.array([PENALTY / 2, PENALTY, PENALTY])

    weights = usual
    for _ in range(STEPS):  # Newton's method
        rates = expit(inputs @ weights)
        slope = inputs.T @ (rates - failing) + penalty * (weights - usual)
        curvature = (inputs * (rates * (1.0 - rates))[:, None]).T @ inputs + np.diag(penalty)
        step = np.linalg.solve(curvature, slope)
        weights = weights - step / max(1.0, float(np.abs(step).max()))
    return np.asarray(expit(inputs @ weights))
