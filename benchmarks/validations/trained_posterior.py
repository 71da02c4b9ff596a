"""Gibbs risk and vote of a posterior that was trained on the bound rows: the certificate of `posterior="train"`.

Two worlds in which the true risk is a formula. On eight points of a circle, the posterior is a Gaussian over linear
classifiers, and training chooses how far its mean moves from the prior's. Among 1,000 coins, the posterior is the coin
with the fewest errors; the prior is uniform, so the divergence is ln 1000.
"""

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from abnet.bounds import gibbs_bound
from abnet.certificates.evidence import observe
from abnet.certificates.from_evidence import certify
from abnet.certificates.terms import Expected, Terms
from simulation import Simulation, repeated

DELTA = 0.1
REPETITIONS = 1_000
ROWS = 60
ANGLES = np.arange(8) * np.pi / 4
POINTS = np.stack([np.cos(ANGLES), np.sin(ANGLES)], axis=1)
PRIOR = np.array([1.5, 0.5])
COINS = 1_000
COIN_ROWS = 100
COIN_RISK = 0.3
Array = NDArray[Any]

SIGNAL = np.where(POINTS[:, 0] + 0.5 * POINTS[:, 1] > 0, 0.95, 0.05)
"""Probability of the label 1 at each point."""
NOISE = np.full(8, 0.5)


def train(x: Array, sides: Array) -> tuple[Array, float]:
    """The posterior mean with the smallest bound, of four along the mean of the rows, and its divergence."""
    ray = (sides[:, None] * x).mean(axis=0)

    def bound_after(step: float) -> float:
        risk = float(ndtr(-sides * (x @ (PRIOR + step * ray))).mean())
        return gibbs_bound(risk, step**2 * float(ray @ ray) / 2, len(x), DELTA)

    best = min((0.0, 0.3, 1.0, 3.0), key=bound_after)
    return PRIOR + best * ray, best**2 * float(ray @ ray) / 2


def circle(rng: np.random.Generator, chances: Array, vote: bool, sort: bool = False) -> bool:
    """Whether the bound on the Gibbs risk, or on the vote, is below the truth."""
    where = rng.integers(8, size=ROWS)
    labels = (rng.random(ROWS) < chances[where]).astype(int)
    if sort:
        order = np.argsort(labels, kind="stable")
        where = where[order]
        labels = labels[order]
    x = POINTS[where]
    sides = 2.0 * labels - 1.0
    mean, kl = train(x, sides)
    losses = ndtr(-sides * (x @ mean))
    seen = observe((x @ mean >= 0).astype(int), labels, ("no", "yes"), losses=losses, keys=np.arange(ROWS))
    made: Any = certify(seen, Terms(delta=DELTA, source="init", trained=True, kl=kl))
    scores = POINTS @ mean
    if vote:
        true = float(np.mean(np.where(scores >= 0, 1 - chances, chances)))
        return bool(made.vote_error_bound < true)
    wrong = ndtr(-scores)  # where the label is 1
    return bool(made.gibbs_risk_bound < np.mean(chances * wrong + (1 - chances) * (1 - wrong)))


def best_coin(rng: np.random.Generator, terms: Terms) -> bool:
    """The bound on the risk of the best coin."""
    errors = rng.binomial(COIN_ROWS, COIN_RISK, COINS)
    best = (np.arange(COIN_ROWS) < errors.min()).astype(float)
    seen = observe(best.astype(int), np.zeros(COIN_ROWS, int), ("no", "yes"), losses=best, keys=np.arange(COIN_ROWS))
    made: Any = certify(seen, terms)
    return bool(made.gibbs_risk_bound < COIN_RISK)


def with_terms(**given: Any) -> Callable[[np.random.Generator], bool]:
    return lambda rng: best_coin(rng, Terms(delta=DELTA, **given))


def simulate() -> Iterator[Simulation]:
    """Every setting."""
    size: dict[str, Any] = {"delta": DELTA, "repetitions": REPETITIONS}
    yield repeated("Gibbs risk, labels that can be learned", lambda rng: circle(rng, SIGNAL, vote=False), **size)
    yield repeated("Gibbs risk, labels at random", lambda rng: circle(rng, NOISE, vote=False), **size)
    yield repeated("Gibbs risk, rows sorted by label", lambda rng: circle(rng, SIGNAL, False, sort=True), **size)
    yield repeated("vote, labels that can be learned", lambda rng: circle(rng, SIGNAL, vote=True), **size)
    yield repeated("vote, labels at random", lambda rng: circle(rng, NOISE, vote=True), **size)
    kl = math.log(COINS)
    expected = Expected(0.2, kl, 0.2)
    yield repeated("best of 1,000 coins", with_terms(trained=True, kl=kl), **size)
    yield repeated("best of 1,000 coins, C fixed before", with_terms(trained=True, kl=kl, expected=expected), **size)
    yield repeated("prior moved to the best coin afterwards", with_terms(trained=True, kl=0.0), trap=True, **size)
    yield repeated("best coin certified as if not trained", with_terms(), trap=True, **size)
