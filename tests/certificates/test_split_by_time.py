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
    """If all times have equally many rows, the end of the first part is the nearest to the fraction."""
    made = split(TIMES, fraction)
    assert TIMES[made.first].max() == made.latest < TIMES[made.counted].min()
    assert sorted([*made.first, *made.counted]) == list(range(len(TIMES)))
    for rows_each in (1, 7):
        size = len(split(np.repeat(np.arange(14.0), rows_each), fraction).first)
        sizes = np.arange(1, 14) * rows_each
        assert abs(size - fraction * 14 * rows_each) == np.abs(sizes - fraction * 14 * rows_each).min()


@pytest.mark.parametrize("most", [None, 50])
def test_the_cut_depends_on_no_later_time(most: int | None) -> None:
    n_cuts = 0
    for sample in range(200):
        rng = np.random.default_rng([8, sample])
        times = rng.choice(12, size=100, p=rng.dirichlet(np.full(12, 3.0))).astype(float)
        try:
            latest = split(times, most=most).latest
        except ValueError:
            continue  # too many rows of one time
        assert latest is not None
        later = np.flatnonzero(times > latest)
        times[later] = latest + 1.0 + rng.integers(0, rng.integers(1, 5), len(later))
        assert split(times, most=most).latest == latest
        n_cuts += 1
    assert n_cuts > 100


def test_at_most_so_many_rows_train() -> None:
    assert len(split(TIMES, 0.6, most=70).first) == 60
    assert len(split(TIMES, 0.6, most=49).first) == 30
    for most, rows in ((4, 5), (59, 60)):  # the fourth time is larger than any before
        with pytest.raises(ValueError, match=f"{rows} rows"):
            split(TIMES, 0.6, most=most)


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


def nearest_cut(times: np.ndarray, fraction: float) -> float:
    """The place between two times that is nearest to the fraction: the next time has a part in it."""
    moments, counts = np.unique(times, return_counts=True)
    return float(moments[np.argmin(np.abs(np.cumsum(counts)[:-1] - fraction * len(times)))])


@pytest.mark.parametrize("nearest", [False, True])
def test_many_rows_of_one_time_do_not_choose_the_period(nearest: bool) -> None:
    """The second of three times has no errors. If many of its rows put it into the period, they hide the third time."""
    shares = np.array([0.05, 0.6, 0.35])
    errors = np.array([0.0, 0.0, 0.9])
    delta = 0.3
    fraction = 0.35
    false = 0
    hashes = row_hashes(np.arange(400.0)[:, None])
    for sample in range(1500):
        rng = np.random.default_rng([9, sample])
        times = rng.choice(3, size=400, p=shares)
        wrong = rng.random(400) < errors[times]
        cut = Split.by_time(hashes, times.astype(float), fraction, sample).latest
        if nearest:
            cut = nearest_cut(times, fraction)
        assert cut is not None
        later = np.arange(3) > cut
        risk = float(shares[later] @ errors[later] / shares[later].sum())
        counted = wrong[times > cut]
        false += clopper_pearson_bound(int(counted.sum()), len(counted), delta) < risk
    assert breaks(false, 1500, delta) == nearest
