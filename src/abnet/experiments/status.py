"""How far a sweep is: runs done and in all, by data set, model and width."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from abnet.experiments.protocol import NUMERICS_VERSION
from abnet.experiments.selection import current_results
from abnet.experiments.setting import Setting
from abnet.experiments.store import RunStore

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["Progress", "status", "status_table"]


@dataclass(frozen=True)
class Progress:
    """Runs of a cell: those done, those that failed when last tried, and all."""

    done: int
    failed: int
    total: int


def status(store: RunStore, settings: Iterable[Setting]) -> dict[tuple[str, str, int], Progress]:
    """Return the progress of a grid by data set, model and width, in the order of the grid.

    Runs of another protocol or version of the numerics do not count.

    Examples
    --------
    >>> from abnet.experiments import table1_grid
    >>> with RunStore(":memory:") as store:
    ...     status(store, table1_grid())["ads", "ABNet", 2]
    Progress(done=0, failed=0, total=60)
    """
    done = {result.setting for result in current_results(store.runs())}
    failures = store.runs(status="failed")
    failed = {run.setting for run in failures if run.numerics_version == NUMERICS_VERSION} - done
    cells: dict[tuple[str, str, int], list[Setting]] = {}
    for s in settings:
        cells.setdefault((s.dataset, s.model, s.width), []).append(s)
    return {
        cell: Progress(len(done.intersection(members)), len(failed.intersection(members)), len(members))
        for cell, members in cells.items()
    }


def status_table(progress: dict[tuple[str, str, int], Progress]) -> "Table":
    """Return the progress as a rich table: a row for each data set and model, a column for each width."""
    from rich.table import Table

    widths = sorted({width for _, _, width in progress})
    rows = dict.fromkeys((dataset, model) for dataset, model, _ in progress)
    table = Table(title="Runs done", header_style="bold")
    for name in ("data set", "model", *(f"width {width}" for width in widths), "all"):
        table.add_column(name, justify="left" if name in ("data set", "model") else "right")
    for dataset, model in rows:
        cells = [progress.get((dataset, model, width)) for width in widths]
        table.add_row(dataset, model.replace("_l", "ℓ"), *map(_shown, cells), _shown(_sum(cells)))
    table.add_section()
    by_width = [_sum(of for (_, _, w), of in progress.items() if w == width) for width in widths]
    table.add_row("all", "", *map(_shown, by_width), _shown(_sum(by_width)))
    return table


def _sum(cells: Iterable[Progress | None]) -> Progress:
    present = [cell for cell in cells if cell is not None]
    return Progress(sum(c.done for c in present), sum(c.failed for c in present), sum(c.total for c in present))


def _shown(cell: Progress | None) -> str:
    if cell is None:
        return ""
    text = f"{cell.done}/{cell.total}" + (f" ({cell.failed} failed)" if cell.failed else "")
    return f"[green]{text}[/green]" if cell.done == cell.total else text
