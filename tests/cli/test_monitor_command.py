"""`abnet monitor`: one state over many calls, exit codes, other models, kill -9."""

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import abnet
from abnet.certificates.statements.cut_error import CutError
from abnet.certificates.statements.precision import PrecisionBound
from abnet.utils.wording import percent_up
from cli.tables import SMALL, Failure, Run, cells


@pytest.fixture
def new(tmp_path: Path) -> Path:
    """Rows that the model was not fitted on."""
    return labelled(tmp_path / "new.csv", right=True)


def labelled(path: Path, *, right: bool, missing: int = 0) -> Path:
    """Rows from the source of those of the fit, with their labels, or with all labels turned around."""
    header, rows = cells(seed=1)
    names = ("good", "not so good")
    for row in rows:
        row[-1] = row[-1] if right else names[row[-1] == "good"]
    for row in rows[:missing]:
        row[-1] = ""
    path.write_text("\n".join(",".join(f'"{cell}"' for cell in line) for line in (header, *rows)) + "\n")
    return path


def test_alarm_is_an_exit_code_and_stays(run: Run, failure: Failure, model: Path, tmp_path: Path) -> None:
    good = labelled(tmp_path / "good.csv", right=True, missing=4)
    bad = labelled(tmp_path / "bad.csv", right=False)
    state = tmp_path / "state.json"
    first = run("monitor", model, good, "--state", state, "--error", "0.25")
    assert "ALARM" not in first.stdout
    assert "4 rows" in first.stdout
    second = run("monitor", model, bad, "--state", state, "--json", code=3)
    record = json.loads(second.stdout)
    assert (record["alarm"], record["n"], record["unlabelled"], record["alpha"]) == (True, 116, 4, 0.01)
    before = state.read_text()
    assert "--allow-repeat" in failure("monitor", model, good, "--state", state, code=1)
    lines = good.read_text().splitlines()
    (tmp_path / "turned.csv").write_text("\n".join([lines[0], *lines[:0:-1]]) + "\n")
    failure("monitor", model, tmp_path / "turned.csv", "--state", state, code=1)
    assert state.read_text() == before
    assert "ALARM" in run("monitor", model, good, "--state", state, "--allow-repeat", code=3).stdout
    assert abnet.Monitor.load(state).n == 172


def test_the_promise_is_the_certificates(run: Run, model: Path, new: Path, tmp_path: Path) -> None:
    text = run("monitor", model, new, "--state", tmp_path / "s.json").stdout
    certificate = abnet.load(model).certificate_
    assert isinstance(certificate, abnet.Certificate)
    assert certificate.vote_error_bound is not None
    assert percent_up(certificate.vote_error_bound) in text
    assert abnet.Monitor.load(tmp_path / "s.json").error == certificate.vote_error_bound


def test_rows_of_the_fit_are_refused_and_leave_no_state(
    failure: Failure, model: Path, table: Path, tmp_path: Path
) -> None:
    state = tmp_path / "s.json"
    assert "of 60 rows" in failure("monitor", model, table, "--state", state, "--error", "0.4", code=1)
    assert not state.exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [(["--error", "0.2"], "--error is 0.4"), (["--alpha", "0.5"], "--alpha is 0.01")],
)
def test_a_state_keeps_its_promise(
    options: list[str], message: str, run: Run, failure: Failure, model: Path, new: Path, tmp_path: Path
) -> None:
    state = tmp_path / "s.json"
    run("monitor", model, new, "--state", state, "--error", "0.4")
    before = state.read_text()
    assert message in failure("monitor", model, new, "--state", state, *options, code=1)
    assert state.read_text() == before


