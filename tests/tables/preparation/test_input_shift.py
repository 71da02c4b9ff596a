"""New rows beside training rows: no more false alarms than promised, and power for the usual accidents."""

import warnings
from collections.abc import Callable
from itertools import combinations

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray
from scipy.stats import hypergeom

from abnet.model.card import Card
from abnet.model.model import Model
from abnet.model.predictors.compact import Compact
from abnet.tables.columns.encoded import Encoded
from abnet.tables.preparation import TablePreparation
from abnet.tables.preparation.input_shift import (
    CERTAIN,
    ColumnCheck,
    InputShiftError,
    InputShiftWarning,
    InputTally,
    refuse_shift,
    shift_notes,
    shifted,
    warn_of_array_shift,
)
from abnet.tables.preparation.shift_tests import absent_p, at_least, beyond_p, new_value_p, scarce_p
from abnet.tables.preparation.training_inputs import TrainingInputs, rank_of
from abnet.tables.table_errors import TableError

Floats = NDArray[np.float64]


# Tests


@pytest.mark.parametrize("total", [1, 5, 12])
def test_the_tail_is_that_of_the_hypergeometric_distribution(total: int) -> None:
    for marked in range(total + 1):
        for draws in range(total + 1):
            for k in range(total + 2):
                exact = hypergeom.sf(k - 1, total, marked, draws)
                bound = at_least(k, draws, marked, total)
                assert bound >= exact - 1e-12
                if exact < 0.01:
                    assert bound <= 1.2 * exact + 1e-12


def pooled_probability(statistic: Callable[[Floats, Floats], int], n: int, m: int) -> dict[int, float]:
    """Distribution of a statistic of training and new values over all splits of n + m different values."""
    values = np.arange(float(n + m))
    found = list[int]()
    for chosen in combinations(range(n + m), m):
        new = np.isin(np.arange(n + m), chosen)
        found.append(statistic(values[~new], values[new]))
    return {k: found.count(k) / len(found) for k in set(found)}


def test_p_values_are_the_probabilities_over_all_splits() -> None:
    """Enumeration: P(as extreme as k) is at most the p-value of k, and equal to it where the series has one term."""
    n = 6
    m = 4
    rank = 2

    def beyond(old: Floats, new: Floats) -> int:
        return int(np.sum((new < old.min()) | (new > old.max())))

    def reaching(old: Floats, new: Floats) -> int:
        return int(np.sum(new >= np.sort(old)[n - rank]))

    outside = pooled_probability(beyond, n, m)
    reach = pooled_probability(reaching, n, m)
    for k in range(m + 1):
        above = sum(share for found, share in outside.items() if found >= k)
        assert above - 1e-12 <= beyond_p(k, m, n) <= 1.6 * above + 1e-12
        below = sum(share for found, share in reach.items() if found <= k)
        assert below - 1e-12 <= scarce_p(k, m, rank, n) <= 1.6 * below + 1e-12 or scarce_p(k, m, rank, n) == 1.0
    assert absent_p(3, m, 0, n) == pytest.approx(hypergeom.sf(2, n + m, 3, m))
    assert new_value_p(m, m, n) == pytest.approx((n + m) / m * hypergeom.sf(m - 1, n + m, m, m))


WORLDS: dict[str, Callable[[np.random.Generator, int], Floats]] = {
    "normal": lambda rng, n: rng.normal(size=n),
    "heavy": lambda rng, n: rng.standard_cauchy(size=n),
    "rounded": lambda rng, n: rng.normal(size=n).round(0),
    "zeros": lambda rng, n: np.where(rng.random(n) < 0.7, 0.0, rng.exponential(size=n)),
    "binary": lambda rng, n: (rng.random(n) < 0.5).astype(float),
    "constant": lambda rng, n: np.full(n, 3.0),
    "gaps": lambda rng, n: np.where(rng.random(n) < 0.5, np.nan, rng.normal(size=n)),
}


def checks_of(old: Floats, new: Floats) -> list[ColumnCheck]:
    names = [f"x{place}" for place in range(old.shape[1])]
    tally = InputTally(TrainingInputs.of_array(names, old))
    half = len(new) // 2
    for part in (new[:half], new[half:]):
        tally.add([Encoded.of_numbers(x) for x in part.T])
    return tally.check()


@pytest.mark.parametrize(("n", "m"), [(3, 50), (20, 5), (60, 60), (400, 40)])
def test_false_alarms_are_no_more_frequent_than_promised(n: int, m: int, rng: np.random.Generator) -> None:
    """600 tables of seven columns, α = .1: 60 alarms if all of α were used; a doubled rate would not pass 84."""
    alarms = 0
    for _ in range(600):
        pooled = np.column_stack([make(rng, n + m) for make in WORLDS.values()])
        alarms += bool(shifted(checks_of(pooled[:n], pooled[n:]), 0.1))
    assert alarms <= 84


