"""Testing thresholds in an order that was fixed in advance, without paying for their number."""

import math
from collections.abc import Sequence

from abnet.bounds.clopper_pearson import binomial_tail
from abnet.checks import count, level, probability

__all__ = ["error_free_rows", "fixed_sequence", "rows_needed"]

# No one has more rows than this.
_MOST_ROWS = 10**12


def fixed_sequence(
    failures: Sequence[int], trials: Sequence[int], target: float, delta: float = 0.05, *, n_candidates: int = 1
) -> int:
    r"""Number of leading thresholds whose failure rate is certified to be at most the target.

    .. math:: \max\{J : \Pr(\mathrm{Bin}(m_j, ε) \le k_j) \le δ/K \text{ for all } j \le J\}

    With probability at least 1-δ *all* of the passed thresholds have a rate of at most ε: a false statement needs the
    first threshold in the sequence whose rate exceeds ε to pass, and that one alone has the probability δ. So any of
    them may be picked, by anything. The thresholds and their order are fixed before the rows are seen; no threshold
    may be skipped because of what its rows look like.

    Parameters
    ----------
    failures, trials : sequence of int
        ``k_j`` failures among ``m_j`` rows that count at threshold j, given which the failures are binomial.
    target : float
        Failure rate ε in (0, 1).
    delta : float
        Probability with which any passed threshold may be false.
    n_candidates : int
        Number K of models judged on the same rows.

    Examples
    --------
    >>> fixed_sequence([0, 1, 2, 9, 9], [80, 120, 160, 200, 900], target=0.05)
    3
    >>> fixed_sequence([0], [58], target=0.05), fixed_sequence([0], [59], target=0.05)
    (0, 1)

    References
    ----------
    A. N. Angelopoulos, S. Bates, E. J. Candès, M. I. Jordan, L. Lei (2021), Learn then Test; W. Maurer, L. A. Hothorn,
    W. Lehmacher (1995), Multiple comparisons in drug clinical trials and preclinical assays.
    """
    share = level("delta", delta) / count("n_candidates", n_candidates)
    target = level("target", target)
    passed = 0
    for k, m in zip(failures, trials, strict=True):
        if binomial_tail(k, m, target) > share:
            break
        passed += 1
    return passed


def error_free_rows(target: float, delta: float) -> int:
    r"""Rows without a single failure that certify the target, :math:`\lceil \ln δ / \ln(1-ε) \rceil`.

    Examples
    --------
    >>> error_free_rows(0.05, 0.05), error_free_rows(0.02, 0.05)
    (59, 149)
    """
    return math.ceil(math.log(level("delta", delta)) / math.log1p(-level("target", target)))


def rows_needed(failures: int, trials: int, n: int, target: float, delta: float = 0.05) -> int | None:
    """Estimate of the rows that would certify a target at rates like those that were seen; None if none would.

    Of n rows, ``trials`` counted and ``failures`` of these failed. The smallest number of counting rows that would pass
    at the same failure rate, rounded up, is divided by the share of rows that count. An estimate for planning, no
    promise.

    Parameters
    ----------
    failures, trials, n : int
    target, delta : float
        As for :func:`fixed_sequence`.

    Examples
    --------
    >>> rows_needed(0, 30, 100, 0.05), rows_needed(2, 60, 100, 0.05), rows_needed(6, 60, 100, 0.05)
    (197, 884, None)
    """
    m, n = count("trials", trials, least=0), count("n", n)
    rate = probability("failures", failures / m) if m else 0.0
    if rate >= target:
        return None

    def passes(size: int) -> bool:
        return binomial_tail(min(size, math.ceil(rate * size)), size, target) <= delta

    # Whole failures make the test jump, so "passes" is not quite monotone: a number that passes is what is wanted.
    size = error_free_rows(target, delta)
    while not passes(size):
        size *= 2
        if size > _MOST_ROWS:
            return None
    low = size // 2
    while size - low > 1:
        middle = (low + size) // 2
        low, size = (low, middle) if passes(middle) else (middle, size)
    return math.ceil(size * n / max(m, 1))
