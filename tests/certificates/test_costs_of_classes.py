"""The least expected cost of several classes: the rule, its promise, and the trap of a rule from the counted rows."""

from typing import Any

import msgspec
import numpy as np
import pytest

import abnet
from abnet.bounds.held_out_bounds import cost_bound
from abnet.certificates.certificate import Certificate
from abnet.certificates.decision import ARGMAX, Decision
from abnet.certificates.expected_costs import ExpectedCosts
from abnet.certificates.goals import Costs, TargetError
from abnet.certificates.keyed_order import bet_keys, row_order
from abnet.certificates.meet_goal import meet, observe_candidates
from abnet.certificates.row_hashing import row_hashes
from abnet.certificates.statements.cost_bound import CostBound
from abnet.certificates.terms import Terms
from abnet.certificates.validation_scores import ValidationScores
from broken_promise import breaks

DELTA = 0.1
NAMES = ("a", "b", "c", "d")
COSTS = np.array([[0, 1, 1, 2], [1, 0, 1, 2], [4, 4, 0, 4], [20, 20, 5, 0]], float)
LARGEST = 20.0

# A world of 80 equally frequent cells, each with its chances of the classes; the model is sharper than these.
WORLD = np.random.default_rng(11)
CHANCES = WORLD.dirichlet([2.0, 2.0, 0.7, 0.3], 80)
SHARES = CHANCES**2 / (CHANCES**2).sum(axis=1, keepdims=True)


