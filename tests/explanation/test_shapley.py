"""Contributions of columns: the definition by enumeration, the axioms, sums, sampling errors, and both games."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from abnet.explanation.background import ColumnLayout, ExplanationPlan
from abnet.explanation.shapley import (
    FeatureGame,
    LeadingGame,
    exact_values,
    game_of,
    ordered_coalitions,
    ordered_values,
    shapley_values,
)
from abnet.model.calibration import Calibration
from abnet.model.model import Model
from abnet.model.predictors.compact import Compact
from abnet.model.predictors.layers import Layers
from abnet.model.predictors.moments import MomentsPredictor
from abnet.model.predictors.paths import Paths
from abnet.model.predictors.uniform import UniformPredictor
from abnet.networks.bam import BAM
from abnet.networks.codebook import code_words
from abnet.networks.cube import corners
from abnet.tables.labels import Labels
from explanation.brute_force import Score, shapley_by_coalitions, shapley_by_orders, table_score

INPUTS = 5
OWNERS = (0, 1, 1, 2, 3)
LAYOUT = ColumnLayout(("a", "b", "c", "d"), OWNERS, (0,) * INPUTS)
"""Four columns, the second with two features."""


def network(rng: np.random.Generator, *above: int, width: int = 3, inputs: int = INPUTS) -> BAM:
    net = BAM.init(rng, (inputs, width, *above))
    return BAM(tuple(4 * W for W in net.weights), tuple(rng.normal(size=b.shape) for b in net.biases))


def compact(kind: str, rng: np.random.Generator, **sizes: int) -> Any:
    """A predictor with a table, and its arrays as the oracle takes them."""
    if kind == "one":
        table = Compact.from_networks([network(rng, 3, 1, **sizes)])
    elif kind == "mixture":
        table = Compact.from_networks([network(rng, 3, 1, **sizes) for _ in range(3)])
    else:
        table = Compact.from_networks([network(rng, 3, **sizes) for _ in range(2)], code_words(3, 3))
    model = Model(table, labels=Labels(np.array(["x", "y", "z"] if kind == "classes" else [-1, 1])))
    return model, (table.W, table.b, table.H if kind == "classes" else table.H[:, :, None])


def probability(score: Score) -> Score:
    """Of the second class, from F in [-1, 1]; several shares are probabilities already."""

    def of(x: list[float]) -> list[float]:
        scores = score(x)
        if len(scores) == 1:
            return [(1 + scores[0]) / 2]
        return scores

    return of


def public_outputs(model: Model, X: Any) -> np.ndarray:
    """What is explained, (n, C), from the model's public functions."""
    if not model.predictor.shares:
        return model.decision_function(X).reshape(len(X), -1)
    probabilities = model.predict_proba(X)
    if model.n_classes == 2:
        return probabilities[:, 1:]
    return probabilities


def rows(rng: np.random.Generator, n: int, inputs: int = INPUTS) -> np.ndarray:
    return rng.normal(size=(n, inputs)).astype(np.float32).astype(np.float64)


def plan(background: np.ndarray, layout: ColumnLayout = LAYOUT, **options: Any) -> ExplanationPlan:
    return ExplanationPlan.drawn(layout, background, **{"exact_columns": 10, **options})


@pytest.mark.parametrize("kind", ["one", "mixture", "classes"])
def test_exact_contributions_are_those_of_the_definition(kind: str, rng: np.random.Generator) -> None:
    model, arrays = compact(kind, rng)
    X = rows(rng, 2)
    Z = rows(rng, 3)
    C = arrays[2].shape[2]
    for x, moved in zip(X, shapley_values(model, X, plan(Z)), strict=True):
        expected = shapley_by_coalitions(probability(table_score(*arrays)), x.tolist(), Z.tolist(), OWNERS, C)
        np.testing.assert_allclose(moved.contributions, expected, rtol=0, atol=1e-12)
        assert moved.exact


