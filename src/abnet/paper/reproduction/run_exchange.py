"""`abnet reproduce export` and `import`: finished runs between a store and a CSV file."""

from pathlib import Path

from abnet.paper.reproduction.reproduced import StrPath
from abnet.paper.reproduction.results_folder import write_file
from abnet.paper.runs.published_runs import read_runs, runs_to_csv
from abnet.paper.runs.run_store import RunStore

__all__ = ["export_runs", "import_runs"]


def export_runs(file: StrPath = "results/runs.csv", store: StrPath = "runs.sqlite") -> int:
    """Write the finished runs of a store to a CSV file, trials and variants included; return how many there are."""
    with RunStore(store, create=False) as runs:
        results = runs.results()
    write_file(Path(file), runs_to_csv(results))
    return len(results)


def import_runs(file: StrPath = "results/runs.csv", store: StrPath = "runs.sqlite") -> tuple[int, int]:
    """Add the runs of a CSV file to a store; return how many were new, and how many were there already.

    Every row is checked: its key must be that of its setting, data and protocol.
    """
    results = read_runs(Path(file).read_text(encoding="utf-8"))
    with RunStore(store) as runs:
        new = runs.add(results)
    return new, len(results) - new
