"""`abnet certify` with gaps between groups, a counterfactual share, and another class mix."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import abnet
from abnet.utils.errors import ParameterError
from cli.tables import Failure, Run, csv_text

TARGET = "mood today"


@pytest.fixture
def fresh(tmp_path: Path) -> Path:
    """Rows like those of the fit, none of them one of its rows."""
    path = tmp_path / "fresh.csv"
    path.write_text(csv_text(seed=1))
    return path


@pytest.fixture
def new(tmp_path: Path) -> Path:
    """Unlabelled rows."""
    path = tmp_path / "new.csv"
    path.write_text(csv_text(seed=2))
    pl.read_csv(path, infer_schema=False).drop(TARGET).write_csv(path)
    return path


def statements(run: Run, *arguments: object) -> list[dict[str, Any]]:
    made = json.loads(run("certify", *arguments, "--json").stdout)["certificate"]["statements"]
    assert isinstance(made, list)
    return made


def test_gaps_of_a_model_and_of_given_answers(run: Run, model: Path, fresh: Path, tmp_path: Path) -> None:
    saved = tmp_path / "gaps.json"
    options = ["--by", "sold", "--gaps", "--positive-class", "good"]
    made = [part for part in statements(run, model, fresh, *options, "--save", saved) if part["type"] == "gap"]
    assert [part["rate"] for part in made] == ["error", "true-positive", "false-positive", "selection"]
    assert {group["group"] for part in made for group in part["groups"]} == {"yes", "no"}
    assert {(part["column"], part["joint_over"]) for part in made} == {("sold", "groups")}
    assert "percentage points" in " ".join(run("inspect", saved).stdout.split())

    answered = tmp_path / "answered.csv"
    labels = abnet.predict_table(model, fresh).frame
    assert labels is not None
    frame = pl.read_csv(fresh, infer_schema=False).with_columns(labels["prediction"].alias("answer"))
    frame.write_csv(answered)
    given = statements(run, answered, "--truth", TARGET, "--prediction", "answer", *options)
    assert [part for part in given if part["type"] == "gap"] == made


def test_a_report_takes_certificates_with_gaps(run: Run, model: Path, fresh: Path, tmp_path: Path) -> None:
    for name, options in {"gaps": ["--by", "city", "--gaps"], "share": ["--counterfactual", "city"]}.items():
        run("certify", model, fresh, *options, "--save", tmp_path / f"{name}.json")
    page = tmp_path / "report.html"
    certificates = ["--certificate", tmp_path / "gaps.json", "--certificate", tmp_path / "share.json"]
    run("report", model, *certificates, "--no-form", "--quiet", "-o", page)
    text = page.read_text(encoding="utf-8")
    assert "Error rate by city" in text
    assert "if only city is changed" in text


def test_a_certificate_of_a_new_threshold_is_not_shown_as_that_of_the_model(
    run: Run, failure: Failure, model: Path, fresh: Path, tmp_path: Path
) -> None:
    """The error says how to make one that is, rather than to do what was done."""
    saved = tmp_path / "c.json"
    run("certify", model, fresh, "--target-recall", "0.1", "--positive-class", "good", "--save", saved)
    options = ["--certificate", saved, "--no-form", "--quiet", "-o", tmp_path / "r.html"]
    failure("report", model, *options, code=1, naming=["threshold", "without a target or costs"])


def test_a_counterfactual_share_needs_no_labels(run: Run, model: Path, new: Path) -> None:
    (made,) = statements(run, model, new, "--counterfactual", "city")
    assert (made["n"], set(made["values"])) == (60, {"Oslo", "'s-Hertogenbosch"})
    assert statements(run, model, new, "--counterfactual", "city=Oslo,'s-Hertogenbosch")[0]["value"] == made["value"]


def test_another_mix_known_and_unknown(run: Run, model: Path, fresh: Path, new: Path, tmp_path: Path) -> None:
    known = statements(run, model, fresh, "--mix", "good=0.9")[-1]
    assert (known["type"], known["shares"]) == ("error, known mix", [0.9, pytest.approx(0.1)])
    unknown = statements(run, model, fresh, "--new-rows", new)[-1]
    answers = abnet.predict_table(model, new).frame
    assert answers is not None
    counts = dict(answers["prediction"].value_counts().rows())
    assert unknown["new_answers"] == [counts.get(label, 0) for label in unknown["classes"]]
    made: Any = abnet.certify_mix(model, fresh, new_rows=new).made
    assert made.statements[-1].value == unknown["value"]

    labelled = pl.read_csv(fresh, infer_schema=False)
    own = abnet.predict_table(model, fresh).frame
    assert own is not None
    labelled.with_columns(own["prediction"].alias("answer")).write_csv(tmp_path / "labelled.csv")
    answers.write_csv(tmp_path / "answers.csv")
    options = ["--truth", TARGET, "--prediction", "prediction"]
    labelled.with_columns(own["prediction"]).write_csv(tmp_path / "labelled.csv")
    given = statements(run, tmp_path / "labelled.csv", *options, "--new-rows", tmp_path / "answers.csv")[-1]
    assert given["new_answers"] == [*unknown["new_answers"], 0]


def test_rows_of_the_fit_are_refused(failure: Failure, model: Path, table: Path, fresh: Path) -> None:
    assert "fitted on" in failure("certify", model, table, "--mix", "good=0.5")
    assert "fitted on" in failure("certify", model, table, "--by", "city", "--gaps")


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (["--gaps"], "--by"),
        (["--mix", "good"], "LABEL=SHARE"),
        (["--mix", "good=0.5", "--by", "city"], "--mix"),
        (["--counterfactual", "city", "--by", "sold"], "--counterfactual"),
        (["--counterfactual", "size, cm"], "size, cm"),
        (["--counterfactual", "city=Oslo"], "two or more"),
        (["--counterfactual", "city", "--aside", "0.2"], "--counterfactual"),
        (["--mix", "good=0.5", "--aside", "0.2"], "--mix"),
        (["--mix", "good=0.5", "--sets-by-class"], "--sets"),
    ],
    ids=["gaps", "share", "mix", "two", "values", "one value", "aside", "mix and aside", "mix and sets"],
)
def test_options_that_do_not_fit_are_refused(
    run: Run, model: Path, fresh: Path, options: list[str], named: str
) -> None:
    assert named in run("certify", model, fresh, *options, code=2).stderr


def test_exactly_one_mix_and_one_source_of_answers(model: Path, fresh: Path) -> None:
    for arguments in ({}, {"mix": {"good": 0.5}, "new_rows": fresh}, {"mix": {"good": 0.5}, "prediction": "x"}):
        with pytest.raises(ParameterError):
            abnet.certify_mix(model, fresh, **arguments)
