"""Bounds on the Gibbs risk: the mean error of a network drawn from the posterior."""

import math

from abnet.bounds.arguments import count, level, nonnegative, probability
from abnet.bounds.kl import kl_inverse_upper
from abnet.bounds.maurer import xi
from abnet.bounds.outward import round_up

__all__ = ["gibbs_bound", "gibbs_bound_frozen"]


def gibbs_bound(empirical_risk: float, kl: float, n: int, delta: float = 0.05, *, n_candidates: int = 1) -> float:
    r"""PAC-Bayes-kl bound on the Gibbs risk, for all posteriors at once.

    .. math:: r \le k^+\Big(\hat r, \frac{\mathrm{KL}(Q\|P) + \ln(K \xi(n) / \delta)}{n}\Big)

    With probability at least 1-δ over n independent examples, whatever the posterior Q, if the prior P was fixed before
    they were seen. It is never larger than :func:`abnet.bounds.catoni_bound` at its best C.

    Parameters
    ----------
    empirical_risk : float
        Mean loss on the n examples, in [0, 1].
    kl : float
        Divergence of the posterior from the prior, in nats.
    n : int
        Number of examples.
    delta : float
        Probability with which the bound may fail.
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
    empirical_risk, kl = probability("empirical_risk", empirical_risk), nonnegative("kl", kl)
    n, delta, n_candidates = count("n", n), level("delta", delta), count("n_candidates", n_candidates)
    return kl_inverse_upper(empirical_risk, round_up((kl + math.log(n_candidates * xi(n)) - math.log(delta)) / n))


def gibbs_bound_frozen(empirical_risk: float, n: int, delta: float = 0.05, *, n_candidates: int = 1) -> float:
    r"""Chernoff bound on the Gibbs risk of a posterior that had no part of these examples.

    .. math:: r \le k^+\Big(\hat r, \frac{\ln(K / \delta)}{n}\Big)

    With probability at least 1-δ over n independent examples, for one posterior fixed before they were seen: no
    divergence and no ξ(n) enter, because there is no union over posteriors. Holds for any loss in [0, 1].

    Parameters
    ----------
    empirical_risk : float
        Mean loss on the n examples, in [0, 1].
    n : int
        Number of examples.
    delta : float
        Probability with which the bound may fail.
    n_candidates : int
        Number K of posteriors judged on the same examples.

    Returns
    -------
    float
        A number in [empirical_risk, 1], rounded up.

    Examples
    --------
    >>> round(gibbs_bound_frozen(0.03, 1230), 4)
    0.0435

    References
    ----------
    W. Hoeffding (1963), Probability inequalities for sums of bounded random variables, Theorem 1.
    """
    empirical_risk = probability("empirical_risk", empirical_risk)
    n, delta, n_candidates = count("n", n), level("delta", delta), count("n_candidates", n_candidates)
    return kl_inverse_upper(empirical_risk, round_up((math.log(n_candidates) - math.log(delta)) / n))
