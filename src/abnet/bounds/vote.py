"""Bounds by a trained posterior on what is deployed: the vote sgn(F), or one network drawn from the posterior."""

import math

from abnet.bounds.gibbs import gibbs_bound, gibbs_bound_frozen, kl_inverse_upper, xi
from abnet.bounds.grids import over_arrays
from abnet.bounds.rounding import OUTWARD
from abnet.bounds.shares import share_of_an_order
from abnet.checks import count, level, nonnegative, probability, real

__all__ = [
    "single_network_bound",
    "tandem_bound",
    "tandem_bound_frozen",
    "twice_gibbs_bound",
    "twice_gibbs_bound_frozen",
    "vote_bound",
]


@over_arrays
def twice_gibbs_bound(empirical_risk: float, kl: float, n: int, delta: float = 0.05, *, n_candidates: int = 1) -> float:
    r"""First-order bound on the vote: where the vote errs, at least half of the posterior does.

    .. math:: R(\mathrm{sgn}\,F) \le 2\, k^+\Big(\hat r, \frac{\mathrm{KL}(Q\|P) + \ln(K\xi(n)/\delta)}{n}\Big)

    Valid wherever :func:`gibbs_bound` is. It also covers, in expectation over the paths, a vote of sampled paths that
    are drawn afresh for every prediction.

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
def twice_gibbs_bound_frozen(empirical_risk: float, n: int, delta: float = 0.05, *, n_candidates: int = 1) -> float:
    r"""First-order bound on the vote of a frozen posterior, which never learned from these examples.

    .. math:: R(\mathrm{sgn}\,F) \le 2\, k^+\Big(\hat r, \frac{\ln(K/\delta)}{n}\Big)

    Parameters
    ----------
    empirical_risk, n, delta, n_candidates
        As for :func:`gibbs_bound_frozen`.

    Examples
    --------
    >>> round(twice_gibbs_bound_frozen(0.03, 1230), 4)
    0.0869
    """
    return min(1.0, 2.0 * gibbs_bound_frozen(empirical_risk, n, delta, n_candidates=n_candidates))


@over_arrays
def tandem_bound(empirical_tandem: float, kl: float, n: int, delta: float = 0.05, *, n_candidates: int = 1) -> float:
    r"""Second-order bound on the vote, by the risk that two independent draws from the posterior both err.

    .. math:: R(\mathrm{sgn}\,F) \le 4\, k^+\Big(\hat e, \frac{2\,\mathrm{KL}(Q\|P) + \ln(K\xi(n)/\delta)}{n}\Big)

    Valid wherever :func:`gibbs_bound` is, for sgn(F) alone: a vote of sampled paths may err more often.

    Parameters
    ----------
    empirical_tandem : float
        Mean of the products of two independent losses, ``mean(p_i ** 2)`` where the losses' expectations are exact.
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
    empirical_tandem, kl = probability("empirical_tandem", empirical_tandem), nonnegative("kl", kl)
    return min(1.0, 4.0 * gibbs_bound(empirical_tandem, 2.0 * kl, n, delta, n_candidates=n_candidates))


@over_arrays
def tandem_bound_frozen(empirical_tandem: float, n: int, delta: float = 0.05, *, n_candidates: int = 1) -> float:
    r"""Second-order bound on the vote of a frozen posterior, which never learned from these examples.

    .. math:: R(\mathrm{sgn}\,F) \le 4\, k^+\Big(\hat e, \frac{\ln(K/\delta)}{n}\Big)

    Parameters
    ----------
    empirical_tandem : float
        As for :func:`tandem_bound`.
    n, delta, n_candidates
        As for :func:`gibbs_bound_frozen`.

    Examples
    --------
    >>> round(tandem_bound_frozen(0.002, 1230), 4)
    0.0276
    """
    empirical_tandem = probability("empirical_tandem", empirical_tandem)
    return min(1.0, 4.0 * gibbs_bound_frozen(empirical_tandem, n, delta, n_candidates=n_candidates))


@over_arrays
def vote_bound(
    empirical_risk: float, empirical_tandem: float, kl: float, n: int, delta: float = 0.05, *, n_candidates: int = 1
) -> float:
    r"""Smaller of :func:`twice_gibbs_bound` and :func:`tandem_bound`, each at δ/2.

    The halves of δ (`abnet.bounds.shares`) cover taking the smaller one after having seen both. Twice Gibbs wins
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
    share = share_of_an_order(delta)
    first = twice_gibbs_bound(empirical_risk, kl, n, share, n_candidates=n_candidates)
    return min(first, tandem_bound(empirical_tandem, kl, n, share, n_candidates=n_candidates))


@over_arrays
def single_network_bound(
    empirical_error: float, log_density_ratio: float, n: int, delta: float = 0.05, *, n_candidates: int = 1
) -> float:
    r"""Disintegrated PAC-Bayes bound on the error of a network ``h`` drawn once from the posterior.

    .. math:: \mathrm{kl}(\hat R(h) \| R(h)) \le \frac1n \Big(\ln\frac{dQ}{dP}(h) + \ln\frac{K\xi(n)}\delta\Big)_+

    With probability at least 1-δ over the n examples and the draw together. No factor 2 and no sampling at prediction.
    It does not hold for all posteriors at once: the draw comes last, with a key of its own, once everything else is
    fixed. For Q = N(w, I), P = N(v, I) and h = w + ε, the log-density ratio is :math:`(\|w + ε - v\|^2 - \|ε\|^2)/2`.

    Parameters
    ----------
    empirical_error : float
        Share of the n examples that the drawn network gets wrong.
    log_density_ratio : float
        ``ln dQ/dP`` at the drawn network; may be negative.
    n : int
        Number of examples.
    delta : float
        Probability with which the bound may fail.
    n_candidates : int
        Number K of draws, or of settings, among which one was chosen.

    Returns
    -------
    float
        A number in [empirical_error, 1], rounded up.

    Examples
    --------
    >>> round(single_network_bound(0.05, 12.0, 1000), 4)
    0.1035
    >>> single_network_bound(0.05, -1000.0, 1000)
    0.05

    References
    ----------
    O. Rivasplata, I. Kuzborskij, C. Szepesvari, J. Shawe-Taylor (2020), PAC-Bayes analysis beyond the usual bounds.
    """
    empirical_error, ratio = (
        probability("empirical_error", empirical_error),
        real("log_density_ratio", log_density_ratio),
    )
    n, delta, n_candidates = count("n", n), level("delta", delta), count("n_candidates", n_candidates)
    price = math.log(n_candidates * xi(n)) - math.log(delta)
    # The two may cancel, so the slack is taken from the larger one, not from the sum.
    nats = ratio + price + (OUTWARD - 1.0) * max(abs(ratio), price)
    return kl_inverse_upper(empirical_error, max(0.0, nats / n))
