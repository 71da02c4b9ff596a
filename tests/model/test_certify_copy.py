"""The error rate of a copied model, by its answers to unlabelled rows: counts, refusals and the command."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import abnet
from abnet.bounds.copied_model import copy_error_bound
from abnet.certificates import judge_answers
from abnet.certificates.certify_model import certify_judged
from abnet.certificates.statements.copied_error import CopiedErrorBound
from abnet.certificates.terms import Terms
from abnet.cli.app import app
from abnet.model.model import Model
from abnet.model.predictors.compact import Compact
from abnet.tables.labels import Labels
from abnet.utils.errors import TrainingRowsError

N = 400
ERRORS = 12
ROWS = 3000


@pytest.fixture
def model() -> Model:
    """A model of one column that answers "yes" for positive numbers."""
    judged = judge_answers(["yes"] * N, ["no"] * ERRORS + ["yes"] * (N - ERRORS))
    certificate = certify_judged(judged, Terms(source="test set"), np.arange(N))
    made = Model(
        Compact(np.array([[[2.0]]]), np.zeros((1, 1)), np.array([[-1.0, 1.0]])), labels=Labels(np.array(["no", "yes"]))
    )
    return replace(made, certificate=certificate)


@pytest.fixture
def answers(rng: np.random.Generator) -> pl.DataFrame:
    """Rows with the answers of a copy, which differ on the first seven rows; one of them is missing."""
    x = rng.normal(size=ROWS)
    copied = np.where(x > 0.0, "yes", "no").astype(object)
    copied[:6] = np.where(x[:6] > 0.0, "no", "yes")
    copied[6] = None
    return pl.DataFrame({"x": x, "answer": copied.tolist()})


def test_certificate_counts_answers_that_differ(model: Model, answers: pl.DataFrame) -> None:
    made = abnet.certify_copy(model, answers, prediction="answer")
    (statement,) = made.statements
    assert isinstance(statement, CopiedErrorBound)
    assert (statement.differing, statement.compared) == (7, ROWS)
    assert statement.value == copy_error_bound(ERRORS, N, 7, ROWS)
    assert made.check() == {"error rate of the copy": "recomputed"}
    assert all(fact in " ".join(str(made).split()) for fact in ("7 of 3,000 ", "12 ", " 400"))
    assert made.vote_error_bound is None


def test_blocks_are_counted_together(model: Model, answers: pl.DataFrame) -> None:
    blocks = (answers.slice(start, 1000) for start in range(0, ROWS, 1000))
    whole = abnet.certify_copy(model, answers, prediction="answer")
    assert abnet.certify_copy(model, blocks, prediction="answer") == whole


def test_what_cannot_be_certified_is_refused(model: Model, answers: pl.DataFrame) -> None:
    with pytest.raises(ValueError, match="no certificate"):
        abnet.certify_copy(replace(model, certificate=None), answers, prediction="answer")
    with pytest.raises(ValueError, match="'reply'"):
        abnet.certify_copy(model, answers, prediction="reply")


def test_answers_of_a_threshold_are_not_compared_with_the_plain_vote(rng: np.random.Generator) -> None:
    """A faithful copy of a model with a decision would differ from the vote whose errors the certificate counts."""
    x = rng.normal(size=(400, 1))
    y = np.where(x[:, 0] + 0.5 * rng.normal(size=400) > 0, "yes", "no")
    goal = abnet.Costs({("yes", "no"): 20.0, ("no", "yes"): 1.0})
    options = {"hidden_layer_sizes": (2,), "teacher": None, "preprocessor": "standardise", "max_iter": 5}
    clf = abnet.CertifiedClassifier(**options, decision=goal, random_state=0).fit(x, y)  # type: ignore[arg-type]
    fresh = rng.normal(size=(100, 1))
    copied = pl.DataFrame({"x0": fresh[:, 0], "answer": clf.predict(fresh).tolist()})
    assert (clf.predict(fresh) != clf.vote(fresh)).any()
    with pytest.raises(ValueError, match="plain vote"):
        abnet.certify_copy(clf, copied, prediction="answer")


def test_command_certifies_a_copy(model: Model, answers: pl.DataFrame, tmp_path: Path) -> None:
    model.save(tmp_path / "model.abnet")
    answers.write_csv(tmp_path / "device.csv")
    options = ["certify", str(tmp_path / "model.abnet"), "--same-as", str(tmp_path / "device.csv")]
    assert CliRunner().invoke(app, options).exit_code == 2
    options += ["--prediction", "answer"]
    assert "7 of 3,000 " in " ".join(CliRunner().invoke(app, options).stdout.split())
    saved = [*options, "--json", "--save", str(tmp_path / "copy.json")]
    record = json.loads(CliRunner().invoke(app, saved).stdout)["certificate"]
    assert abnet.load_certificate(tmp_path / "copy.json").to_dict() == record
    assert CliRunner().invoke(app, [*options, "--truth", "x"]).exit_code == 2


def test_one_of_several_copies_is_paid_for(model: Model, answers: pl.DataFrame, tmp_path: Path) -> None:
    """The choice among copies and the given δ reach the certificate, from Python and from the command."""
    made = abnet.certify_copy(model, answers, prediction="answer", delta=0.01, n_candidates=50)
    expected = copy_error_bound(ERRORS, N, 7, ROWS, 0.01, n_candidates=50)
    (statement,) = made.statements
    assert statement.value == expected
    assert expected > copy_error_bound(ERRORS, N, 7, ROWS)
    assert made.check() == {"error rate of the copy": "recomputed"}
    path = tmp_path / "m.abnet"
    table = tmp_path / "answers.csv"
    model.save(path)
    answers.write_csv(table)
    options = ["--prediction", "answer", "--delta", "0.01", "--n-candidates", "50", "--json"]
    result = CliRunner().invoke(app, ["certify", str(path), "--same-as", str(table), *options])
    assert result.exit_code == 0, result.output
    (stated,) = json.loads(result.stdout)["certificate"]["statements"]
    assert stated["value"] == expected


def test_rows_of_the_fit_are_refused() -> None:
    """Rows without labels are looked up with each label; new rows and few old ones pass."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=400) > 0, "yes", "no")
    options = {"hidden_layer_sizes": (3,), "teacher": None, "preprocessor": "standardise", "max_iter": 20}
    clf = abnet.CertifiedClassifier(**options, random_state=0).fit(X, y)  # type: ignore[arg-type]

    def frame(rows: np.ndarray) -> pl.DataFrame:
        columns = {f"x{place}": rows[:, place] for place in range(3)}
        return pl.DataFrame({**columns, "answer": clf.predict(rows).tolist()})

    used = np.concatenate([clf.other_rows_[:100], clf.bound_rows_[:100]])
    with pytest.raises(TrainingRowsError, match="200"):
        abnet.certify_copy(clf, frame(X[used]), prediction="answer")
    made = abnet.certify_copy(clf, frame(rng.normal(size=(300, 3))), prediction="answer")
    assert made.statements[0].compared == 300  # type: ignore[attr-defined]
