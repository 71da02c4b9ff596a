"""The promise kept: where the true risk is known, a bound fails at most a δ share of the time, and a mutant does not.

Failures are counted exactly, by enumeration, for Bernoulli losses, and in repeated samples for posteriors that are
trained, chosen or sampled. The longer runs are in the long tests.
"""

import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import ndtr

from abnet import bounds
from abnet.certificates.certificate import Certificate
from abnet.certificates.evidence import observe
from abnet.certificates.from_evidence import certify, certify_drawn
from abnet.certificates.statements.betting_gibbs_bound import FEWEST_ROWS
from abnet.certificates.terms import Expected, Terms
from broken_promise import breaks

DELTA = 0.1
N = 40
REPETITIONS = 200
Array = NDArray[np.float64]
Counted = Callable[[int], float]
Bound = Callable[[float, float, int, float], float]

COUNTED: dict[str, Counted] = {
    "gibbs": lambda k: bounds.gibbs_bound(k / N, 0.0, N, DELTA),
    "gibbs frozen": lambda k: bounds.gibbs_bound_frozen(k / N, N, DELTA),
    "catoni": lambda k: bounds.catoni_bound(k / N, 0.0, N, DELTA),
    "test set": lambda k: bounds.clopper_pearson_bound(k, N, DELTA),
    "single network": lambda k: bounds.single_network_bound(k / N, 0.0, N, DELTA),
}
MUTANTS: dict[str, Counted] = {
    "without the logarithm": lambda k: bounds.kl_inverse_upper(k / N, 0.0),
    "with a tenth of the logarithm": lambda k: bounds.kl_inverse_upper(k / N, 0.1 * math.log(1 / DELTA) / N),
    "lower end": lambda k: bounds.kl_inverse_lower(k / N, math.log(1 / DELTA) / N),
}


def worst_failure(bound: Counted) -> float:
    """Largest probability, over true risks, that the bound from Binomial(N, risk) errors lies below the risk."""
    values = np.array([bound(k) for k in range(N + 1)])
    rates = np.linspace(0.005, 0.995, 199)
    pmf = np.array([[math.comb(N, k) * p**k * (1 - p) ** (N - k) for k in range(N + 1)] for p in rates])
    return float(np.max(np.sum(pmf * (values < rates[:, None]), axis=1)))


@pytest.mark.parametrize("bound", COUNTED.values(), ids=COUNTED.keys())
def test_bound_fails_at_most_a_delta_share_of_the_time(bound: Counted) -> None:
    assert worst_failure(bound) <= DELTA


@pytest.mark.parametrize("mutant", MUTANTS.values(), ids=MUTANTS.keys())
def test_mutant_fails_more_often(mutant: Counted) -> None:
    assert worst_failure(mutant) > 2 * DELTA


# A world of eight inputs on a circle. The prior over linear classifiers is N(PRIOR, I); a posterior N(w, I) has the
# Gibbs risk Φ(-y w·x) there.
ANGLES = np.arange(8) * np.pi / 4
INPUTS = np.stack([np.cos(ANGLES), np.sin(ANGLES)], axis=1)
PRIOR = np.array([1.5, 0.5])


class World:
    """Labels are +1 with probability ``chances`` at the eight inputs, which are equally frequent."""

    def __init__(self, chances: Array) -> None:
        self.chances = chances

    def draw(self, rng: np.random.Generator) -> tuple[Array, Array]:
        where = rng.integers(8, size=N)
        return INPUTS[where], np.where(rng.random(N) < self.chances[where], 1.0, -1.0)

    def risk(self, w: Array) -> float:
        wrong = ndtr(-INPUTS @ w)  # for the label +1
        return float(np.mean(self.chances * wrong + (1 - self.chances) * (1 - wrong)))

    def vote_error(self, w: Array) -> float:
        wrong = INPUTS @ w < 0.0
        return float(np.mean(np.where(wrong, self.chances, 1 - self.chances)))


NOISE = World(np.full(8, 0.5))
SIGNAL = World(np.where(INPUTS[:, 0] + 0.5 * INPUTS[:, 1] > 0, 0.95, 0.05))
worlds = pytest.mark.parametrize("world", [NOISE, SIGNAL], ids=["noise", "signal"])


def trained(x: Array, y: Array, bound: Bound = bounds.gibbs_bound) -> tuple[Array, float]:
    """Return the posterior mean, from the prior's along the mean of y x, that has the smallest bound, and its KL."""
    ray = (y[:, None] * x).mean(axis=0)

    def bound_after(step: float) -> float:
        kl = step**2 * ray @ ray / 2
        return bound(mean_loss(PRIOR + step * ray, x, y), kl, N, DELTA)

    best = min((0.0, 0.3, 1.0, 3.0), key=bound_after)
    return PRIOR + best * ray, float(best**2 * ray @ ray) / 2


def mean_loss(w: Array, x: Array, y: Array) -> float:
    return float(losses(w, x, y).mean())


