"""`abnet reproduce …` with a trainer that only pretends, and what it says when it cannot."""

import csv
import importlib
import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from abnet.paper import RunStore, fig4_grid, load, select
from cli.tables import Run

HERE = Path(__file__).parent
NARROW = ("--datasets", "circles", "--models", "PBGNet,ABNet", "--widths", "2,4", "--repetitions", 2)


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(HERE.parent / "paper")
    module = importlib.import_module("fake_training")
    monkeypatch.setattr("abnet.paper.runs.sweeping._fingerprint", module.fingerprint)
    monkeypatch.setattr("abnet.paper.runs.group_training.run_group", module.train)
    return module


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_table1_trains_what_is_missing_writes_and_shows(run: Run, fake: ModuleType, here: Path) -> None:
    shown = run("reproduce", "table1", *NARROW, "--jobs", 1)
    assert "[96/96] circles 4-4-4 ABNet #1 fan-in: done" in shown.stderr
    assert "Table 1" in shown.stdout
    rows = (here / "results/table1.csv").read_text().splitlines()
    assert [row.split(",")[:3] for row in rows[1:]] == [["circles", "narrow", m] for m in ("PBGNet", "ABNet")]
    assert _repetitions_and_runs(here) == [["2", "48"]] * 2
    readme = (here / "results/README.md").read_text()
    assert "`abnet reproduce table1 --datasets circles --models PBGNet,ABNet --widths 2,4 --repetitions 2`" in readme
    assert "among 96 runs" in readme
    again = run("reproduce", "table1", *NARROW, "--jobs", 1)
    assert "done" not in again.stderr  # nothing was left to train
    only = run("reproduce", "table1", "--only-report", *NARROW)
    assert only.stdout == again.stdout


def test_variants_stand_beside_table_1_and_never_in_it(run: Run, fake: ModuleType, here: Path) -> None:
    run("reproduce", "table1", *NARROW, "--jobs", 1)
    table = (here / "results/table1.csv").read_text()
    few = ("--datasets", "circles", "--names", "both,restarts", "--repetitions", 2, "--jobs", 1)
    shown = run("reproduce", "variants", *few)
    assert "circles 2 PBGNet+ABNet #1 restarts: done" in shown.stderr
    rows = [row.split(",")[:6] for row in (here / "results/table1_variants.csv").read_text().splitlines()[1:]]
    assert rows == [["circles", m, v, "1", "2", "0.01"] for m in ("PBGNet", "ABNet") for v in ("both", "restarts")]
    assert (here / "results/table1_variants.svg").exists()
    run("reproduce", "table1", "--only-report", *NARROW)
    assert (here / "results/table1.csv").read_text() == table
    run("reproduce", "export", "runs.csv")
    n_lines = len((here / "runs.csv").read_text().splitlines())
    assert n_lines == 3 + 1 + 96 + 16  # comments, header, the runs of Table 1, those of the variants
    variants = (here / "results/table1_variants.csv").read_text()
    run("reproduce", "import", "runs.csv", "--store", "copy.sqlite")
    run("reproduce", "variants", *few, "--only-report", "--store", "copy.sqlite")
    assert (here / "results/table1_variants.csv").read_text() == variants
    run("reproduce", "report", "--page", "page.md")
    page = (here / "page.md").read_text()
    assert "| circles | ABNet |  | 0.0001 |  |  | **0.0100*** | **0.0100*** |" in page  # two of five splits
    assert "nonsense" in run("reproduce", "variants", "--names", "nonsense", code=2).stderr


def test_exact_pbgnet_takes_the_settings_of_table_1(run: Run, fake: ModuleType, here: Path) -> None:
    wide = ("--datasets", "circles", "--repetitions", 2, "--jobs", 1)
    run("reproduce", "table1", *wide, "--models", "PBGNet", "--widths", "10")
    shown = run("reproduce", "exact", *wide)
    assert shown.stderr.count(": done") == 2
    with (here / "results/table1_exact.csv").open() as file:
        (row,) = csv.DictReader(file)
    assert (row["width"], row["hidden_layers"], row["repetitions"]) == ("10", "1", "2")
    assert row["bound"] == row["sampled_bound"] == row["learning_rate"]  # the pretended bound is the rate
    run("reproduce", "report", "--page", "page.md")
    assert "| circles | 1×10, 0.0001 | 0.0001 ± 0.0000 | 0.0001 |  |" in (here / "page.md").read_text()


