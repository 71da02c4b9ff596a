"""Costs of several classes, from a fit to new rows: the rule decides, is saved, shown and certified again."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import abnet
from abnet import CertifiedClassifier
from abnet.bounds.held_out_bounds import cost_bound
from abnet.certificates.decision import ARGMAX
from abnet.certificates.goals import Costs
from abnet.certificates.statements.cost_bound import CostBound
from abnet.cli.app import app

RNG = np.random.default_rng(1)
CENTRES = np.array([[0.0, 1.0], [1.0, -0.5], [-1.0, -0.5]])
NAMES = np.array(["cold", "flu", "sepsis"])


def draw(n: int) -> tuple[np.ndarray, np.ndarray]:
    truth = RNG.choice(3, n, p=[0.5, 0.35, 0.15])
    return (CENTRES[truth] + 0.8 * RNG.normal(size=(n, 2))).round(3), NAMES[truth]


X, Y = draw(600)
X_NEW, Y_NEW = draw(400)
COSTS = {("*", "*"): 1, ("sepsis", "*"): 15}
TABLE = np.array([[0, 1, 1], [1, 0, 1], [15, 15, 0]], float)


def costs_of(answers: Any, labels: Any) -> np.ndarray:
    return TABLE[np.searchsorted(NAMES, labels), np.searchsorted(NAMES, answers)]


def small() -> CertifiedClassifier:
    return CertifiedClassifier(
        (6,), preprocessor="standardise", decision=Costs(COSTS), n_estimators=2, max_iter=30, random_state=0
    )


@pytest.fixture(scope="module")
def fitted() -> Any:
    return small().fit(X, Y)


def test_the_certified_answers_are_those_of_predict(fitted: Any) -> None:
    assert fitted.model_.decision.kind == "costs"
    (cost,) = fitted.certificate_.each(CostBound)
    bound_rows = fitted.bound_rows_
    seen = costs_of(fitted.predict(X[bound_rows]), Y[bound_rows])
    assert cost.minimised
    assert cost.n == len(bound_rows)
    assert cost.mean * 15 == pytest.approx(seen.mean(), rel=1e-12)
    assert cost.value == cost_bound(seen / 15, 15.0, 0.05)
    assert cost.check(seen / 15) == "recomputed"
    of_vote = costs_of(fitted.vote(X_NEW), Y_NEW).mean()
    assert costs_of(fitted.predict(X_NEW), Y_NEW).mean() < 0.9 * of_vote
    assert fitted.certificate_.counts_plain_vote


def test_the_order_of_the_rows_does_not_matter(fitted: Any) -> None:
    order = np.argsort(Y, kind="stable")
    other = small().fit(X[order], Y[order])
    assert other.model_.digest == fitted.model_.digest
    assert other.certificate_ == fitted.certificate_


def test_saved_and_loaded(fitted: Any, tmp_path: Path) -> None:
    path = tmp_path / "m.abnet"
    fitted.save(path)
    loaded: Any = abnet.load(path)
    assert loaded.decision == fitted.model_.decision
    np.testing.assert_array_equal(loaded.predict(X_NEW), fitted.predict(X_NEW))
    # A certificate of these costs belongs to this rule only.
    for decision in (ARGMAX, replace_power(loaded.decision)):
        with pytest.raises(ValueError, match=r"certificate|decision"):
            replace(loaded, decision=decision).save(tmp_path / "other.abnet")


def replace_power(decision: Any) -> Any:
    """The same rule for costs that are ten times as large."""
    import msgspec

    table = tuple(tuple(10 * cost for cost in row) for row in decision.costs.table)
    return msgspec.structs.replace(decision, costs=msgspec.structs.replace(decision.costs, table=table))


def test_from_the_command_line(tmp_path: Path) -> None:
    paths = {"fit": (X, Y), "fresh": (X_NEW, Y_NEW)}
    for name, (rows, labels) in paths.items():
        pl.DataFrame({"a": rows[:, 0], "b": rows[:, 1], "y": labels}).write_csv(tmp_path / f"{name}.csv")
    model = tmp_path / "m.abnet"
    options = ["--costs", "*:*=1", "--costs", "sepsis:*=15", "--random-state", "0", "--max-iter", "20", "-q"]
    options += ["--hidden-layer-sizes", "6", "--n-estimators", "2", "--json"]
    fit = CliRunner().invoke(app, ["fit", str(tmp_path / "fit.csv"), "--target", "y", "-o", str(model), *options])
    assert fit.exit_code == 0, fit.output
    loaded: Any = abnet.load(model)
    assert loaded.decision.kind == "costs"
    shown = CliRunner().invoke(app, ["inspect", str(model)])
    assert "sepsis:cold=15" in " ".join(shown.stdout.split())
    output = tmp_path / "answers.csv"
    predicted = CliRunner().invoke(app, ["predict", str(model), str(tmp_path / "fresh.csv"), "-o", str(output)])
    assert predicted.exit_code == 0, predicted.output
    frame = {"a": X_NEW[:, 0], "b": X_NEW[:, 1]}
    answers = loaded.predict(frame)
    assert pl.read_csv(output)["prediction"].to_list() == answers.tolist()
    # On fresh rows the cost of the same answers is certified again, and so is their error rate.
    result = CliRunner().invoke(app, ["certify", str(model), str(tmp_path / "fresh.csv"), "--json"])
    assert result.exit_code == 0, result.output
    certificate = json.loads(result.stdout)["certificate"]
    cost = certificate["statements"][0]
    assert cost["type"] == "cost"
    assert cost["mean"] * 15 == pytest.approx(costs_of(answers, Y_NEW).mean())
    assert sum(certificate["facts"]["class_errors"]) == int(np.sum(answers != Y_NEW))


def test_a_report(fitted: Any, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    abnet.write_report(fitted.model_, path)
    page = path.read_text(encoding="utf-8")
    assert "class of the least expected cost" in page
    assert "sepsis:cold=15" in page
