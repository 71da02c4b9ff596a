"""Targets of training rows and of synthetic rows, with and without teachers."""

from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from abnet.training.first_part import FirstPart
from abnet.training.pooled_predictions import pooled
from abnet.training.targets import distilled_examples, examples_without_teachers, some_of_each_class
from abnet.training.teacher_pool import TeacherPool, fit_pool

MODELS = {"linear": LogisticRegression()}


def first_part(X: np.ndarray, codes: np.ndarray, **further: Any) -> FirstPart:
    fields: dict[str, Any] = {"code_map": None, "weights": None, "groups": None}
    return FirstPart(X, codes, np.unique(codes), np.arange(X.shape[1]), **{**fields, **further})


@pytest.fixture
def X(rng: np.random.Generator) -> np.ndarray:
    return rng.normal(size=(90, 3)).astype(np.float32)


@pytest.fixture
def two(X: np.ndarray) -> FirstPart:
    return first_part(X, (X[:, 0] > X[:, 1] * X[:, 2]).astype(np.intp))


@pytest.fixture
def three(X: np.ndarray) -> FirstPart:
    return first_part(X, np.digitize(X[:, 0], [-0.5, 0.5]))


def pool_of(part: FirstPart) -> TeacherPool:
    return fit_pool(MODELS, part.X, part.codes, part.n_classes, 0)


def test_targets_are_halfway_and_synthetic_rows_have_those_of_the_teachers(
    two: FirstPart, rng: np.random.Generator
) -> None:
    pool = pool_of(two)
    examples = distilled_examples(two, pool, None, rng)
    np.testing.assert_array_equal(examples.inputs[:90], two.X)
    np.testing.assert_allclose(examples.targets[:90, 1], (two.codes + pool.out_of_fold[:, 1]) / 2)
    alone = LogisticRegression().fit(two.X, two.codes).predict_proba(examples.inputs[90:])
    np.testing.assert_allclose(examples.targets[90:], pooled(pool.weights, alone[None]), atol=1e-6)
    np.testing.assert_allclose(examples.softened(), 2 * examples.targets[:, 1] - 1)


def test_with_several_classes_training_rows_have_their_labels_and_the_others_softened_predictions(
    three: FirstPart, rng: np.random.Generator
) -> None:
    examples = distilled_examples(three, pool_of(three), None, rng)
    labels = np.eye(3)[three.codes]
    np.testing.assert_array_equal(examples.targets[:90], labels)
    softened = examples.softened()
    np.testing.assert_array_equal(softened[:90], labels)
    np.testing.assert_allclose(softened.sum(axis=1), 1)
    assert np.mean(softened[90:].max(axis=1)) < np.mean(examples.targets[90:].max(axis=1))


def test_no_synthetic_row_has_cells_of_the_validation_rows(two: FirstPart, rng: np.random.Generator) -> None:
    part = first_part(two.X, two.codes, groups=np.repeat(np.arange(9), 10))
    examples = distilled_examples(part, pool_of(part), None, rng)
    np.testing.assert_array_equal(examples.validation, np.arange(80, 90))
    synthetic = examples.inputs[90:]
    assert not np.isin(synthetic, part.X[80:]).any()
    assert np.isin(synthetic, part.X[:80]).all()


def test_without_teachers_targets_are_labels_and_classes_weigh_rows(three: FirstPart, rng: np.random.Generator) -> None:
    class_weights = np.array([1.0, 2.0, 4.0])
    weights = rng.uniform(1, 2, 90)
    part = first_part(three.X, three.codes, weights=weights)
    examples = examples_without_teachers(part, class_weights, rng)
    np.testing.assert_array_equal(examples.targets, np.eye(3)[three.codes])
    expected = weights * class_weights[three.codes]
    np.testing.assert_allclose(examples.weights, expected / expected.mean())
    assert examples.validation is not None
    assert set(three.codes[examples.validation]) == {0, 1, 2}


def test_a_class_of_one_row_has_no_validation_row(rng: np.random.Generator) -> None:
    chosen = some_of_each_class(np.array([0] * 16 + [1]), rng)
    assert chosen is not None
    assert len(chosen) == 2
    assert max(chosen) < 16
    assert some_of_each_class(np.arange(3), rng) is None
