"""Groups and populations: the promise about new groups, and what counting their rows does to it."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from abnet import bounds
from abnet.bounds.betting import betting_bound, row_weighted_betting_bound
from abnet.decisions import (
    certify_groups,
    errors_by,
    group_averaged_bound,
    group_totals,
    one_row_per_group_bound,
    row_weighted_bound,
)
from abnet.decisions.groups import grouped_risk
from promise import breaks

DELTA, GROUPS, SIZE, REPETITIONS = 0.05, 40, 8, 500
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
Bound = Callable[[Bools, Ints, np.random.Generator], float]


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


def rowwise(wrong: Bools, groups: Ints, rng: np.random.Generator) -> float:
    return bounds.clopper_pearson_bound(int(wrong.sum()), len(wrong), DELTA)


def averaged(wrong: Bools, groups: Ints, rng: np.random.Generator) -> float:
    return group_averaged_bound(wrong, groups, DELTA)


def one_row(wrong: Bools, groups: Ints, rng: np.random.Generator) -> float:
    return one_row_per_group_bound(wrong, groups, DELTA, order=rng.permutation(len(wrong)))


def weighted(wrong: Bools, groups: Ints, rng: np.random.Generator) -> float:
    return row_weighted_bound(wrong, groups, 8, DELTA)


def failures(rng: np.random.Generator, world: Callable[..., tuple[Bools, Ints]], bound: Bound, truth: float) -> int:
    return sum(bound(*world(rng), rng) < truth for _ in range(REPETITIONS))


@pytest.mark.parametrize(("bound", "broken"), [(averaged, False), (one_row, False), (weighted, False), (rowwise, True)])
def test_equal_groups(rng: np.random.Generator, bound: Bound, broken: bool) -> None:
    assert breaks(failures(rng, equal_groups, bound, 0.2), REPETITIONS, DELTA) == broken


@pytest.mark.parametrize(
    ("bound", "truth", "broken"),
    [(averaged, 0.25, False), (one_row, 0.25, False), (weighted, 0.34, False), (averaged, 0.34, True)],
    ids=["averaged", "one row", "row-weighted", "averaged, taken for row-weighted"],
)
def test_unequal_groups(rng: np.random.Generator, bound: Bound, truth: float, broken: bool) -> None:
    assert breaks(failures(rng, unequal_groups, bound, truth), REPETITIONS, DELTA) == broken


def test_row_wise_failures_are_frequent(rng: np.random.Generator) -> None:
    """About a fifth of the samples at δ = .05, where one row per group fails in one or two of a hundred."""
    assert 0.12 < failures(rng, equal_groups, rowwise, 0.2) / REPETITIONS < 0.30


def averaged_in_order(wrong: Bools, groups: Ints, rng: np.random.Generator) -> float:
    sums, sizes = group_totals(wrong, groups)
    return betting_bound(sums / sizes, DELTA)


def weighted_in_order(wrong: Bools, groups: Ints, rng: np.random.Generator) -> float:
    return row_weighted_betting_bound(*group_totals(wrong, groups), 8, DELTA)


def certified(wrong: Bools, groups: Ints, rng: np.random.Generator) -> float:
    bound = certify_groups(grouped_risk(wrong, groups), groups, wrong, delta=DELTA, prior="test set").vote_error_bound
    assert bound is not None
    return bound


@pytest.mark.parametrize(
    ("bound", "broken"),
    [(averaged, False), (weighted, False), (certified, False), (averaged_in_order, True), (weighted_in_order, True)],
)
def test_sorted_groups_keep_the_promise(rng: np.random.Generator, bound: Bound, broken: bool) -> None:
    """Groups as a file gives them that is sorted by their errors; the twins bet in this order."""
    failed = 0
    for _ in range(100):
        wrong, groups = equal_groups(rng)
        order = np.argsort(group_totals(wrong, groups)[0], kind="stable")
        failed += bound(wrong.reshape(GROUPS, SIZE)[order].ravel(), groups, rng) < 0.2
    assert breaks(failed, 100, DELTA) == broken


def test_totals_are_in_the_order_of_appearance(rng: np.random.Generator) -> None:
    groups = rng.integers(5, size=60).astype(str)
    losses = rng.random(60)
    sums, sizes = group_totals(losses, groups)
    names = list(dict.fromkeys(groups))
    np.testing.assert_allclose(sums, [losses[groups == name].sum() for name in names])
    np.testing.assert_array_equal(sizes, [np.sum(groups == name) for name in names])
    rows = rng.permutation(60)
    bets = [names.index(name) for name in dict.fromkeys(groups[rows])]
    assert group_averaged_bound(losses, groups, order=rows) == betting_bound((sums / sizes)[bets])
    assert row_weighted_bound(losses, groups, 60, order=rows) == row_weighted_betting_bound(sums[bets], sizes[bets], 60)
    with pytest.raises(ValueError, match="each of the 60 places once"):
        group_averaged_bound(losses, groups, order=np.zeros(60, int))


def test_one_row_is_drawn_from_each_group_evenly() -> None:
    """A group of four rows, one of them wrong, and 9 right ones: the wrong row is drawn in a quarter of the draws."""
    groups = np.array([0] * 4 + list(range(1, 10)))
    wrong = np.arange(13) == 2
    with_error = bounds.clopper_pearson_bound(1, 10)
    drawn = [one_row_per_group_bound(wrong, groups) == with_error for i in range(2000)]
    assert np.mean(drawn) == pytest.approx(0.25, abs=0.04)


def test_groups_are_checked() -> None:
    with pytest.raises(ValueError, match=r"^groups must"):
        group_averaged_bound([0.0, 1.0], ["a"])
    with pytest.raises(ValueError, match=r"^sizes must"):
        row_weighted_bound([0.0] * 3, ["a"] * 3, largest_size=2)
    with pytest.raises(ValueError, match=r"^wrong must"):
        one_row_per_group_bound([0.5], ["a"])


@pytest.mark.parametrize(
    "gap", [None, float("nan"), "", "  ", pd.NA, pd.NaT], ids=["None", "NaN", "empty", "blank", "NA", "NaT"]
)
def test_rows_without_a_group_are_named(gap: object) -> None:
    """They are not one group, and not known to stand alone."""
    groups = np.array(["a", gap, "b", gap], dtype=object)
    with pytest.raises(ValueError, match=r"2 of 4 have none \(row 1, 3, counted from 0\)"):
        group_averaged_bound([0.0, 1.0, 0.0, 1.0], groups)


def test_numbers_and_texts_without_a_group_are_named() -> None:
    with pytest.raises(ValueError, match=r"1 of 2 have none \(row 0"):
        group_averaged_bound([0.0, 1.0], [float("nan"), 1.0])
    with pytest.raises(ValueError, match=r"1 of 2 have none \(row 1"):
        group_averaged_bound([0.0, 1.0], ["a", ""])


RATES = {"north": 0.05, "south": 0.2, "island": 0.4}


@pytest.mark.parametrize(("factor", "broken"), [(1, False), (4, True)], ids=["shared", "more than delta"])
def test_all_populations_keep_their_promise_at_once(rng: np.random.Generator, factor: int, broken: bool) -> None:
    failed, delta = 0, 0.1
    for _ in range(500):
        values = rng.choice(list(RATES), size=150, p=[0.6, 0.3, 0.1])
        wrong = rng.random(150) < np.array([RATES[value] for value in values])
        result = errors_by(wrong, values, delta * factor, declared=list(RATES))
        failed += any(part.error_bound < RATES[part.value] for part in result.populations)
    assert breaks(failed, 500, delta) == broken


def test_populations_are_counted_and_described() -> None:
    wrong, values = [True, False, False, True], [2, 1, 1, 1]
    result = errors_by(wrong, values, declared=[1, 2, 3], n_candidates=2)
    assert [(p.value, p.n_rows, p.n_errors) for p in result.populations] == [("1", 3, 1), ("2", 1, 1), ("3", 0, 0)]
    assert sum(p.delta for p in result.populations) <= 0.05
    first = result.populations[0]
    assert first.error_bound == bounds.clopper_pearson_bound(1, 3, first.delta, n_candidates=2)
    assert result.populations[2].error_bound == 1.0
    text = " ".join(str(result).split())
    assert "1: 93.5 % (seen: 33.3 % of 3 rows)" in text or "(seen: 33.3 % of 3 rows)" in text
    assert "3: no rows, so nothing is known" in text
    assert result.to_dict()["populations"][0]["value"] == "1"
    assert [p.value for p in errors_by(wrong, values).populations] == ["1", "2"]


def test_populations_are_checked() -> None:
    with pytest.raises(ValueError, match="not declared: \\['b'\\]"):
        errors_by([True, False], ["a", "b"], declared=["a"])
    with pytest.raises(ValueError, match="once"):
        errors_by([True], ["a"], declared=["a", "a"])
    with pytest.raises(ValueError, match="rows"):
        errors_by([True, False], ["a"])
    with pytest.raises(ValueError, match=r"^values must"):
        errors_by([True], [["a"]])


@pytest.mark.parametrize("prior", ["split", "test set"])
def test_groups_of_one_row_are_counted_as_rows(prior: str) -> None:
    """Decided by the sizes alone: one group of two rows, and the groups are bet on, whatever the errors."""
    wrong = np.arange(100) % 20 == 0
    single, pair = np.arange(100), np.minimum(np.arange(100), 98)
    made = [
        certify_groups(grouped_risk(wrong, groups), groups, wrong, delta=0.05, prior=prior) for groups in (single, pair)
    ]
    assert made[0].vote_error_bound == bounds.clopper_pearson_bound(5, 100, 0.05)
    rates = [*wrong[:98].tolist(), wrong[98:].mean()]
    assert made[1].vote_error_bound != bounds.clopper_pearson_bound(5, 99, 0.05)
    assert made[1].vote_error_bound > np.mean(rates)
    assert bounds.Certificate.from_dict(made[0].to_dict()) == made[0]
