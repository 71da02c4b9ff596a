r"""μ-tandem bound on the vote of a trained posterior, at parameters that were fixed before the data.

`abnet.bounds.cantelli.mu_tandem_bound` needs a lower limit of the Gibbs risk beside an upper limit of the tandem risk.
Catoni's one-sided event gives no lower limit, and a third event would cost a share of δ. This bound needs one event,
about the combination ``e - 2νr`` itself.

**Theorem.** Two networks drawn from Q both err with probability e, and exactly one errs with probability ``2(r - e)``.
Let ``s > 0`` and ``t >= 0`` be fixed before the examples are seen, ``a = 1 - exp(-s)``, ``b = exp(t) - 1``. With
probability at least 1-δ, for all posteriors Q,

.. math:: a e - 2 b (r - e) \le B, \qquad
          B = 1 - \exp\Big(-s \hat e + 2 t (\hat r - \hat e) - \tfrac1n\big(2\,\mathrm{KL} + \ln\tfrac Kδ\big)\Big),

.. math:: R(\mathrm{sgn}\,F) \le \frac{B/(a + 2b) + ν^2}{(1/2 - ν)^2}, \qquad ν = \frac{b}{a + 2b} < \frac12.

*Proof.* For one pair of networks let Z be s on an example where both err, -t where exactly one errs, and 0 elsewhere.
``E exp(-Z) = 1 - x`` with ``x = a e - 2b(r - e)``, so the mean over samples of ``exp(-ΣZ_i) / (1 - x)^n`` is 1 for
every pair, and for pairs drawn from the prior. By Markov's inequality and the change of measure from the squared prior
to Q², whose divergence is 2 KL, with probability 1-δ for all Q at once ``-n E ln(1 - x) <= Σ E Z_i + 2 KL + ln(1/δ)``,
with means over Q². ``-ln(1 - x)`` is convex, so x may be replaced by its mean, which is ``a e - 2b(r - e)`` of Q. This
is the first claim. Where the vote errs, the share p of Q that errs is at least 1/2, and ``((p - ν)/(1/2 - ν))² >= 1``.
Its mean is ``(e - 2νr + ν²)/(1/2 - ν)²``, and ``a e - 2b(r - e) = (a + 2b)(e - 2νr)``. ∎

Groups of rows may take the place of the examples: the mean of Z over a group has ``E exp(-Z) <= 1 - x`` by convexity.
With ``t = 0`` it is the tandem bound with Catoni's at C = s.
"""

import math
from functools import lru_cache

import numpy as np

from abnet.bounds.rounding import OUTWARD, round_up
from abnet.utils.checks import count, level, nonnegative, positive, probability

__all__ = ["catoni_tandem_bound", "choose_tilts"]

# The grid on which the parameters are chosen. It is coarse enough to be the same on every machine, and a finer one
# gains less than 0.1%.
_MU = np.linspace(0.0, 0.3, 61)
_SIZES = np.geomspace(0.01, 40.0, 400)

# Losses may have been rounded up by this much, and the bound does not grow with the risk.
_LOSS_ERROR = 1e-9


def catoni_tandem_bound(
    empirical_risk: float,
    empirical_tandem: float,
    kl: float,
    n: int,
    tilts: tuple[float, float],
    delta: float = 0.05,
    *,
    floor: float = 0.0,
    n_candidates: int = 1,
) -> float:
    r"""μ-tandem bound on the vote for all posteriors at once, at parameters s and t fixed in advance.

    The module's docstring has the theorem. If every p is at least f, then

    .. math:: R(\mathrm{sgn}\,F) \le \frac{B/(a + 2b) + ν^2 - c}{(1/2 - ν)^2 - c}, \qquad c = \max(0, f - ν)^2.

    Parameters
    ----------
    empirical_risk, empirical_tandem : float
        Means of ``p_i`` and of ``p_i ** 2``, exact up to 1e-9.
    kl : float
        Divergence of the posterior from the prior, in nats.
    n : int
        Number of examples.
    tilts : pair of float
        ``s > 0`` and ``t >= 0``, from :func:`choose_tilts` for instance.
    delta : float
        Maximum probability that the bound fails.
    floor : float
        A number f in [0, 1/2) that no p can be below; it may depend on the posterior.
    n_candidates : int
        Number K of priors among which one was chosen by anything computed from these examples.

    Returns
    -------
    float
        A number in [0, 1], rounded up.

    Examples
    --------
    >>> round(catoni_tandem_bound(0.2, 0.05, 5.0, 10_000, choose_tilts(0.2, 0.05, 5.0, 10_000)), 4)
    0.179
    >>> round(catoni_tandem_bound(0.2, 0.05, 5.0, 10_000, (0.6, 0.0)), 4)
    0.2732
    """
    a, b, combined = _combination(empirical_risk, empirical_tandem, kl, n, tilts, delta, n_candidates)
    nu = b / (a + 2.0 * b)
    square = round_up(max(0.0, combined + nu * nu + (OUTWARD - 1.0) * (abs(combined) + nu * nu)))
    lowest = max(0.0, probability("floor", floor) - nu) ** 2
    whole = (0.5 - nu) ** 2
    if lowest >= whole:
        raise ValueError(f"floor must be below 1/2; got {floor}.")
    return min(1.0, max(0.0, round_up((square - lowest) / (whole - lowest)) + (OUTWARD - 1.0)))


