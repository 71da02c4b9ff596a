"""The page that shows the reproduction: table, agreement and figures, renewed from the results folder."""

import os
from pathlib import Path

from abnet.experiments import sections
from abnet.experiments.agreement import agreement_text
from abnet.experiments.comparison import compare, to_markdown
from abnet.experiments.table1 import read_csv

__all__ = ["FIGURES", "renew_page"]

FIGURES = {
    "fig2": "Time of a forward pass by width and by depth",
    "fig3": "Regions of a 2-2-2-1 network on two circles",
    "fig4": "Bound and test error by depth on mnistLH",
}


def renew_page(page: Path, results: Path) -> list[str]:
    """Renew the generated parts of a page from the files in the results folder; return the names of those renewed.

    Raises
    ------
    FileNotFoundError
        If the folder has no `table1.csv` and no figure.
    """
    parts = _table_parts(results) | _figure_parts(page, results)
    if not parts:
        raise FileNotFoundError(f"no table1.csv and no figure in {results}; run `abnet reproduce table1` first")
    for name, text in parts.items():
        sections.write(page, name, text, title="# Reproduction\n")
    return list(parts)


def _table_parts(results: Path) -> dict[str, str]:
    path = results / "table1.csv"
    if not path.exists():
        return {}
    rows = read_csv(path.read_text(encoding="utf-8"))
    comparisons = compare(rows)
    runs = sum(row.runs or 0 for row in rows)
    complete = sum(c.complete for c in comparisons)
    count = f"{len(rows)} of 84 rows from {runs:,} of 13,500 runs; {complete} rows compare their whole grid."
    return {
        "progress": count,
        "agreement": agreement_text(comparisons),
        "table1": to_markdown(comparisons),
    }


def _figure_parts(page: Path, results: Path) -> dict[str, str]:
    folder = Path(os.path.relpath(results, page.parent)).as_posix()
    return {
        name: f"![{title}]({folder}/{name}.svg)"
        for name, title in FIGURES.items()
        if (results / f"{name}.svg").exists()
    }
