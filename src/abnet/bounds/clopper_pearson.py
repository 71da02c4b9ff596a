"""The test-set bound: what counting errors on rows that had no part in learning proves."""

import warnings
from typing import Any

from scipy.special import betaincc

from abnet.bounds.outward import adjacent_floats
from abnet.records import count, level, tally

__all__ = ["clopper_pearson_bound"]


# betaincc errs by less than this share of its value; a shorter tail is asked for by as much.
_MARGIN = 1e-9


def clopper_pearson_bound(errors: int, n: int, delta: float = 0.05, *, n_candidates: int = 1) -> float:
    r"""Clopper-Pearson upper limit of an error rate, the test-set bound.

    .. math:: R \le \max\{p : \Pr(\mathrm{Bin}(n, p) \le k) \ge \delta / K\} = \mathrm{BetaInv}(1 - \delta/K; k+1, n-k)

    With probability at least 1-δ over n independent examples that had no part in training or selection. It covers
    whatever code produced the labels. For k = 0 it is :math:`1 - (\delta/K)^{1/n}`, for k = n it is 1.

    Parameters
    ----------
    errors : int
        Number k of wrong labels.
    n : int
        Number of examples.
    delta : float
        Probability with which the bound may fail.
    n_candidates : int
        Number K of models judged on the same examples.

    Returns
    -------
    float
        A number in [errors / n, 1], rounded up.

    Examples
    --------
    >>> round(clopper_pearson_bound(0, 100), 6), round(clopper_pearson_bound(31, 1230), 4)
    (0.029513, 0.0339)

    References
    ----------
    C. J. Clopper, E. S. Pearson (1934), The use of confidence or fiducial limits; J. Langford (2005), Tutorial on
    practical prediction theory for classification.
    """
    errors, n = tally("errors", errors), count("n", n)
    share = level("delta", delta) / count("n_candidates", n_candidates)
    if errors > n:
        raise ValueError(f"errors must not exceed n = {n}; got {errors}.")
    if errors == n:
        return 1.0
    return _smallest_with_tail(errors, n, share * (1.0 - _MARGIN))


def test_set_bound(*args: Any, **options: Any) -> float:
    """The former name of `clopper_pearson_bound`, for one more version."""
    warnings.warn(
        "test_set_bound is now called clopper_pearson_bound; the old name goes in version 0.3.",
        DeprecationWarning,
        stacklevel=2,
    )
    return clopper_pearson_bound(*args, **options)


test_set_bound.__test__ = False  # type: ignore[attr-defined]  # its name looks like a test's to pytest


def _smallest_with_tail(errors: int, n: int, tail: float) -> float:
    def rare(p: float) -> bool:
        return bool(betaincc(errors + 1.0, float(n - errors), p) <= tail)

    observed = errors / n
    return observed if rare(observed) else adjacent_floats(rare, observed, 1.0)[1]
