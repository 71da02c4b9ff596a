"""Evidence and anytime limits against integrals in mpmath, and their promise at all times at once."""

import math

import mpmath
import numpy as np
import pytest
from scipy.special import ndtri

from abnet import bounds
from abnet.bounds.anytime import anytime_upper_limit, log_evidence
from broken_promise import breaks


def mp_evidence(k: int, t: int, eps: float) -> mpmath.mpf:
    """The integral as it is written, over the density 5 (1-q)^4 / (1-ε)^5."""
    e = mpmath.mpf(eps)

    def integrand(q: mpmath.mpf) -> mpmath.mpf:
        return (q / e) ** k * ((1 - q) / (1 - e)) ** (t - k) * 5 * (1 - q) ** 4 / (1 - e) ** 5

    width = (1 - e) / max(1, math.isqrt(t))
    cuts = [e, *(min(e + width * i, mpmath.mpf(1)) for i in (0.1, 0.5, 1, 2, 4, 8, 16, 32) if e + width * i < 1), 1]
    peak = e
    if t:
        peak = mpmath.mpf(k) / (t + 4)
    if peak > e:
        cuts = sorted({*cuts, peak, *(peak + width * i for i in (-2, -1, 1, 2) if e < peak + width * i < 1)})
    return mpmath.quad(integrand, cuts)


@pytest.mark.parametrize("eps", [0.001, 0.05, 0.4])
@pytest.mark.parametrize(("k", "t"), [(0, 1), (1, 1), (0, 50), (3, 50), (20, 50), (50, 50), (12, 300), (60, 300)])
def test_evidence_is_the_integral_rounded_down(k: int, t: int, eps: float) -> None:
    with mpmath.workdps(18):
        true = mpmath.log(mp_evidence(k, t, eps))
    ours = float(log_evidence(k, t, eps))
    assert ours <= true
    assert ours == pytest.approx(float(true), abs=1e-7)


@pytest.mark.parametrize(("k", "t", "eps"), [(0, 20_000, 0.05), (300, 30_000, 0.05), (5, 10**6, 0.01), (10, 900, 0.6)])
def test_evidence_far_below_the_promise_does_not_underflow(k: int, t: int, eps: float) -> None:
    """The integrand falls from its largest value at ε, about as an exponential function of known slope."""
    with mpmath.workdps(30):
        e = mpmath.mpf(eps)
        scale = 1 / ((t - k) / (1 - e) - k / e)
        density = 5 / (1 - e) ** 5
        true = mpmath.log(
            mpmath.quad(
                lambda x: (1 + x / e) ** k * (1 - x / (1 - e)) ** (t - k) * density * (1 - e - x) ** 4,
                [scale * i for i in (0, 1, 3, 7, 15, 30, 60)],
            )
        )
    ours = float(log_evidence(k, t, eps))
    assert ours <= true
    assert ours == pytest.approx(float(true), abs=1e-5)


def test_evidence_is_one_at_the_start_and_vectorised() -> None:
    assert float(log_evidence(0, 0, 0.05)) == 0.0
    k = np.array([[0, 2], [1, 3]])
    t = np.array([5, 9])
    each = [[float(log_evidence(k[i, j], t[j], 0.1)) for j in range(2)] for i in range(2)]
    np.testing.assert_array_equal(log_evidence(k, t, 0.1), each)


def test_evidence_has_mean_one_at_the_promised_error() -> None:
    """Exactly, by enumeration; and at most one below it."""
    for eps, rate, most in ((0.05, 0.05, 1.0), (0.3, 0.3, 1.0), (0.3, 0.2, 0.8)):
        pmf = np.array([math.comb(30, k) * rate**k * (1 - rate) ** (30 - k) for k in range(31)])
        mean = float(pmf @ np.exp(log_evidence(np.arange(31), 30, eps)))
        assert mean <= most
        assert mean == pytest.approx(1.0, abs=1e-6) or rate < eps


