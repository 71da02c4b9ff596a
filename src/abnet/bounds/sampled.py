r"""Bounds where the empirical Gibbs risk itself is known only from sampled paths.

Bounds on a vote of sampled paths that are drawn once and kept, by a posterior that was trained on the examples.

Let ``p(x, y)`` be the mean loss of a path on one example, and ``p̂_u`` its mean over T paths whose randomness u is
drawn independently of all data and then fixed. The vote errs only where ``p̂_u >= 1/2``. Fix a threshold ``τ < 1/2``.

- Where ``p >= τ`` nothing is asked of the paths: ``P(p >= τ) <= E[p 1{p >= τ}] / τ``.
- Where ``p < τ`` the paths must mislead. By Hoeffding's theorem they do with probability at most
  ``g(p) = exp(-T kl(1/2‖p))``, and ``g(p)/p`` grows on (0, τ], so this happens to ``E[p 1{p < τ}] g(τ)/τ`` of the
  examples in expectation over u, and by Markov's inequality to at most ``1/δ'`` times as many with probability 1-δ'
  over u.

With τ such that ``g(τ) <= δ'`` the two add up to ``E[p]/τ``: the Gibbs risk divided by τ, instead of by 1/2. The same
with ``g(p)/p²`` gives ``E[p²]/τ²``. One event of probability δ' serves both.
"""

import math

from abnet.bounds.gibbs import gibbs_bound, gibbs_bound_frozen
from abnet.bounds.kl_inverse import kl_inverse_lower
from abnet.bounds.rounding import round_up
from abnet.bounds.shares import share_for_sampling
from abnet.bounds.vote import tandem_bound, tandem_bound_frozen
from abnet.checks import count, level, nonnegative, probability

__all__ = [
    "fixed_paths_tandem_bound",
    "fixed_paths_threshold",
    "fixed_paths_vote_bound",
    "sampled_gibbs_bound",
    "sampled_gibbs_bound_frozen",
    "sampled_risk_bound",
    "sampled_tandem_bound",
    "sampled_tandem_bound_frozen",
]


def fixed_paths_threshold(n_paths: int, delta_prime: float, *, n_candidates: int = 1) -> float:
    r"""Share of wrong paths in expectation below which T kept paths seldom outvote it.

    .. math:: \tau = k^-\Big(\tfrac12, \frac{\ln(K/\delta')}{T}\Big)

    Parameters
    ----------
    n_paths : int
        Number T of paths that vote.
    delta_prime : float
        Probability, over the draw of the paths, with which the bounds made of τ may fail.
    n_candidates : int
        Number K of models with paths of their own, one of which is reported.

    Examples
    --------
    >>> [round(fixed_paths_threshold(T, 0.005), 3) for T in (100, 1000, 10_000)]
    [0.341, 0.449, 0.484]
    """
    paths, candidates = count("n_paths", n_paths), count("n_candidates", n_candidates)
    return kl_inverse_lower(0.5, round_up(math.log(candidates / level("delta_prime", delta_prime)) / paths))


def fixed_paths_vote_bound(gibbs_risk: float, n_paths: int, delta_prime: float, *, n_candidates: int = 1) -> float:
    r"""First-order bound on the vote of T kept paths: the Gibbs risk divided by τ.

    .. math:: R(\mathrm{sgn}\,\hat F_u) \le r / \tau

    With probability at least 1-δ' over the draw of the paths, which must not depend on any data. Valid for any
    posterior. Says nothing for two paths or fewer.

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

    Parameters
    ----------
    tandem_risk : float
        Probability that two paths drawn independently both err, or an upper bound on it.
    n_paths, delta_prime, n_candidates
        As for :func:`fixed_paths_vote_bound`, whose event of probability δ' is the same.

    Examples
    --------
    >>> round(fixed_paths_tandem_bound(0.01, 1000, 0.005), 4)
    0.0497
    """
    return _divided(tandem_risk, 2, n_paths, delta_prime, n_candidates)


def _divided(risk: float, order: int, n_paths: int, delta_prime: float, n_candidates: int) -> float:
    risk = probability("risk", risk)
    # ln g(p) = T/2 ln(4 p (1-p)), and ln g - order · ln p grows up to here; any smaller threshold is valid too.
    growth = (n_paths - 2 * order) / (2 * (n_paths - order)) if n_paths > 2 * order else 0.0
    tau = min(fixed_paths_threshold(n_paths, delta_prime, n_candidates=n_candidates), growth)
    return min(1.0, round_up(risk / tau**order)) if tau > 0.0 else 1.0


