"""Gibbs risk of a posterior that was not trained on the rows: expected shortfall, and betting on many rows."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.bounds import gibbs_bound_frozen
from abnet.certificates import row_hashes, row_order
from abnet.certificates.evidence import observe
from abnet.certificates.from_evidence import certify
from abnet.certificates.keyed_order import bet_keys
from abnet.certificates.terms import Terms
from simulation import Simulation, repeated

DELTA = 0.1
REPETITIONS = 1_000
Array = NDArray[Any]


def bound(losses: Array, keys: Array) -> float:
    """The bound of a certificate on rows with these expected losses; they are bet on in the order of their keys."""
    truth = np.zeros(len(losses), int)
    seen = observe((losses > 0.5).astype(int), truth, ("no", "yes"), losses=losses, keys=keys)
    made: Any = certify(seen, Terms(delta=DELTA))
    return float(made.gibbs_risk_bound)


def errors_or_none(rng: np.random.Generator, rows: int, risk: float) -> bool:
    """Every network of the posterior errs on the same rows: the losses with the largest variance."""
    losses = (rng.random(rows) < risk).astype(float)
    return bound(losses, rng.permutation(rows)) < risk


def graded(rng: np.random.Generator, rows: int, sort: bool = False) -> bool:
    """Networks that differ: losses between 0 and 1, with the mean 0.2."""
    losses = rng.beta(0.5, 2.0, rows)
    if sort:
        losses = np.sort(losses)
    cells = losses[:, None]
    return bound(losses, bet_keys(row_order(row_hashes(cells, np.zeros(rows)), int(rng.integers(2**31))))) < 0.2


def bet_on_in_their_order(rng: np.random.Generator) -> bool:
    losses = np.sort((rng.random(1_000) < 0.1).astype(float))
    return bound(losses, np.arange(1_000)) < 0.1


def paths_counted_as_rows(rng: np.random.Generator) -> bool:
    """Twelve rows with 200 sampled paths each, as if they were 2,400 rows."""
    chances = np.where(rng.random(12) < 0.3, 0.9, 0.0)
    means = rng.binomial(200, chances) / 200
    return gibbs_bound_frozen(float(means.mean()), 12 * 200, DELTA) < 0.27


def best_of_posteriors(rng: np.random.Generator, paid: int) -> bool:
    """The best of 20 posteriors on the rows, none of which is better than the others."""
    risks = rng.binomial(100, 0.2, 20) / 100
    return gibbs_bound_frozen(float(risks.min()), 100, DELTA, n_candidates=paid) < 0.2


def simulate() -> Iterator[Simulation]:
    """Every setting."""
    size: dict[str, Any] = {"delta": DELTA, "repetitions": REPETITIONS}
    yield repeated("40 rows, each with all errors or none", lambda rng: errors_or_none(rng, 40, 0.1), **size)
    yield repeated("400 rows, each with all errors or none", lambda rng: errors_or_none(rng, 400, 0.3), **size)
    yield repeated("100 rows with losses between 0 and 1", lambda rng: graded(rng, 100), **size)
    yield repeated("1,000 rows, by betting", lambda rng: graded(rng, 1_000), **size)
    yield repeated("1,000 rows sorted by loss, by betting", lambda rng: graded(rng, 1_000, sort=True), **size)
    yield repeated("best of 20 posteriors, declared", lambda rng: best_of_posteriors(rng, 20), **size)
    yield repeated("best of 20 posteriors, not declared", lambda rng: best_of_posteriors(rng, 1), trap=True, **size)
    yield repeated("bets in the order of a sorted file", bet_on_in_their_order, trap=True, **size)
    yield repeated("sampled paths counted as rows", paths_counted_as_rows, trap=True, **size)
