"""The promise kept, in the long: Gaussian inputs, a noisy linear rule, and every kind of certificate.

Inputs are N(0, I) in five dimensions, the label is the sign of the first coordinate, flipped with a known probability.
The error of a linear vote has a closed form (the angle to the rule); a Gibbs risk is an integral over it.
"""

from collections.abc import Callable

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.special import ndtr, roots_genlaguerre, roots_hermitenorm

from abnet import bounds
from abnet.certificates.certificate import Certificate
from abnet.certificates.evidence import observe
from abnet.certificates.from_evidence import certify as certify_evidence
from abnet.certificates.from_evidence import certify_drawn
from abnet.certificates.terms import Terms
from broken_promise import breaks

Array = NDArray[np.float64]
DELTA = 0.05
REPETITIONS = 450
DIMENSION = 5
RULE = np.eye(DIMENSION)[0]
PRIORS = np.random.default_rng(1).normal(size=(8, DIMENSION)) + RULE
SIZES = (20, 150)
FLIPS = (0.5, 0.1)
settings_ = pytest.mark.parametrize(("n", "flip"), [(n, flip) for n in SIZES for flip in FLIPS])


def losses(w: Array, x: Array, y: Array) -> Array:
    return np.asarray(ndtr(-y * (x @ w)))


# Seen from the rule, a classifier w + noise is (w_1 + z_1, ρ), where ρ² = (s + z_2)² + χ² with three degrees of freedom
# and s the length of the rest of w: two Gauss-Hermite rules and one Gauss-Laguerre rule average over it.
Z, Z_WEIGHTS = (values / scale for values, scale in zip(roots_hermitenorm(40), (1.0, np.sqrt(2 * np.pi)), strict=True))
T, T_WEIGHTS = (
    values / scale for values, scale in zip(roots_genlaguerre(40, 0.5), (1.0, np.sqrt(np.pi) / 2), strict=True)
)
WEIGHTS = Z_WEIGHTS[:, None, None] * Z_WEIGHTS[:, None] * T_WEIGHTS


def risk(w: Array, flip: float) -> float:
    """Gibbs risk: the mean angle between the rule and a classifier drawn from N(w, I), as a share of π."""
    across = np.sqrt((np.linalg.norm(w[1:]) + Z[:, None]) ** 2 + 2.0 * T)
    angle = np.arctan2(across, w[0] + Z[:, None, None])
    return float(flip + (1 - 2 * flip) * np.sum(WEIGHTS * angle) / np.pi)


def vote_error(w: Array, flip: float) -> float:
    angle = np.arccos(np.clip(w @ RULE / np.linalg.norm(w), -1.0, 1.0))
    return float(flip + (1 - 2 * flip) * angle / np.pi)


def draw(rng: np.random.Generator, n: int, flip: float) -> tuple[Array, Array]:
    x = rng.normal(size=(n, DIMENSION))
    y = np.where(x @ RULE >= 0, 1.0, -1.0) * np.where(rng.random(n) < flip, -1.0, 1.0)
    return x / np.linalg.norm(x, axis=1, keepdims=True), y


Bound = Callable[[float, float, int, float], float]


def trained(x: Array, y: Array, prior: Array, bound: Bound = bounds.gibbs_bound) -> tuple[Array, float]:
    ray = (y[:, None] * x).mean(axis=0)
    steps = [s * ray for s in (0.0, 0.5, 2.0, 5.0, 10.0)]
    step = min(steps, key=lambda d: bound(float(losses(prior + d, x, y).mean()), float(d @ d) / 2, len(y), DELTA))
    return prior + step, float(step @ step) / 2


def without_logarithm(risk: float, kl: float, n: int, delta: float) -> float:
    return bounds.kl_inverse_upper(risk, kl / n)


def promise_breaks(failed: Callable[[np.random.Generator], bool]) -> bool:
    """Whether a bound fails in more repetitions than δ explains."""
    failures = sum(failed(np.random.default_rng([17, i])) for i in range(REPETITIONS))
    return breaks(failures, REPETITIONS, DELTA)


