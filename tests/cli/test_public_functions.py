"""Every command is one public function plus printing: the functions from Python, and the same facts in ``--json``."""

import inspect
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import abnet
from abnet.certificates.statements.recall import RecallTest
from abnet.utils.errors import ParameterError
from cli.tables import SMALL, Run, csv_text

FUNCTIONS: list[Callable[..., Any]] = [
    abnet.predict_table, abnet.certify_table, abnet.certify_predictions, abnet.monitor, abnet.explain_table,
    abnet.report_table, abnet.export_model, abnet.inspect_file, abnet.compare, abnet.demo, abnet.fit_table,
    abnet.robust_table, abnet.certify_mix, abnet.certify_counterfactual,
]  # fmt: skip


@pytest.fixture
def fresh(tmp_path: Path) -> Path:
    """Rows like those of the fit, none of them one of its rows."""
    path = tmp_path / "fresh.csv"
    path.write_text(csv_text(seed=1))
    return path


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_the_functions_are_public_and_have_few_parameters(function: Callable[..., Any]) -> None:
    assert function.__name__ in abnet.__all__
    assert len(inspect.signature(function).parameters) <= 14
    assert function.__doc__ is not None


def test_predictions_come_as_a_frame_from_paths_frames_and_models(model: Path, table: Path) -> None:
    whole = abnet.predict_table(model, table, proba=True, keep=["id"])
    assert whole.frame is not None
    assert whole.frame.columns == ["id", "prediction", "probability_good", "probability_not so good"]
    frame = pl.read_csv(table, infer_schema=False)
    again = abnet.predict_table(abnet.load(model), [frame.head(7), frame.tail(53)], proba=True, keep="id").frame
    assert again is not None
    assert again.equals(whole.frame)
    assert whole.counts == dict(whole.frame["prediction"].value_counts().rows())
    assert abnet.load(model).predict(frame).tolist() == whole.frame["prediction"].to_list()


def test_the_record_of_predictions_is_that_of_the_command(run: Run, model: Path, table: Path, tmp_path: Path) -> None:
    output = tmp_path / "p.csv"
    printed = json.loads(run("predict", model, table, "--output", output, "--json").stdout)
    content = output.read_text()
    made = abnet.predict_table(model, table, output)
    assert {**made.to_dict(), "replaced": False, "notes": list(made.notes)} == printed
    assert output.read_text() == content


