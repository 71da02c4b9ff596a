r"""Bounds for a posterior that was trained on the bound rows: on its Gibbs risk, and on the vote of its networks.

Each consists of three steps, which are fixed before the rows are seen:

1. the empirical risk, or an upper limit of it at δ/10 if it was sampled with fresh paths;
2. the Gibbs bound for all posteriors at once: ``k⁺`` with ξ(n), or Catoni's bound at a C chosen from expected values;
3. for the vote, a first-order bound from the Gibbs risk, or a second-order bound from the tandem risk, δ/2 each; a vote
   of kept paths divides by a threshold that accounts for their draw, at another δ/10.
"""

from typing import Any

from abnet.bounds.catoni import catoni_fixed_bound, choose_C
from abnet.bounds.catoni_tandem import catoni_tandem_bound, choose_tilts
from abnet.bounds.gibbs import gibbs_bound
from abnet.bounds.kept_paths_exact import kept_paths_bounds
from abnet.bounds.rounding import OUTWARD, round_up
from abnet.bounds.sampled import sampled_risk_bound
from abnet.bounds.shares import share_for_fixed_paths, share_for_sampling, share_of_two

__all__ = ["trained_gibbs_bound", "trained_vote_bound"]


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
    floor: float = 0.0,
    n_paths: int | None = None,
    kept_paths: int | None = None,
    n_candidates: int = 1,
) -> float:
    r"""Bound on the error of the vote: the smaller of a first- and a second-order bound.

    Without the options these are ``2 r`` and ``4 e``, where r is the Gibbs risk and e the tandem risk.

    Parameters
    ----------
    risk, n, kl, delta, expected_risk, expected_kl, n_paths, n_candidates
        As for `trained_gibbs_bound`.
    tandem : float or None
        Mean product of two independent losses. None for a vote of paths that are drawn anew for each prediction: only
        twice the Gibbs risk covers such a vote, and it then uses the whole δ.
    expected_tandem : float, optional
        The expected tandem risk. With exact losses, the second order is then `catoni_tandem_bound` at parameters chosen
        from the expected values. Without it the second order uses ``k⁺``.
    floor : float
        A number in [0, 1/2) that no expected loss ``p(x, y)`` of this posterior can be below, on any row. The first
        order is then ``(r - floor)/(1/2 - floor)``.
    kept_paths : int, optional
        Number of paths that vote, drawn once and kept; None if the vote is the sign of the expected output.

    Notes
    -----
    The floor may depend on the posterior, and so on the bound rows. ``p(x, y) >= floor`` holds for every row, and where
    the vote errs, p is at least 1/2. So ``1[error] <= (p - floor)/(1/2 - floor)`` on every row, for whichever posterior
    was learned, and the bound on r holds for all posteriors at once.

    Examples
    --------
    >>> round(trained_vote_bound(0.03, 0.002, 1230, 0.0), 4)
    0.0462
    >>> [round(trained_vote_bound(0.05, 0.04, 1230, 0.0, floor=floor), 4) for floor in (0.0, 0.02)]
    [0.1555, 0.1203]
    """
    if not 0.0 <= floor < 0.5:
        raise ValueError(f"floor must lie in [0, 1/2); got {floor}.")
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
        return _vote_from_gibbs(gibbs, floor)
    if kept_paths is None:
        delta_of_orders = delta
    else:
        delta_of_paths, delta_of_orders = share_for_fixed_paths(delta)
    delta_of_order = share_of_two(delta_of_orders)

    gibbs = trained_gibbs_bound(
        risk,
        n,
        kl,
        delta_of_order,
        expected_risk=expected_risk,
        expected_kl=expected_kl,
        n_paths=n_paths,
        n_candidates=n_candidates,
    )
    is_exact = kept_paths is None and n_paths is None
    if is_exact and expected_risk is not None and expected_kl is not None and expected_tandem is not None:
        options: dict[str, Any] = {"delta": delta_of_order, "n_candidates": n_candidates}
        tilts = choose_tilts(expected_risk, expected_tandem, expected_kl, n, **options)
        second = catoni_tandem_bound(risk, tandem, kl, n, tilts, floor=floor, **options)
        return min(_vote_from_gibbs(gibbs, floor), second)

    # Two networks are drawn from the squares of prior and posterior, whose divergence is twice as large.
    n_pairs = None
    if n_paths is not None:
        n_pairs = n_paths // 2
    expected_kl_of_two = None
    if expected_kl is not None:
        expected_kl_of_two = 2.0 * expected_kl
    tandem, delta_left = _allowing_for_paths(tandem, n, n_pairs, delta_of_order, n_candidates)
    both_err = _bound(tandem, n, 2.0 * kl, delta_left, expected_tandem, expected_kl_of_two, n_candidates)
    if kept_paths is None:
        return min(_vote_from_gibbs(gibbs, floor), 4.0 * both_err)
    return min(kept_paths_bounds(gibbs, min(both_err, 0.25), kept_paths, delta_of_paths, n_candidates=n_candidates))


def _vote_from_gibbs(gibbs: float, floor: float) -> float:
    """``(r - floor)/(1/2 - floor)``: share of rows on which the vote errs if no expected loss is below the floor."""
    if floor == 0.0:
        return min(1.0, 2.0 * gibbs)
    # The difference may cancel, so the slack is relative to its terms.
    excess = max(0.0, gibbs - floor) + (OUTWARD - 1.0) * gibbs
    return min(1.0, round_up(excess / (0.5 - floor)))


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