def test_another_model_needs_another_state(run: Run, failure: Failure, model: Path, new: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.abnet"
    state = tmp_path / "s.json"
    loaded = abnet.load(model)
    from dataclasses import replace

    import msgspec

    from abnet.model import save

    save(replace(loaded, card=msgspec.structs.replace(loaded.card, recipe="another file")), other)
    run("monitor", model, new, "--state", state)
    before = state.read_text()
    failure("monitor", other, new, "--state", state, code=1, naming=[state, "model"])
    assert state.read_text() == before


def test_whenever_the_job_is_killed_the_state_is_that_before_it_or_that_after_it(
    run: Run, model: Path, new: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A killed job leaves what is on the disk at that moment: it is read at every line that saving goes through."""
    state = tmp_path / "s.json"
    save = abnet.Monitor.save
    run("monitor", model, new, "--state", state, "--error", "0.4")
    before = state.read_text()
    seen = list[str]()

    def look(*_: object) -> Any:
        seen.append(state.read_text())
        return look

    def watched(monitor: abnet.Monitor, path: Path) -> None:
        sys.settrace(look)
        try:
            save(monitor, path)
        finally:
            sys.settrace(None)

    monkeypatch.setattr(abnet.Monitor, "save", watched)
    run("monitor", model, new, "--state", state, "--allow-repeat")
    assert list(dict.fromkeys(seen)) == [before, state.read_text()]
    assert (json.loads(before)["n"], abnet.Monitor.load(state).n) == (60, 120)


def test_the_state_survives_kill(run: Run, model: Path, new: Path, tmp_path: Path) -> None:
    state = tmp_path / "s.json"
    run("monitor", model, new, "--state", state, "--error", "0.4")
    code = (
        "import os, signal, sys\n"
        "def kill(event, _):\n"
        "    if event == 'os.rename':\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
        "sys.addaudithook(kill)\n"
        "from abnet.cli import main; main()"
    )
    command: list[str | Path] = [
        sys.executable,
        "-c",
        code,
        "monitor",
        model,
        new,
        "--state",
        state,
        "--allow-repeat",
    ]
    assert subprocess.run(command, check=False, capture_output=True).returncode == -signal.SIGKILL
    assert abnet.Monitor.load(state).n == 60
    run("monitor", model, new, "--state", state, "--allow-repeat")
    assert abnet.Monitor.load(state).n == 120


@pytest.mark.parametrize("option", ["--alpha", "--error"])
def test_a_probability_that_is_none_is_wrong_use(
    option: str, failure: Failure, model: Path, new: Path, tmp_path: Path
) -> None:
    failure("monitor", model, new, "--state", tmp_path / "s.json", option, "1.5", code=2, naming=[option, "1.5"])


def counted(model: Path, table: Path, label: str) -> dict[str, tuple[int, int]]:
    """Rows and errors of the recall and of the precision of a class, from the answers to all rows."""
    rows = pl.read_csv(table, infer_schema=False)
    truth = rows["mood today"].to_numpy()
    answers = abnet.load(model).predict(rows.drop("mood today"))
    among = {"recall": truth == label, "precision": answers == label}
    return {name: (int(rows.sum()), int((rows & (answers != truth)).sum())) for name, rows in among.items()}


@pytest.mark.parametrize("quantity", ["recall", "precision"])
def test_only_the_rows_of_a_recall_or_precision_count(
    quantity: str, run: Run, failure: Failure, model: Path, new: Path, tmp_path: Path
) -> None:
    state = tmp_path / "s.json"
    given = [f"--{quantity}", "0.6", "--positive-class", "good"]
    run("monitor", model, new, "--state", state, *given)
    record = json.loads(run("monitor", model, new, "--state", state, "--allow-repeat", "--json").stdout)
    n, errors = counted(model, new, "good")[quantity]
    assert 0 < n < 60
    assert (record["quantity"], record["label"], record["n"], record["errors"]) == (quantity, "good", 2 * n, 2 * errors)
    assert (record["new"]["n"], record["new"]["errors"]) == (n, errors)
    for options, name in (
        (["--error", "0.4"], "--error"), ([f"--{quantity}", "0.7"], f"--{quantity} is 0.6"),
        (["--positive-class", "not so good"], "--positive-class"),
    ):  # fmt: skip
        assert name in failure("monitor", model, new, "--state", state, "--allow-repeat", *options)


def test_the_certified_recall_of_a_class_is_that_of_the_certificate(
    run: Run, model: Path, new: Path, tmp_path: Path
) -> None:
    made: Any = abnet.load(model).certificate_
    run("monitor", model, new, "--state", tmp_path / "s.json", "--recall", "certified", "--positive-class", "good")
    assert abnet.Monitor.load(tmp_path / "s.json").error == made.per_class[0].vote_error_bound


def test_the_certified_rates_of_a_threshold(run: Run, table: Path, new: Path, tmp_path: Path) -> None:
    """The class and the rates are those of the model's own decision: its goal, and what else its threshold reaches."""
    other = tmp_path / "m.abnet"
    goal = ["--target-recall", "0.5", "--positive-class", "good"]
    run("fit", table, "--target", "mood today", "--output", other, *SMALL, *goal)
    run("monitor", other, new, "--state", tmp_path / "s.json", "--recall", "certified")
    found = abnet.Monitor.load(tmp_path / "s.json")
    assert (found.quantity, found.label, found.error) == ("recall", "good", 0.5)
    made: Any = abnet.load(other).certificate_
    precision, (error,) = made.find(PrecisionBound, "good"), made.each(CutError)
    run("monitor", other, new, "--state", tmp_path / "p.json", "--precision", "certified")
    assert abnet.Monitor.load(tmp_path / "p.json").error == 1 - precision.value
    run("monitor", other, new, "--state", tmp_path / "e.json")
    assert abnet.Monitor.load(tmp_path / "e.json").error == error.value != made.vote_error_bound


def test_a_plain_vote_has_no_certified_precision(failure: Failure, model: Path, new: Path, tmp_path: Path) -> None:
    asked = ["--precision", "certified", "--positive-class", "good"]
    assert "--precision 0.9" in failure("monitor", model, new, "--state", tmp_path / "p.json", *asked)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--recall", "0.9"], "--positive-class"),
        (["--recall", "0.9", "--positive-class", "great"], "'good', 'not so good'"),
        (["--recall", "0.9", "--precision", "0.9", "--positive-class", "good"], "--recall or --precision"),
        (["--recall", "most", "--positive-class", "good"], "--recall takes a rate"),
        (["--precision", "1.5", "--positive-class", "good"], "--precision must lie strictly between 0 and 1"),
        (["--positive-class", "good"], "--positive-class goes with --recall or --precision"),
    ],
)
def test_wrong_use(options: list[str], message: str, failure: Failure, model: Path, new: Path, tmp_path: Path) -> None:
    assert message in failure("monitor", model, new, "--state", tmp_path / "s.json", *options, code=2)