def test_one_bad_row_does_not_stop_a_batch(run: Run, tmp_path: Path) -> None:
    """A model of an array has no rule for missing values and text: such rows are skipped, and keep their places."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2)).round(3)
    y = np.where(X[:, 0] > 0, "up", "down")
    frame = pl.DataFrame({"a": X[:, 0], "b": X[:, 1]})
    clf = abnet.PBGNetClassifier((2,), max_iter=3, random_state=0).fit(frame.to_pandas(), y)
    clf.save(tmp_path / "m.abnet")
    cells = frame.cast(pl.String).rows()
    bad = {4: ("", "1"), 17: ("1", "rotary"), 18: ("inf", "0"), 59: ("x", "y")}
    lines = [",".join(bad.get(place, row)) for place, row in enumerate(cells)]
    (tmp_path / "t.csv").write_text("\n".join(["a,b", *lines]) + "\n")
    with pytest.raises(ValueError, match="row"):
        abnet.predict_table(tmp_path / "m.abnet", tmp_path / "t.csv")
    made = abnet.predict_table(tmp_path / "m.abnet", tmp_path / "t.csv", on_error="skip", proba=True)
    assert [skipped.row for skipped in made.skipped] == [place + 1 for place in bad]
    assert "'rotary'" in made.skipped[1].reason
    assert made.frame is not None
    assert [place for place, label in enumerate(made.frame["prediction"]) if label is None] == list(bad)
    good = [place for place in range(60) if place not in bad]
    assert made.frame["prediction"][good].to_list() == clf.predict(frame.to_pandas())[good].tolist()
    assert made.counts["(skipped)"] == 4
    result = run("predict", tmp_path / "m.abnet", tmp_path / "t.csv", "--on-error", "skip")
    assert all(f"row {place + 1}" in result.stderr for place in bad)
    assert len(result.stdout.splitlines()) == 61
    frame.rename({"b": "c"}).write_csv(tmp_path / "t.csv")
    with pytest.raises(ValueError, match="'b'"):  # no row is to blame
        abnet.predict_table(tmp_path / "m.abnet", tmp_path / "t.csv", on_error="skip")


def test_certificates_are_those_of_the_command(run: Run, model: Path, fresh: Path) -> None:
    made = abnet.certify_table(model, fresh, n_candidates=3)
    printed = json.loads(run("certify", model, fresh, "--n-candidates", 3, "--confusion", "--json").stdout)
    assert made.to_dict() == {name: printed[name] for name in made.to_dict()}
    assert made.confusion().to_dict() == printed["confusion"]
    assert abnet.certify_table(model, pl.read_csv(fresh, infer_schema=False), n_candidates=3).made == made.made
    with pytest.raises(ParameterError, match="by or group"):
        abnet.certify_table(model, fresh, by="city", group="city")
    with pytest.raises(ParameterError, match=r"truth.*'mood'"):
        abnet.certify_table(model, fresh, truth="mood")


def test_a_goal_is_certified_by_scores(model: Path, fresh: Path) -> None:
    goal = abnet.TargetRecall(0.2, positive="good")
    made = abnet.certify_table(model, fresh, goal=goal, random_state=0).made
    assert isinstance(made, abnet.Certificate)
    assert made.find(RecallTest, "good") is not None
    costs = abnet.Costs({("good", "not so good"): 2.0, ("not so good", "good"): 1.0})
    assert abnet.certify_table(model, fresh, goal=costs, random_state=0).kind == "certificate"


def test_a_model_is_watched_from_python(model: Path, fresh: Path, tmp_path: Path) -> None:
    state = tmp_path / "s.json"
    made = abnet.monitor(model, fresh, state, error=0.45)
    assert (made.n_new, made.monitor.n, made.alarm) == (60, 60, abnet.Monitor.load(state).alarm)
    with pytest.raises(ValueError, match="before"):
        abnet.monitor(model, fresh, state)
    frame = pl.read_csv(fresh, infer_schema=False)
    assert abnet.monitor(model, frame.head(10), state).monitor.n == 70


def test_fit_and_monitor_print_the_same_bound(run: Run, model: Path, fresh: Path, tmp_path: Path) -> None:
    from abnet.utils.wording import percent_up

    bound = percent_up(json.loads(run("inspect", model, "--json").stdout)["certificate"]["vote_error_bound"])
    assert bound in run("inspect", model).stdout
    assert bound in run("monitor", model, fresh, "--state", tmp_path / "s.json").stdout


def test_rows_and_models_are_explained(run: Run, model: Path, table: Path, tmp_path: Path) -> None:
    made = abnet.explain_table(model, table, rows=[3, 8], output=tmp_path / "c.csv")
    assert made.rows is not None
    assert [row.number for row in made.rows] == [3, 8]
    printed = json.loads(run("explain", model, table, "--rows", "3,8", "--json").stdout)
    assert printed["explained"] == made.to_dict()["explained"]
    assert (tmp_path / "c.csv").read_text() == made.rows.to_csv()
    done: list[float] = []
    assert abnet.explain_table(model, table, progress=done.append).whole is not None
    assert done[-1] == 1.0


def test_a_report_of_a_table(model: Path, fresh: Path, tmp_path: Path) -> None:
    made = abnet.report_table(model, tmp_path / "r.html", fresh)
    assert (made.n_rows, made.size) == (60, (tmp_path / "r.html").stat().st_size)
    assert abnet.report_table(model, tmp_path / "r.html").replaced


def test_an_export_says_what_it_takes(run: Run, model: Path, tmp_path: Path) -> None:
    made = abnet.export_model(model, tmp_path / "m.c", to="c", example=True)
    assert [Path(file).name for file in made.files] == ["m.c", "m.h", "m_example.c"]
    printed = json.loads(run("export", model, "--to", "c", "--example", "-o", tmp_path / "m.c", "--json").stdout)
    assert printed == {"model": str(model), **made.to_dict(), "replaced": True}
    with pytest.raises(ParameterError, match="'java'"):
        abnet.export_model(model, tmp_path / "m.java", to="java")


def test_a_file_is_inspected(run: Run, model: Path) -> None:
    found = abnet.inspect_file(model)
    assert found.kind == "model"
    assert json.loads(json.dumps(found.to_dict())) == json.loads(run("inspect", model, "--json").stdout)
    assert found.facts()["target"] == "mood today"


def test_models_are_compared_from_a_frame(run: Run, table: Path) -> None:
    small = abnet.CertifiedClassifier((2,), max_iter=4, random_state=1)
    frame = pl.read_csv(table, infer_schema=False)
    made = abnet.compare(frame, "mood today", estimator=small, drop=["id"], choose=True)
    assert made.n_candidates == len(made.contenders) == 5
    assert made.winner is not None
    assert made.winner.bound == min(contender.bound or 1.0 for contender in made.contenders)
    plain = abnet.compare(frame, "mood today", estimator=small, drop=["id"])
    printed = json.loads(run("compare", table, "--target", "mood today", "--drop", "id", "--json", *SMALL).stdout)
    for ours, theirs in zip(plain.to_dict()["contenders"], printed["contenders"], strict=True):
        assert {name: ours[name] for name in ("name", "bound", "test_errors", "n_test")} == {
            name: theirs[name] for name in ("name", "bound", "test_errors", "n_test")
        }


def test_a_fit_from_python_is_that_of_the_command(model: Path, table: Path, tmp_path: Path) -> None:
    small = abnet.CertifiedClassifier((2,), max_iter=4, random_state=1)
    command = abnet.load(model).card.command
    clf = abnet.fit_table(table, "mood today", estimator=small, output=tmp_path / "m.abnet", command=command)
    assert (tmp_path / "m.abnet").read_bytes() == model.read_bytes()
    assert clf.table_.n_columns == 3
    assert clf.table_.certificate == clf.certificate_
    assert not hasattr(abnet.fit_table(table, "mood today", estimator=small), "table_")
