"""Error rates under another class mix: against a search over mixes, and both promises where the new error is known."""

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray

from abnet.bounds.clopper_pearson import clopper_pearson_bound, clopper_pearson_lower
from abnet.bounds.label_shift import NotLabelShiftError, known_mix_bound, possible_shares, unknown_mix_bound
from abnet.bounds.shares import shares_by_count
from broken_promise import breaks

DELTA = 0.2
ANSWERS = np.array([[0.9, 0.07, 0.03], [0.2, 0.7, 0.1], [0.25, 0.25, 0.5]])
OLD = np.array([0.6, 0.3, 0.1])
NEW = np.array([0.2, 0.3, 0.5])
NEW_ERROR = float(NEW @ (1 - np.diag(ANSWERS)))


def test_known_mix_is_the_mean_of_joint_limits() -> None:
    shares = shares_by_count([80, 40, 20], 0.05)
    limits = [clopper_pearson_bound(k, n, d) for k, n, d in zip([4, 3, 5], [80, 40, 20], shares, strict=True)]
    assert known_mix_bound([80, 40, 20], [4, 3, 5], [0.5, 0.3, 0.2]) == pytest.approx(np.dot(limits, [0.5, 0.3, 0.2]))
    assert known_mix_bound([80, 0], [4, 0], [0.0, 1.0]) == pytest.approx(1.0)
    with pytest.raises(ValueError, match="sum to 1"):
        known_mix_bound([80, 40], [4, 3], [0.5, 0.3])


def searched(confusion: NDArray[np.int64], answers: NDArray[np.int64], delta: float) -> tuple[float, float, float]:
    """Largest error and range of the second share, by a grid of shares and answer rates (two classes)."""
    shares = shares_by_count(confusion.sum(axis=1).tolist(), 0.8 * delta)
    ranges = []
    for row, share in zip(confusion, shares, strict=True):
        k = int(row[1])
        n = int(row.sum())
        ranges.append((clopper_pearson_lower(k, n, share / 2), clopper_pearson_bound(k, n, share / 2)))
    low = clopper_pearson_lower(int(answers[1]), int(answers.sum()), 0.1 * delta)
    high = clopper_pearson_bound(int(answers[1]), int(answers.sum()), 0.1 * delta)
    first, second, mix = np.meshgrid(
        *(np.linspace(*r, 41) for r in ranges), np.linspace(0.0, 1.0, 2001), indexing="ij", sparse=True
    )
    answered = (1 - mix) * first + mix * second
    possible = (answered >= low) & (answered <= high)
    error = (1 - mix) * first + mix * (1 - second)
    used = np.broadcast_to(mix, possible.shape)[possible]
    return float(error[possible].max()), float(used.min()), float(used.max())


@pytest.mark.parametrize("answers", [[700, 300], [300, 700], [950, 50]])
def test_unknown_mix_is_the_worst_that_a_search_finds(answers: list[int]) -> None:
    confusion = np.array([[900, 50], [10, 40]])
    error, low, high = searched(confusion, np.array(answers), 0.05)
    found = unknown_mix_bound(confusion.ravel().tolist(), answers)
    assert error - 1e-9 <= found <= error + 0.01
    limits = possible_shares(confusion.ravel().tolist(), answers)[1]
    assert limits[0] <= low + 1e-9
    assert limits[1] >= high - 1e-9
    assert limits == pytest.approx((low, high), abs=0.01)


def test_an_answer_that_is_no_class_is_wrong_for_all() -> None:
    found = unknown_mix_bound([90, 5, 5, 5, 90, 5], [100, 90, 10])
    assert found > unknown_mix_bound([95, 5, 5, 95], [110, 90])


@pytest.mark.parametrize("bound", ["known", "unknown", "old"])
def test_promise_under_label_shift(rng: np.random.Generator, bound: str) -> None:
    """The trap: a bound on the error at the old shares says nothing about the new ones."""
    failures = 0
    for _ in range(150):
        rows = rng.multinomial(600, OLD)
        confusion = np.array([rng.multinomial(n, p) for n, p in zip(rows, ANSWERS, strict=True)])
        errors = rows - np.diag(confusion)
        if bound == "known":
            limit = known_mix_bound(rows.tolist(), errors.tolist(), NEW.tolist(), DELTA)
        elif bound == "old":
            limit = clopper_pearson_bound(int(errors.sum()), 600, DELTA)
        else:
            answers = rng.multinomial(400, NEW @ ANSWERS)
            limit = unknown_mix_bound(confusion.ravel().tolist(), answers.tolist(), DELTA)
        failures += limit < NEW_ERROR
    assert breaks(failures, 150, DELTA) == (bound == "old")


def test_limits_of_shares_hold(rng: np.random.Generator) -> None:
    failures = 0
    delta = 0.4
    for _ in range(60):
        rows = rng.multinomial(600, OLD)
        confusion = np.array([rng.multinomial(n, p) for n, p in zip(rows, ANSWERS, strict=True)])
        answers = rng.multinomial(400, NEW @ ANSWERS)
        limits = possible_shares(confusion.ravel().tolist(), answers.tolist(), delta)
        failures += any(not low <= share <= high for (low, high), share in zip(limits, NEW, strict=True))
    assert not breaks(failures, 60, delta)


def test_answers_that_no_shares_explain_are_refused() -> None:
    """Both classes are mostly answered by the first: no mix gives the second."""
    with pytest.raises(NotLabelShiftError):
        unknown_mix_bound([95, 5, 90, 10], [10, 990])


def test_class_without_rows_may_be_answered_anyhow() -> None:
    assert unknown_mix_bound([95, 5, 0, 0], [950, 50]) > 0.95


@pytest.mark.parametrize(("confusion", "answers"), [([1, 2, 3], [1, 1]), ([1, 2, 3, 4], [0, 0]), ([1, 2], [3])])
def test_counts_are_checked(confusion: list[int], answers: list[int]) -> None:
    with pytest.raises(ValueError, match="must"):
        unknown_mix_bound(confusion, answers)


def test_bound_is_the_same_for_classes_in_another_order() -> None:
    counts = np.array([[60, 6, 4], [5, 30, 5], [1, 2, 17]])
    new = np.array([50, 60, 70])
    values = []
    for order in itertools.permutations(range(3)):
        places = list(order)
        values.append(unknown_mix_bound(counts[places][:, places].ravel().tolist(), new[places].tolist()))
    assert values == pytest.approx([values[0]] * 6, abs=1e-9)
