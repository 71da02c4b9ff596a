r"""Bounds for a posterior that was trained on the bound rows: on its Gibbs risk, and on the vote of its networks.

Each consists of three steps, which are fixed before the rows are seen:

1. the empirical risk, or an upper limit of it at δ/10 if it was sampled with fresh paths;
2. the Gibbs bound for all posteriors at once: ``k⁺`` with ξ(n), or Catoni's bound at a C chosen from expected values;
3. for the vote, twice the Gibbs risk or four times the tandem risk, δ/2 each; a vote of kept paths divides by a
   threshold that accounts for their draw, at another δ/10.
"""

from abnet.bounds.catoni import catoni_fixed_bound, choose_C
from abnet.bounds.gibbs import gibbs_bound
from abnet.bounds.kept_paths_exact import kept_paths_bounds
from abnet.bounds.methods import method
from abnet.bounds.sampled import sampled_risk_bound
from abnet.bounds.shares import share_for_fixed_paths, share_for_sampling, share_of_an_order

__all__ = ["trained_gibbs_bound", "trained_vote_bound"]


@method
def trained_gibbs_bound(
    risk: float,
    n: int,
    kl: float,
    delta: float = 0.05,
    *,
    expected_risk: float | None = None,
    expected_kl: float | None = None,
    n_paths: int | None = None,
    n_candidates: int = 1,
) -> float:
    r"""Bound on the Gibbs risk of a posterior trained on the n rows.

    .. math:: r \le k^+\Big(\hat r, \frac{\mathrm{KL} + \ln(K ξ(n)/δ)}{n}\Big), \quad\text{or}\quad
              r \le \frac{1 - \exp(-C \hat r - (\mathrm{KL} + \ln(K/δ))/n)}{1 - e^{-C}}

    Parameters
    ----------
    risk : float
        Mean loss on the rows.
    n : int
        Independent draws: rows, or groups.
    kl : float
        Divergence of the posterior from the prior, in nats.
    delta : float
        Maximum probability that the bound fails.
    expected_risk, expected_kl : float, optional
        Expected risk and divergence, from the first part, from which C is chosen. Without them the bound uses ``k⁺``.
    n_paths : int, optional
        Number of fresh paths per row with which the risk was sampled; None if it is exact.
    n_candidates : int
        Number K of priors among which one was chosen with these rows.

    Examples
    --------
    >>> round(trained_gibbs_bound(0.03, 1000, 2.0), 4)
    0.0581
    >>> round(trained_gibbs_bound(0.03, 1000, 2.0, expected_risk=0.03, expected_kl=2.0), 4)
    0.0503
    """
    risk, left = _allowing_for_paths(risk, n, n_paths, delta, n_candidates)
    return _bound(risk, n, kl, left, expected_risk, expected_kl, n_candidates)


@method
def trained_vote_bound(
    risk: float,
    tandem: float | None,
    n: int,
    kl: float,
    delta: float = 0.05,
    *,
    expected_risk: float | None = None,
    expected_kl: float | None = None,
    expected_tandem: float | None = None,
    n_paths: int | None = None,
    kept_paths: int | None = None,
    n_candidates: int = 1,
) -> float:
    r"""Bound on the error of the vote: the smaller of ``2 r`` and ``4 e``, the first- and the second-order bound.

    Parameters
    ----------
    risk, n, kl, delta, expected_risk, expected_kl, n_paths, n_candidates
        As for `trained_gibbs_bound`.
    tandem : float or None
        Mean product of two independent losses. None for a vote of paths that are drawn anew for each prediction: only
        twice the Gibbs risk covers such a vote, and it then uses the whole δ.
    expected_tandem : float, optional
        The expected tandem risk; without it the second-order bound uses ``k⁺``.
    kept_paths : int, optional
        Number of paths that vote, drawn once and kept; None if the vote is the sign of the expected output.

    Examples
    --------
    >>> round(trained_vote_bound(0.03, 0.002, 1230, 0.0), 4)
    0.0462
    """
    if tandem is None:
        gibbs = trained_gibbs_bound(
            risk,
            n,
            kl,
            delta,
            expected_risk=expected_risk,
            expected_kl=expected_kl,
            n_paths=n_paths,
            n_candidates=n_candidates,
        )
        return min(1.0, 2.0 * gibbs)
    if kept_paths is None:
        delta_of_orders = delta
    else:
        delta_of_paths, delta_of_orders = share_for_fixed_paths(delta)
    delta_of_order = share_of_an_order(delta_of_orders)

    risk, delta_left = _allowing_for_paths(risk, n, n_paths, delta_of_order, n_candidates)
    gibbs = _bound(risk, n, kl, delta_left, expected_risk, expected_kl, n_candidates)

    # Two networks are drawn from the squares of prior and posterior, whose divergence is twice as large.
    n_pairs = None if n_paths is None else n_paths // 2
    expected_kl_of_two = None if expected_kl is None else 2.0 * expected_kl
    tandem, delta_left = _allowing_for_paths(tandem, n, n_pairs, delta_of_order, n_candidates)
    both_err = _bound(tandem, n, 2.0 * kl, delta_left, expected_tandem, expected_kl_of_two, n_candidates)

    if kept_paths is None:
        return min(1.0, 2.0 * gibbs, 4.0 * both_err)
    return min(kept_paths_bounds(gibbs, min(both_err, 0.25), kept_paths, delta_of_paths, n_candidates=n_candidates))


def _allowing_for_paths(
    mean: float, n: int, per_row: int | None, delta: float, n_candidates: int
) -> tuple[float, float]:
    """Upper limit of a mean that was sampled with `per_row` values for each row, and the rest of δ."""
    if per_row is None:
        return mean, delta
    spent, left = share_for_sampling(delta)
    if per_row == 0:  # with one path per row there are no pairs, so the tandem risk is unknown
        return 1.0, left
    return sampled_risk_bound(mean, n * per_row, spent, n_candidates=n_candidates), left


def _bound(
    mean: float, n: int, kl: float, delta: float, expected: float | None, expected_kl: float | None, n_candidates: int
) -> float:
    """Catoni's bound at the C for the expected values; without them, the bound for all C at once."""
    if expected is None or expected_kl is None:
        return gibbs_bound(mean, kl, n, delta, n_candidates=n_candidates)
    C = choose_C(expected, expected_kl, n, delta, n_candidates=n_candidates)
    return catoni_fixed_bound(mean, kl, n, C, delta, n_candidates=n_candidates)
