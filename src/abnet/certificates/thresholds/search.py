"""Candidate thresholds from the scores of validation rows, in the order in which they are tested."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.certificates.decision import cut_below
from abnet.certificates.held import Held
from abnet.certificates.terms import Terms
from abnet.certificates.thresholds.first_threshold import first_threshold

__all__ = ["falling", "falling_to_all", "rising", "scores_for", "whole_failures"]

Floats = NDArray[np.float64]

N_THRESHOLDS = 100
"""Number of candidate thresholds: it costs nothing, and a finer grid gets closer to the goal."""

SHARES_BELOW = (0.0, 0.25, 0.5, 0.75, 0.9)
"""Quantiles of the scores below all selected validation rows, where rising thresholds begin."""

ANSWER_ALL = -1.0
"""A threshold below every confidence."""


def scores_for(positive: Any, held: Held, classes: Sequence[str]) -> tuple[Floats, NDArray[np.bool_], int]:
    """Scores for the positive class of two, the rows where it is the true class, and its code."""
    names = [str(label) for label in classes]
    if len(names) != 2 or str(positive) not in names:
        raise ValueError(f"the positive class must be one of two classes; got {positive!r}, of {', '.join(names)}.")
    code = names.index(str(positive))
    is_positive = held.codes == code
    if not is_positive.any():
        raise ValueError(f"none of the rows that fix the thresholds is {positive}: pass more rows.")
    if code == 1:
        return held.scores, is_positive, code
    return -held.scores, is_positive, code


def rising(scores: Floats, selected: NDArray[np.bool_], *, most_below: float) -> Floats:
    """Increasing thresholds, for a goal that limits how many of some rows are *below* the threshold.

    For a goal that limits how many of some rows are above it, negate the scores, and then the thresholds.

    Parameters
    ----------
    scores : float array (m,)
        Scores of the validation rows.
    selected : bool array (m,)
        The rows that could fail.
    most_below : float
        Share of the selected rows that is below the last threshold.

    Examples
    --------
    >>> scores = np.linspace(0.0, 1.0, 101)
    >>> rising(scores, scores >= 0.5, most_below=0.04).tolist()
    [-0.005, 0.115, 0.235, 0.355, 0.435, 0.495, 0.505, 0.515]
    """
    shares = np.linspace(0.0, min(1.0, most_below), N_THRESHOLDS)
    starts = np.unique(np.quantile(scores[selected], shares, method="lower"))
    # Some thresholds are below the scores of all selected validation rows, because held-out rows may have lower scores.
    lower_scores = scores[scores < starts[0]]
    if len(lower_scores):
        starts = np.concatenate([np.quantile(lower_scores, SHARES_BELOW, method="lower"), starts])
    return cut_below(scores, starts)


def falling(scores: Floats, failing: NDArray[np.bool_], limit: float, n_rows: int, terms: Terms) -> Floats:
    """Decreasing thresholds, for a goal that limits the rate of failures among the rows *above* the threshold.

    The first threshold is the one that the held-out rows are most likely to certify; the last is below all scores.

    Parameters
    ----------
    scores : float array (m,)
        Scores of the validation rows.
    failing : bool array (m,)
        The rows that would be failures above the threshold.
    limit : float
        Largest rate of failures that the goal allows.
    n_rows : int
        Number of held-out rows.
    terms : Terms

    Examples
    --------
    >>> scores = np.linspace(0.0, 1.0, 101)
    >>> found = falling(scores, scores < 0.5, 0.1, 1000, Terms())
    >>> found[[0, -1]].tolist()
    [0.655, -0.005]
    """
    shares = np.geomspace(_least_share(limit, n_rows, terms), 1.0, N_THRESHOLDS)
    thresholds = _thresholds_at_shares(scores, shares)
    return thresholds[first_threshold(scores, failing.astype(np.float64), thresholds, limit, n_rows) :]


def falling_to_all(confidence: Floats, failing: Floats, limit: float, n_rows: int, terms: Terms) -> Floats:
    """Decreasing thresholds on the confidence, as in `falling`; the last one answers every row."""
    shares = np.linspace(_least_share(limit, n_rows, terms), 1.0, N_THRESHOLDS)
    thresholds = _thresholds_at_shares(confidence, shares[shares < 1.0])
    thresholds = np.append(thresholds[thresholds > 0.0], ANSWER_ALL)
    return thresholds[first_threshold(confidence, failing, thresholds, limit, n_rows) :]


def whole_failures(failing: Floats) -> int:
    """Number of failures, where a row that rounding may decide either way counts as half a failure."""
    return math.ceil(failing.sum())


def _thresholds_at_shares(scores: Floats, shares: Floats) -> Floats:
    """Decreasing thresholds with about these shares of the rows above them."""
    return cut_below(scores, np.quantile(scores, 1.0 - shares, method="lower"))[::-1]


def _least_share(limit: float, n_rows: int, terms: Terms) -> float:
    """Share of the rows above the strictest threshold that could be certified, if it made no error."""
    n_needed = math.log(terms.delta / terms.n_candidates) / math.log1p(-limit)
    return min(1.0, n_needed / n_rows)
