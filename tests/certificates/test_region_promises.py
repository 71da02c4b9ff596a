"""Error bounds by region: where the true rates are known, all hold at once as promised, and mutants do not.

A world of eight regions: how frequent each is, and how often a fixed model errs there.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from abnet.bounds import clopper_pearson_bound
from abnet.certificates.certificate import Certificate
from abnet.certificates.evidence import observe
from abnet.certificates.from_evidence import certify
from abnet.certificates.region_counts import LocatedRows
from abnet.certificates.row_hashing import row_hashes
from abnet.certificates.split import Split
from abnet.certificates.statements.region_error import LEAST_ROWS, RegionError
from abnet.certificates.terms import Terms
from broken_promise import breaks

DELTA = 0.2
N = 400
REPETITIONS = 120
NAMES = np.array(["---", "--+", "-+-", "-++", "+--", "+-+", "++-", "+++"])
CHANCES = np.array([0.3, 0.2, 0.15, 0.12, 0.1, 0.07, 0.04, 0.02])
WORLDS = {
    "equal rates": np.full(8, 0.3),
    "different rates": np.array([0.02, 0.1, 0.3, 0.05, 0.5, 0.2, 0.4, 0.3]),
}
worlds = pytest.mark.parametrize("rates", WORLDS.values(), ids=WORLDS.keys())
Rows = tuple[NDArray[np.str_], NDArray[np.bool_]]


def draw(rates: NDArray[np.float64], rng: np.random.Generator, n: int = N) -> Rows:
    where = rng.choice(8, n, p=CHANCES)
    return NAMES[where], rng.random(n) < rates[where]


def certificate(signs: NDArray[np.str_], wrong: NDArray[np.bool_], delta: float = DELTA) -> Certificate:
    truth = np.zeros(len(wrong), int)
    seen = observe(wrong.astype(int), truth, ("no", "yes"), regions=LocatedRows(signs))
    return certify(seen, Terms(delta=delta, source="test set"))


def true_rate(rates: NDArray[np.float64], signs: str) -> float:
    """The error rate of a region."""
    (place,) = np.flatnonzero(np.equal(NAMES, signs))
    return float(rates[place])


def some_bound_fails(rates: NDArray[np.float64], statements: tuple[RegionError, ...]) -> bool:
    return any((statement.value or 0.0) < true_rate(rates, statement.signs) for statement in statements)


def failures(failed: Callable[[np.random.Generator], bool], seed: int) -> int:
    return sum(failed(np.random.default_rng([seed, i])) for i in range(REPETITIONS))


@worlds
def test_all_regions_keep_their_promise_at_once(rates: NDArray[np.float64]) -> None:
    kinds: set[str] = set()

    def failed(rng: np.random.Generator) -> bool:
        statements = certificate(*draw(rates, rng)).each(RegionError)
        kinds.update(statement.signs for statement in statements)
        return some_bound_fails(rates, statements)

    assert not breaks(failures(failed, 21), REPETITIONS, DELTA)
    assert "---" in kinds
    assert len(kinds) > 5


def test_regions_with_the_whole_delta_each_break_it() -> None:
    rates = WORLDS["equal rates"]

    def failed(rng: np.random.Generator) -> bool:
        statements = certificate(*draw(rates, rng)).each(RegionError)
        bounds = [clopper_pearson_bound(s.errors, s.n, DELTA) for s in statements]
        return min(bounds) < 0.3

    assert breaks(failures(failed, 22), REPETITIONS, DELTA)


def test_a_region_chosen_by_its_errors_breaks_it() -> None:
    """The mutant reports the region with the smallest error rate alone, with the whole δ."""
    rates = WORLDS["equal rates"]

    def failed(rng: np.random.Generator) -> bool:
        statements = certificate(*draw(rates, rng)).each(RegionError)
        best = min(statements, key=lambda s: s.errors / s.n)
        return clopper_pearson_bound(best.errors, best.n, DELTA) < 0.3

    assert breaks(failures(failed, 23), REPETITIONS, DELTA)


def test_regions_cut_by_errors_on_the_same_rows_break_it() -> None:
    """The mutant cuts the space by a network that was trained on the rows: here the best of 300 random cuts."""

    def failed(rng: np.random.Generator) -> bool:
        x = rng.normal(size=(N, 2))
        wrong = rng.random(N) < 0.3
        angles = rng.uniform(0, 2 * np.pi, 300)
        cuts = x @ np.array([np.cos(angles), np.sin(angles)]) > 0
        best = min(cuts.T, key=lambda inside: wrong[inside].mean())
        statements = certificate(np.where(best, "+", "-"), wrong).each(RegionError)
        return min(s.value or 0.0 for s in statements) < 0.3

    assert breaks(failures(failed, 24), REPETITIONS, DELTA)


@worlds
@pytest.mark.parametrize("by_position", [False, True], ids=["by content", "by position"])
def test_sorted_files(rates: NDArray[np.float64], by_position: bool) -> None:
    """A file sorted by errors: held-out rows by content keep the promise; the mutant holds out the first half."""

    def failed(rng: np.random.Generator) -> bool:
        signs, wrong = draw(rates, rng, 2 * N)
        X = np.column_stack([rng.normal(size=2 * N), np.searchsorted(NAMES, signs)])
        order = np.argsort(wrong, kind="stable")
        signs = signs[order]
        wrong = wrong[order]
        X = X[order]
        held_out = np.arange(N)
        if not by_position:
            held_out = Split.of(row_hashes(X, wrong.astype(float)), 0.5, int(rng.integers(2**31))).counted
        return some_bound_fails(rates, certificate(signs[held_out], wrong[held_out]).each(RegionError))

    assert breaks(failures(failed, 25), REPETITIONS, DELTA) == by_position


def test_the_order_of_rows_changes_nothing(rng: np.random.Generator) -> None:
    signs, wrong = draw(WORLDS["different rates"], rng)
    order = np.lexsort([wrong, signs])
    one = certificate(signs, wrong)
    other = certificate(signs[order], wrong[order])
    assert one.each(RegionError) == other.each(RegionError)


def test_every_row_is_in_one_region_and_delta_is_shared(rng: np.random.Generator) -> None:
    made = certificate(*draw(WORLDS["different rates"], rng))
    statements = made.each(RegionError)
    assert sum(s.n for s in statements) <= N
    assert min(s.n for s in statements) >= LEAST_ROWS
    assert sum(s.delta for s in statements) <= DELTA
    assert [s.n for s in statements] == sorted((s.n for s in statements), reverse=True)
    made.check()


def test_evidence_from_parts_is_that_of_the_whole(rng: np.random.Generator) -> None:
    signs, wrong = draw(WORLDS["different rates"], rng)
    truth = np.zeros(N, int)

    def seen(rows: slice):  # type: ignore[no-untyped-def]
        return observe(wrong[rows].astype(int), truth[rows], ("no", "yes"), regions=LocatedRows(signs[rows]))

    whole = certify(seen(slice(None)), Terms(source="test set"))
    parts = certify(seen(slice(150)) + seen(slice(150, None)), Terms(source="test set"))
    assert whole == parts


@pytest.mark.parametrize("terms", [Terms(trained=True), Terms(source="test set")], ids=["trained", "groups"])
def test_no_statements_where_rows_of_a_region_are_not_independent(terms: Terms, rng: np.random.Generator) -> None:
    signs, wrong = draw(WORLDS["equal rates"], rng)
    options: dict[str, Any] = {}
    if not terms.trained:
        options = {"groups": np.arange(N) // 2, "keys": np.arange(N)}
    seen = observe(
        wrong.astype(int), np.zeros(N, int), ("no", "yes"), losses=wrong.astype(float), regions=LocatedRows(signs),
        **options,
    )  # fmt: skip
    assert not certify(seen, terms).each(RegionError)


@pytest.mark.parametrize(
    ("field", "value"), [("n", 31), ("errors", 0), ("delta", 0.1), ("answers_given", (1, 0, 0)), ("value", 0.01)]
)
def test_a_changed_certificate_is_refused(field: str, value: object, rng: np.random.Generator) -> None:
    made = certificate(*draw(WORLDS["equal rates"], rng))
    record = made.to_dict()
    assert Certificate.from_dict(record) == made
    place = next(k for k, s in enumerate(record["statements"]) if "signs" in s)
    record["statements"][place][field] = value
    with pytest.raises(ValueError, match="region"):
        Certificate.from_dict(record)


def test_the_smaller_regions_together_would_break_it() -> None:
    """The mutant bounds the error in all regions with too few rows: which these are depends on the same rows."""
    expected = np.concatenate([np.full(150, 36.0), np.full(100, 7.0)])
    always_wrong = np.arange(250) < 150
    chances = expected / expected.sum()

    def failed(rng: np.random.Generator) -> bool:
        counts = rng.multinomial(int(expected.sum()), chances)
        small = counts < LEAST_ROWS
        rows = int(counts[small].sum())
        errors = int(counts[small & always_wrong].sum())
        true = float(np.average(always_wrong[small], weights=chances[small]))
        return clopper_pearson_bound(errors, rows, DELTA) < true

    assert breaks(failures(failed, 26), REPETITIONS, DELTA)
