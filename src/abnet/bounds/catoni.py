"""Catoni's bound on the Gibbs risk, as it is reported; the form that is trained on is in ``objective``."""

import math

from abnet.bounds.arguments import count, level, nonnegative, probability, real
from abnet.bounds.kl import kl_inverse_upper
from abnet.bounds.outward import round_up

__all__ = ["catoni_bound"]


def catoni_bound(empirical_risk: float, kl: float, n: int, delta: float = 0.05, C: float | None = None) -> float:
    r"""Catoni's bound on the Gibbs risk, for all posteriors and all C at once; the paper's Theorem 1.

    .. math:: r \le \frac{1 - \exp\big(-C \hat r - \frac1n(\mathrm{KL}(Q\|P) + \ln\frac{2\sqrt n}\delta)\big)}{1-e^{-C}}

    With probability at least 1-δ over n independent examples, if the prior P was fixed before they were seen. The
    smallest value over C > 0 equals :math:`k^+(\hat r, \frac1n(\mathrm{KL} + \ln\frac{2\sqrt n}{\delta}))`.

    Parameters
    ----------
    empirical_risk : float
        Mean loss on the n examples, in [0, 1].
    kl : float
        Divergence of the posterior from the prior, in nats.
    n : int
        Number of examples.
    delta : float
        Probability with which the bound may fail.
    C : float, optional
        Any positive number; by default the best one.

    Returns
    -------
    float
        A number in [empirical_risk, 1], rounded up and clipped at 1.

    Examples
    --------
    >>> round(catoni_bound(0.1, 20.0, 1000), 6)
    0.183887
    >>> round(catoni_bound(0.1, 20.0, 1000, 0.05, 0.7), 6)
    0.183891

    References
    ----------
    L. Fortier-Dubois, G. Letarte, B. Leblanc, F. Laviolette, P. Germain: PAC-Bayesian Learning of Aggregated Binary
    Activated Neural Networks with Probabilities over Representations.
    """
    empirical_risk, kl = probability("empirical_risk", empirical_risk), nonnegative("kl", kl)
    n, delta = count("n", n), level("delta", delta)
    complexity = round_up((kl + math.log(2.0) + 0.5 * math.log(n) - math.log(delta)) / n)
    if C is None:
        return kl_inverse_upper(empirical_risk, complexity)
    return _at(_positive(C), empirical_risk, complexity)


def _at(C: float, empirical_risk: float, complexity: float) -> float:
    bound = math.expm1(-round_up(C * empirical_risk + complexity)) / math.expm1(-C)
    return min(1.0, max(empirical_risk, round_up(bound)))


def _positive(C: float) -> float:
    C = real("C", C)
    if not 0.0 < C < math.inf:
        raise ValueError(f"C must be positive and finite, got {C!r}")
    return C
