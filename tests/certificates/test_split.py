"""The split depends on what rows hold and on the seed, never on their places; and so promises hold on sorted files."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from abnet.bounds import clopper_pearson_bound
from abnet.bounds.held_out_bounds import cost_bound, group_error_bound
from abnet.certificates import Split, drawn_seed, row_hashes, row_order
from abnet.certificates.split import warn_of_few_rows
from broken_promise import breaks

N = 60
RNG = np.random.default_rng(5)
X = RNG.normal(size=(N, 4)).astype(np.float32)
Y = np.array(["no", "yes"])[RNG.integers(0, 2, N)]


def test_rows_that_are_equal_in_float32_alone_are_split_alike_in_any_order() -> None:
    """If such rows had one hash, their places in the file would decide which of them is held out."""
    rows = 1.0 + np.arange(N)[:, None] * 1e-12
    shuffled = np.random.default_rng(1).permutation(N)
    one, other = (Split.of(row_hashes(each), 0.4, 3) for each in (rows, rows[shuffled]))
    assert np.array_equal(np.sort(shuffled[other.first]), np.sort(one.first))


def test_the_same_rows_in_another_order_are_split_alike() -> None:
    shuffled = RNG.permutation(N)
    one = Split.of(row_hashes(X, Y), 0.4, 3)
    other = Split.of(row_hashes(X[shuffled], Y[shuffled]), 0.4, 3)
    assert np.array_equal(shuffled[other.first], one.first)
    assert np.array_equal(shuffled[other.counted], one.counted)
    assert np.array_equal(np.sort(np.concatenate([one.first, one.counted])), np.arange(N))
    assert len(one.first) == round(0.4 * N)


def test_the_seed_and_any_other_row_change_the_order() -> None:
    hashes = row_hashes(X, Y)
    assert not np.array_equal(row_order(hashes, 0), row_order(hashes, 1))
    changed = hashes.copy()
    changed[0] += np.uint64(1)
    places = [row_order(each, 0).tolist() for each in (hashes, changed)]
    assert [row for row in places[0] if row] != [row for row in places[1] if row]


def test_equal_rows_fall_on_both_sides_as_by_chance() -> None:
    hashes = np.concatenate([row_hashes(np.zeros((30, 1))), row_hashes(np.ones((70, 1)))])
    zeros = [np.sum(Split.of(hashes, 0.5, seed).first < 30) for seed in range(300)]
    assert abs(np.mean(zeros) - 15) < 5 * np.sqrt(50 * 0.3 * 0.7 * (50 / 99) / 300)
    assert np.std(zeros) == pytest.approx(np.sqrt(50 * 0.3 * 0.7 * (50 / 99)), rel=0.25)


def test_every_split_is_equally_likely() -> None:
    """All six pairs out of four rows, over 600 seeds."""
    hashes = row_hashes(X[:4], Y[:4])
    pairs = [tuple(sorted(Split.of(hashes, 0.5, seed).first.tolist())) for seed in range(600)]
    counts = np.array([pairs.count((i, j)) for i in range(4) for j in range(i + 1, 4)])
    assert counts.sum() == 600
    assert np.sum((counts - 100) ** 2 / 100) < 20.5  # chi-square with 5 degrees of freedom, one in a thousand


def test_every_row_has_its_chance_over_the_seeds() -> None:
    hashes = row_hashes(X, Y)
    seeds = 600
    learned = sum(np.isin(np.arange(N), Split.of(hashes, 0.5, seed).first).astype(int) for seed in range(seeds))
    assert np.abs(learned - seeds / 2).max() < 5 * np.sqrt(seeds / 4)


def test_whole_groups_are_on_one_side_wherever_they_stand() -> None:
    groups = np.repeat(np.arange(15), 4)
    shuffled = RNG.permutation(N)
    names = np.array([f"patient {n}" for n in range(15)])[::-1]
    one = Split.of(row_hashes(X, Y), 0.4, 0, groups)
    other = Split.of(row_hashes(X[shuffled], Y[shuffled]), 0.4, 0, names[groups][shuffled])
    assert set(groups[one.first]).isdisjoint(groups[one.counted])
    assert len(set(groups[one.first])) == 6
    assert np.array_equal(shuffled[other.first], one.first)
    assert np.array_equal(shuffled[other.counted], one.counted)
    assert np.sum(np.diff(groups[np.concatenate([one.first, one.counted])]) != 0) == 14


def test_large_groups_do_not_come_first() -> None:
    groups = np.array([0] * 50 + list(range(1, 51)))
    rows = np.arange(100.0)[:, None]
    place = [groups[row_order(row_hashes(rows + seed), seed, groups)].tolist().index(0) for seed in range(400)]
    assert np.mean(place) == pytest.approx(25, abs=5 * 14.7 / np.sqrt(400))


def test_each_part_has_a_row() -> None:
    hashes = row_hashes(X)
    assert len(Split.of(hashes[:2], 0.01, 0).first) == len(Split.of(hashes[:2], 0.99, 0).counted) == 1
    for few in (hashes[:0], hashes[:1]):
        with pytest.raises(ValueError, match=r"\b2\b"):
            Split.of(few, 0.5, 0)
    with pytest.raises(ValueError, match=r"\b1 group"):
        Split.of(hashes, 0.5, 0, np.zeros(N))


def test_a_seed_is_kept_or_drawn() -> None:
    assert drawn_seed(np.int64(4)) == 4
    assert drawn_seed(np.random.RandomState(1)) == drawn_seed(np.random.RandomState(1))
    assert len({drawn_seed(None) for _ in range(5)}) == 5
    with pytest.raises(ValueError, match="-1"):
        drawn_seed(-1)


# Tables of few different rows

DELTA = 0.1
SAMPLES = 400
ROWS = 60
CELLS = 4
SHARE = 0.3
LIMITS = np.array([clopper_pearson_bound(k, ROWS // 2, DELTA) for k in range(ROWS // 2 + 1)])


def error_counts(seed: int, samples: int) -> NDArray[np.intp]:
    """Errors among the held-out rows of tables with a constant feature; labels are 1 with probability .3."""
    found = []
    for sample in range(samples):
        y = np.random.default_rng([sample, 8]).random(ROWS) < SHARE
        found.append(y[Split.of(row_hashes(np.zeros((ROWS, 1)), y), 0.5, seed).counted].sum())
    return np.array(found)


def test_with_a_constant_feature_a_promise_holds_on_average_over_seeds_and_not_for_each() -> None:
    failed = np.array([LIMITS[error_counts(seed, 200)] < SHARE for seed in range(20)])
    assert not breaks(int(failed.sum()), failed.size, DELTA)
    assert any(breaks(int(count), 200, DELTA) for count in failed.sum(axis=1))


@pytest.mark.parametrize(
    ("rows", "few"),
    [
        (lambda rng: np.zeros((400, 1)), True),
        (lambda rng: np.zeros((40, 1)), True),
        (lambda rng: rng.integers(0, 8, (400, 1)), False),
        (lambda rng: rng.normal(size=(400, 1)), False),
        (lambda rng: rng.normal(size=(6, 1)), False),
    ],
)
def test_a_warning_says_where_a_seed_fixes_the_split(rows: Callable[[Any], NDArray[Any]], few: bool) -> None:
    rng = np.random.default_rng(2)
    X = rows(rng)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_of_few_rows(row_hashes(X, rng.random(len(X)) < 0.3))
    assert len(caught) == few


# Promises on files that are sorted, that lie in blocks, and that are shuffled. One permutation for all samples is right
# or wrong for all of them at once: about a share δ of the seeds are wrong nearly always.

SEEDS = range(20)
Order = Callable[[NDArray[np.uint64], int], NDArray[np.intp]]


def fixed_order(hashes: NDArray[np.uint64], seed: int) -> NDArray[np.intp]:
    """The mutant: a permutation of places with a fixed seed."""
    return np.random.default_rng(seed).permutation(len(hashes))


FILES: dict[str, Callable[[NDArray[Any], NDArray[Any]], NDArray[np.intp]]] = {
    "sorted": lambda cells, y: np.argsort(y, kind="stable"),
    "blocks": lambda cells, y: np.lexsort((y, cells)),
    "shuffled": lambda cells, y: np.arange(len(y)),
}


def failures(file: str, order: Order, seed: int, distinct: bool) -> int:
    """How often the errors of a learner that remembers its rows are certified too low.

    Labels are 1 with probability .3 whatever the cell; what is answered in a cell is what most of its rows in the
    first part have.
    """
    failed = 0
    for sample in range(SAMPLES):
        rng = np.random.default_rng([sample, 7])
        cells = rng.integers(0, CELLS, ROWS)
        y = (rng.random(ROWS) < SHARE).astype(int)
        places = FILES[file](cells, y)
        cells = cells[places]
        y = y[places]
        rows = np.column_stack([cells, rng.normal(size=ROWS) if distinct else cells])
        found = order(row_hashes(rows, y), seed)
        first = found[: ROWS // 2]
        counted = found[ROWS // 2 :]
        answers = np.bincount(cells[first], 2 * y[first] - 1, CELLS) > 0
        risk = np.mean(np.where(answers, 1 - SHARE, SHARE))
        failed += LIMITS[np.sum(y[counted] != answers[cells[counted]])] < risk
    return int(failed)


@pytest.mark.parametrize("distinct", [True, False])
@pytest.mark.parametrize("file", FILES)
def test_a_certificate_holds_whatever_the_order_of_the_file(file: str, distinct: bool) -> None:
    found = [failures(file, row_order, seed, distinct) for seed in SEEDS[:3]]
    assert not any(breaks(count, SAMPLES, DELTA) for count in found), found


def test_a_permutation_with_a_fixed_seed_breaks_it() -> None:
    found = [failures("sorted", fixed_order, seed, True) for seed in SEEDS]
    assert any(breaks(count, SAMPLES, DELTA) for count in found), found


def too_low(bound: Callable[..., float], order: Order, seed: int) -> int:
    """How often a bound by betting fails on losses that are sorted in the file."""
    failed = 0
    for sample in range(SAMPLES):
        rng = np.random.default_rng([sample, 9])
        losses = np.sort(rng.random(ROWS) < SHARE).astype(float)
        rows = np.column_stack([rng.normal(size=ROWS), losses])
        failed += bound(losses, order(row_hashes(rows), seed)) < SHARE
    return failed


def by_cost(losses: NDArray[Any], order: NDArray[np.intp]) -> float:
    return cost_bound(losses[order], 2.0, DELTA) / 2.0


def by_group(losses: NDArray[Any], order: NDArray[np.intp]) -> float:
    errors = losses[order] * 1000
    return group_error_bound([1000] * len(losses), errors.astype(int).tolist(), DELTA)


@pytest.mark.parametrize("bound", [by_cost, by_group])
def test_bets_hold_on_sorted_losses(bound: Callable[..., float]) -> None:
    assert not breaks(too_low(bound, row_order, 0), SAMPLES, DELTA)


@pytest.mark.parametrize("bound", [by_cost, by_group])
def test_bets_by_a_permutation_with_a_fixed_seed_break_their_promise(bound: Callable[..., float]) -> None:
    assert any(breaks(too_low(bound, fixed_order, seed), SAMPLES, DELTA) for seed in SEEDS)