def test_the_simulation_can_fail(rng: np.random.Generator) -> None:
    """Without the correction for the number of tests there are too many alarms."""
    alarms = 0
    for _ in range(400):
        pooled = rng.normal(size=(120, 7))
        checks = checks_of(pooled[:60], pooled[60:])
        alarms += any(min(check.p_values.values()) <= 0.1 for check in checks)
    assert alarms > 0.2 * 400


# Categories and cells


def table_checks(old: pl.DataFrame, new: pl.DataFrame) -> list[ColumnCheck]:
    preparation = TablePreparation().fit(old).map_
    names = [column.name for column in preparation.columns]
    training = TrainingInputs.of(names, preparation.read(old).columns, old.height)
    tally = InputTally(training, preparation.columns)
    read = preparation.read(new)
    tally.add(read.columns)
    return tally.check(read.unseen)


def frame(rng: np.random.Generator, n: int) -> pl.DataFrame:
    """Weight (kg), height (cm), temperature (°C), a category, a truth and a date, with a few gaps."""
    height = rng.normal(170, 10, n).round(1)
    weight = (height - 100 + rng.normal(0, 12, n)).round(1)
    days = np.datetime64("2020-01-01") + rng.integers(0, 700, n)
    return pl.DataFrame(
        {
            "weight": [None if rng.random() < 0.05 else w for w in weight],
            "height": height,
            "temperature": rng.normal(37, 0.7, n).round(1),
            "ward": rng.choice(["A", "B", "C", "D"], n),
            "smokes": rng.choice(["yes", "no"], n),
            "admitted": [str(day) for day in days],
        }
    )


def test_false_alarms_of_tables(rng: np.random.Generator) -> None:
    """Categories with rare values, some of which only new rows have."""
    alarms = 0
    for _ in range(150):
        rows = frame(rng, 90).with_columns(
            ward=pl.Series([f"w{k}" for k in np.minimum(rng.zipf(1.5, 90), 30)]),
        )
        alarms += bool(shifted(table_checks(rows[:60], rows[60:]), 0.1))
    assert alarms <= 27


ACCIDENTS: dict[str, tuple[str, pl.Expr]] = {
    "per cent": ("height", pl.col("height") * 100),
    "fractions": ("height", pl.col("height") / 100),
    "inches": ("height", pl.col("height") / 2.54),
    "feet": ("height", pl.col("height") * 2.54),
    "fahrenheit": ("temperature", pl.col("temperature") * 1.8 + 32),
    "swapped": ("height", pl.col("weight").fill_null(70)),
    "renamed": ("ward", pl.col("ward").replace({"A": "a"})),
    "all missing": ("weight", pl.lit(None, pl.Float64)),
    "half missing": ("weight", pl.when(pl.int_range(pl.len()) % 2 == 0).then("weight")),
    "unreadable": ("weight", pl.lit("n/d")),
    "other dates": ("admitted", pl.lit("week 3")),
}


@pytest.mark.parametrize("name", ACCIDENTS)
def test_accidents_are_found(name: str, rng: np.random.Generator) -> None:
    column, expression = ACCIDENTS[name]
    old = frame(rng, 300)
    new = frame(rng, 100).with_columns(expression.alias(column))
    found = shifted(table_checks(old, new), 0.01)
    assert [check.name for check in found] == [column]


# Notes and refusals


def test_a_column_in_another_unit_is_noted_and_refused_with_its_numbers(rng: np.random.Generator) -> None:
    old = frame(rng, 300)
    new = frame(rng, 100)
    assert not shift_notes(table_checks(old, new))
    for factor in (100, 0.01):
        checks = table_checks(old, new.with_columns(pl.col("height") * factor))
        (note,) = shift_notes(checks)
        assert (note.columns, note.rows) == (("height",), 100)
        for value in (old["height"].min(), old["height"].max(), new["height"].min()):
            assert isinstance(value, float)
            assert f"{value if value in old['height'] else value * factor:.5g}" in str(note)
        refuse_shift(checks, allow_shift=True)
        with pytest.raises(InputShiftError, match=r"'height'.*100 of 100.*allow_shift=True"):
            refuse_shift(checks, allow_shift=False)


def test_a_few_rows_or_the_smaller_part_are_never_refused(rng: np.random.Generator) -> None:
    old = frame(rng, 300)
    new = frame(rng, 100)
    far = new.with_columns(pl.col("height") * 100)
    for rows in (far[:1], far[:29], pl.concat([far[:50], new[:50]])):
        refuse_shift(table_checks(old, rows), allow_shift=False)
    refuse_shift(table_checks(old, new.with_columns(pl.col("weight") * 1.2)), allow_shift=False)