def certify(x: Array, y: Array, w: Array, kl: float, candidates: int = 1) -> Certificate:
    terms = Terms(delta=DELTA, source="init", trained=True, kl=kl, n_candidates=candidates)
    return certified(losses(w, x, y), x, y, w, terms)


def certified(values: Array, x: Array, y: Array, w: Array, terms: Terms, n_paths: int | None = None) -> Certificate:
    """The certificate of rows with these losses, in their order."""
    answers = (x @ w >= 0).astype(int)
    truth = (y > 0).astype(int)
    keys = np.arange(len(y))
    return certify_evidence(observe(answers, truth, ("-1", "1"), losses=values, n_paths=n_paths, keys=keys), terms)


def gibbs(certificate: Certificate) -> float:
    assert certificate.gibbs_risk_bound is not None
    return certificate.gibbs_risk_bound


@pytest.mark.parametrize("w", [*PRIORS[:3], 6.0 * RULE])
def test_integral_is_the_gibbs_risk(w: Array) -> None:
    x, y = draw(np.random.default_rng(5), 400_000, 0.1)
    values = losses(w, x, y)
    assert abs(values.mean() - risk(w, 0.1)) < 4 * values.std() / np.sqrt(len(values))


@settings_
def test_trained_gibbs(n: int, flip: float) -> None:
    def failed(rng: np.random.Generator) -> bool:
        x, y = draw(rng, n, flip)
        w, kl = trained(x, y, PRIORS[0])
        return gibbs(certify(x, y, w, kl)) < risk(w, flip)

    assert not promise_breaks(failed)


@pytest.mark.parametrize("n", SIZES)
def test_trained_gibbs_without_the_logarithm_is_broken(n: int) -> None:
    def failed(rng: np.random.Generator) -> bool:
        x, y = draw(rng, n, 0.5)
        w, kl = trained(x, y, PRIORS[0], without_logarithm)
        return without_logarithm(float(losses(w, x, y).mean()), kl, n, DELTA) < risk(w, 0.5)

    assert promise_breaks(failed)


@settings_
def test_trained_vote(n: int, flip: float) -> None:
    def failed(rng: np.random.Generator) -> bool:
        x, y = draw(rng, n, flip)
        w, kl = trained(x, y, PRIORS[0])
        bound = certify(x, y, w, kl).vote_error_bound
        return bound is not None and bound < vote_error(w, flip)

    assert not promise_breaks(failed)


@settings_
def test_trained_after_a_choice_among_priors(n: int, flip: float) -> None:
    def failed(rng: np.random.Generator) -> bool:
        x, y = draw(rng, n, flip)
        posteriors = [trained(x, y, prior) for prior in PRIORS]
        certificates = [certify(x, y, w, kl, len(PRIORS)) for w, kl in posteriors]
        best = int(np.argmin([gibbs(c) for c in certificates]))
        return gibbs(certificates[best]) < risk(posteriors[best][0], flip)

    assert not promise_breaks(failed)


@settings_
def test_frozen_gibbs_and_vote(n: int, flip: float) -> None:
    w = PRIORS[1]
    true_risk = risk(w, flip)
    true_error = vote_error(w, flip)

    def certificate(rng: np.random.Generator) -> Certificate:
        x, y = draw(rng, n, flip)
        return certified(losses(w, x, y), x, y, w, Terms(delta=DELTA))

    assert not promise_breaks(lambda rng: gibbs(certificate(rng)) < true_risk)
    assert not promise_breaks(lambda rng: (certificate(rng).vote_error_bound or 0.0) < true_error)


