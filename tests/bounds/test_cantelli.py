"""The C-bound and the μ-tandem bound against mpmath, enumeration, and a vote whose error is known."""

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abnet import bounds
from broken_promise import breaks

few = settings(max_examples=100, deadline=None, derandomize=True)
XI_60 = 2 + mpmath.fsum(
    mpmath.binomial(60, k) * (mpmath.mpf(k) / 60) ** k * (1 - mpmath.mpf(k) / 60) ** (60 - k) for k in range(1, 60)
)


def shares(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities of a few kinds of rows, and the share of voters that errs on each."""
    weights = rng.dirichlet(np.ones(6))
    return weights, rng.integers(0, 5, 6) / 4


@pytest.mark.parametrize("number", range(20))
def test_with_all_rows_known_they_bound_the_vote(number: int) -> None:
    """No confidence terms: n so large that the bounds are those of the true moments."""
    weights, p = shares(np.random.default_rng(number))
    n = 10**15
    r = weights @ p
    e = weights @ p**2
    error = weights[p >= 0.5].sum()
    c = bounds.c_bound(r, 2 * (r - e), 0.0, n)
    best = bounds.mu_tandem_bound(r, e, 0.0, n)
    assert error <= min(c, best) + 1e-12
    if r < 0.5 - 1e-6:
        assert c == pytest.approx(1 - (1 - 2 * r) ** 2 / (1 - 4 * (r - e)), abs=1e-5)
        assert best == pytest.approx(c, abs=1e-4)  # at the best μ they are one inequality
    for mu in (-3.0, -0.1, 0.0, 0.2, 0.45):
        at = bounds.mu_tandem_bound(r, e, 0.0, n, mu=mu)
        assert error <= at + 1e-12
        assert at == pytest.approx(min(1.0, (e - 2 * mu * r + mu**2) / (0.5 - mu) ** 2), rel=1e-4, abs=1e-6)
        assert best <= at + 1e-9


@few
@given(st.floats(0.0, 1.0), st.floats(0.0, 1.0), st.floats(0.0, 30.0), st.floats(1e-6, 0.5), st.integers(1, 50))
def test_they_are_not_below_the_theorem(r: float, spread: float, kl: float, delta: float, K: int) -> None:
    """With the inverses of the library, whose oracle is mpmath elsewhere, and the rest in 50 digits."""
    n = 60
    e = r * r + spread * (r - r * r)
    d = 0.0
    if r > e:
        d = min(0.5, 2 * (r - e))
    with mpmath.workdps(50):
        nats = mpmath.log(2 * K * XI_60 / mpmath.mpf(delta))
        one = float((kl + nats) / n)
        two = float((2 * kl + nats) / n)
        above = bounds.kl_inverse_upper(r, one)
        below = bounds.kl_inverse_lower(r, one)
        e_up = bounds.kl_inverse_upper(e, two)
        d_low = bounds.kl_inverse_lower(d, two)
        c = mpmath.mpf(1)
        if above < 0.5:
            c = 1 - (1 - 2 * mpmath.mpf(above)) ** 2 / (1 - 2 * mpmath.mpf(d_low))
        found = bounds.c_bound(r, d, kl, n, delta, n_candidates=K)
        assert c * (1 - mpmath.mpf("1e-9")) <= found <= c * (1 + mpmath.mpf("1e-9")) + mpmath.mpf("1e-12")
        for mu in (-0.7, 0.0, 0.3):
            side = mpmath.mpf(below if mu > 0 else above)
            m = mpmath.mpf(mu)
            value = (mpmath.mpf(e_up) - 2 * m * side + m**2) / (mpmath.mpf("0.5") - m) ** 2
            at = bounds.mu_tandem_bound(r, e, kl, n, delta, mu=mu, n_candidates=K)
            assert min(1, value) * (1 - mpmath.mpf("1e-9")) <= at <= min(1, value * (1 + mpmath.mpf("1e-9")))


def test_they_hold_in_repeated_samples_and_their_plug_ins_do_not(rng: np.random.Generator) -> None:
    """Two voters of whom one errs on a share t of the rows, all of class -1: a tie is an error, and both are tight."""
    t = 0.3
    n = 200
    delta = 0.3
    repetitions = 400
    failures = dict.fromkeys(("c", "mu", "plug-in"), 0)
    for ties in rng.binomial(n, t, repetitions) / n:
        r = ties / 2
        e = ties / 4
        failures["c"] += bounds.c_bound(r, 2 * (r - e), 0.0, n, delta) < t
        failures["mu"] += bounds.mu_tandem_bound(r, e, 0.0, n, delta) < t
        failures["plug-in"] += 1 - (1 - 2 * r) ** 2 / (1 - 4 * (r - e)) < t
    assert not breaks(failures["c"], repetitions, delta)
    assert not breaks(failures["mu"], repetitions, delta)
    assert breaks(failures["plug-in"], repetitions, delta)


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(ValueError, match="1/2"):
        bounds.c_bound(0.3, 0.6, 1.0, 100)
    with pytest.raises(ValueError, match="mu"):
        bounds.mu_tandem_bound(0.3, 0.2, 1.0, 100, mu=0.5)


def test_many_weak_voters_are_where_the_c_bound_wins() -> None:
    """p = .4 on every row: the vote never errs, twice Gibbs says .8 and more, tandem .64 and more."""
    n = 100_000
    assert bounds.c_bound(0.4, 0.48, 1.0, n) < 0.4
    assert bounds.vote_bound(0.4, 0.16, 1.0, n) > 0.6