def _combination(
    risk: float, tandem: float, kl: float, n: int, tilts: tuple[float, float], delta: float, n_candidates: int
) -> tuple[float, float, float]:
    """The theorem's a and b, and the bound on ``e - 2νr``, rounded up; it may be negative."""
    risk = probability("empirical_risk", risk)
    tandem = probability("empirical_tandem", tandem)
    price = math.log(count("n_candidates", n_candidates)) - math.log(level("delta", delta))
    nats = (2.0 * nonnegative("kl", kl) + price) / count("n", n)
    s = positive("s", tilts[0])
    t = nonnegative("t", tilts[1])
    single = max(risk - tandem, 0.0)
    # The terms may cancel, so the slack is relative to their absolute values.
    slack = (OUTWARD - 1.0) * (s * tandem + 2.0 * t * single + nats) + 2.0 * t * _LOSS_ERROR
    B = -math.expm1(-(s * tandem - 2.0 * t * single + nats + slack))
    a = -math.expm1(-s)
    b = math.expm1(t)
    return a, b, B / (a + 2.0 * b)


def choose_tilts(
    expected_risk: float,
    expected_tandem: float,
    expected_kl: float,
    n: int,
    delta: float = 0.05,
    *,
    n_candidates: int = 1,
) -> tuple[float, float]:
    """The parameters s and t that minimise :func:`catoni_tandem_bound` for expected values, on a grid.

    The expected values must not come from the n bound examples: use the risks on validation rows of the first part and
    a guess of the divergence. ``t = 0`` is on the grid, so the bound to be expected is never above the tandem bound.

    Parameters
    ----------
    expected_risk, expected_tandem, expected_kl : float
        Gibbs risk, tandem risk and divergence to be expected on the bound examples.
    n, delta, n_candidates
        As for :func:`catoni_tandem_bound`.

    Examples
    --------
    >>> [round(tilt, 3) for tilt in choose_tilts(0.2, 0.05, 5.0, 10_000)]
    [0.204, 0.036]
    """
    nats = (2.0 * nonnegative("expected_kl", expected_kl) + math.log(n_candidates) - math.log(delta)) / n
    # Rates of 0 would make the best s infinite and the bound useless after the first error.
    tandem = min(max(expected_tandem, 0.5 / n), 1.0 - 0.5 / n)
    single = max(expected_risk - tandem, 0.0)
    return _best_tilts(float(tandem), float(single), float(nats))


@lru_cache(maxsize=256)
def _best_tilts(tandem: float, single: float, nats: float) -> tuple[float, float]:
    s = _SIZES[:, None]
    t = s * _MU / (1.0 - 2.0 * _MU)
    with np.errstate(over="ignore", invalid="ignore"):
        a = -np.expm1(-s)
        b = np.expm1(t)
        B = -np.expm1(-(s * tandem - 2.0 * t * single + nats))
        bounds = 4.0 * ((a + 2.0 * b) * B + b * b) / a**2
    best = int(np.nanargmin(bounds))
    return float(np.broadcast_to(s, bounds.shape).flat[best]), float(t.flat[best])
