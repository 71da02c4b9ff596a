"""Tests of thresholds on held-out rows, one after the other, up to the first that fails."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from abnet.bounds.clopper_pearson import binomial_tail
from abnet.certificates.cut_counts import CutCounts
from abnet.certificates.decision import Decision
from abnet.certificates.evidence import Evidence
from abnet.certificates.goals.goal import Trials
from abnet.certificates.terms import Terms

__all__ = ["best_passed", "complement", "counts_above", "cut_counts"]


def best_passed(tests: Sequence[Trials], limit: float, merits: Sequence[float], terms: Terms) -> int | None:
    """Place of the best threshold among those that pass before the first failure; None if the first one fails.

    Parameters
    ----------
    tests : sequence of Trials
        What the test of each threshold counts.
    limit : float
        Largest rate of failures that the goal allows.
    merits : sequence of float
    terms : Terms

    Examples
    --------
    >>> tests = [Trials(0, 100), Trials(1, 120), Trials(30, 140), Trials(1, 160)]
    >>> best_passed(tests, 0.05, [0.6, 0.7, 0.8, 0.9], Terms())
    1
    """
    delta = terms.delta / terms.n_candidates
    n_passed = 0
    for failures, trials in tests:
        if binomial_tail(failures, trials, limit) > delta:
            break
        n_passed += 1
    if n_passed == 0:
        return None
    return int(np.argmax(merits[:n_passed]))


def complement(rate: float) -> float:
    """The largest rate of failures if the rate of successes is to be at least `rate`, rounded downwards."""
    return float(np.nextafter(1.0 - rate, 0.0))


def cut_counts(evidence: Evidence, decision: Decision) -> CutCounts:
    """Counts of the held-out rows at a threshold of two classes."""
    assert decision.positive is not None
    negative = 1 - decision.positive
    above = counts_above(evidence, decision).sum(axis=1)
    rows = evidence.class_rows
    return CutCounts(
        positives=int(rows[decision.positive]),
        positives_above=int(above[decision.positive]),
        negatives=int(rows[negative]),
        negatives_above=int(above[negative]),
        rows=int(rows.sum()),
        rows_above=int(above.sum()),
    )


def counts_above(evidence: Evidence, decision: Decision) -> NDArray[np.int64]:
    """Counts, true class by answer, of the rows above a decision's threshold."""
    place = evidence.thresholds.index(float(decision.threshold or 0.0))
    return np.asarray(evidence.counts[:, :, place + 1 :].sum(axis=2))