def draw(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Cells and classes."""
    cells = rng.integers(0, 80, n)
    classes = (rng.random(n)[:, None] > CHANCES[cells].cumsum(axis=1)[:, :3]).sum(axis=1)
    return cells, classes


def true_cost(answers: np.ndarray) -> float:
    """The expected cost of one answer for each cell."""
    return float(np.mean([CHANCES[cell] @ COSTS[:, answer] for cell, answer in enumerate(answers)]))


def betting_order(cells: np.ndarray, truth: np.ndarray, seed: int) -> np.ndarray:
    return row_order(row_hashes(cells[:, None].astype(float), truth), seed)


def test_the_rule_is_the_least_sum_by_enumeration() -> None:
    """With K = 2 it is the Bayes threshold; power and floor are those of a calibration."""
    rule = ExpectedCosts(table=tuple(map(tuple, COSTS)), power=1.7, floor=0.02)
    for shares, answer in zip(SHARES, rule.answers(SHARES), strict=True):
        p = (shares + 0.02) ** 1.7
        p /= p.sum()
        expected = [sum(p[j] * COSTS[j, k] for j in range(4)) for k in range(4)]
        assert answer == int(np.argmin(expected))
    two = ExpectedCosts(table=((0.0, 1.0), (4.0, 0.0)))
    shares = np.linspace(0.0, 1.0, 101)
    np.testing.assert_array_equal(two.answers(np.stack([1 - shares, shares], axis=1)), shares > 0.2)


def test_equal_costs_are_the_vote_and_ties_go_to_the_first_class() -> None:
    rule = ExpectedCosts(table=tuple(map(tuple, 1.0 - np.eye(4))))
    np.testing.assert_array_equal(rule.answers(SHARES), ARGMAX(SHARES))
    assert rule.answers([[0.25, 0.25, 0.25, 0.25]]).tolist() == [0]


def test_a_row_has_the_same_answer_in_any_batch() -> None:
    rule = ExpectedCosts(table=tuple(map(tuple, COSTS)), power=1.3)
    together = rule.of_answers(SHARES)
    for place in range(80):
        np.testing.assert_array_equal(rule.of_answers(SHARES[place : place + 1])[0], together[place])


@pytest.mark.parametrize(
    "fields",
    [{"table": ((0.0, 1.0),)}, {"table": ((0.0, -1.0), (1.0, 0.0))}, {"table": ((0.0, 0.0), (0.0, 0.0))},
     {"table": ((0.0, 1.0), (1.0, 0.0)), "power": 0.0}, {"table": ((0.0, 1.0), (1.0, 0.0)), "floor": -1.0}],
)  # fmt: skip
def test_what_is_no_rule(fields: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"costs|power"):
        ExpectedCosts(**fields)


def test_a_decision_has_what_its_kind_needs() -> None:
    costs = ExpectedCosts(table=((0.0, 1.0), (1.0, 0.0)))
    for fields in ({"kind": "costs"}, {"costs": costs}, {"kind": "costs", "costs": costs, "threshold": 0.5}):
        with pytest.raises(ValueError, match="decision"):
            Decision(**fields)
    made = Decision(kind="costs", costs=costs)
    assert msgspec.convert(made.to_dict(), Decision) == made
    assert set(ARGMAX.to_dict()) == {"kind", "threshold", "positive"}  # as files had it before there were costs


@pytest.mark.parametrize("order", ["as drawn", "by class"])
@pytest.mark.parametrize("promise", ["certified", "mean", "rule from the counted rows"])
def test_promise(order: str, promise: str) -> None:
    """The mutant takes the mean for a bound. In the trap, each cell gets the cheapest answer on the counted rows."""
    rng = np.random.default_rng(3)
    repetitions = 400
    false = 0
    for seed in range(repetitions):
        held_cells, held_truth = draw(rng, 150)
        cells, truth = draw(rng, 200)
        if order == "by class":
            places = np.argsort(truth, kind="stable")
            cells, truth = cells[places], truth[places]
        read = betting_order(cells, truth, seed)
        if promise == "rule from the counted rows":
            totals = np.zeros((80, 4))
            np.add.at(totals, cells, COSTS[truth])
            answers = np.argmin(totals, axis=1)
            bound = cost_bound((COSTS[truth, answers[cells]] / LARGEST)[read], LARGEST, DELTA)
        else:
            held = ValidationScores(SHARES[held_cells], held_truth)
            decision, (made, *_) = meet(
                Costs(COSTS), held, SHARES[cells], truth, NAMES, Terms(delta=DELTA), keys=bet_keys(read)
            )
            assert decision is not None
            assert isinstance(made, CostBound)
            answers = decision(SHARES)
            bound = made.value or 0.0
            if promise == "mean":
                bound = made.mean * made.largest
        false += true_cost(answers) > bound
    assert breaks(false, repetitions, DELTA) == (promise != "certified")


def test_the_rule_is_cheaper_than_the_vote() -> None:
    """In expectation, over the world: the sharpened shares cost the rule little."""
    rule = ExpectedCosts(table=tuple(map(tuple, COSTS)))
    best = true_cost(ExpectedCosts(table=tuple(map(tuple, COSTS)), power=0.5).answers(SHARES))
    assert best == pytest.approx(np.mean((CHANCES @ COSTS).min(axis=1)))
    assert best <= true_cost(rule.answers(SHARES)) < 0.8 * true_cost(ARGMAX(SHARES))


def test_a_calibration_is_part_of_the_rule_and_the_vote_may_be_cheapest() -> None:
    rng = np.random.default_rng(5)
    cells, truth = draw(rng, 4000)
    held = ValidationScores(SHARES[cells], truth, power=0.5)
    (decision,) = Costs(COSTS).candidates(held, NAMES, 100, Terms()).decisions
    assert decision.costs is not None
    assert decision.costs.power == 0.5
    assert decision.costs.floor == 0.0
    unsure = 0.24 + 0.04 * np.eye(4)[truth]  # the largest share is always right, but the rule does not trust it
    (vote,) = Costs(COSTS).candidates(ValidationScores(unsure, truth), NAMES, 100, Terms()).decisions
    assert vote == ARGMAX
    evidence = observe_candidates(
        Costs(COSTS), Costs(COSTS).candidates(ValidationScores(unsure, truth), NAMES, 100, Terms()), unsure, truth,
        NAMES, keys=np.arange(4000),
    )  # fmt: skip
    assert evidence.costs is not None
    assert not evidence.costs.values.any()


def test_probabilities_of_another_model() -> None:
    rng = np.random.default_rng(6)
    cells, truth = draw(rng, 3000)
    labels = np.array(NAMES)[truth]
    labels[:5] = "e"  # no column: the largest cost
    options: dict[str, Any] = {"classes": NAMES, "random_state": 0}
    made = abnet.certify_scores(SHARES[cells], labels, Costs(COSTS), **options)
    (cost,) = made.each(CostBound)
    assert cost.minimised
    assert cost.largest == LARGEST
    assert made.facts.n_rows == cost.n == 2100
    shuffled = rng.permutation(3000)
    again = abnet.certify_scores(SHARES[cells][shuffled], labels[shuffled], Costs(COSTS), **options)
    assert again == made
    assert Certificate.from_dict(made.to_dict()) == made
    assert "least expected cost" in " ".join(str(made).split())
    for wrong in ({"classes": NAMES[:3]}, {"classes": None}, {"classes": ("a", "a", "b", "c")}):
        with pytest.raises(ValueError, match="classes"):
            abnet.certify_scores(SHARES[cells], labels, Costs(COSTS), **wrong)
    with pytest.raises(ValueError, match="vector"):
        abnet.certify_scores(SHARES[cells], labels, TargetError(0.1), answers=labels)
    with pytest.raises(ValueError, match="two classes"):
        abnet.certify_scores(SHARES[cells][:, :2], labels, Costs(COSTS[:2, :2]), classes=("a", "b"))


def test_any_label_in_a_pair() -> None:
    """The pair that names more labels prevails; two pairs of the same rank contradict each other."""
    table = Costs({("*", "*"): 1, ("*", "b"): 2, ("c", "b"): 7}).table(["a", "b", "c"])
    assert table.tolist() == [[0, 2, 1], [1, 0, 1], [1, 7, 0]]
    with pytest.raises(ValueError, match="twice"):
        Costs({("*", "*"): 1, ("*", "b"): 2, ("c", "*"): 7}).table(["a", "b", "c"])
    with pytest.raises(ValueError, match="needed"):
        Costs({("*", "b"): 2}).table(["a", "b", "c"])
    assert Costs.from_option(["*:*=1", "a:b=3"], None).table(["a", "b"]).tolist() == [[0, 3], [1, 0]]
