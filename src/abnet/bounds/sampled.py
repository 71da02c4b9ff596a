r"""Bounds for sampled networks: on the Gibbs risk from sampled paths, and on a vote of paths drawn once and kept.

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

from abnet.bounds.gibbs import gibbs_bound, gibbs_bound_frozen
from abnet.bounds.kl_inverse import kl_inverse_lower
from abnet.bounds.rounding import round_up
from abnet.bounds.shares import share_for_sampling
from abnet.bounds.vote import tandem_bound, tandem_bound_frozen
from abnet.utils.checks import count, level, nonnegative, probability

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
    paths, candidates = count("n_paths", n_paths), count("n_candidates", n_candidates)
    return kl_inverse_lower(0.5, round_up(math.log(candidates / level("delta_prime", delta_prime)) / paths))


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
    # ln g(p) = T/2 ln(4 p (1-p)), and ln g - order · ln p increases up to here; any smaller threshold is valid too.
    growth = (n_paths - 2 * order) / (2 * (n_paths - order)) if n_paths > 2 * order else 0.0
    tau = min(fixed_paths_threshold(n_paths, delta_prime, n_candidates=n_candidates), growth)
    return min(1.0, round_up(risk / tau**order)) if tau > 0.0 else 1.0


def sampled_risk_bound(mean: float, n_values: int, delta_prime: float, *, n_candidates: int = 1) -> float:
    r"""Bound on an empirical risk from its mean over fresh, independent paths.

    .. math:: \hat r \le k^+\Big(\bar r, \frac{\ln(K/\delta')}{M}\Big)

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
