"""A bound for one deterministic network drawn from the posterior."""

import math

from abnet.bounds.arguments import count, level, probability, real
from abnet.bounds.kl import kl_inverse_upper
from abnet.bounds.maurer import xi
from abnet.bounds.outward import OUTWARD

__all__ = ["single_network_bound"]


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