def without_logarithm(risk: float, kl: float, n: int, delta: float) -> float:
    return bounds.kl_inverse_upper(risk, kl / n)


def losses(w: Array, x: Array, y: Array) -> Array:
    return np.asarray(ndtr(-y * (x @ w)))


def certified(values: Array, y: Array, scores: Array, terms: Terms, **options: object) -> Certificate:
    """The certificate of rows with these losses, labels and scores, in their order."""
    truth = (y > 0).astype(int)
    answers = (scores >= 0).astype(int)
    keys = np.arange(len(y))
    evidence = observe(answers, truth, ("-1", "1"), losses=values, keys=keys, **options)  # type: ignore[arg-type]
    return certify(evidence, terms)


def promise_breaks(failed: Callable[[np.random.Generator], bool]) -> bool:
    """Whether a bound fails in more repetitions than δ explains."""
    failures = sum(failed(np.random.default_rng([11, i])) for i in range(REPETITIONS))
    return breaks(failures, REPETITIONS, DELTA)


@worlds
def test_trained_certificate_keeps_its_promise(world: World) -> None:
    def failures(rng: np.random.Generator) -> NDArray[np.bool_]:
        x, y = world.draw(rng)
        w, kl = trained(x, y)
        c = certified(losses(w, x, y), y, x @ w, Terms(delta=DELTA, source="init", trained=True, kl=kl))
        assert c.gibbs_risk_bound is not None
        assert c.vote_error_bound is not None
        return np.array([c.gibbs_risk_bound < world.risk(w), c.vote_error_bound < world.vote_error(w)])

    counts = sum(failures(np.random.default_rng([3, i])).astype(int) for i in range(REPETITIONS))
    assert not any(breaks(int(count), REPETITIONS, DELTA) for count in np.atleast_1d(counts))


def test_trained_mutant_without_the_logarithm_breaks_it() -> None:
    def failed(rng: np.random.Generator) -> bool:
        x, y = NOISE.draw(rng)
        w, kl = trained(x, y, without_logarithm)
        return without_logarithm(mean_loss(w, x, y), kl, N, DELTA) < NOISE.risk(w)

    assert promise_breaks(failed)


@worlds
def test_frozen_certificate_keeps_its_promise(world: World) -> None:
    w = np.array([1.2, 0.4])

    def certificate(rng: np.random.Generator) -> Certificate:
        x, y = world.draw(rng)
        return certified(losses(w, x, y), y, x @ w, Terms(delta=DELTA))

    assert not promise_breaks(lambda rng: (certificate(rng).gibbs_risk_bound or 0.0) < world.risk(w))
    assert not promise_breaks(lambda rng: (certificate(rng).vote_error_bound or 0.0) < world.vote_error(w))


@pytest.mark.parametrize(("paid", "broken"), [(30, False), (1, True)], ids=["paid", "not paid"])
def test_choice_among_candidates_is_safe_only_if_paid_for(paid: int, broken: bool) -> None:
    def failed(rng: np.random.Generator) -> bool:
        wrong = rng.random((30, N)) < 0.5  # thirty unrelated models, each of them a coin
        best = int(wrong.sum(axis=1).min())
        return bounds.clopper_pearson_bound(best, N, DELTA, n_candidates=paid) < 0.5

    assert promise_breaks(failed) == broken


@worlds
def test_sampled_certificate_keeps_its_promise(world: World) -> None:
    def failed(rng: np.random.Generator) -> bool:
        x, y = world.draw(rng)
        w, kl = trained(x, y)
        paths = (rng.random((N, 4)) < losses(w, x, y)[:, None]).astype(float)
        pairs = (paths[:, :2] * paths[:, 2:]).mean(axis=1)
        terms = Terms(delta=DELTA, source="init", trained=True, kl=kl)
        c = certified(paths.mean(axis=1), y, x @ w, terms, pairs=pairs, n_paths=4)
        return (c.gibbs_risk_bound or 0.0) < world.risk(w)

    assert not promise_breaks(failed)


@worlds
def test_single_network_keeps_its_promise(world: World) -> None:
    def failed(rng: np.random.Generator) -> bool:
        x, y = world.draw(rng)
        w, _ = trained(x, y)
        noise = rng.normal(size=2)
        h = w + noise
        ratio = ((h - PRIOR) @ (h - PRIOR) - noise @ noise) / 2
        seen = observe((x @ h >= 0.0).astype(int), (y > 0).astype(int), ("-1", "1"))
        terms = Terms(delta=DELTA, source="init", trained=True)
        return (certify_drawn(seen, terms, float(ratio)).vote_error_bound or 0.0) < world.vote_error(h)

    assert not promise_breaks(failed)


