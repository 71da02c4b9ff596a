"""Bound on the error of a copy of a certified model: quantised, exported, or written again in another language."""

from abnet.bounds.clopper_pearson import clopper_pearson_bound
from abnet.bounds.methods import method
from abnet.bounds.rounding import round_up
from abnet.bounds.shares import shares_by_count
from abnet.utils.checks import count

__all__ = ["copy_error_bound"]


@method
def copy_error_bound(
    errors: int, n: int, differing: int, compared: int, delta: float = 0.05, *, n_candidates: int = 1
) -> float:
    r"""Bound on the error rate of a copy h' of a model h, from labelled rows for h and unlabelled rows for both.

    .. math:: R(h') \le R(h) + P(h' \ne h) \le \mathrm{CP}(k, n, δ_1/K) + \mathrm{CP}(d, m, δ_2/K)

    Both limits hold jointly with probability at least 1-δ, whether or not the rows overlap. δ is divided in inverse
    proportion to the numbers of rows, which does not depend on what was counted.

    Parameters
    ----------
    errors, n : int
        Errors of the model on n held-out labelled rows.
    differing, compared : int
        Rows on which the copy's answer differs from the model's, among the rows that were compared.
    delta : float
        Maximum probability that the bound fails.
    n_candidates : int
        Number K of models or copies compared on the same rows.

    Examples
    --------
    >>> round(copy_error_bound(12, 400, 0, 20_000), 4)
    0.0486
    """
    count("compared", compared)
    of_model, of_copy = shares_by_count([n, compared], delta)
    error = clopper_pearson_bound(errors, n, of_model, n_candidates=n_candidates)
    difference = clopper_pearson_bound(differing, compared, of_copy, n_candidates=n_candidates)
    return min(1.0, round_up(error + difference))
