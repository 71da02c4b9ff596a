"""Certificates for any classifier: what counts as an error, what is refused, files, and the promise."""

import json
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
from abnet.bounds import certify_test_set
from abnet.bounds.certificate import Certificate
from abnet.decisions import PopulationErrors, certify_judged, judge_answers, judge_model
from abnet.decisions.certify_model import not_recomputed
from promise import breaks

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
    assert (certificate.vote_errors, certificate.n_examples, certificate.prior) == (k, 200, "test set")
    assert certificate.vote_error_bound == pytest.approx(beta.ppf(0.95, k + 1, 200 - k), rel=1e-6)
    assert certificate.class_names == ("no", "yes")
    assert [part.n_examples for part in certificate.per_class] == [int(np.sum(Y[100:] == c)) for c in ("no", "yes")]


@pytest.mark.parametrize("form", [np.asarray, pd.DataFrame, pl.DataFrame, csr_array, np.ndarray.tolist])
def test_rows_in_any_form(form: Callable[[Any], Any]) -> None:
    def predict(rows: Any) -> Any:
        return first_column(rows.toarray() if hasattr(rows, "toarray") else rows)

    certificate = abnet.certify(predict, form(X), Y)
    assert isinstance(certificate, Certificate)
    assert certificate.vote_errors == int(np.sum(first_column(X) != Y))


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
    assert judged.classes == ("no", "perhaps", "yes")


def test_a_model_that_answers_nothing_is_refused() -> None:
    def broken(rows: Any) -> Any:
        raise KeyError("no such column")

    with pytest.raises(ValueError, match="answers no row: KeyError"):
        abnet.certify(broken, X, Y)


def test_a_model_that_looks_at_other_rows_is_refused() -> None:
    with pytest.raises(ValueError, match="does not work row by row: row 0 comes out otherwise"):
        abnet.certify(lambda rows: np.where(rows[:, 0] > rows[:, 0].mean(), "yes", "no"), 5.0 + np.abs(X), Y)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([0, 1] * 150, "labels are of type int, the answers of type str"),
        (["yes", None] * 150, "150 rows without a label, the first is row 1"),
        (["yes"] * 299, "300 rows, but there are 299 labels"),
    ],
)
def test_labels_that_cannot_be_judged_are_refused(labels: list[Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        abnet.certify(first_column, X, labels)


def test_groups_and_populations() -> None:
    groups, regions = np.arange(300) // 6, np.where(np.arange(300) < 200, "north", "south")
    by_group = abnet.certify(first_column, X, Y, groups=groups)
    assert isinstance(by_group, Certificate)
    assert (by_group.n_groups, by_group.n_examples, by_group.per_class) == (50, 300, ())
    rates = np.add.reduceat(first_column(X) != Y, np.arange(0, 300, 6)) / 6
    assert by_group.empirical_error == pytest.approx(rates.mean())
    parts = abnet.certify(first_column, X, Y, by=regions)
    assert isinstance(parts, PopulationErrors)
    assert [part.n_rows for part in parts.populations] == [200, 100]
    with pytest.raises(ValueError, match="groups or by, not both"):
        abnet.certify(first_column, X, Y, groups=groups, by=regions)


ALL: dict[str, dict[str, Any]] = {
    "errors": {}, "groups": {"groups": np.arange(300) // 6}, "populations": {"by": np.arange(300) % 3},
}  # fmt: skip


@pytest.mark.parametrize("kind", ALL)
def test_files_are_read_back_and_checked(kind: str, tmp_path: Path) -> None:
    made, path = abnet.certify(first_column, X, Y, **ALL[kind]), tmp_path / "c.json"
    made.save(path)
    assert abnet.load_certificate(path) == made
    content = json.loads(path.read_text())
    record = content["certificate"]
    if kind != "populations":
        record["vote_error_bound"] = record["test_set_bound"] = record["vote_error_bound"] * 0.9
    else:
        record["populations"][0]["error_bound"] *= 0.9
    path.write_text(json.dumps(content))
    with pytest.raises(ValueError, match=r"c\.json: .*does not follow from its own observations"):
        abnet.load_certificate(path)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"format": "abnet certificate, version 1"}', '{"kind": 1}'])
def test_other_files_are_no_certificates(text: str, tmp_path: Path) -> None:
    (tmp_path / "c.json").write_text(text)
    with pytest.raises(ValueError, match="is not a certificate"):
        abnet.load_certificate(tmp_path / "c.json")


def test_two_models_on_the_same_rows() -> None:
    result = abnet.compare_errors(first_column, lambda rows: np.full(len(rows), "no"), X, Y)
    a, b = first_column(X) != Y, np.full(300, "no") != Y
    assert (result.only_a, result.only_b) == (int(np.sum(a & ~b)), int(np.sum(b & ~a)))
    p = binomtest(result.only_a, result.only_a + result.only_b, 0.5, alternative="less").pvalue
    assert result.p_value == pytest.approx(p)


@pytest.mark.parametrize("kind", ["rows", "groups", "rows of groups"])
def test_promise(kind: str) -> None:
    """True errors are known; row-wise bounds on rows of groups (the trap) fail far more often than δ."""
    delta, repetitions, failures = 0.1, 500, 0
    for seed in range(repetitions):
        rng = np.random.default_rng([8, seed])
        if kind == "rows":
            wrong, groups = rng.random(80) < 0.2, None
        else:
            chances = np.repeat(rng.beta(0.5, 2.0, 40), 8)
            wrong, groups = rng.random(320) < chances, np.repeat(np.arange(40), 8)
        judged = judge_answers(np.zeros(len(wrong), int), wrong.astype(int))
        options: Any = {"groups": groups} if kind == "groups" else {}
        made: Any = certify_judged(judged, delta=delta, **options)
        failures += made.vote_error_bound < 0.2
    assert breaks(failures, repetitions, delta) == (kind == "rows of groups")


@pytest.mark.parametrize("drawn", ["classifier", "network"])
def test_an_edited_gibbs_bound_is_found_or_said_not_to_be_recomputed(drawn: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    losses = (rng.random(1500) < 0.2).astype(float) if drawn == "classifier" else rng.random(1500) * 0.4
    wrong, codes, path = losses > 0.3, rng.integers(0, 2, 1500), tmp_path / "c.json"
    made: Any = certify_test_set(losses, codes, wrong, delta=0.05, order=np.arange(1500))
    if drawn == "classifier":
        made = abnet.certify(lambda rows: rows[:, 0], np.c_[codes ^ wrong], codes)
    made.save(path)
    loaded: Any = abnet.load_certificate(path)
    checked = loaded.check()
    assert checked["vote_error_bound"] == checked["class 1: vote_error_bound"] == "recomputed"
    assert checked["gibbs_risk_bound"] == ("recomputed" if drawn == "classifier" else "attainable")
    content = json.loads(path.read_text())
    for value in (made.empirical_gibbs_risk * 1.001, made.empirical_gibbs_risk * 0.999):
        content["certificate"]["gibbs_risk_bound"] = value
        path.write_text(json.dumps(content))
        if drawn == "classifier" or value < made.empirical_gibbs_risk:
            with pytest.raises(ValueError, match="gibbs_risk_bound"):
                abnet.load_certificate(path)
        else:
            assert not_recomputed(abnet.load_certificate(path))[0] == "gibbs_risk_bound"
    if drawn == "network":
        assert made.check(losses)["gibbs_risk_bound"] == "recomputed"