@pytest.mark.parametrize("kind", ["one", "mixture", "classes"])
@pytest.mark.parametrize("limit", [0, 10], ids=["orders", "coalitions"])
def test_contributions_add_up_to_the_probability(kind: str, limit: int, rng: np.random.Generator) -> None:
    model, _ = compact(kind, rng)
    X = rows(rng, 4)
    Z = rows(rng, 5)
    base = public_outputs(model, Z).mean(axis=0)
    for score, moved in zip(
        public_outputs(model, X), shapley_values(model, X, plan(Z, exact_columns=limit)), strict=True
    ):
        np.testing.assert_allclose(moved.base, base, rtol=0, atol=1e-12)
        np.testing.assert_allclose(moved.base + moved.contributions.sum(axis=0), score, rtol=0, atol=1e-10)


def every_kind(rng: np.random.Generator) -> dict[str, Model]:
    net = network(rng, 3, 1)
    return {
        "drawn": Model(Layers.from_network(net)),
        "paths": Model(Paths.from_networks([network(rng, 4, 1, width=30)], rng, n_paths=7)),
        "mixture of paths": Model(Paths.from_networks([network(rng, 1, width=30) for _ in range(2)], rng, n_paths=8)),
        "uniform": Model(UniformPredictor.from_network(net, rng, n_samples=6)),
        "moments": Model(MomentsPredictor.from_networks([network(rng, 4, 1, width=30)])),
    }


@pytest.mark.parametrize("kind", ["drawn", "paths", "mixture of paths", "uniform", "moments"])
def test_predictors_without_a_table_are_explained_too(kind: str, rng: np.random.Generator) -> None:
    model = every_kind(rng)[kind]
    X = rows(rng, 2)
    Z = rows(rng, 3)
    for x, value, moved in zip(X, public_outputs(model, X)[:, 0], shapley_values(model, X, plan(Z)), strict=True):

        def one(row: list[float]) -> list[float]:
            return [float(public_outputs(model, np.array([row]))[0, 0])]

        expected = shapley_by_coalitions(one, x.tolist(), Z.tolist(), OWNERS)
        np.testing.assert_allclose(moved.contributions, expected, rtol=0, atol=1e-12)
        assert moved.base[0] + moved.contributions.sum() == pytest.approx(value, abs=1e-10)


@pytest.mark.parametrize("kind", ["one", "mixture", "classes", "moments", "moments of classes"])
def test_both_games_give_the_same_values(kind: str, rng: np.random.Generator) -> None:
    wide = {
        "moments": lambda: MomentsPredictor.from_networks([network(rng, 4, 1, width=30) for _ in range(2)]),
        "moments of classes": lambda: MomentsPredictor.from_networks([network(rng, 3, width=30)], code_words(3, 3)),
    }
    if kind in wide:
        predictor = wide[kind]()
    else:
        predictor = compact(kind, rng)[0].predictor
    fast = game_of(predictor, LAYOUT.input_owners)
    slow = FeatureGame(predictor, LAYOUT.input_owners)
    assert isinstance(fast, LeadingGame)
    (x, z), players = rows(rng, 2), np.array([0, 1, 3])
    z[3] = x[3]  # the third column agrees
    member = corners(3, np.int8) > 0
    assert fast.differing(fast.parts(x), fast.parts(z)).tolist() == slow.differing(x, z).tolist() == players.tolist()
    np.testing.assert_allclose(
        fast.scores(fast.states(fast.parts(x), fast.parts(z), players, member)),
        slow.scores(slow.states(x, z, players, member)),
        atol=1e-13,
    )
    X = rows(rng, 7)
    orders = np.array([[rng.permutation(7) for _ in range(2)] for _ in range(4)])
    for quick, plain in zip(fast.exchanged(X, orders), slow.exchanged(X, orders), strict=True):
        np.testing.assert_allclose(quick, plain, atol=1e-13)


