"""Stages are told to whoever watches, in order; a bar shows them on a terminal, and nothing anywhere else."""

import io
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from abnet import CertifiedClassifier, fit_table
from abnet.utils import progress
from abnet.utils.progress import report_progress, stage_bars, watched
from cli.tables import Run


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_fit_tells_its_stages(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(80, 2)).round(3)
    path = tmp_path / "t.csv"
    path.write_text("a,b,y\n" + "\n".join(f"{a},{b},{'yes' if a > b else 'no'}" for a, b in x) + "\n")
    seen: list[tuple[str, float | None]] = []
    small = CertifiedClassifier((2,), n_estimators=2, teacher="linear", max_iter=3, random_state=0)
    with watched(lambda stage, share: seen.append((stage, share))):
        fit_table(path, "y", estimator=small, output=tmp_path / "m.abnet")
    stages = list(dict.fromkeys(stage.split(",")[0] for stage, _ in seen))
    assert stages == [
        "Reading the table", "Columns", "Teacher: linear", "Rows for the networks", "2 networks of 2 neurons",
        "Logistic regression",
        "Certificate",
    ]  # fmt: skip
    assert all(share is None or 0 <= share <= 1 for _, share in seen)
    assert seen[0][1] is not None
    assert any(share is not None for stage, share in seen if "networks of" in stage)
    report_progress("after the block")
    assert seen[-1][0] != "after the block"


def test_a_bar_shows_stages_and_fills_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    bars = kept_bars(monkeypatch)
    with stage_bars("Starting"):
        report_progress("One")
        report_progress("One", 0.25)
        report_progress("Two", 0.5)
    tasks = bars[0]._progress.tasks
    assert [(task.description, task.finished) for task in tasks] == [("Starting", True), ("One", True), ("Two", True)]
    assert "Starting" in terminal.getvalue()


def kept_bars(monkeypatch: pytest.MonkeyPatch) -> list[progress._StageBars]:
    """Bars that are made from now on."""
    kept: list[progress._StageBars] = []

    class Kept(progress._StageBars):
        def __init__(self, display: Any, description: str) -> None:
            super().__init__(display, description)
            kept.append(self)

    monkeypatch.setattr(progress, "_StageBars", Kept)
    return kept


def test_where_the_whole_is_known_there_is_one_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", Terminal())
    bars = kept_bars(monkeypatch)
    with stage_bars("Starting") as show_whole:
        assert show_whole is not None
        show_whole(0.1)
        report_progress("Page")
        assert [task.description for task in bars[0]._progress.tasks] == ["Page"]
        assert bars[0]._progress.tasks[0].percentage == pytest.approx(10)
    assert bars[0]._progress.finished


def test_nothing_is_shown_where_stderr_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with stage_bars("Starting") as show_whole:
        assert show_whole is None
        report_progress("One", 0.5)
    assert capsys.readouterr().err == ""


def test_commands_on_a_pipe_show_no_bar(model: Path, table: Path, run: Run, tmp_path: Path) -> None:
    found = run("report", model, table, "--output", tmp_path / "r.html", "--overwrite")
    assert "\x1b" not in found.stderr
    assert "100%" not in found.stderr
