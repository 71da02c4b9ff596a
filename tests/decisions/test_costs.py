"""Expected costs: the table, the cheapest threshold by exhaustion, and the promise where the cost is known."""

import json
from collections.abc import Callable

import numpy as np
import pytest

from abnet.bounds.betting import betting_bound
from abnet.decisions import CostCertificate, certify_costs, cheapest_threshold, row_costs
from promise import breaks

COSTS = np.array([[0.0, 1.0], [10.0, 0.5]])
CHANCES = np.array([[0.6, 0.1], [0.05, 0.25]])
EXPECTED = float(np.sum(COSTS * CHANCES))
DELTA = 0.1


@pytest.mark.parametrize(("factor", "broken"), [(1.0, False), (0.5, True)], ids=["bound", "half of the largest cost"])
def test_promise_is_kept(rng: np.random.Generator, factor: float, broken: bool) -> None:
    """The mutant clips the costs at half of the largest one, as if no larger one could be."""
    failures = 0
    for _ in range(400):
        cells = rng.choice(4, size=200, p=CHANCES.ravel())
        costs = np.minimum(row_costs(cells // 2, cells % 2, COSTS), 10.0 * factor)
        failures += certify_costs(costs, 10.0 * factor, DELTA).cost_bound < EXPECTED
    assert breaks(failures, 400, DELTA) == broken


def certified(costs: np.ndarray) -> float:
    return certify_costs(costs, 10.0, DELTA).cost_bound


def in_order(costs: np.ndarray) -> float:
    return 10.0 * betting_bound(costs / 10.0, DELTA)


@pytest.mark.parametrize(("bound", "broken"), [(certified, False), (in_order, True)], ids=["certified", "as given"])
def test_sorted_rows_keep_the_promise(
    rng: np.random.Generator, bound: Callable[[np.ndarray], float], broken: bool
) -> None:
    """The twin bets on the rows as a file that is sorted by their cost gives them."""
    failures = 0
    for _ in range(100):
        cells = rng.choice(4, size=200, p=CHANCES.ravel())
        failures += bound(np.sort(row_costs(cells // 2, cells % 2, COSTS))) < EXPECTED
    assert breaks(failures, 100, DELTA) == broken


def test_bound_is_that_of_the_shares(rng: np.random.Generator) -> None:
    costs = rng.choice([0.0, 1.0, 8.0], size=300)
    order = rng.permutation(300)
    certificate = certify_costs(costs, 8.0, n_candidates=3, order=order)
    shares = costs[order] / 8.0
    assert certificate.cost_bound == pytest.approx(8.0 * betting_bound(shares, n_candidates=3), rel=1e-14)
    assert certify_costs([3.0, 3.0], 3.0).cost_bound == 3.0


def test_costs_are_looked_up_by_truth_and_prediction() -> None:
    np.testing.assert_array_equal(row_costs([0, 0, 1, 1], [0, 1, 0, 1], COSTS), [0.0, 1.0, 10.0, 0.5])


def test_cheapest_threshold_is_the_cheapest(rng: np.random.Generator) -> None:
    for _ in range(30):
        s, y = rng.integers(-5, 5, size=12).astype(float), rng.random(12) < 0.5
        best = cheapest_threshold(s, y, COSTS)
        tried = [row_costs(y.astype(int), (s > t).astype(int), COSTS).sum() for t in [-99.0, *s, 99.0]]
        assert row_costs(y.astype(int), (s > best).astype(int), COSTS).sum() == min(tried)


def test_record_survives_json_and_says_what_is_promised() -> None:
    certificate = certify_costs([0.0, 1.0] * 100, 10.0, n_candidates=2)
    assert CostCertificate.from_dict(json.loads(json.dumps(certificate.to_dict()))) == certificate
    assert "the expected cost of a new row" in " ".join(str(certificate).split())
    with pytest.raises(ValueError, match="not a certificate"):
        CostCertificate(0.1, 0.5, 10.0, 200, 0.05)


def test_arguments_are_checked() -> None:
    for truth, predicted in (([0, 2], [0, 0]), ([0], [0, 1]), ([0.0], [0]), ([], []), ([-1], [0])):
        with pytest.raises(ValueError, match=r"must|rows"):
            row_costs(truth, predicted, COSTS)
    for costs in ([[0.0, -1.0], [1.0, 0.0]], [[0.0, 1.0]], [0.0, 1.0], [[0.0, float("inf")], [0.0, 0.0]]):
        with pytest.raises(ValueError, match=r"^costs must"):
            row_costs([0], [1], costs)
    with pytest.raises(ValueError, match=r"^row_costs must"):
        certify_costs([11.0], 10.0)
    with pytest.raises(ValueError, match=r"^row_costs must be a vector"):
        certify_costs([], 10.0)
    with pytest.raises(ValueError, match=r"^largest_cost must"):
        certify_costs([0.0], 0.0)
    with pytest.raises(ValueError, match="two classes"):
        cheapest_threshold([0.1], [True], np.zeros((3, 3)))