def mp_quotient(p: mpmath.mpf, k: int, t: int) -> mpmath.mpf:
    above = mpmath.betainc(k + 1, t - k + 20, 0, p)
    return above / ((1 - (1 - p) ** 20) / 20) / (p**k * (1 - p) ** (t - k))


@pytest.mark.parametrize(("k", "t"), [(0, 1), (0, 100), (10, 285), (3, 4), (300, 10_000)])
@pytest.mark.parametrize("alpha", [0.05, 1e-4])
def test_limit_is_where_the_quotient_reaches_its_goal(k: int, t: int, alpha: float) -> None:
    limit = anytime_upper_limit(k, t, alpha)
    with mpmath.workdps(40):
        assert mp_quotient(mpmath.mpf(limit), k, t) >= 1 / mpmath.mpf(alpha)
        assert mp_quotient(mpmath.mpf(limit) - mpmath.mpf("1e-8"), k, t) < 1 / mpmath.mpf(alpha)


@pytest.mark.parametrize(("k", "t"), [(0, 3), (2, 7), (5, 60)])
def test_quotient_grows_beyond_the_observed_rate(k: int, t: int) -> None:
    with mpmath.workdps(30):
        start = mpmath.mpf(k + 1) / (t + 1)
        values = [mp_quotient(start + (1 - start) * mpmath.mpf(i) / 200, k, t) for i in range(200)]
    assert values == sorted(values)


def test_figures() -> None:
    """What looking at all times costs, against one look."""
    assert bounds.clopper_pearson_bound(10, 285) == pytest.approx(0.0588, abs=5e-5)
    assert anytime_upper_limit(10, 285) == pytest.approx(0.075, abs=5e-4)
    assert bounds.clopper_pearson_bound(300, 10_000) == pytest.approx(0.0330, abs=5e-5)
    assert anytime_upper_limit(300, 10_000) == pytest.approx(0.0359, abs=5e-5)


@pytest.mark.parametrize(("once", "broken"), [(False, False), (True, True)], ids=["anytime", "one look at all times"])
def test_limit_holds_at_all_times_at_once(rng: np.random.Generator, once: bool, broken: bool) -> None:
    """A limit for one look, looked at again and again, is the trap."""
    rate = 0.1
    alpha = 0.1
    rows = 400
    repetitions = 500
    table: dict[tuple[int, int], bool] = {}

    def fails(k: int, t: int) -> bool:
        if (k, t) not in table:
            if once:
                limit = bounds.clopper_pearson_bound(k, t, alpha)
            else:
                limit = anytime_upper_limit(k, t, alpha)
            table[k, t] = limit < rate
        return table[k, t]

    # Between two errors a limit falls, so the moments before an error, and the last one, are those to look at.
    failures = 0
    for wrong in rng.random((repetitions, rows)) < rate:
        ends = np.append(np.flatnonzero(wrong), rows)
        failures += any(fails(k, int(t)) for k, t in enumerate(ends) if t and k / t < rate)
    assert breaks(failures, repetitions, alpha) == broken
    assert failures > 0


def test_limit_edges() -> None:
    assert anytime_upper_limit(0, 0) == 1.0
    assert anytime_upper_limit(4, 4) == 1.0
    assert 0.0 < anytime_upper_limit(0, 10**7) < 2e-6
    assert 0.5 < anytime_upper_limit(5 * 10**6, 10**7) < 0.5 + 5 * abs(float(ndtri(1e-4))) / math.sqrt(10**7)
    assert anytime_upper_limit(1, 3, 0.999) >= 0.5


@pytest.mark.parametrize(
    ("k", "t", "alpha", "name"),
    [(-1, 3, 0.1, "^errors"), (4, 3, 0.1, "^errors"), (1, 3, 0.0, "^alpha"), (1, 3, 1.0, "^alpha")],
)
def test_limit_checks_its_arguments(k: int, t: int, alpha: float, name: str) -> None:
    with pytest.raises(ValueError, match=name):
        anytime_upper_limit(k, t, alpha)
