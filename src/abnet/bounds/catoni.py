"""Catoni's bound on the Gibbs risk: for all C at once, as a training objective, and at a C fixed before the data.

A C that was fixed in advance needs no union over C. Only `catoni_objective` takes JAX arrays and imports JAX.
"""

import math
from typing import Any

from abnet.bounds.kl_inverse import kl_inverse_upper
from abnet.bounds.over_arrays import over_arrays
from abnet.bounds.rounding import round_up
from abnet.utils.checks import count, level, nonnegative, positive, probability, real

__all__ = ["catoni_bound", "catoni_fixed_bound", "catoni_objective", "choose_C"]


@over_arrays
def catoni_bound(empirical_risk: float, kl: float, n: int, delta: float = 0.05, C: float | None = None) -> float:
    r"""Catoni's bound on the Gibbs risk, for all posteriors and all C at once; the paper's Theorem 1.

    .. math:: r \le \frac{1 - \exp\big(-C \hat r - \frac1n(\mathrm{KL}(Q\|P) + \ln\frac{2\sqrt n}\delta)\big)}{1-e^{-C}}

    Holds with probability at least 1-δ over n independent examples, if the prior P was fixed before they were seen. The
    minimum over C > 0 equals :math:`k^+(\hat r, \frac1n(\mathrm{KL} + \ln\frac{2\sqrt n}{\delta}))`.

    Parameters
    ----------
    empirical_risk : float
        Mean loss on the n examples, in [0, 1].
    kl : float
        Divergence of the posterior from the prior, in nats.
    n : int
        Number of examples.
    delta : float
        Maximum probability that the bound fails.
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
    empirical_risk = probability("empirical_risk", empirical_risk)
    kl = nonnegative("kl", kl)
    n = count("n", n)
    delta = level("delta", delta)
    complexity = round_up((kl + math.log(2.0) + 0.5 * math.log(n) - math.log(delta)) / n)
    if C is None:
        return kl_inverse_upper(empirical_risk, complexity)
    return _bound_at(positive("C", C), empirical_risk, complexity)


def _bound_at(C: float, empirical_risk: float, complexity: float) -> float:
    bound = math.expm1(-round_up(C * empirical_risk + complexity)) / math.expm1(-C)
    return min(1.0, max(empirical_risk, round_up(bound)))


def catoni_objective(risk: Any, kl: Any, n: Any, delta: Any, log_c: Any) -> Any:
    r"""Catoni's bound at ``C = exp(log_c)``, the training objective.

    .. math:: \frac{1 - \exp\big(-C \hat r - \frac1n(\mathrm{KL} + \ln\frac{2\sqrt n}\delta)\big)}{1 - e^{-C}}

    Differentiable in every argument. It is never clipped at 1, so a vacuous bound still has a gradient. All arguments
    may be traced, so a compiled program depends neither on the number of rows nor on δ. Accurate in float32 for
    ``log_c`` between -20 and 20. To report a bound, use :func:`gibbs_bound`.

    Parameters
    ----------
    risk : float
        Empirical Gibbs risk.
    kl : float
        Divergence of the posterior from the prior, in nats.
    n : int
        Number of examples of the bound (not of the batch).
    delta : float
        Maximum probability that the bound fails.
    log_c : float
        Logarithm of C, learned along with the posterior.

    Returns
    -------
    Array
        A scalar, of the common type of the arguments.

    Examples
    --------
    >>> print(f"{catoni_objective(0.1, 20.0, 1000, 0.05, -0.356675):.4f}")
    0.1839
    """
    import jax.numpy as jnp

    size = jnp.asarray(n, dtype=jnp.result_type(risk, kl, log_c, float))
    c = jnp.exp(log_c)
    complexity = (kl + jnp.log(2.0) + 0.5 * jnp.log(size) - jnp.log(delta)) / size
    return jnp.expm1(-c * risk - complexity) / jnp.expm1(-c)


# Beyond these C the bound no longer changes in any digit that is shown, and its formula would overflow.
_SMALLEST_C = 1e-9
_LARGEST_C = 40.0


def catoni_fixed_bound(
    empirical_risk: float, kl: float, n: int, C: float, delta: float = 0.05, *, n_candidates: int = 1
) -> float:
    r"""Bound on the Gibbs risk for all posteriors at once, at one C that was fixed before the examples were seen.

    .. math:: r \le \frac{1 - \exp\big(-C \hat r - \frac1n(\mathrm{KL}(Q\|P) + \ln\frac{K}{δ})\big)}{1-e^{-C}}

    Holds with probability at least 1-δ over n independent examples, if the prior P and C were fixed before they were
    seen. If C is near its best value, it is smaller than :func:`abnet.bounds.gibbs_bound`, by about ``ln ξ(n)`` nats. A
    C chosen with the same examples invalidates it.

    Parameters
    ----------
    empirical_risk : float
        Mean loss on the n examples, in [0, 1].
    kl : float
        Divergence of the posterior from the prior, in nats.
    n : int
        Number of examples.
    C : float
        A positive number, from :func:`choose_C` for instance.
    delta : float
        Maximum probability that the bound fails.
    n_candidates : int
        Number K of priors among which one was chosen by anything computed from these examples.

    Returns
    -------
    float
        A number in [empirical_risk, 1], rounded up.

    Examples
    --------
    >>> C = choose_C(0.03, 2.0, 1000)
    >>> round(C, 3), round(catoni_fixed_bound(0.03, 2.0, 1000, C), 4)
    (0.537, 0.0503)

    References
    ----------
    O. Catoni (2007), PAC-Bayesian supervised classification, Theorem 1.2.6.
    """
    empirical_risk = probability("empirical_risk", empirical_risk)
    C = _positive(C)
    exponent = round_up(C * empirical_risk + _nats(kl, n, delta, n_candidates))
    bound = round_up(math.expm1(-exponent) / math.expm1(-C))
    return min(1.0, max(empirical_risk, bound))


def choose_C(expected_risk: float, expected_kl: float, n: int, delta: float = 0.05, *, n_candidates: int = 1) -> float:
    r"""The C that minimises :func:`catoni_fixed_bound` for an expected risk and divergence.

    .. math:: C = \ln\frac{p}{1-p} - \ln\frac{q}{1-q}, \qquad
              p = k^+\big(q, \tfrac1n(\mathrm{KL} + \ln\tfrac{K}{δ})\big)

    with q the expected risk. The expected values must not come from the n bound examples: use the risk on validation
    rows of the first part and a guess of the divergence. A C that is wrong by a factor of 2 loses most of the gain (r̂
    = .03, KL = 2: at n = 100 the bound is .135 instead of .117, against .146 for all C at once; at n = 1,000 it is
    .0555 instead of .0503, against .0581). An expected risk of 0 would make C infinite and the bound useless after the
    first error, so q is kept at least ``1/(2n)`` away from 0 and 1.

    Parameters
    ----------
    expected_risk : float
        Gibbs risk to be expected on the bound examples.
    expected_kl : float
        Divergence to be expected.
    n, delta, n_candidates
        As for :func:`catoni_fixed_bound`.

    Returns
    -------
    float
        A positive number.

    Examples
    --------
    >>> round(choose_C(0.03, 2.0, 100), 3), round(choose_C(0.0, 2.0, 100), 3)
    (1.451, 2.642)
    """
    nats = _nats(expected_kl, n, delta, n_candidates)
    q = min(max(probability("expected_risk", expected_risk), 0.5 / n), 1.0 - 0.5 / n)
    p = kl_inverse_upper(q, nats)
    if p == 1.0:
        return _LARGEST_C
    C = math.log(p) - math.log1p(-p) - math.log(q) + math.log1p(-q)
    return min(max(C, _SMALLEST_C), _LARGEST_C)


def _nats(kl: float, n: int, delta: float, n_candidates: int) -> float:
    """Return ``(KL + ln(K/δ))/n``, rounded up."""
    price = math.log(count("n_candidates", n_candidates)) - math.log(level("delta", delta))
    return round_up((nonnegative("kl", kl) + price) / count("n", n))


def _positive(C: float) -> float:
    C = real("C", C)
    if not 0.0 < C < math.inf:
        raise ValueError(f"C must be positive and finite; got {C!r}.")
    return C
