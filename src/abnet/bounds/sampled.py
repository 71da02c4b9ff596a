"""Bounds where the empirical Gibbs risk itself is known only from sampled paths."""

from abnet.bounds.gibbs import gibbs_bound, gibbs_bound_frozen
from abnet.bounds.shares import for_sampling
from abnet.bounds.vote import tandem_bound, tandem_bound_frozen
from abnet.records import count, level, nonnegative

__all__ = [
    "sampled_gibbs_bound",
    "sampled_gibbs_bound_frozen",
    "sampled_risk_bound",
    "sampled_tandem_bound",
    "sampled_tandem_bound_frozen",
]


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
    spent, left = for_sampling(delta)
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
    spent, left = for_sampling(delta)
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
    spent, left = for_sampling(delta)
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
    spent, left = for_sampling(delta)
    tandem = sampled_risk_bound(pair_mean, n_pairs, spent, n_candidates=n_candidates)
    return tandem_bound_frozen(tandem, n, left, n_candidates=n_candidates)
