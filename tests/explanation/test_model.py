"""A model explained as a whole: importance, regions by their rows, and the text and JSON of it."""

import json
from typing import Any

import numpy as np
import pytest

from abnet.explanation import ExplanationPlan, explain, explain_model
from abnet.explanation.model_explanation import REPEATS, explain_model_inputs
from abnet.explanation.regions import region_table
from abnet.model.model import Model
from abnet.model.predictors.compact import Compact
from explanation.test_shapley import compact, every_kind

ONE_NEURON = Model(Compact(np.array([[[3.0, 0.0, 1.5]]]), np.zeros((1, 1)), np.array([[-1.0, 1.0]])))
"""A model whose second column has no weight, though it lengthens the rows."""


def test_mean_contributions_are_those_of_the_rows(rng: np.random.Generator) -> None:
    X = rng.normal(size=(20, 3))
    Z = rng.normal(size=(5, 3))
    explanation = explain_model(ONE_NEURON, X, background=Z)
    each = np.abs(explain(ONE_NEURON, X, background=Z).contributions)
    np.testing.assert_allclose([one.contribution for one in explanation.importance], each.mean(axis=0), atol=1e-14)
    errors = each.std(axis=0, ddof=1) / np.sqrt(20)
    np.testing.assert_allclose([one.contribution_error for one in explanation.importance], errors, atol=1e-14)
    assert explanation.error is None
    assert explanation.importance[0].error_growth is None
    assert explanation.ranked()[0].column == "x0"


def test_the_direction_is_that_of_the_weights(rng: np.random.Generator) -> None:
    """Of one neuron that one column raises and another lowers; several classes have no direction."""
    falling = Model(Compact(np.array([[[3.0, 0.0, -1.5]]]), np.zeros((1, 1)), np.array([[-1.0, 1.0]])))
    X = rng.normal(size=(60, 3))
    up, _, down = explain_model(falling, X, background=X[:5]).importance
    assert up.direction is not None
    assert down.direction is not None
    assert up.direction > 0.8
    assert down.direction < -0.8
    several, _ = compact("classes", rng)
    assert {
        one.direction for one in explain_model(several, rng.normal(size=(9, 5)), background=np.eye(5)).importance
    } == {None}


def test_progress_rises_to_the_end(rng: np.random.Generator) -> None:
    X = rng.normal(size=(20, 3))
    seen = list[float]()
    plan = ExplanationPlan.of(ONE_NEURON, np.eye(3))
    explain_model_inputs(ONE_NEURON, X, ONE_NEURON.predictor.votes(X), plan, progress=seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == 1.0
    assert len(seen) == 20 + 3


def test_the_growth_of_the_error_is_that_of_columns_taken_from_other_rows(rng: np.random.Generator) -> None:
    """Against the mean over all pairs of rows, which the shuffles sample: a z-test with the errors that are claimed."""
    X = rng.normal(size=(300, 3)).astype(np.float32).astype(np.float64)
    y = np.where(3 * X[:, 0] + 1.5 * X[:, 2] + rng.normal(size=300) > 0, 1, -1)
    explanation = explain_model(ONE_NEURON, X, y, background=X[:4])
    wrong = ONE_NEURON.predict(X) != y
    assert explanation.error == wrong.mean()
    for j, one in enumerate(explanation.importance):
        other = [k for k in range(3) if k != j]
        mixed = np.repeat(X, 300, axis=0)
        mixed[:, j] = np.tile(X[:, j], 300)
        assert (mixed[:, other] == np.repeat(X[:, other], 300, axis=0)).all()
        errs = (ONE_NEURON.predict(mixed) != np.repeat(y, 300)).reshape(300, 300)
        expected = (errs.sum(axis=1) - wrong) / 299 - wrong  # a row is not paired with itself
        assert one.error_growth is not None
        assert one.error_growth_error is not None
        spread = np.sqrt(np.mean(expected * (1 - np.abs(expected))) / (300 * REPEATS)) + 1e-12
        assert abs(one.error_growth - expected.mean()) < 5 * spread + 5 * one.error_growth_error / np.sqrt(REPEATS)
    assert explanation.importance[1].error_growth == 0
    assert explanation.importance[0].error_growth > 0.2  # type: ignore[operator]


def test_a_label_that_the_model_does_not_know_is_an_error_and_stays_one(rng: np.random.Generator) -> None:
    plan = ExplanationPlan.of(ONE_NEURON, np.eye(3))
    explanation = explain_model_inputs(ONE_NEURON, rng.normal(size=(10, 3)), np.full(10, -1), plan)
    assert explanation.error == 1
    assert {one.error_growth for one in explanation.importance} == {0.0}


@pytest.mark.parametrize("kind", ["one", "mixture", "classes"])
def test_regions_hold_the_mean_of_the_rows_probabilities(kind: str, rng: np.random.Generator) -> None:
    model, _ = compact(kind, rng)
    X = rng.normal(size=(40, 5)).astype(np.float32).astype(np.float64)
    explanation = explain_model(model, X, background=X[:3], rows=5, regions=7)
    table = region_table(model.predictor)
    assert table is not None
    assert explanation.regions is not None
    mass = table.probabilities(X).mean(axis=0)
    top = np.sort(mass, axis=None)[::-1][:7]
    np.testing.assert_allclose([one.probability for one in explanation.regions.listed], top, atol=1e-12)
    total = sum(one.probability for one in explanation.regions.listed) / table.n_members
    assert total + explanation.regions.other_probability == pytest.approx(1, abs=1e-12)


def test_the_text_names_columns_regions_and_orders(rng: np.random.Generator) -> None:
    model, _ = compact("mixture", rng)
    X = rng.normal(size=(30, 5))
    text = explain_model(model, X, model.predict(X), background=X[:5], rows=5).describe(most=3)
    assert max(map(len, text.split("\n"))) <= 80
    text = " ".join(text.split())
    assert " 5 rows" in text
    assert " 0% " in text  # the error, which grows
    assert "… and 2 more" in text
    assert "30 rows" in text.split("Regions")[1]


def test_it_is_plain_json(rng: np.random.Generator) -> None:
    model, _ = compact("classes", rng)
    X = rng.normal(size=(10, 5))
    explanation = explain_model(model, X, model.predict(X), background=X[:5], rows=3)
    record = json.loads(json.dumps(explanation.to_dict(), allow_nan=False))
    assert len(record["importance"]) == 5
    assert record["n_explained"] == 3


def test_a_model_of_paths_has_importance_alone(rng: np.random.Generator) -> None:
    model: Any = every_kind(rng)["paths"]
    X = rng.normal(size=(6, 5))
    explanation = explain_model(model, X, background=X[:3], rows=2)
    assert explanation.regions is None
    assert "30 neurons" in explanation.no_regions
    assert explanation.ranked()[0].contribution > 0


def test_the_rows_drawn_depend_on_the_seed_alone(rng: np.random.Generator) -> None:
    X = rng.normal(size=(50, 3))
    first, again, other = (explain_model(ONE_NEURON, X, background=X[:5], rows=8, seed=s).to_dict() for s in (1, 1, 2))
    assert first == again != other


def test_no_rows_and_too_few_labels_are_refused() -> None:
    plan = ExplanationPlan.of(ONE_NEURON, np.eye(3))
    with pytest.raises(ValueError, match=r"\b0 rows"):
        explain_model(ONE_NEURON, np.empty((0, 3)), plan=plan)
    with pytest.raises(ValueError, match="label"):
        explain_model(ONE_NEURON, np.eye(3), [1, -1], plan=plan)