WIDE = ("--datasets", "circles", "--models", "EBP,BC", "--widths", "10,50,100", "--jobs", 1)


def _repetitions_and_runs(here: Path) -> list[list[str]]:
    with (here / "results/table1.csv").open() as file:
        return [[row["repetitions"], row["runs"]] for row in csv.DictReader(file)]


def test_a_race_trains_few_of_the_wide_settings_in_full(run: Run, fake: ModuleType, here: Path) -> None:
    two = (*WIDE, "--repetitions", 2)
    shown = run("reproduce", "table1", *two, "--race")
    assert "circles 100-100-100 BC #0 trial: done" in shown.stderr
    assert _repetitions_and_runs(here) == [["2", "8"], ["2", "8"]]
    assert "--repetitions 2 --race`" in (here / "results/README.md").read_text()
    with RunStore("runs.sqlite") as store:
        assert len(store.results()) == 9 + 36 + 8 + 8
    assert "done" not in run("reproduce", "table1", *two, "--race").stderr
    assert "61/61" in run("reproduce", "status", *two[:-4], "--repetitions", 2, "--race").stdout
    only = run("reproduce", "table1", *two, "--race", "--only-report")
    assert only.stdout == shown.stdout


def test_a_race_uses_the_runs_that_are_there(run: Run, fake: ModuleType, here: Path) -> None:
    """Complete cells have no trials; a first repetition of everything does not outweigh the repetitions of the best."""
    run("reproduce", "table1", *WIDE, "--models", "EBP", "--repetitions", 2, "--quiet")
    run("reproduce", "table1", *WIDE, "--models", "BC", "--repetitions", 1, "--quiet")
    for report in ((), ("--only-report",)):
        shown = run("reproduce", "table1", *WIDE, "--repetitions", 2, "--race", *report)
        assert "EBP #0 trial" not in shown.stderr
        assert _repetitions_and_runs(here) == [["2", "18"], ["2", "8"]]
    for report in ((), ("--only-report",)):
        run("reproduce", "table1", *WIDE, "--repetitions", 5, "--race", *report)
        assert _repetitions_and_runs(here) == [["5", "20"], ["5", "20"]]