def test_calibrated_probabilities_are_explained(rng: np.random.Generator) -> None:
    """The value of a coalition is the calibrated probability, not the share of the vote."""
    model, arrays = compact("one", rng)
    model = replace(model, calibration=Calibration(2.0, 0.01))
    X = rows(rng, 1)
    Z = rows(rng, 3)

    def calibrated(x: list[float]) -> list[float]:
        p = probability(table_score(*arrays))(x)[0]
        odds = [(1 - p + 0.01) ** 2, (p + 0.01) ** 2]
        return [odds[1] / sum(odds)]

    moved = shapley_values(model, X, plan(Z))[0]
    expected = shapley_by_coalitions(calibrated, X[0].tolist(), Z.tolist(), OWNERS)
    np.testing.assert_allclose(moved.contributions, expected, rtol=0, atol=1e-12)


# The axioms


def game(values: dict[frozenset[int], float], J: int) -> np.ndarray:
    places = [frozenset(int(j) for j in np.nonzero(row > 0)[0]) for row in corners(J, np.int8)]
    return np.array([[values[S]] for S in places])


def random_game(rng: np.random.Generator, J: int) -> dict[frozenset[int], float]:
    return {frozenset(np.nonzero(row > 0)[0].tolist()): float(rng.normal()) for row in corners(J, np.int8)}


@pytest.mark.parametrize("J", [1, 2, 5])
def test_enumeration_is_the_mean_over_all_orders(J: int, rng: np.random.Generator) -> None:
    values = random_game(rng, J)
    np.testing.assert_allclose(
        exact_values(game(values, J))[:, 0], shapley_by_orders(values.__getitem__, J), atol=1e-13
    )


def test_a_column_that_agrees_with_the_background_has_no_part(rng: np.random.Generator) -> None:
    """The null player, though its inputs have weights."""
    model, _ = compact("mixture", rng)
    X = rows(rng, 1)
    Z = rows(rng, 4)
    Z[:, 1:3] = X[0, 1:3]
    for limit in (0, 10):
        moved = shapley_values(model, X, plan(Z, exact_columns=limit))[0]
        assert moved.contributions[1, 0] == 0
        assert moved.standard_errors[1, 0] == 0


def test_columns_that_do_the_same_have_the_same_part(rng: np.random.Generator) -> None:
    """Symmetry: two columns with equal weights and equal cells."""
    model, _ = compact("one", rng)
    W = model.predictor.W.copy()
    W[:, :, 4] = W[:, :, 0]
    twin = replace(model, predictor=replace(model.predictor, W=W))
    X = rows(rng, 1)
    Z = rows(rng, 4)
    X[:, 4] = X[:, 0]
    Z[:, 4] = Z[:, 0]
    moved = shapley_values(twin, X, plan(Z))[0].contributions[:, 0]
    assert moved[0] == pytest.approx(moved[3], abs=1e-14)
    assert moved[0] != 0


def test_the_part_in_a_mixture_is_the_mean_of_the_parts_in_its_members(rng: np.random.Generator) -> None:
    """Linearity, over members and over background rows."""
    model, (W, b, H) = compact("mixture", rng)
    X = rows(rng, 1)
    Z = rows(rng, 4)
    members = [Model(Compact(W[m, None], b[m, None], H[m, None, :, 0])) for m in range(len(W))]
    whole = shapley_values(model, X, plan(Z))[0].contributions
    parts = [shapley_values(member, X, plan(Z))[0].contributions for member in members]
    np.testing.assert_allclose(whole, np.mean(parts, axis=0), atol=1e-14)
    single = [shapley_values(model, X, plan(z[None]))[0].contributions for z in Z]
    np.testing.assert_allclose(whole, np.mean(single, axis=0), atol=1e-14)


