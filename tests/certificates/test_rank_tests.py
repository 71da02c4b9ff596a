"""Thresholds that are scores of the rows that test them hold jointly, whatever the true rates do."""

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom

from abnet import TargetError, TargetPrecision, TargetRecall, TargetSpecificity, certify_scores
from abnet.bounds.chosen_threshold import chosen_error_upper, chosen_precision_lower
from abnet.bounds.clopper_pearson import clopper_pearson_bound, clopper_pearson_lower
from abnet.certificates.statements.rate_test import RateTest
from abnet.certificates.thresholds.rank_tests import first_ranks, ranks_above, ranks_of_class
from broken_promise import breaks

LIMIT = 0.1
DELTA = 0.1
ROWS = 85
"""So few that a single sequence begins at the smallest rank, and uses all of δ."""
REPETITIONS = 1000
Floats = NDArray[np.float64]


class World:
    """Rows at uniform places from 0, the largest score, to 1; the rate of failures is constant between edges."""

    def __init__(self, edges: Floats, rates: Floats) -> None:
        self.edges = edges
        self.rates = rates
        failures = np.append(0.0, np.cumsum(np.diff(edges) * rates))
        self.grid = np.unique(np.append(np.linspace(0.0, 1.0, 4001), edges))[1:]
        # Bad thresholds: the true rate of failures above them is too large.
        self.is_bad = np.interp(self.grid, edges, failures) > LIMIT * self.grid * (1.0 + 1e-9)

    def draw(self, rng: np.random.Generator, n: int) -> tuple[Floats, NDArray[np.bool_]]:
        """Places in increasing order, and which rows are failures above a threshold."""
        places = np.sort(rng.random(n))
        cells = np.searchsorted(self.edges, places, side="right") - 1
        return places, rng.random(n) < self.rates[cells]

    def some_bad(self, places: Floats, passed: NDArray[np.bool_]) -> bool:
        """Whether any threshold between the m-th and the next score is bad, for any rank m that passed."""
        ends = np.append(places[1:], 1.0)
        first = np.searchsorted(self.grid, places, side="left")
        last = np.searchsorted(self.grid, ends, side="left")
        sums = np.append(0, np.cumsum(self.is_bad))
        holds_bad = sums[np.minimum(last + 1, len(self.grid))] > sums[first]
        return bool(np.any(holds_bad & passed))


def oscillating(cells: int, swing: float, *, bad_first: bool = False) -> World:
    """The rate above the threshold swings around the limit, so that bad and good thresholds alternate."""
    edges = np.append(0.0, np.geomspace(0.05, 1.0, 2 * cells))
    excess = 0.0
    rates = []
    for place, (low, high) in enumerate(itertools.pairwise(edges.tolist())):
        sign = 1.0 if (place % 2 == 0) == bad_first else -1.0
        rate = float(np.clip(LIMIT + (sign * swing * LIMIT * high - excess) / (high - low), 0.0, 1.0))
        excess += (rate - LIMIT) * (high - low)
        rates.append(rate)
    return World(edges, np.array(rates))


WORLDS = {
    "at the limit everywhere": World(np.array([0.0, 1.0]), np.array([LIMIT * 1.0001])),
    "good, then bad": World(np.array([0.0, 0.3, 1.0]), np.array([LIMIT * 0.9, LIMIT * 2.0])),
    "slow swings": oscillating(4, 0.1),
    "slow swings, bad first": oscillating(4, 0.1, bad_first=True),
    "fast swings": oscillating(15, 0.05),
}


def n_false(world: World, *, delta: float = DELTA, rows: int = ROWS, stops: bool = True) -> int:
    false = 0
    for repetition in range(REPETITIONS):
        places, failing = world.draw(np.random.default_rng([51, repetition]), rows)
        if stops:
            passed = ranks_above(failing, LIMIT, delta)
        else:
            passed = np.asarray(binom.cdf(np.cumsum(failing), np.arange(1, rows + 1), LIMIT) <= delta)
        false += world.some_bad(places, passed)
    return false


@pytest.mark.parametrize("name", WORLDS)
@pytest.mark.parametrize("rows", [ROWS, 400])
def test_a_bad_threshold_rarely_passes(name: str, rows: int) -> None:
    assert not breaks(n_false(WORLDS[name], rows=rows), REPETITIONS, DELTA)


def test_twice_the_level_is_caught() -> None:
    assert breaks(n_false(WORLDS["at the limit everywhere"], delta=2.2 * DELTA), REPETITIONS, DELTA)


def test_any_rank_that_looks_good_is_a_trap() -> None:
    """The thresholds are chosen on the rows that test them, and the choice is not paid for."""
    assert breaks(n_false(WORLDS["at the limit everywhere"], rows=400, stops=False), REPETITIONS, DELTA)


