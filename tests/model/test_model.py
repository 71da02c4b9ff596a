"""A model around its predictor: labels, probabilities, decisions, and rows that have to be prepared."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from abnet.certificates.decision import Decision
from abnet.model import Card, Model
from abnet.model.calibration import Calibration
from abnet.networks.bam import BAM
from abnet.tables.labels import Labels
from abnet.tables.preparation import StandardMap
from conftest import random_network
from model.every_kind import ALL, SEVERAL, model, rows

each_kind = pytest.mark.parametrize("kind", ALL)
each_several = pytest.mark.parametrize("kind", SEVERAL)


def several(kind: str, rng: np.random.Generator, **changes: Any) -> Model:
    network: BAM = random_network(rng, (4, 6, 5, 3))
    return Model(SEVERAL[kind](network, rng), labels=Labels(np.array(["a", "b", "c"])), **changes)


@each_kind
def test_labels_are_those_of_the_scores(kind: str) -> None:
    found = model(kind)
    np.testing.assert_array_equal(found.predict(rows()) == "yes", found.scores(rows()) >= 0)
    np.testing.assert_array_equal(found.decision_function(rows()), found.scores(rows()))


@each_several
def test_of_several_the_largest_share_wins(kind: str, rng: np.random.Generator) -> None:
    found = several(kind, rng)
    X = rng.normal(size=(50, 4))
    scores = found.scores(X)
    assert scores.shape == (50, 3)
    np.testing.assert_array_equal(found.predict(X), found.classes_[scores.argmax(axis=1)])


@each_kind
def test_shares_are_given_where_scores_are_shares(kind: str) -> None:
    found = model(kind)
    if not found.predictor.shares:
        for ask in (found.predict_proba, found.predict_log_proba, found.vote_share):
            with pytest.raises(ValueError, match="probabilities"):
                ask(rows())
        return
    p = found.predict_proba(rows())
    np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-15)
    assert p.min() >= 0
    np.testing.assert_allclose(p[:, 1] - p[:, 0], found.scores(rows()), atol=1e-15)
    np.testing.assert_array_equal(found.predict_log_proba(rows()), np.log(p))


@each_several
def test_shares_of_several_sum_to_one(kind: str, rng: np.random.Generator) -> None:
    found = several(kind, rng)
    X = rng.normal(size=(50, 4))
    if found.predictor.shares:
        np.testing.assert_allclose(found.vote_share(X).sum(axis=1), 1, atol=1e-12)


def test_probabilities_are_calibrated_and_the_vote_is_not() -> None:
    calibration = Calibration(3.0, 0.02)
    found = model("table: mixture", calibration=calibration)
    np.testing.assert_allclose(found.predict_proba(rows()), calibration.apply(found.vote_share(rows())))
    np.testing.assert_array_equal(found.predict(rows()), replace(found, calibration=None).predict(rows()))


def test_a_cut_answers_by_its_threshold() -> None:
    plain = model()
    scores = plain.scores(rows())
    cut = replace(plain, decision=Decision(kind="cut", threshold=0.1, positive=1))
    np.testing.assert_array_equal(cut.predict(rows()) == "yes", scores > 0.1)
    assert ((scores >= 0) & (scores <= 0.1)).any()


def test_a_model_that_abstains_answers_none(rng: np.random.Generator) -> None:
    plain = several("table", rng)
    X = rng.normal(size=(50, 4))
    sure = plain.scores(X).max(axis=1)
    threshold = float(np.median(sure))
    found = replace(plain, decision=Decision(kind="abstain", threshold=threshold)).predict(X)
    assert [answer is None for answer in found] == (sure <= threshold).tolist()
    assert found[sure > threshold].tolist() == plain.predict(X)[sure > threshold].tolist()


@each_kind
def test_other_numbers_of_labels_are_refused(kind: str) -> None:
    with pytest.raises(ValueError, match="3 labels"):
        model(kind, labels=np.array(["a", "b", "c"]))


def test_columns_come_in_any_order_and_a_missing_one_is_named() -> None:
    found = model(preparation=StandardMap((1.0, 2.0, 3.0), (1.0, 2.0, 4.0)))
    frame = pd.DataFrame(rows(), columns=["age", "size, cm", "höhe"])
    np.testing.assert_array_equal(found.predict(frame[["höhe", "age", "size, cm"]]), found.predict(rows()))
    with pytest.raises(ValueError, match="'höhe'"):
        found.predict(frame[["age", "size, cm"]])


def test_it_is_shown_in_a_few_lines_with_its_classes_escaped() -> None:
    found = model(labels=np.array(["<b>", "yes"]), card=Card(recipe="a recipe"))
    assert repr(found).count("\n") <= 3
    assert "Compact" in repr(found)
    page = found._repr_html_()
    assert "&lt;b&gt;" in page
    assert "<b>" not in page
    assert "a recipe" in page
