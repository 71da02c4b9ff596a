"""Bounds on the vote by the Chebyshev-Cantelli inequality: the C-bound and the μ-tandem bound.

Both use the mean and the variance of the margin ``1 - 2p``, where p is the share of the posterior that errs. Simpler
bounds on the vote, twice Gibbs and tandem, are in `abnet.bounds.vote`.
"""

import math

from abnet.bounds.kl_inverse import kl_inverse_lower, kl_inverse_upper
from abnet.bounds.maurer_xi import xi
from abnet.bounds.over_arrays import over_arrays
from abnet.bounds.rounding import OUTWARD, round_up
from abnet.bounds.shares import share_of_two
from abnet.utils.checks import count, finite, level, nonnegative, probability

__all__ = ["c_bound", "mu_tandem_bound"]


@over_arrays
def c_bound(
    empirical_risk: float,
    empirical_disagreement: float,
    kl: float,
    n: int,
    delta: float = 0.05,
    *,
    n_candidates: int = 1,
) -> float:
    r"""C-bound on the vote, from the Gibbs risk and the disagreement of two voters.

    .. math:: R(\mathrm{sgn}\,F) \le 1 - \frac{(1 - 2 r)^2}{1 - 2 d}, \quad
        r = k^+\Big(\hat r, \frac{\mathrm{KL} + \ln(2K\xi(n)/\delta)}{n}\Big), \quad
        d = k^-\Big(\hat d, \frac{2\,\mathrm{KL} + \ln(2K\xi(n)/\delta)}{n}\Big)

    if r < 1/2, and 1 otherwise. It is small if voters err often but disagree a lot. Valid under the assumptions of
    :func:`abnet.bounds.gibbs_bound`, for sgn(F) only; risk and disagreement get δ/2 each.

    Parameters
    ----------
    empirical_risk : float
        Mean of the losses ``p_i``.
    empirical_disagreement : float
        Mean of ``2 p_i (1 - p_i)``, the probability that two independent draws from the posterior differ; at most 1/2.
    kl, n, delta, n_candidates
        As for :func:`abnet.bounds.gibbs_bound`.

    Examples
    --------
    >>> round(c_bound(0.2, 0.3, 5.0, 10_000), 4)
    0.317

    References
    ----------
    P. Germain, A. Lacasse, F. Laviolette, M. Marchand, J.-F. Roy (2015), Risk bounds for the majority vote: from a
    PAC-Bayesian analysis to a learning algorithm.
    """
    risk = probability("empirical_risk", empirical_risk)
    disagreement = probability("disagreement", empirical_disagreement)
    if disagreement > 0.5 + 1e-12:
        raise ValueError(f"empirical_disagreement is a mean of 2 p (1 - p), at most 1/2; got {disagreement}.")
    kl = nonnegative("kl", kl)
    n = count("n", n)
    price = _price(n, delta, n_candidates)
    r = kl_inverse_upper(risk, round_up((kl + price) / n))
    d = kl_inverse_lower(min(disagreement, 0.5), round_up((2.0 * kl + price) / n))
    if r >= 0.5:
        return 1.0
    share = (1.0 - 2.0 * r) ** 2 / (1.0 - 2.0 * d)
    return min(1.0, max(0.0, round_up(1.0 - share / OUTWARD)))


@over_arrays
def mu_tandem_bound(
    empirical_risk: float,
    empirical_tandem: float,
    kl: float,
    n: int,
    delta: float = 0.05,
    *,
    mu: float | None = None,
    n_candidates: int = 1,
) -> float:
    r"""Chebyshev-Cantelli bound on the vote, by the tandem risk e and the Gibbs risk r; μ = 0 is the tandem bound.

    .. math:: R(\mathrm{sgn}\,F) \le \frac{e - 2\mu r + \mu^2}{(1/2 - \mu)^2}, \quad
        e = k^+\Big(\hat e, \frac{2\,\mathrm{KL} + \ln(2K\xi(n)/\delta)}{n}\Big)

    with r bounded from below by :math:`k^-(\hat r, (\mathrm{KL} + \ln(2K\xi(n)/\delta))/n)` if μ > 0, and from above by
    :math:`k^+` of the same arguments if μ < 0. Both limits hold on the same event. So the bound holds for every μ < 1/2
    at once, and choosing the best μ costs nothing. Valid under the assumptions of :func:`abnet.bounds.gibbs_bound`, for
    sgn(F) only.

    Parameters
    ----------
    empirical_risk, empirical_tandem : float
        Means of ``p_i`` and of ``p_i ** 2``.
    kl, n, delta, n_candidates
        As for :func:`abnet.bounds.gibbs_bound`.
    mu : float, optional
        Any number below 1/2; by default the best one.

    Examples
    --------
    >>> round(mu_tandem_bound(0.2, 0.05, 5.0, 10_000), 4)
    0.2382
    >>> round(mu_tandem_bound(0.2, 0.05, 5.0, 10_000, mu=0.0), 4)
    0.2575

    References
    ----------
    Y.-S. Wu, A. R. Masegosa, S. S. Lorenzen, C. Igel, Y. Seldin (2021), Chebyshev-Cantelli PAC-Bayes-Bennett inequality
    for the weighted majority vote.
    """
    risk = probability("empirical_risk", empirical_risk)
    tandem = probability("empirical_tandem", empirical_tandem)
    kl = nonnegative("kl", kl)
    n = count("n", n)
    price = _price(n, delta, n_candidates)
    e = kl_inverse_upper(tandem, round_up((2.0 * kl + price) / n))
    lowest_risk = kl_inverse_lower(risk, round_up((kl + price) / n))
    highest_risk = kl_inverse_upper(risk, round_up((kl + price) / n))
    if mu is None:
        candidates = [0.0, max(_best_mu(e, lowest_risk), 0.0), min(_best_mu(e, highest_risk), 0.0)]
    else:
        candidates = [finite("mu", mu)]
        if candidates[0] >= 0.5:
            raise ValueError(f"mu must be below 1/2; got {mu}.")
    bound = 1.0
    for candidate in candidates:
        r = highest_risk
        if candidate > 0:
            r = lowest_risk
        bound = min(bound, _cantelli(e, r, candidate))
    return bound


def _best_mu(e: float, r: float) -> float:
    """``(r - 2e)/(1 - 2r)``, where the derivative with respect to μ is zero; 0 if there is no minimum below 1/2."""
    if r >= 0.5:
        return 0.0
    best = (r - 2.0 * e) / (1.0 - 2.0 * r)
    if best >= 0.5:
        return 0.0
    return best


def _cantelli(e: float, r: float, mu: float) -> float:
    """``(e - 2 μ r + μ²)/(1/2 - μ)²``, rounded up."""
    # The terms may cancel, so the slack is relative to their absolute values.
    slack = (OUTWARD - 1.0) * (e + 2.0 * abs(mu) * r + mu * mu)
    return round_up((e - 2.0 * mu * r + mu * mu + slack) / (0.5 - mu) ** 2)


def _price(n: int, delta: float, n_candidates: int) -> float:
    """``ln(2Kξ(n)/δ)``: each of the two limits holds at δ/2."""
    share = share_of_two(level("delta", delta))
    return math.log(count("n_candidates", n_candidates) * xi(n)) - math.log(share)