def test_a_score_that_is_a_sum_over_columns_is_taken_apart(rng: np.random.Generator) -> None:
    """Of a sum, each term's own difference from its mean: by coalitions, and by any one pair of orders."""
    terms = rng.normal(size=4)
    values = {S: sum(terms[j] for j in S) for S in random_game(rng, 4)}
    np.testing.assert_allclose(exact_values(game(values, 4))[:, 0], terms, atol=1e-14)


# Orders


def entered(
    table: dict[frozenset[int], float], players: np.ndarray, orders: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """What the players of a game add in these orders, and its variance."""
    member = ordered_coalitions(players, orders)
    return ordered_values(
        np.array([[table[frozenset(np.nonzero(row)[0].tolist())]] for row in member]), players, orders
    )


def test_all_orders_give_what_all_coalitions_give(rng: np.random.Generator) -> None:
    J = 4
    table = random_game(rng, J)
    every = np.array(sorted({tuple(np.argsort(order)) for order in rng.random((5000, J))}))
    assert len(every) == math.factorial(J)
    mean, _ = entered(table, np.arange(J), every)
    np.testing.assert_allclose(mean, exact_values(game(table, J)), atol=1e-13)


def test_a_pair_of_orders_is_exact_where_columns_act_alone_or_in_pairs(rng: np.random.Generator) -> None:
    J = 6
    alone = rng.normal(size=6)
    pairs = rng.normal(size=(6, 6))
    table = {S: sum(alone[j] for j in S) + sum(pairs[i, j] for i in S for j in S if i < j) for S in random_game(rng, J)}
    orders = np.array([rng.permutation(J) for _ in range(2)])
    mean, variance = entered(table, np.arange(J), orders)
    np.testing.assert_allclose(mean, exact_values(game(table, J)), atol=1e-12)
    assert variance.max() < 1e-20


def test_columns_that_are_no_players_are_passed_over() -> None:
    table = {frozenset(): 0.0, frozenset({0}): 1.0, frozenset({1}): 2.0, frozenset({0, 1}): 7.0}
    mean, _ = entered(table, np.array([1, 4]), np.array([[4, 3, 0, 1, 2], [0, 1, 2, 3, 4]]))
    np.testing.assert_allclose(mean[:, 0], [3.0, 4.0])


def test_sampled_contributions_are_within_their_standard_errors(rng: np.random.Generator) -> None:
    """z-scores of many sampled explanations against the exact one: mean 0, and a spread of 1."""
    inputs = 8
    layout = ColumnLayout(tuple("abcdefgh"), tuple(range(inputs)), (0,) * inputs)
    model, _ = compact("one", rng, width=4, inputs=inputs)
    X = rows(rng, 1, inputs)
    Z = rows(rng, 6, inputs)
    exact = shapley_values(model, X, plan(Z, layout))[0]
    assert exact.exact
    scores = []
    for seed in range(60):
        sampled = shapley_values(model, X, plan(Z, layout, exact_columns=0, pairs=8, seed=seed))[0]
        assert not sampled.exact
        scores.append((sampled.contributions - exact.contributions) / sampled.standard_errors)
    z = np.array(scores)
    assert abs(z.mean()) < 4 / math.sqrt(60)
    assert (np.abs(z.mean(axis=0)) < 4.5 / math.sqrt(60)).all()
    assert 0.8 < z.std() < 1.25


def test_a_row_near_some_background_rows_is_partly_enumerated(rng: np.random.Generator) -> None:
    """Where few columns differ, nothing is sampled; the error is that of the other background rows alone."""
    model, _ = compact("one", rng)
    X = rows(rng, 1)
    Z = rows(rng, 2)
    Z[0, :3] = X[0, :3]
    near = plan(Z[:1], exact_columns=2)
    far = plan(Z, exact_columns=2)
    assert shapley_values(model, X, near)[0].exact
    both = shapley_values(model, X, far)[0]
    assert not both.exact
    exact = shapley_values(model, X, plan(Z[:1]))[0].contributions
    np.testing.assert_allclose(shapley_values(model, X, near)[0].contributions, exact, atol=1e-14)
