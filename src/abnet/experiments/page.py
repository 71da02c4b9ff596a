"""Markdown pages with generated parts between marks: a command renews its own part and leaves the rest.

`renew_page` fills the page that shows the reproduction: table, agreement and figures, from the results folder.
"""

import os
import re
from collections.abc import Mapping
from pathlib import Path

from abnet.atomic import atomic_path
from abnet.experiments.agreement import agreement_text, compare, to_markdown
from abnet.experiments.table1 import read_csv

__all__ = ["renew_page", "with_part", "write_parts"]

_FIGURES = {
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
    write_parts(page, parts, title="# Reproduction\n")
    return list(parts)


def write_parts(path: Path, parts: Mapping[str, str], *, title: str) -> None:
    """Renew parts of a file, by name; a file that is not there begins with `title`."""
    page = path.read_text(encoding="utf-8") if path.exists() else title
    for name, text in parts.items():
        page = with_part(page, name, text)
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_path(path) as temporary:
        temporary.write_text(page, encoding="utf-8", newline="\n")


def with_part(page: str, name: str, text: str) -> str:
    """Return the page with the part `name` renewed; a page without it gets it at its end.

    Examples
    --------
    >>> page = with_part("A page.", "table", "old")
    >>> print(with_part(page, "table", "new"))
    A page.
    <BLANKLINE>
    <!-- table: generated -->
    new
    <!-- table: end -->
    <BLANKLINE>
    """
    part = f"<!-- {name}: generated -->\n{text.strip()}\n<!-- {name}: end -->"
    pattern = re.compile(f"<!-- {re.escape(name)}: generated -->.*?<!-- {re.escape(name)}: end -->", re.DOTALL)
    if pattern.search(page):
        return pattern.sub(lambda _: part, page, count=1)
    return f"{page.rstrip()}\n\n{part}\n".lstrip()


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
        for name, title in _FIGURES.items()
        if (results / f"{name}.svg").exists()
    }
