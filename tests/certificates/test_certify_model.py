"""Certificates for any classifier: what counts as an error, what is refused, files, and the promise."""

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array
from scipy.stats import beta, binomtest
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import abnet
from abnet import Certificate
from abnet.certificates import certify_judged, judge_answers, judge_model
from abnet.certificates.statements.difference import BetterModel
from abnet.certificates.statements.population_error import PopulationError
from abnet.certificates.terms import Terms
from broken_promise import breaks

RNG = np.random.default_rng(5)
X = RNG.normal(size=(300, 3))
Y = np.where(X[:, 0] + 0.5 * RNG.normal(size=300) > 0, "yes", "no")


def first_column(X: Any) -> Any:
    return np.where(np.asarray(X)[:, 0] > 0, "yes", "no")


@pytest.mark.parametrize("kind", [LogisticRegression, DecisionTreeClassifier, KNeighborsClassifier])
def test_any_scikit_learn_classifier(kind: Callable[[], Any]) -> None:
    model = kind().fit(X[:100], Y[:100])
    certificate = abnet.certify(model, X[100:], Y[100:], delta=0.1, n_candidates=2)
    assert isinstance(certificate, Certificate)
    k = int(np.sum(model.predict(X[100:]) != Y[100:]))
    facts = certificate.facts
    assert (sum(facts.class_errors), facts.n_rows, facts.source) == (k, 200, "test set")
    assert certificate.vote_error_bound == pytest.approx(beta.ppf(0.95, k + 1, 200 - k), rel=1e-6)
    assert facts.classes == ("no", "yes")
    assert [part.n_examples for part in certificate.per_class] == [int(np.sum(Y[100:] == c)) for c in ("no", "yes")]


@pytest.mark.parametrize("form", [np.asarray, pd.DataFrame, pl.DataFrame, csr_array, np.ndarray.tolist])
def test_rows_in_any_form(form: Callable[[Any], Any]) -> None:
    def predict(rows: Any) -> Any:
        return first_column(rows.toarray() if hasattr(rows, "toarray") else rows)

    certificate = abnet.certify(predict, form(X), Y)
    assert isinstance(certificate, Certificate)
    assert sum(certificate.facts.class_errors) == int(np.sum(first_column(X) != Y))


def test_an_exception_and_a_missing_answer_are_errors() -> None:
    def fragile(rows: Any) -> list[Any]:
        if (rows[:, 0] > 2.0).any():
            raise RuntimeError("too large")
        return [None if value < -2.0 else "yes" for value in rows[:, 0]]

    judged = judge_model(fragile, X, np.full(300, "yes"))
    assert judged.wrong.tolist() == (np.abs(X[:, 0]) > 2.0).tolist()
    assert judged.unanswered == int(np.sum(np.abs(X[:, 0]) > 2.0)) > 0


def test_a_label_that_the_model_does_not_know_is_an_error() -> None:
    model = LogisticRegression().fit(X, Y)
    judged = judge_model(model, X[:10], ["perhaps"] * 10)
    assert judged.wrong.all()
    assert judged.classes == ("no", "yes", "perhaps")


def test_a_model_that_answers_nothing_is_refused() -> None:
    def broken(rows: Any) -> Any:
        raise KeyError("no such column")

    with pytest.raises(ValueError, match="KeyError"):
        abnet.certify(broken, X, Y)