def test_a_cell_without_all_its_trials_waits_and_the_others_go_on(
    run: Run, fake: ModuleType, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("abnet.paper.runs.group_training.run_group", fake.train_all_but_wide_bc)
    shown = run("reproduce", "table1", *WIDE, "--widths", "4,10", "--repetitions", 2, "--race", code=1)
    assert re.search(r"circles 10 BC #0 trial\b.*\bRuntimeError\b", shown.stderr)
    rows = (here / "results/table1.csv").read_text().splitlines()[1:]
    assert [row.split(",")[1:3] for row in rows] == [["narrow", "EBP"], ["wide", "EBP"], ["narrow", "BC"]]


def test_export_import_and_status(run: Run, fake: ModuleType, here: Path) -> None:
    run("reproduce", "table1", *NARROW, "--jobs", 1, "--quiet")
    shown = run("reproduce", "export").stdout
    assert "results/runs.csv" in shown
    assert "96 runs" in shown
    table = (here / "results/table1.csv").read_text()
    imported = run("reproduce", "import", "results/runs.csv", "--store", "copy.sqlite")
    assert "copy.sqlite" in imported.stdout
    assert re.findall(r"\d+", imported.stdout) == ["96", "0"]
    run("reproduce", "table1", "--only-report", *NARROW, "--store", "copy.sqlite", "--output-dir", "other")
    assert (here / "other/table1.csv").read_text() == table
    status = run("reproduce", "status", *NARROW, "--store", "copy.sqlite").stdout
    assert "96/96" in status


def test_fig4_is_drawn_from_the_store(run: Run, fake: ModuleType, here: Path) -> None:
    settings = select(fig4_grid(), widths=[4], repetitions=2)
    with RunStore("runs.sqlite") as store:
        store.add([fake.result_of(s) for s in settings])
    run("reproduce", "fig4", "--only-report", "--widths", 4, "--repetitions", 2)
    assert len((here / "results/fig4.csv").read_text().splitlines()) == 1 + 2 * 8
    assert (here / "results/fig4.svg").exists()
    assert "16 points from 128 runs" in (here / "results/README.md").read_text()


def test_fig2_measures_and_redraws(run: Run, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    digits = load("digits17")
    monkeypatch.setattr("abnet.paper.data.datasets.load", lambda name, **_: digits)
    monkeypatch.setattr("abnet.paper.figures.timed_passes.DEPTH_OF_WIDTHS", 3)
    monkeypatch.setattr("abnet.paper.figures.timed_passes.WIDTH_OF_DEPTHS", 2)
    said = run("reproduce", "fig2", "--widths", 2, "--depths", 2, "--repetitions", 3)
    assert "[12/12] compact stochastic ABNet, width 2, L = 2" in said.stderr
    measured = (here / "results/fig2.csv").read_text()
    run("reproduce", "fig2", "--only-report")
    assert (here / "results/fig2.csv").read_text() == measured
    assert (here / "results/fig2.png").exists()


def test_width_measures_and_redraws(run: Run, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    digits = load("digits17")
    monkeypatch.setattr("abnet.paper.data.datasets.load", lambda name, **_: digits)
    said = run("reproduce", "width", "--widths", "2,21", "--repetitions", 3)
    assert "PBGNet, width 21, series" in said.stderr
    measured = (here / "results/fig_width.csv").read_text()
    # A table of width 21 is not timed, and the paper's sampling is ABNet's alone.
    assert len(measured.splitlines()) == 1 + (5 + 4) + (4 + 3)
    run("reproduce", "width", "--only-report")
    assert (here / "results/fig_width.csv").read_text() == measured
    run("reproduce", "report")
    assert "](../results/fig_width.svg)" in (here / "docs/reproduction.md").read_text()


def test_fig3_and_the_page(run: Run, here: Path) -> None:
    run("reproduce", "fig3")
    assert run("reproduce", "report").stdout == "docs/reproduction.md: fig3 renewed\n"
    assert "](../results/fig3.svg)" in (here / "docs/reproduction.md").read_text()


def test_a_failing_group_ends_with_exit_code_1_after_the_report(
    run: Run, fake: ModuleType, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("abnet.paper.runs.group_training.run_group", fake.train_or_fail)
    said = run("reproduce", "table1", *NARROW, "--jobs", 1, code=1)
    assert "#1: failed, FloatingPointError" in said.stderr
    assert (here / "results/table1.csv").exists()


def test_ctrl_c_ends_with_exit_code_130(
    run: Run, here: Path, monkeypatch: pytest.MonkeyPatch, fake: ModuleType
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("abnet.paper.runs.group_training.run_group", interrupted)
    said = run("reproduce", "table1", *NARROW, "--jobs", 1, code=130)
    assert "Traceback" not in said.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "facts"),
    [
        (["table1", "--datasets", "adds"], 2, ["--datasets", " adds", "digits"]),
        (["table1", "--datasets", "circles", "--models", "Abnet"], 2, ["--models", "Abnet", "ABNet"]),
        (["table1", "--datasets", "circles", "--widths", "3"], 2, ["--widths", " 3 ", "2, 4"]),
        (["table1", "--widths", "two"], 2, ["--widths", "'two'"]),
        (["table1", "--only-report"], 1, ["runs.sqlite"]),
        (["status"], 1, ["runs.sqlite"]),
        (["import", "absent.csv"], 1, ["absent.csv"]),
        (["fig2", "--only-report"], 1, ["results/fig2.csv"]),
        (["width", "--only-report"], 1, ["results/fig_width.csv"]),
        (["report"], 1, ["table1.csv", "`abnet reproduce table1`"]),
    ],
)
def test_wrong_use_is_one_line(
    failure: Callable[..., str], here: Path, arguments: list[str], code: int, facts: list[str]
) -> None:
    failure("reproduce", *arguments, code=code, naming=facts)


def test_an_empty_store_is_said_so(failure: Callable[..., str], here: Path) -> None:
    RunStore("runs.sqlite").close()
    failure("reproduce", "table1", "--only-report", naming=["runs.sqlite"])
    failure("reproduce", "fig4", "--only-report", naming=["runs.sqlite"])