def test_a_drawn_network_that_is_not_charged_for_its_training_breaks_it() -> None:
    """The mutant counts a network that was trained on the rows as if it had never seen them."""

    def failed(rng: np.random.Generator) -> bool:
        x, y = NOISE.draw(rng)
        candidates = rng.normal(size=(40, 2))
        h = min(candidates, key=lambda h: float(np.mean((x @ h >= 0.0) != (y > 0))))
        seen = observe((x @ h >= 0.0).astype(int), (y > 0).astype(int), ("-1", "1"))
        return (certify_drawn(seen, Terms(delta=DELTA)).vote_error_bound or 0.0) < 0.5

    assert promise_breaks(failed)


@pytest.mark.parametrize("shared", [True, False])
def test_many_classes_hold_at_once_only_if_they_share_delta(shared: bool) -> None:
    """Five classes of coins: one of their bounds fails in at most δ of the samples, in many more with δ for each."""

    def failed(rng: np.random.Generator) -> bool:
        codes = rng.integers(5, size=5 * N)
        wrong = np.less(rng.random(5 * N), 0.5)
        seen = observe(np.where(wrong, (codes + 1) % 5, codes), codes, tuple("abcde"))
        parts = certify(seen, Terms(delta=DELTA, source="test set")).per_class
        if shared:
            values = [part.vote_error_bound or 0.0 for part in parts]
        else:
            values = [bounds.clopper_pearson_bound(part.vote_errors, part.n_examples, DELTA) for part in parts]
        return min(values) < 0.5

    assert promise_breaks(failed) == (not shared)


def test_both_classes_keep_their_promise_at_once() -> None:
    w = np.array([0.8, -0.3])
    wrong = ndtr(-INPUTS @ w)
    positive = float(np.average(wrong, weights=SIGNAL.chances))
    negative = float(np.average(1 - wrong, weights=1 - SIGNAL.chances))

    def failed(rng: np.random.Generator) -> bool:
        x, y = SIGNAL.draw(rng)
        parts = certified(losses(w, x, y), y, x @ w, Terms(delta=DELTA)).per_class
        return (parts[0].gibbs_risk_bound or 0.0) < negative or (parts[1].gibbs_risk_bound or 0.0) < positive

    assert not promise_breaks(failed)


@pytest.mark.parametrize("mutant", [False, True])
def test_frozen_sampled_promise(mutant: bool) -> None:
    """Twelve rows with 200 paths each: taking the paths for independent rows (the mutant) breaks the promise."""
    chances = np.array([0.0, 0.9])
    n = 12
    paths = 200

    def failed(rng: np.random.Generator) -> bool:
        p = chances[(rng.random(n) < 0.3).astype(int)]
        means = (rng.random((n, paths)) < p[:, None]).mean(axis=1)
        if mutant:
            return bool(bounds.gibbs_bound_frozen(float(means.mean()), n * paths, DELTA) < 0.27)
        made = certified(means, np.ones(n), np.ones(n), Terms(delta=DELTA), pairs=means**2, n_paths=paths)
        return (made.gibbs_risk_bound or 0.0) < 0.27

    assert promise_breaks(failed) == mutant


@pytest.mark.parametrize("mutant", [False, True])
def test_betting_promise(mutant: bool) -> None:
    """Losses sorted before they are bet on (the mutant) are losses in an order that depends on them."""

    def failed(rng: np.random.Generator) -> bool:
        risks = np.where(rng.random(FEWEST_ROWS) < 0.1, 1.0, 0.0)
        if mutant:
            risks = np.sort(risks)
        made = certified(risks, np.ones(FEWEST_ROWS), np.ones(FEWEST_ROWS), Terms(delta=DELTA))
        return (made.gibbs_risk_bound or 0.0) < 0.1

    assert promise_breaks(failed) == mutant


@pytest.mark.parametrize("mutant", [False, True])
def test_fixed_C_promise(mutant: bool) -> None:
    """The best of 50 coins, told apart by ln 50 nats; the mutant forgets them."""
    n = 100
    coins = 50
    truth = 0.3

    def failed(rng: np.random.Generator) -> bool:
        values = (rng.random((coins, n)) < truth).astype(float)
        best = values[np.argmin(values.mean(axis=1))]
        if mutant:
            kl = 0.0
        else:
            kl = float(np.log(coins))
        terms = Terms(delta=DELTA, trained=True, kl=kl, expected=Expected(0.2, kl, 0.2))
        return (certified(best, np.ones(n), np.ones(n), terms).gibbs_risk_bound or 0.0) < truth

    assert promise_breaks(failed) == mutant


def test_floor_of_a_trained_posterior_lowers_the_bound_on_the_vote() -> None:
    """Losses of .1 and .5: twice the Gibbs risk ignores that no loss is below .1."""
    rng = np.random.default_rng(0)
    p = np.where(rng.random(3000) < 0.1, 0.5, 0.1)
    plain, floored = (
        certified(p, np.ones(3000), np.ones(3000), Terms(delta=DELTA, trained=True, floor=floor)).vote_error_bound or 0
        for floor in (0.0, 0.1)
    )
    assert 0.1 <= floored < 0.9 * plain
