"""Expected cost of the cheapest answers among several classes."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet import Costs
from abnet.bounds.held_out_bounds import cost_bound
from abnet.certificates.expected_costs import ExpectedCosts
from abnet.certificates.keyed_order import bet_keys, row_order
from abnet.certificates.meet_goal import meet
from abnet.certificates.row_hashing import row_hashes
from abnet.certificates.terms import Terms
from abnet.certificates.validation_scores import ValidationScores
from simulation import Simulation, repeated

DELTA = 0.05
ROWS = 200
REPETITIONS = 1_000
NAMES = ("a", "b", "c", "d")
TABLE = np.array([[0, 1, 1, 2], [1, 0, 1, 2], [4, 4, 0, 4], [20, 20, 5, 0]], float)
LARGEST = float(TABLE.max())
CELLS = 80
CHANCES = np.random.default_rng(11).dirichlet([2.0, 2.0, 0.7, 0.3], CELLS)
"""Probability of each class in each of 80 equally frequent cells."""
SHARES = CHANCES**2 / (CHANCES**2).sum(axis=1, keepdims=True)
"""What the model says: it is too certain."""
Array = NDArray[Any]


def draw(rng: np.random.Generator, rows: int = ROWS, *, sort: bool = False) -> tuple[Array, Array]:
    """Cells and classes."""
    cells = rng.integers(0, CELLS, rows)
    truth = (rng.random(rows)[:, None] > CHANCES[cells].cumsum(axis=1)[:, :3]).sum(axis=1)
    if sort:
        order = np.argsort(truth, kind="stable")
        return cells[order], truth[order]
    return cells, truth


def true_cost(answers: Array) -> float:
    """Expected cost of one answer for each cell."""
    return float(np.mean([CHANCES[cell] @ TABLE[:, answer] for cell, answer in enumerate(answers)]))


def betting_order(rng: np.random.Generator, cells: Array, truth: Array) -> Array:
    return row_order(row_hashes(cells[:, None].astype(float), truth), int(rng.integers(2**31)))


def of_a_fit(rng: np.random.Generator, sort: bool) -> bool:
    """What a fit does: the rule from validation rows, the bound from others."""
    held_cells, held_truth = draw(rng, 150)
    cells, truth = draw(rng, sort=sort)
    keys = bet_keys(betting_order(rng, cells, truth))
    held = ValidationScores(SHARES[held_cells], held_truth)
    decision, (made, *_) = meet(Costs(TABLE), held, SHARES[cells], truth, NAMES, Terms(delta=DELTA), keys=keys)
    assert decision is not None
    return float(made.value or 0.0) < true_cost(decision(SHARES))


def counted_rows_choose(rng: np.random.Generator) -> bool:
    """Every cell gets the answer that is cheapest on the counted rows."""
    cells, truth = draw(rng)
    totals = np.zeros((CELLS, 4))
    np.add.at(totals, cells, TABLE[truth])
    answers = np.argmin(totals, axis=1)
    shares = TABLE[truth, answers[cells]] / LARGEST
    return cost_bound(shares[betting_order(rng, cells, truth)], LARGEST, DELTA) < true_cost(answers)


def copied_rows(rng: np.random.Generator) -> bool:
    """Fifty rows, each of them four times, as if they were two hundred."""
    answers = ExpectedCosts(table=tuple(map(tuple, TABLE.tolist()))).answers(SHARES)
    cells, truth = (np.repeat(part, 4) for part in draw(rng, ROWS // 4))
    shares = TABLE[truth, answers[cells]] / LARGEST
    return cost_bound(shares[rng.permutation(ROWS)], LARGEST, DELTA) < true_cost(answers)


def lower_maximum(rng: np.random.Generator) -> bool:
    """Costs above a fifth of the largest are cut off, as if they could not occur."""
    answers = ExpectedCosts(table=tuple(map(tuple, TABLE.tolist()))).answers(SHARES)
    cells, truth = draw(rng)
    shares = np.minimum(TABLE[truth, answers[cells]] / (LARGEST / 5), 1.0)
    return cost_bound(shares[betting_order(rng, cells, truth)], LARGEST / 5, DELTA) < true_cost(answers)


def simulate() -> Iterator[Simulation]:
    """Every setting."""
    size: dict[str, Any] = {"delta": DELTA, "repetitions": REPETITIONS}
    yield repeated("200 rows in random order", lambda rng: of_a_fit(rng, False), **size)
    yield repeated("200 rows sorted by class", lambda rng: of_a_fit(rng, True), **size)
    yield repeated("the counted rows choose the answers", counted_rows_choose, trap=True, **size)
    yield repeated("every row four times", copied_rows, trap=True, **size)
    yield repeated("costs cut off at a fifth of the largest", lower_maximum, trap=True, **size)