@pytest.mark.parametrize(("candidates", "broken"), [(8, False), (1, True)], ids=["paid", "not paid"])
def test_frozen_choice_is_safe_only_if_paid_for(candidates: int, broken: bool) -> None:
    def failed(rng: np.random.Generator) -> bool:
        x, y = draw(rng, 60, 0.5)
        errors = [int(np.sum(y * (x @ w) < 0)) for w in np.vstack([np.eye(DIMENSION), -np.eye(DIMENSION)])[:8]]
        return bounds.clopper_pearson_bound(min(errors), 60, DELTA, n_candidates=candidates) < 0.5

    assert promise_breaks(failed) == broken


@settings_
@pytest.mark.parametrize("paths", [1, 6])
def test_sampled_gibbs_trained_and_frozen(n: int, flip: float, paths: int) -> None:
    def failed(rng: np.random.Generator) -> bool:
        x, y = draw(rng, n, flip)
        w, kl = trained(x, y, PRIORS[0])
        sampled = (rng.random((n, paths)) < losses(w, x, y)[:, None]).mean(axis=1)
        terms = Terms(delta=DELTA, source="init", trained=True, kl=kl, vote=None)
        return gibbs(certified(sampled, x, y, w, terms, paths)) < risk(w, flip)

    def failed_frozen(rng: np.random.Generator) -> bool:
        x, y = draw(rng, n, flip)
        sampled = (rng.random((n, paths)) < losses(PRIORS[1], x, y)[:, None]).mean(axis=1)
        return gibbs(certified(sampled, x, y, PRIORS[1], Terms(delta=DELTA), paths)) < frozen_risk

    frozen_risk = risk(PRIORS[1], flip)
    assert not promise_breaks(failed)
    assert not promise_breaks(failed_frozen)


@settings_
def test_single_network(n: int, flip: float) -> None:
    def failed(rng: np.random.Generator) -> bool:
        x, y = draw(rng, n, flip)
        w, _ = trained(x, y, PRIORS[0])
        noise = rng.normal(size=DIMENSION)
        h = w + noise
        ratio = float((h - PRIORS[0]) @ (h - PRIORS[0]) - noise @ noise) / 2
        seen = observe((x @ h >= 0).astype(int), (y > 0).astype(int), ("-1", "1"))
        made = certify_drawn(seen, Terms(delta=DELTA, source="init", trained=True), ratio)
        return (made.vote_error_bound or 0.0) < vote_error(h, flip)

    assert not promise_breaks(failed)


@settings_
def test_both_classes_at_once(n: int, flip: float) -> None:
    w = PRIORS[1]
    true = risk(w, flip)  # the world is symmetric, so that both classes have the same risk

    def failed(rng: np.random.Generator) -> bool:
        x, y = draw(rng, n, flip)
        c = certified(losses(w, x, y), x, y, w, Terms(delta=DELTA))
        return min(part.gibbs_risk_bound or 0.0 for part in c.per_class) < true

    assert not promise_breaks(failed)


def test_oversampled_rows_are_not_covered() -> None:
    w = PRIORS[1]
    flip = 0.1
    true = risk(w, flip)

    def failed(rng: np.random.Generator) -> bool:
        x, y = draw(rng, 60, flip)
        return bounds.gibbs_bound_frozen(float(losses(w, x, y).mean()), 60 * 40, DELTA) < true

    assert promise_breaks(failed)


@settings(max_examples=5_000, deadline=None)
@given(st.floats(0.0, 1.0), st.floats(-40.0, 8.0).map(lambda x: 10.0**x))
def test_inverses_are_rounded_outward(q: float, c: float) -> None:
    with mpmath.workdps(60):
        for p in (bounds.kl_inverse_upper(q, c), bounds.kl_inverse_lower(q, c)):
            a = mpmath.mpf(q)
            b = mpmath.mpf(p)
            if 0.0 < p < 1.0:
                if q > 0.0:
                    first = a * mpmath.log(a / b)
                else:
                    first = mpmath.mpf(0)
                if q < 1.0:
                    second = (1 - a) * (mpmath.log1p(-a) - mpmath.log1p(-b))
                else:
                    second = mpmath.mpf(0)
                assert first + second >= c
