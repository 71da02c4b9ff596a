"""Bounds on the error of the vote sgn(F) from the Gibbs and tandem risks of a posterior."""

from abnet.bounds.gibbs import gibbs_bound
from abnet.bounds.over_arrays import over_arrays
from abnet.bounds.shares import share_of_two
from abnet.utils.checks import nonnegative, probability

__all__ = [
    "tandem_bound",
    "twice_gibbs_bound",
    "vote_bound",
]


@over_arrays
def twice_gibbs_bound(empirical_risk: float, kl: float, n: int, delta: float = 0.05, *, n_candidates: int = 1) -> float:
    r"""First-order bound on the vote: where the vote errs, at least half of the posterior does.

    .. math:: R(\mathrm{sgn}\,F) \le 2\, k^+\Big(\hat r, \frac{\mathrm{KL}(Q\|P) + \ln(K\xi(n)/\delta)}{n}\Big)

    Valid under the assumptions of :func:`gibbs_bound`. It also covers, in expectation over the paths, a vote of sampled
    paths that are drawn anew for every prediction.

    Parameters
    ----------
    empirical_risk, kl, n, delta, n_candidates
        As for :func:`gibbs_bound`.

    Examples
    --------
    >>> round(twice_gibbs_bound(0.03, 0.0, 1230), 4)
    0.103
    """
    return min(1.0, 2.0 * gibbs_bound(empirical_risk, kl, n, delta, n_candidates=n_candidates))


@over_arrays
def tandem_bound(empirical_tandem: float, kl: float, n: int, delta: float = 0.05, *, n_candidates: int = 1) -> float:
    r"""Second-order bound on the vote, from the probability that two independent draws from the posterior both err.

    .. math:: R(\mathrm{sgn}\,F) \le 4\, k^+\Big(\hat e, \frac{2\,\mathrm{KL}(Q\|P) + \ln(K\xi(n)/\delta)}{n}\Big)

    Valid under the assumptions of :func:`gibbs_bound`, for sgn(F) only: a vote of sampled paths may err more often.

    Parameters
    ----------
    empirical_tandem : float
        Mean of the products of two independent losses; ``mean(p_i ** 2)`` if the expected losses p_i are exact.
    kl, n, delta, n_candidates
        As for :func:`gibbs_bound`.

    Examples
    --------
    >>> round(tandem_bound(0.002, 0.0, 1230), 4)
    0.0435

    References
    ----------
    A. R. Masegosa, S. S. Lorenzen, C. Igel, Y. Seldin (2020), Second order PAC-Bayesian bounds for the weighted
    majority vote.
    """
    empirical_tandem = probability("empirical_tandem", empirical_tandem)
    kl = nonnegative("kl", kl)
    return min(1.0, 4.0 * gibbs_bound(empirical_tandem, 2.0 * kl, n, delta, n_candidates=n_candidates))


@over_arrays
def vote_bound(
    empirical_risk: float, empirical_tandem: float, kl: float, n: int, delta: float = 0.05, *, n_candidates: int = 1
) -> float:
    r"""Smaller of :func:`twice_gibbs_bound` and :func:`tandem_bound`, each at δ/2.

    Halving δ (`abnet.bounds.shares`) accounts for choosing the smaller bound after seeing both. Twice Gibbs is smaller
    for a confident network, tandem for a diverse one.

    Parameters
    ----------
    empirical_risk : float
        Mean of the losses ``p_i``.
    empirical_tandem : float
        Mean of the products of two independent losses; between ``empirical_risk ** 2`` and ``empirical_risk`` where the
        losses' expectations are exact.
    kl, n, delta, n_candidates
        As for :func:`gibbs_bound`.

    Examples
    --------
    >>> round(vote_bound(0.03, 0.002, 0.0, 1230), 4)
    0.0462
    """
    share = share_of_two(delta)
    first = twice_gibbs_bound(empirical_risk, kl, n, share, n_candidates=n_candidates)
    return min(first, tandem_bound(empirical_tandem, kl, n, share, n_candidates=n_candidates))
