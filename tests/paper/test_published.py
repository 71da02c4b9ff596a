"""What is published follows from the published runs."""

import csv
import io
from itertools import chain
from pathlib import Path

import pytest

from abnet.paper import NUMERICS_VERSION, Result, export_runs, import_runs, read_runs, status, table1
from abnet.paper.figures.figure4 import depth_points, depth_to_csv
from abnet.paper.reproduction.table1_rows import procedure_rows, table1_rows, table1_to_csv
from abnet.paper.runs.run_key import key

RESULTS = Path(__file__).parents[2] / "results"
pytestmark = pytest.mark.skipif(not RESULTS.exists(), reason="the results are in the repository, not in the wheel")


@pytest.fixture(scope="module")
def runs() -> list[Result]:
    return read_runs((RESULTS / "runs.csv").read_text(encoding="utf-8"))


def same(ours: str, published: str) -> bool:
    """Whether two CSV texts hold the same words and, but for the digits that the runs are published with, numbers."""
    lines = [list(csv.reader(io.StringIO(text))) for text in (ours, published)]
    assert [len(line) for line in lines[0]] == [len(line) for line in lines[1]]
    return all(
        a == b or float(a) == pytest.approx(float(b), rel=2e-5, abs=1e-7)
        for a, b in zip(*map(chain.from_iterable, lines), strict=True)
    )


def test_the_table_follows_from_the_runs(runs: list[Result]) -> None:
    assert same(table1_to_csv(table1_rows(runs)), (RESULTS / "table1.csv").read_text(encoding="utf-8"))


def test_figure_4_follows_from_the_runs(runs: list[Result]) -> None:
    assert same(depth_to_csv(depth_points(runs)), (RESULTS / "fig4.csv").read_text(encoding="utf-8"))


def test_every_published_key_is_that_of_its_run(runs: list[Result]) -> None:
    """Read by hand: key, data and setting of each line, and the JSON text that the key is the hash of."""
    lines = (RESULTS / "runs.csv").read_text(encoding="utf-8").splitlines()
    comments = [line for line in lines if line.startswith("#")]
    prints = {words[2]: words[3] for words in map(str.split, comments) if words[1] == "data"}
    records = list(csv.DictReader(lines[len(comments) :]))
    assert len(records) == len(runs) > 9_000
    for record, run in zip(records, runs, strict=True):
        found = key(run.setting, prints[record["dataset"]])
        assert found.startswith(record["key"])
    assert not key(runs[0].setting, prints["adult"], NUMERICS_VERSION + 1).startswith(records[0]["key"])


def test_the_published_runs_go_through_a_store_unchanged(tmp_path: Path, runs: list[Result]) -> None:
    store = tmp_path / "runs.sqlite"
    assert import_runs(RESULTS / "runs.csv", store) == (len(runs), 0)
    assert export_runs(tmp_path / "runs.csv", store) == len(runs)
    assert (tmp_path / "runs.csv").read_bytes() == (RESULTS / "runs.csv").read_bytes()
    table = table1(store, train=False, output_dir=tmp_path)
    assert len(table.data) == 84
    assert (tmp_path / "table1.md").read_bytes() == (RESULTS / "table1.md").read_bytes()
    done = [finished for finished, _ in status(store).values()]
    assert f"{sum(done):,} of 13,500 runs" in (RESULTS.parent / "docs" / "reproduction.md").read_text(encoding="utf-8")


def test_the_procedures_follow_from_the_runs(runs: list[Result]) -> None:
    published = (RESULTS / "table1_procedures.csv").read_text(encoding="utf-8")
    assert same(table1_to_csv(procedure_rows(runs)), published)
