"""Groups and populations: the promise about new groups, and what counting their rows does to it."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from abnet import bounds
from abnet.bounds.betting import betting_bound, row_weighted_betting_bound
from abnet.bounds.gibbs import gibbs_bound
from abnet.bounds.held_out_bounds import group_error_bound
from abnet.certificates.certificate import Certificate
from abnet.certificates.evidence import observe
from abnet.certificates.from_evidence import certify
from abnet.certificates.keyed_order import bet_keys, row_order
from abnet.certificates.row_hashing import row_hashes
from abnet.certificates.statements.population_error import PopulationError
from abnet.certificates.terms import Terms
from abnet.utils.groups import number_groups
from broken_promise import breaks

DELTA = 0.05
GROUPS = 40
SIZE = 8
REPETITIONS = 500
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
Bound = Callable[[Bools, Ints], float]


def equal_groups(rng: np.random.Generator) -> tuple[Bools, Ints]:
    """40 groups of 8 rows; each group has an error of its own, 0.2 on average."""
    rates = rng.beta(0.4, 1.6, size=GROUPS)
    return (rng.random((GROUPS, SIZE)) < rates[:, None]).ravel(), np.repeat(np.arange(GROUPS), SIZE)


def unequal_groups(rng: np.random.Generator) -> tuple[Bools, Ints]:
    """Groups of 2 rows with an error of 0.1, and of 8 rows with an error of 0.4: 0.25 by group, 0.34 by row."""
    large = rng.random(GROUPS) < 0.5
    sizes = np.where(large, 8, 2)
    rates = np.where(large, 0.4, 0.1) * (1 + np.where(rng.random(GROUPS) < 0.5, 0.8, -0.8))
    groups = np.repeat(np.arange(GROUPS), sizes)
    return rng.random(len(groups)) < rates[groups], groups


def made(wrong: Bools, groups: Any, *, terms: Terms | None = None, order: Any = None) -> Certificate:
    """The certificate of a classifier that errs there, all rows being of one class."""
    keys: Any = np.arange(len(wrong))
    if order is not None:
        keys = bet_keys(order)
    seen = observe(wrong.astype(int), np.zeros(len(wrong), int), ("a", "b"), losses=wrong, groups=groups, keys=keys)
    return certify(seen, Terms(delta=DELTA) if terms is None else terms)


def certified(wrong: Bools, groups: Ints) -> float:
    return made(wrong, groups).vote_error_bound or 0.0


def gibbs(wrong: Bools, groups: Ints) -> float:
    return made(wrong, groups).gibbs_risk_bound or 0.0


def by_hash(wrong: Bools, groups: Ints) -> float:
    """In the order of a hash of what the groups hold, as for new rows; two columns tell the rows apart."""
    X = np.random.default_rng(int(wrong.sum()) + 1000 * int(wrong[:9].sum())).random((len(wrong), 2))
    order = row_order(row_hashes(X, wrong), groups=groups)
    return made(wrong, groups, order=order).vote_error_bound or 0.0


def rowwise(wrong: Bools, groups: Ints) -> float:
    return bounds.clopper_pearson_bound(int(wrong.sum()), len(wrong), DELTA)


def weighted(wrong: Bools, groups: Ints) -> float:
    sums = np.bincount(groups, weights=wrong)
    sizes = np.bincount(groups)
    return row_weighted_betting_bound(sums, sizes, 8, DELTA)


def failures(rng: np.random.Generator, world: Callable[..., tuple[Bools, Ints]], bound: Bound, truth: float) -> int:
    return sum(bound(*world(rng)) < truth for _ in range(REPETITIONS))


@pytest.mark.parametrize(("bound", "broken"), [(certified, False), (gibbs, False), (weighted, False), (rowwise, True)])
def test_equal_groups(rng: np.random.Generator, bound: Bound, broken: bool) -> None:
    assert breaks(failures(rng, equal_groups, bound, 0.2), REPETITIONS, DELTA) == broken


@pytest.mark.parametrize(
    ("bound", "truth", "broken"),
    [(certified, 0.25, False), (weighted, 0.34, False), (certified, 0.34, True)],
    ids=["averaged", "row-weighted", "averaged, taken for row-weighted"],
)
def test_unequal_groups(rng: np.random.Generator, bound: Bound, truth: float, broken: bool) -> None:
    assert breaks(failures(rng, unequal_groups, bound, truth), REPETITIONS, DELTA) == broken


def test_row_wise_failures_are_frequent(rng: np.random.Generator) -> None:
    """About a fifth of the samples at δ = .05."""
    assert 0.12 < failures(rng, equal_groups, rowwise, 0.2) / REPETITIONS < 0.30


@pytest.mark.parametrize(("bound", "broken"), [(by_hash, False), (certified, True)], ids=["by hash", "as given"])
def test_sorted_groups_keep_the_promise(rng: np.random.Generator, bound: Bound, broken: bool) -> None:
    """Groups as a file gives them that is sorted by their errors; the twin bets in this order."""
    failed = 0
    for _ in range(REPETITIONS):
        wrong, groups = equal_groups(rng)
        order = np.argsort(np.bincount(groups, weights=wrong), kind="stable")
        failed += bound(wrong.reshape(GROUPS, SIZE)[order].ravel(), groups) < 0.2
    assert breaks(failed, REPETITIONS, DELTA) == broken


HYPOTHESES = 20


def many(rng: np.random.Generator) -> NDArray[np.bool_]:
    """Errors (H, G, 8) of 20 classifiers; each errs on a group at a rate of its own, 0.2 on average."""
    rates = rng.beta(0.4, 1.6, size=(HYPOTHESES, GROUPS, 1))
    return rng.random((HYPOTHESES, GROUPS, SIZE)) < rates


def best(wrong: NDArray[np.bool_]) -> NDArray[np.bool_]:
    return np.asarray(wrong[wrong.mean(axis=(1, 2)).argmin()])


def trained_on_groups(wrong: NDArray[np.bool_]) -> float:
    """The classifier with the fewest errors, from a uniform prior: a divergence of ln 20."""
    terms = Terms(delta=DELTA, trained=True, kl=math.log(HYPOTHESES))
    return made(best(wrong).ravel(), np.repeat(np.arange(GROUPS), SIZE), terms=terms).gibbs_risk_bound or 0.0


def trained_on_rows(wrong: NDArray[np.bool_]) -> float:
    chosen = best(wrong)
    return gibbs_bound(float(chosen.mean()), math.log(HYPOTHESES), chosen.size, DELTA)


def too_bold(wrong: NDArray[np.bool_]) -> float:
    """A frozen vote at four times the δ that was promised."""
    return betting_bound(wrong[0].mean(axis=1), 4 * DELTA)


def unpaid(wrong: NDArray[np.bool_]) -> float:
    """The best of 20 without paying for the choice."""
    return betting_bound(best(wrong).mean(axis=1), DELTA)


@pytest.mark.parametrize(
    ("bound", "broken"), [(trained_on_groups, False), (trained_on_rows, True), (too_bold, True), (unpaid, True)]
)
def test_posteriors_on_groups(
    rng: np.random.Generator, bound: Callable[[NDArray[np.bool_]], float], broken: bool
) -> None:
    assert breaks(sum(bound(many(rng)) < 0.2 for _ in range(REPETITIONS)), REPETITIONS, DELTA) == broken


def test_the_bound_is_that_of_the_groups_in_their_order(rng: np.random.Generator) -> None:
    groups = np.repeat(np.arange(12), rng.integers(1, 9, size=12))
    wrong = rng.random(len(groups)) < 0.3
    order = row_order(row_hashes(rng.random((len(wrong), 2))), groups=groups)
    bets = list(dict.fromkeys(groups[order].tolist()))
    rows, errors = ([int(f(groups == g)) for g in bets] for f in (np.sum, lambda mine: np.sum(wrong[mine])))
    assert made(wrong, groups, order=order).vote_error_bound == group_error_bound(rows, errors, DELTA)


def test_groups_of_one_row_are_counted_as_rows() -> None:
    """Decided by the sizes alone: one group of two rows, and the groups are bet on, whatever the errors."""
    wrong = np.arange(100) % 20 == 0
    alone = made(wrong, np.arange(100))
    pair = made(wrong, np.minimum(np.arange(100), 98))
    assert alone.vote_error_bound == bounds.clopper_pearson_bound(5, 100, 0.05)
    assert pair.vote_error_bound != bounds.clopper_pearson_bound(5, 99, 0.05)
    assert Certificate.from_dict(pair.to_dict()) == pair


@pytest.mark.parametrize(
    "gap", [None, float("nan"), "", "  ", pd.NA, pd.NaT], ids=["None", "NaN", "empty", "blank", "NA", "NaT"]
)
def test_rows_without_a_group_are_named(gap: object) -> None:
    """They are not one group, and not known to stand alone."""
    groups = np.array(["a", gap, "b", gap], dtype=object)
    with pytest.raises(ValueError, match=r"2 of 4.*row 1, 3"):
        made(np.zeros(4, bool), groups)


def test_groups_are_numbered_as_they_come() -> None:
    assert number_groups(np.array(["b", "a", "b", 3], object), 4).tolist() == [0, 1, 0, 2]
    assert number_groups(np.array([7.0, 7.0, 1.0]), 3).tolist() == [0, 0, 1]


RATES = {"north": 0.05, "south": 0.2, "island": 0.4}


def populations(wrong: Bools, names: Any, delta: float) -> Certificate:
    seen = observe(wrong.astype(int), np.zeros(len(wrong), int), ("a", "b"), populations=names)
    return certify(seen, Terms(delta=delta, source="test set"))


@pytest.mark.parametrize(("factor", "broken"), [(1, False), (4, True)], ids=["shared", "more than delta"])
def test_all_populations_keep_their_promise_at_once(rng: np.random.Generator, factor: int, broken: bool) -> None:
    failed = 0
    delta = 0.1
    for _ in range(500):
        names = rng.choice(list(RATES), size=150, p=[0.6, 0.3, 0.1])
        wrong = rng.random(150) < np.array([RATES[name] for name in names])
        found = populations(wrong, names, delta * factor)
        failed += any((part.value or 0.0) < RATES[part.population] for part in found.each(PopulationError))
    assert breaks(failed, 500, delta) == broken


def test_populations_are_counted() -> None:
    found = populations(np.array([True, False, False, True]), [2, 1, 1, 1], 0.05)
    parts = found.each(PopulationError)
    assert [(s.population, s.n, s.errors) for s in parts] == [("1", 3, 1), ("2", 1, 1)]
    assert sum(s.delta for s in parts) <= 0.05
    assert {s.jointly for s in parts} == {"populations"}
    assert found.vote_error_bound == bounds.clopper_pearson_bound(2, 4, 0.05)