def test_numbers_that_leave_most_of_the_range_empty_are_noted(rng: np.random.Generator) -> None:
    """Amounts from 0 on stay within the training range when they are divided by 100."""
    old, new = np.where(rng.random((2, 400, 1)) < 0.4, 0.0, rng.exponential(50, (2, 400, 1)))
    assert not shift_notes(checks_of(old, new))
    (note,) = shift_notes(checks_of(old, new / 100))
    assert note.code == "narrow range"
    refuse_shift(checks_of(old, new / 100), allow_shift=False)


def test_rare_values_in_another_unit_are_noted(rng: np.random.Generator) -> None:
    """Where most rows are 0 in any unit."""
    old, new = np.where(rng.random((2, 400, 1)) < 0.8, 0.0, rng.exponential(50, (2, 400, 1)))
    assert not shift_notes(checks_of(old, new))
    (note,) = shift_notes(checks_of(old, new * 100))
    assert note.code == "outside range"


def test_dates_go_on(rng: np.random.Generator) -> None:
    later = frame(rng, 100).with_columns(admitted=pl.lit("2031-05-01"))
    checks = table_checks(frame(rng, 300), later)
    assert "2031-05-01" in str(shift_notes(checks)[0])
    refuse_shift(checks, allow_shift=False)


@pytest.mark.parametrize(("column", "cell"), [("weight", "heavy"), ("admitted", "week 3"), ("smokes", "a lot")])
def test_a_column_that_cannot_be_read_is_refused_like_an_absent_one(
    column: str, cell: str, rng: np.random.Generator
) -> None:
    old = frame(rng, 300)
    new = frame(rng, 40)
    unreadable = new.with_columns(pl.lit(cell).alias(column))
    for allow_shift in (False, True):
        with pytest.raises(TableError, match=f"'{column}'.*40 values.*'{cell}'"):
            refuse_shift(table_checks(old, unreadable), allow_shift=allow_shift)
    one_left = pl.concat([unreadable, new.cast(unreadable.schema)[:1]])
    for rows in (unreadable[:9], new.with_columns(pl.lit(None, pl.String).alias(column)), one_left):
        refuse_shift(table_checks(old, rows), allow_shift=False)


def test_exchangeable_rows_are_refused_with_a_tiny_probability() -> None:
    """More than half of the values outside: at most `CERTAIN`, for any numbers of rows; otherwise it is no refusal."""
    for n in (10, 30, 100, 10_000):
        for m in (30, 300, 100_000):
            p = beyond_p(m // 2 + 1, m, n)
            assert p <= 1.05 * float(hypergeom.sf(m // 2, n + m, m, m // 2 + 2)) + 1e-300
            assert p <= CERTAIN or n < 30 or m < 60
    assert rank_of(1) == 1


def test_rows_of_another_shape_are_refused_by_the_network(rng: np.random.Generator) -> None:
    training = TrainingInputs.of_array(["a", "b"], rng.normal(size=(50, 2)))
    network = Compact(np.ones((1, 1, 2)), np.zeros((1, 1)), np.array([[-1.0, 1.0]]))
    model = Model(network, card=Card(training_inputs=training))
    assert len(model.predict(rng.normal(size=(40, 2)))) == 40
    with pytest.raises(ValueError, match="2"):
        model.predict(rng.normal(size=(40, 3)))
    with pytest.raises(ValueError, match="2"):
        model.predict(rng.normal(size=40))


def test_an_array_gets_the_notes_that_counting_every_column_gives() -> None:
    """The columns that are not counted, because their smallest and largest values suffice, would get no note."""
    rng = np.random.default_rng(3)
    old = rng.normal(50.0, 5.0, (400, 8))
    new = rng.normal(50.0, 5.0, (300, 8))
    new[:, 1] *= 100.0  # outside the range
    new[:, 2] = 50.0 + (new[:, 2] - 50.0) / 100.0  # narrow
    new[:200, 3] = np.nan
    new[0, 4] = 1e6  # one value, too few for a note
    new[:, 5] = 50.0  # constant
    training = TrainingInputs.of_array([f"x{place}" for place in range(8)], old)
    tally = InputTally(training)
    tally.add([Encoded.of_numbers(column) for column in new.T])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_of_array_shift(training, new)
    found = [str(warning.message) for warning in caught]
    assert found == [str(InputShiftWarning(note)) for note in shift_notes(tally.check())]
    assert len(found) >= 3