def test_inputs_are_watched_without_labels_and_without_a_state(
    run: Run, failure: Failure, model: Path, tmp_path: Path
) -> None:
    header, rows = cells(seed=3)
    fresh = tmp_path / "fresh.csv"
    other = tmp_path / "other.csv"
    for path, factor in ((fresh, 1), (other, 100)):
        lines = [header[:-1]]
        for row in rows:
            size = row[0] and f"{factor * float(row[0]):.3f}"
            lines.append([size, *row[1:-1]])
        path.write_text("\n".join(",".join(f'"{cell}"' for cell in line) for line in lines) + "\n")
    assert "'size, cm'" not in run("monitor", model, fresh, "--inputs").stdout
    assert "'size, cm'" in run("monitor", model, other, "--inputs", code=3).stdout
    record = json.loads(run("monitor", model, other, "--inputs", "--json", code=3).stdout)
    assert [column["column"] for column in record["columns"] if column["differs"]] == ["size, cm"]
    assert record["columns"][0]["outside"] > 40
    assert "--inputs" in failure("monitor", model, fresh, code=2)


def test_rows_in_another_unit_do_not_reach_the_state(run: Run, failure: Failure, model: Path, tmp_path: Path) -> None:
    rows = labelled(tmp_path / "rows.csv", right=True)
    state = tmp_path / "state.json"
    shifted = tmp_path / "shifted.csv"
    table = pl.read_csv(rows, infer_schema=False)
    table.with_columns(pl.col("size, cm").cast(pl.Float64, strict=False) * 100).write_csv(shifted)
    assert "--allow-shift" in failure("monitor", model, shifted, "--state", state, "--error", "0.25")
    assert not state.exists()
    record = json.loads(run("monitor", model, rows, "--state", state, "--error", "0.25", "--json").stdout)
    assert not record["inputs"]["alarm"]
    run("monitor", model, shifted, "--state", state, "--allow-shift")