def sampled_risk_bound(mean: float, n_values: int, delta_prime: float, *, n_candidates: int = 1) -> float:
    r"""Bound on an empirical risk whose mean over fresh, independent paths is known.

    .. math:: \hat r \le k^+\Big(\bar r, \frac{\ln(K/\delta')}{M}\Big)

    With probability at least 1-δ' over the paths, drawn after the posterior was fixed. The M values need not follow one
    distribution, only be independent and in [0, 1]: n examples with T paths of their own each make M = n T.

    Parameters
    ----------
    mean : float
        Mean of the M sampled losses.
    n_values : int
        Their number M.
    delta_prime : float
        Probability with which the bound may fail.
    n_candidates : int
        Number K of posteriors sampled, one of which is reported.

    Examples
    --------
    >>> round(sampled_risk_bound(0.03, 525_000, 0.005), 5)
    0.03077

    References
    ----------
    W. Hoeffding (1963), Probability inequalities for sums of bounded random variables, Theorem 1.
    """
    n_values, delta_prime = count("n_values", n_values), level("delta_prime", delta_prime)
    return gibbs_bound_frozen(mean, n_values, delta_prime, n_candidates=n_candidates)


def sampled_gibbs_bound(
    mean: float, n_values: int, kl: float, n: int, delta: float = 0.05, *, n_candidates: int = 1
) -> float:
    r"""Bound the Gibbs risk by :func:`gibbs_bound` at δ - δ', on :func:`sampled_risk_bound` at δ' = δ/10.

    Parameters
    ----------
    mean, n_values
        As for :func:`sampled_risk_bound`.
    kl, n, delta, n_candidates
        As for :func:`gibbs_bound`.

    Examples
    --------
    >>> exact, sampled = gibbs_bound(0.03, 50.0, 26_250), sampled_gibbs_bound(0.03, 20 * 26_250, 50.0, 26_250)
    >>> round(sampled - exact, 4)
    0.0009
    """
    spent, left = share_for_sampling(delta)
    risk = sampled_risk_bound(mean, n_values, spent, n_candidates=n_candidates)
    return gibbs_bound(risk, kl, n, left, n_candidates=n_candidates)


def sampled_gibbs_bound_frozen(
    mean: float, n_values: int, n: int, delta: float = 0.05, *, n_candidates: int = 1
) -> float:
    r"""Bound the Gibbs risk by :func:`gibbs_bound_frozen` at δ - δ', on :func:`sampled_risk_bound` at δ' = δ/10.

    Parameters
    ----------
    mean, n_values
        As for :func:`sampled_risk_bound`.
    n, delta, n_candidates
        As for :func:`gibbs_bound_frozen`.

    Examples
    --------
    >>> round(sampled_gibbs_bound_frozen(0.03, 24_600, 1230), 4)
    0.0481
    """
    spent, left = share_for_sampling(delta)
    risk = sampled_risk_bound(mean, n_values, spent, n_candidates=n_candidates)
    return gibbs_bound_frozen(risk, n, left, n_candidates=n_candidates)


def sampled_tandem_bound(
    pair_mean: float, n_pairs: int, kl: float, n: int, delta: float = 0.05, *, n_candidates: int = 1
) -> float:
    r"""Bound the vote sgn(F) by :func:`tandem_bound` at δ - δ', on :func:`sampled_risk_bound` at δ' = δ/10.

    Parameters
    ----------
    pair_mean : float
        Mean of the products of two independent paths' losses on the same example.
    n_pairs : int
        Number of products, ``n * (T // 2)`` for T paths per example: no path is used twice.
    kl, n, delta, n_candidates
        As for :func:`tandem_bound`.

    Examples
    --------
    >>> round(sampled_tandem_bound(0.002, 12_300, 0.0, 1230), 4)
    0.0563
    """
    spent, left = share_for_sampling(delta)
    tandem = sampled_risk_bound(pair_mean, n_pairs, spent, n_candidates=n_candidates)
    return tandem_bound(tandem, nonnegative("kl", kl), n, left, n_candidates=n_candidates)


def sampled_tandem_bound_frozen(
    pair_mean: float, n_pairs: int, n: int, delta: float = 0.05, *, n_candidates: int = 1
) -> float:
    r"""Bound the vote sgn(F) by :func:`tandem_bound_frozen` at δ - δ', on :func:`sampled_risk_bound` at δ' = δ/10.

    Parameters
    ----------
    pair_mean, n_pairs
        As for :func:`sampled_tandem_bound`.
    n, delta, n_candidates
        As for :func:`tandem_bound_frozen`.

    Examples
    --------
    >>> round(sampled_tandem_bound_frozen(0.002, 12_300, 1230), 4)
    0.0387
    """
    spent, left = share_for_sampling(delta)
    tandem = sampled_risk_bound(pair_mean, n_pairs, spent, n_candidates=n_candidates)
    return tandem_bound_frozen(tandem, n, left, n_candidates=n_candidates)
