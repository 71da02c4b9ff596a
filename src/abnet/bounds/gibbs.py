"""Bound on the Gibbs risk for all posteriors at once."""

import math

from abnet.bounds.kl_inverse import kl_inverse_upper
from abnet.bounds.maurer_xi import xi
from abnet.bounds.over_arrays import over_arrays
from abnet.bounds.rounding import round_up
from abnet.utils.checks import count, level, nonnegative, probability

__all__ = ["gibbs_bound"]


@over_arrays
def gibbs_bound(empirical_risk: float, kl: float, n: int, delta: float = 0.05, *, n_candidates: int = 1) -> float:
    r"""PAC-Bayes-kl bound on the Gibbs risk, for all posteriors at once.

    .. math:: r \le k^+\Big(\hat r, \frac{\mathrm{KL}(Q\|P) + \ln(K \xi(n) / \delta)}{n}\Big)

    Holds with probability at least 1-δ over n independent examples, for every posterior Q, if the prior P was fixed
    before they were seen. It is never larger than :func:`abnet.bounds.catoni_bound` at its best C.

    Parameters
    ----------
    empirical_risk : float
        Mean loss on the n examples, in [0, 1].
    kl : float
        Divergence of the posterior from the prior, in nats.
    n : int
        Number of examples.
    delta : float
        Maximum probability that the bound fails.
    n_candidates : int
        Number K of priors among which one was chosen by anything computed from these examples.

    Returns
    -------
    float
        A number in [empirical_risk, 1], rounded up.

    Examples
    --------
    >>> round(gibbs_bound(0.03, 0.0, 1230), 4)
    0.0515

    References
    ----------
    M. Seeger (2002), PAC-Bayesian generalisation error bounds for Gaussian process classification; A. Maurer (2004), A
    note on the PAC-Bayesian theorem.
    """
    empirical_risk = probability("empirical_risk", empirical_risk)
    kl = nonnegative("kl", kl)
    n = count("n", n)
    delta = level("delta", delta)
    n_candidates = count("n_candidates", n_candidates)
    nats = kl + math.log(n_candidates * xi(n)) - math.log(delta)
    return kl_inverse_upper(empirical_risk, round_up(nats / n))
