"""The permutation test behind the note on the order of the rows."""

from itertools import combinations

import numpy as np
import pytest

from abnet.certificates.order_check import LEVEL, MOST_ROWS, check_order
from broken_promise import breaks


def largest_sum(wrong: np.ndarray) -> float:
    return float(np.abs(np.cumsum(wrong - wrong.mean())).max())


@pytest.mark.parametrize("wrong_rows", [(0, 1, 2), (0, 4, 8), (6, 7, 9)])
def test_the_p_value_by_enumeration(wrong_rows: tuple[int, ...]) -> None:
    """Three errors among ten rows of one class: all 120 orders are equally likely."""
    wrong = np.isin(np.arange(10), wrong_rows)
    seen = largest_sum(wrong)
    sums = [largest_sum(np.isin(np.arange(10), places)) for places in combinations(range(10), 3)]
    exact = np.mean(np.array(sums) >= seen - 1e-12)
    assert check_order(wrong, np.zeros(10, int)).errors == pytest.approx(exact, abs=0.12)
    assert check_order(wrong, np.zeros(10, int)).labels == 1.0


@pytest.mark.parametrize("sort", [False, True])
def test_false_notes_are_rare(sort: bool) -> None:
    """Classes have error rates of their own; a file sorted by label says nothing about its errors.

    Counted at 5%, where fewer repetitions tell than at the level of the notes.
    """
    rng = np.random.default_rng(1)
    errors = labels = 0
    for _ in range(700):
        codes = rng.integers(0, 3, 60)
        if sort:
            codes = np.sort(codes)
        wrong = rng.random(60) < np.array([0.1, 0.3, 0.6])[codes]
        found = check_order(wrong, codes)
        errors += found.errors <= 0.05
        labels += found.labels <= 0.05
    assert not breaks(errors, 700, 0.05)
    assert breaks(labels, 700, 0.05) == sort


@pytest.mark.parametrize(("where", "rates"), [("later", (0.05, 0.35)), ("earlier", (0.35, 0.05))])
def test_a_drift_is_found(where: str, rates: tuple[float, float]) -> None:
    rng = np.random.default_rng(2)
    found = 0
    for _ in range(50):
        codes = rng.integers(0, 2, 400)
        check = check_order(rng.random(400) < np.linspace(*rates, 400), codes)
        found += check.errors < LEVEL and check.more_errors == where
    assert found >= 45


def test_many_rows_are_looked_at_in_part_and_nothing_is_drawn_anew() -> None:
    rng = np.random.default_rng(3)
    wrong = rng.random(3 * MOST_ROWS) < np.linspace(0.1, 0.2, 3 * MOST_ROWS)
    codes = rng.integers(0, 2, len(wrong))
    found = check_order(wrong, codes)
    assert found.n_looked_at == MOST_ROWS
    assert found.errors < LEVEL
    assert check_order(wrong, codes) == found


@pytest.mark.parametrize("wrong", [np.zeros(50, bool), np.ones(50, bool), np.zeros(1, bool)])
def test_nothing_varies(wrong: np.ndarray) -> None:
    assert check_order(wrong, np.zeros(len(wrong), int))[:2] == (1.0, 1.0)
