r"""Bounds for sampled networks: on the empirical risk from fresh paths, and on a vote of paths drawn once and kept.

The bounds on the kept vote allow a posterior that was trained on the examples. Let ``p(x, y)`` be the expected loss of
a path on one example, and ``p̂_u`` the mean loss of T paths whose randomness u is drawn independently of all data and
then fixed. The vote errs only where ``p̂_u >= 1/2``. Fix a threshold ``τ < 1/2``.

- Examples with ``p >= τ``: by Markov's inequality, ``P(p >= τ) <= E[p 1{p >= τ}] / τ``.
- Examples with ``p < τ``: by Hoeffding's theorem the vote errs with probability at most ``g(p) = exp(-T kl(1/2‖p))``
  over u, and ``g(p)/p`` increases on (0, τ]. So the expected share of examples on which it errs is at most ``E[p 1{p <
  τ}] g(τ)/τ``. By Markov's inequality, with probability at least 1-δ' over u the share is at most ``1/δ'`` times as
  large.

With ``g(τ) <= δ'`` the two parts add up to ``E[p]/τ``: the Gibbs risk divided by τ, instead of by 1/2. The same
argument with ``g(p)/p²`` gives ``E[p²]/τ²``. Both bounds fail on the same event of probability δ' if they use the same
τ.
"""

import math

from abnet.bounds.frozen_gibbs import gibbs_bound_frozen
from abnet.bounds.kl_inverse import kl_inverse_lower
from abnet.bounds.rounding import round_up
from abnet.utils.checks import count, level, probability

__all__ = [
    "fixed_paths_tandem_bound",
    "fixed_paths_threshold",
    "fixed_paths_vote_bound",
    "sampled_risk_bound",
]


def fixed_paths_threshold(n_paths: int, delta_prime: float, *, n_candidates: int = 1) -> float:
    r"""Threshold τ for a vote of T kept paths: it rarely errs on examples with expected loss below τ.

    .. math:: \tau = k^-\Big(\tfrac12, \frac{\ln(K/\delta')}{T}\Big)

    Parameters
    ----------
    n_paths : int
        Number T of paths that vote.
    delta_prime : float
        Maximum probability, over the draw of the paths, that a bound computed with τ fails.
    n_candidates : int
        Number K of models with paths of their own, one of which is reported.

    Examples
    --------
    >>> [round(fixed_paths_threshold(T, 0.005), 3) for T in (100, 1000, 10_000)]
    [0.341, 0.449, 0.484]
    """
    n_paths = count("n_paths", n_paths)
    nats = math.log(count("n_candidates", n_candidates) / level("delta_prime", delta_prime))
    return kl_inverse_lower(0.5, round_up(nats / n_paths))


def fixed_paths_vote_bound(gibbs_risk: float, n_paths: int, delta_prime: float, *, n_candidates: int = 1) -> float:
    r"""First-order bound on the vote of T kept paths: the Gibbs risk divided by τ.

    .. math:: R(\mathrm{sgn}\,\hat F_u) \le r / \tau

    with τ from :func:`fixed_paths_threshold`, but at most ``(T-2)/(2(T-1))``. Holds with probability at least 1-δ' over
    the draw of the paths, which must not depend on any data, for any posterior. With two paths or fewer it is 1.

    Parameters
    ----------
    gibbs_risk : float
        The Gibbs risk r, or an upper bound on it.
    n_paths, delta_prime, n_candidates
        As for :func:`fixed_paths_threshold`.

    Examples
    --------
    >>> round(fixed_paths_vote_bound(0.03, 1000, 0.005), 4)
    0.0669
    """
    return _divided(gibbs_risk, 1, n_paths, delta_prime, n_candidates)


def fixed_paths_tandem_bound(tandem_risk: float, n_paths: int, delta_prime: float, *, n_candidates: int = 1) -> float:
    r"""Second-order bound on the vote of T kept paths: the tandem risk divided by τ².

    .. math:: R(\mathrm{sgn}\,\hat F_u) \le \mathbf E[p^2] / \tau^2

    with τ from :func:`fixed_paths_threshold`, but at most ``(T-4)/(2(T-2))``. If neither this nor
    :func:`fixed_paths_vote_bound` reaches its cap, both fail on the same event of probability δ'.

    Parameters
    ----------
    tandem_risk : float
        Probability that two independently drawn paths both err, or an upper bound on it.
    n_paths, delta_prime, n_candidates
        As for :func:`fixed_paths_vote_bound`.

    Examples
    --------
    >>> round(fixed_paths_tandem_bound(0.01, 1000, 0.005), 4)
    0.0497
    """
    return _divided(tandem_risk, 2, n_paths, delta_prime, n_candidates)


def _divided(risk: float, order: int, n_paths: int, delta_prime: float, n_candidates: int) -> float:
    risk = probability("risk", risk)
    threshold = fixed_paths_threshold(n_paths, delta_prime, n_candidates=n_candidates)
    if n_paths <= 2 * order:
        return 1.0
    # ln g(p) = T/2 ln(4 p (1-p)), and ln g - order · ln p increases up to here; any smaller threshold is valid too.
    growth_end = (n_paths - 2 * order) / (2 * (n_paths - order))
    tau = min(threshold, growth_end)
    if tau == 0.0:
        return 1.0
    return min(1.0, round_up(risk / tau**order))


def sampled_risk_bound(mean: float, n_values: int, delta_prime: float, *, n_candidates: int = 1) -> float:
    r"""Bound on an empirical risk from its mean over fresh, independent paths.

    The bound of `abnet.bounds.gibbs_bound_frozen` for the M sampled losses.

    Holds with probability at least 1-δ' over the paths, which are drawn after the posterior is fixed. The M values must
    be independent and in [0, 1], but need not be identically distributed: n examples with T paths each give M = n T.

    Parameters
    ----------
    mean : float
        Mean of the M sampled losses.
    n_values : int
        Their number M.
    delta_prime : float
        Maximum probability that the bound fails.
    n_candidates : int
        Number K of posteriors sampled, one of which is reported.

    Examples
    --------
    >>> round(sampled_risk_bound(0.03, 525_000, 0.005), 5)
    0.03069

    References
    ----------
    W. Hoeffding (1956), On the distribution of the number of successes in independent trials.
    """
    n_values = count("n_values", n_values)
    delta_prime = level("delta_prime", delta_prime)
    return gibbs_bound_frozen(mean, n_values, delta_prime, n_candidates=n_candidates)