def test_a_model_that_looks_at_other_rows_is_refused() -> None:
    with pytest.raises(ValueError, match="row 0"):
        abnet.certify(lambda rows: np.where(rows[:, 0] > rows[:, 0].mean(), "yes", "no"), 5.0 + np.abs(X), Y)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([0, 1] * 150, r"\bint\b.*\bstr\b"),
        (["yes", None] * 150, r"150 rows.*row 1\b"),
        (["yes"] * 299, r"300 rows.*\b299\b"),
    ],
)
def test_labels_that_cannot_be_judged_are_refused(labels: list[Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        abnet.certify(first_column, X, labels)


def test_groups_and_populations() -> None:
    groups = np.arange(300) // 6
    regions = np.where(np.arange(300) < 200, "north", "south")
    by_group = abnet.certify(first_column, X, Y, groups=groups)
    assert isinstance(by_group, Certificate)
    assert (by_group.facts.n_groups, by_group.facts.n_rows, by_group.per_class) == (50, 300, ())
    parts = abnet.certify(first_column, X, Y, by=regions)
    assert isinstance(parts, Certificate)
    assert [s.n for s in parts.each(PopulationError)] == [200, 100]
    with pytest.raises(ValueError, match=r"groups.*by"):
        abnet.certify(first_column, X, Y, groups=groups, by=regions)


ALL: dict[str, dict[str, Any]] = {
    "errors": {}, "groups": {"groups": np.arange(300) // 6}, "populations": {"by": np.arange(300) % 3},
}  # fmt: skip


@pytest.mark.parametrize("kind", ALL)
def test_files_are_read_back_and_checked(kind: str, tmp_path: Path) -> None:
    made = abnet.certify(first_column, X, Y, **ALL[kind])
    path = tmp_path / "c.json"
    made.save(path)
    assert abnet.load_certificate(path) == made
    content = json.loads(path.read_text())
    content["certificate"]["statements"][-1]["value"] *= 0.9
    path.write_text(json.dumps(content))
    with pytest.raises(ValueError, match=r"c\.json"):
        abnet.load_certificate(path)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"kind": 1}'])
def test_other_files_are_no_certificates(text: str, tmp_path: Path) -> None:
    (tmp_path / "c.json").write_text(text)
    with pytest.raises(ValueError, match="certificate"):
        abnet.load_certificate(tmp_path / "c.json")


def test_a_certificate_of_another_version_is_named_as_such(tmp_path: Path) -> None:
    (tmp_path / "c.json").write_text('{"format": "abnet certificate, version 1"}')
    with pytest.raises(ValueError, match="version 1"):
        abnet.load_certificate(tmp_path / "c.json")


def test_two_models_on_the_same_rows() -> None:
    result = abnet.compare_errors(first_column, lambda rows: np.full(len(rows), "no"), X, Y)
    a = first_column(X) != Y
    b = np.full(300, "no") != Y
    only_a = int(np.sum(a & ~b))
    only_b = int(np.sum(b & ~a))
    (better,) = result.each(BetterModel)
    assert (better.only_a, better.only_b) == (only_a, only_b)
    p = binomtest(only_a, only_a + only_b, 0.5, alternative="less").pvalue
    assert (better.value is not None) == (p <= 0.05)


@pytest.mark.parametrize("kind", ["rows", "groups", "rows of groups"])
def test_promise(kind: str) -> None:
    """True errors are known; row-wise bounds on rows of groups (the trap) fail far more often than δ."""
    delta = 0.1
    repetitions = 500
    failures = 0
    for seed in range(repetitions):
        rng = np.random.default_rng([8, seed])
        if kind == "rows":
            wrong = rng.random(80) < 0.2
            groups = None
        else:
            chances = np.repeat(rng.beta(0.5, 2.0, 40), 8)
            wrong = rng.random(320) < chances
            groups = np.repeat(np.arange(40), 8)
        judged = judge_answers(np.zeros(len(wrong), int), wrong.astype(int))
        options: Any = {"groups": groups} if kind == "groups" else {}
        made: Any = certify_judged(judged, Terms(delta=delta, source="test set"), np.arange(len(wrong)), **options)
        failures += made.vote_error_bound < 0.2
    assert breaks(failures, repetitions, delta) == (kind == "rows of groups")


@pytest.mark.parametrize("copies", [1, 2])
def test_rows_given_twice_are_noted(copies: int) -> None:
    """By any model's `certify`; groups may repeat rows."""
    rng = np.random.default_rng(0)
    X = np.tile(rng.normal(size=(60, 2)), (copies, 1))
    y = (X[:, 0] > 0).astype(int)

    def answer(rows: Any) -> Any:
        return (rows[:, 0] > 0.1).astype(int)

    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        abnet.certify(answer, X, y)
        abnet.certify(answer, X, y, groups=np.tile(np.arange(60), copies))
    assert [str(copies) in str(warning.message) for warning in found] == [True] * (copies - 1)
