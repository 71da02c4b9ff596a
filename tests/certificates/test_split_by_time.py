"""A split by time: what is on which side, and the promise about the period that was held out, with its traps."""

import numpy as np
import pytest

from abnet.bounds import clopper_pearson_bound
from abnet.certificates import row_hashes
from abnet.certificates.split import Split
from broken_promise import breaks

DELTA = 0.1
N = 300
TIMES = np.repeat(np.arange(10.0), [5, 20, 5, 30, 10, 10, 5, 5, 5, 5])


def split(times: np.ndarray, fraction: float = 0.6, **options: object) -> Split:
    hashes = row_hashes(np.arange(len(times), dtype=float)[:, None])
    return Split.by_time(hashes, times, fraction, 0, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("fraction", [0.01, 0.3, 0.6, 0.99])
def test_all_rows_of_the_first_part_are_earlier(fraction: float) -> None:
    """Of all places between two times, the end of the first part is the nearest to the fraction."""
    made = split(TIMES, fraction)
    assert TIMES[made.first].max() == made.latest < TIMES[made.counted].min()
    assert sorted([*made.first, *made.counted]) == list(range(len(TIMES)))
    sizes = np.cumsum(np.bincount(TIMES.astype(int)))[:-1]
    assert abs(len(made.first) - fraction * 100) == np.abs(sizes - fraction * 100).min()


def test_at_most_so_many_rows_train() -> None:
    assert len(split(TIMES, 0.6, most=59).first) == 30
    with pytest.raises(ValueError, match="5 rows"):
        split(TIMES, 0.6, most=4)


def test_one_time_only() -> None:
    with pytest.raises(ValueError, match="same time"):
        split(np.ones(5))


def test_groups_are_on_one_side() -> None:
    """The past ends where no group goes on, near the fraction; if there is no such time, the split is refused."""
    groups = (TIMES // 2).astype(int)
    made = split(TIMES, groups=groups)
    assert made.latest == 3.0
    assert not set(groups[made.first]) & set(groups[made.counted])
    order = groups[made.counted]
    assert np.sum(order[1:] != order[:-1]) + 1 == len(set(order))  # rows of a group are neighbours
    for across in (np.append(groups[:-1], 0), np.where(TIMES == 0, 0, 1 + np.arange(100) % 7)):
        with pytest.raises(ValueError, match="both sides"):
            split(TIMES, groups=across)


def test_the_order_of_the_file_does_not_matter() -> None:
    """Equal rows of different times can be on both sides, and each side is the same rows in the same order."""
    rng = np.random.default_rng(0)
    cells = rng.integers(0, 4, (100, 1)).astype(float)
    made = Split.by_time(row_hashes(cells), TIMES, 0.6, 3)
    shuffled = rng.permutation(100)
    other = Split.by_time(row_hashes(cells[shuffled]), TIMES[shuffled], 0.6, 3)
    for name in ("first", "counted"):
        np.testing.assert_array_equal(cells[getattr(made, name)], cells[shuffled][getattr(other, name)])
    assert made.latest == other.latest


def test_the_bound_rows_are_not_in_the_order_of_time() -> None:
    times = np.arange(2000.0)
    counted = split(times).counted
    assert abs(np.corrcoef(np.arange(len(counted)), times[counted])[0, 1]) < 0.15


# The promise. A fixed model errs more often the later it is: with probability 0.05 + 0.3 t² at time t in [0, 1].


def error_at(t: np.ndarray) -> np.ndarray:
    return np.asarray(0.05 + 0.3 * t**2)


def draw(rng: np.random.Generator, order: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Times in 50 steps, cells and errors, in the order of the file."""
    steps = rng.integers(0, 50, N)
    times = (steps + 0.5) / 50
    wrong = rng.random(N) < error_at(times)
    cells = rng.integers(0, 6, (N, 1)).astype(float)
    places = {"as drawn": np.arange(N), "by time": np.argsort(times), "by label": np.argsort(wrong)}[order]
    return times[places], cells[places], wrong[places]


def period_risk(latest: float) -> float:
    """The mean error of the steps after the cut."""
    steps = (np.arange(50) + 0.5) / 50
    return float(error_at(steps[steps > latest]).mean())


def bound(wrong: np.ndarray) -> float:
    return clopper_pearson_bound(int(wrong.sum()), len(wrong), DELTA)


@pytest.mark.parametrize("order", ["as drawn", "by time", "by label"])
def test_the_promise_about_the_period(order: str) -> None:
    rng = np.random.default_rng(5)
    false = 0
    for sample in range(500):
        times, cells, wrong = draw(rng, order)
        made = Split.by_time(row_hashes(cells, wrong), times, 0.6, sample)
        assert made.latest is not None
        false += bound(wrong[made.counted]) < period_risk(made.latest)
    assert not breaks(false, 500, DELTA)


def test_a_random_split_promises_nothing_about_the_future() -> None:
    """The trap: on the same drifting source, a random part bounds the error of past and future together."""
    rng = np.random.default_rng(6)
    false = 0
    for sample in range(500):
        times, cells, wrong = draw(rng, "as drawn")
        hashes = row_hashes(cells, wrong)
        cut = Split.by_time(hashes, times, 0.6, sample).latest
        assert cut is not None
        made = Split.of(hashes, 0.6, sample)
        false += bound(wrong[made.counted]) < period_risk(cut)
    assert breaks(false, 500, DELTA)


def test_a_cut_that_looks_at_errors_is_a_choice() -> None:
    """The mutant: of several cuts, the one after which the fewest rows are wrong."""
    rng = np.random.default_rng(7)
    false = 0
    for sample in range(500):
        times, cells, wrong = draw(rng, "as drawn")
        found = []
        for fraction in np.linspace(0.5, 0.95, 20):
            made = Split.by_time(row_hashes(cells, wrong), times, fraction, sample)
            found.append((bound(wrong[made.counted]), made.latest))
        least, cut = min(found)
        assert cut is not None
        false += least < period_risk(cut)
    assert breaks(false, 500, DELTA)