def test_sequences_share_delta_and_pass_it_on() -> None:
    starts = first_ranks(400, LIMIT, DELTA)
    assert starts == (44, 88, 176)
    failing = np.zeros(400, bool)
    assert np.flatnonzero(ranks_above(failing, LIMIT, DELTA))[0] + 1 == 44
    # With a failure in front the first start fails at a third of δ, and the second one has only its own third.
    failing[:3] = True
    passed = ranks_above(failing, LIMIT, DELTA)
    tails = binom.cdf(3, np.arange(1, 401), LIMIT)
    assert not passed[43]
    assert passed[np.flatnonzero(tails <= DELTA / 3)[0] : 87].sum() == 0
    assert passed[87:].all()


def test_ranks_of_a_class_pass_as_their_binomial_tails_say() -> None:
    tails = binom.cdf(np.arange(20), 100, 0.1)
    assert ranks_of_class(np.arange(20), 100, 0.1, 0.05).tolist() == (tails <= 0.05).tolist()


@pytest.mark.parametrize("by_label", [False, True])
def test_equal_scores_are_tested_at_random(by_label: bool) -> None:
    """There are two scores, and the file is sorted by label. In that order the first ranks would have no failure."""
    false = 0
    n = 60
    for repetition in range(400):
        rng = np.random.default_rng([52, repetition])
        scores = np.where(rng.random(n) < 0.7, 0.9, 0.1)
        failing = np.sort(rng.random(n) < 1.1 * LIMIT)
        if by_label:
            false += bool(ranks_above(failing[np.argsort(-scores, kind="stable")], LIMIT, DELTA).any())
        else:
            made = certify_scores(scores, failing, TargetError(LIMIT), answers=np.zeros(n, bool), delta=DELTA)
            false += made.each(RateTest)[0].value is not None
    assert breaks(false, 400, DELTA) == by_label


# Through `certify_scores`


def normal_world(rng: np.random.Generator, n: int) -> tuple[Floats, NDArray[np.bool_]]:
    ill = rng.random(n) < 0.4
    return rng.normal(size=n) + 2.0 * ill, ill


@pytest.mark.parametrize(
    "goal",
    [TargetRecall(0.85, True), TargetPrecision(0.85, True), TargetSpecificity(0.85, True), TargetError(0.1)],
    ids=lambda goal: type(goal).__name__,
)
def test_no_row_is_set_aside_and_their_order_does_not_matter(goal: object) -> None:
    scores, ill = normal_world(np.random.default_rng(1), 400)
    options: dict[str, object] = {"random_state": 0}
    if isinstance(goal, TargetError):
        options["answers"] = scores > 1.0
        scores = np.abs(scores - 1.0)
    scores = scores.round(1)  # many rows are equal
    made = certify_scores(scores, ill, goal, **options)  # type: ignore[arg-type]
    assert made.facts.n_rows == 400
    (tested,) = made.each(RateTest)
    assert tested.value is not None
    assert tested.by_rank
    assert set(made.check().values()) == {"recomputed"}
    assert "tested in an order" in " ".join(made.describe().split())
    backwards = {name: option[::-1] if isinstance(option, np.ndarray) else option for name, option in options.items()}
    assert certify_scores(scores[::-1], ill[::-1], goal, **backwards) == made  # type: ignore[arg-type]


def test_a_failed_target_says_what_a_second_try_costs() -> None:
    scores, ill = normal_world(np.random.default_rng(1), 40)
    made = certify_scores(scores, ill, TargetPrecision(0.99, True), n_candidates=3)
    assert made.statements[0].value is None
    assert "n_candidates = 6" in " ".join(made.describe().split())


# Precision and error rate at a threshold that was chosen with the same rows


def test_limits_hold_at_every_threshold_at_once() -> None:
    n = 150
    rates: dict[str, int] = {"precision": 0, "error": 0, "precision, one threshold": 0, "error, one threshold": 0}
    repetitions = 400
    places = np.linspace(0.02, 0.98, 33)  # thresholds, by the share of rows above them
    for repetition in range(repetitions):
        rng = np.random.default_rng([53, repetition])
        scores = rng.random(n)
        positive = rng.random(n) < scores  # above t: (1 - t²)/2 positive, (1 - t)²/2 not; below: t²/2 positive
        found = dict.fromkeys(rates, False)
        for t in places.tolist():
            above = scores > t
            right = int(np.sum(above & positive))
            wrong = int(above.sum()) - right
            missed = int(positive.sum()) - right
            precision = (1.0 + t) / 2.0
            error = ((1.0 - t) ** 2 + t**2) / 2.0
            found["precision"] |= chosen_precision_lower(right, wrong, n, n, DELTA) > precision
            found["error"] |= chosen_error_upper(missed, wrong, n, n, DELTA) < error
            found["precision, one threshold"] |= clopper_pearson_lower(right, max(right + wrong, 1), DELTA) > precision
            found["error, one threshold"] |= clopper_pearson_bound(missed + wrong, n, DELTA) < error
        for name, failed in found.items():
            rates[name] += failed
    for name, false in rates.items():
        assert breaks(false, repetitions, DELTA) == name.endswith("one threshold"), (name, false)
