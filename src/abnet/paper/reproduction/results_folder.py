"""The folder of results: its files, its README, and the documentation page that shows them.

Both pages have generated parts between marks: a command updates its own part and leaves the rest unchanged.
"""

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from abnet.paper.reproduction.exact_rows import exact_to_markdown, read_exact
from abnet.paper.reproduction.grids import table1_grid
from abnet.paper.reproduction.procedure_display import procedures_to_markdown
from abnet.paper.reproduction.table1_comparison import TableComparison, agreement_text, compare
from abnet.paper.reproduction.table1_display import to_markdown
from abnet.paper.reproduction.table1_rows import Table1Row, paper_table, read_table1
from abnet.paper.runs.published_runs import read_runs
from abnet.paper.runs.run_key import NUMERICS_VERSION
from abnet.utils.atomic import atomic_path

__all__ = ["add_note", "renew_page", "reproduced_rows", "with_part", "write_file"]

_TITLE = "# Results\n\nEach generated section of this page is written by the command it names.\n"
_FIGURES = {
    "fig2": "Time of a forward pass by width and by depth",
    "fig_width": "Time of a forward pass by width, to 1,000 units",
    "fig3": "Regions of a 2-2-2-1 network on two circles",
    "fig4": "Bound and test error by depth on mnistLH",
    "table1_variants": "Bounds of the variants beside the paper's and the reproduction's",
}


def write_file(path: Path, text: str) -> Path:
    """Write a text file atomically; its folder is created if missing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")
    return path


def add_note(folder: Path, name: str, options: Mapping[str, object], text: str) -> None:
    """Update a command's part of the README: the command line, and a text about its files."""
    command = f"`{_command_line(name, options)}` (numerics version {NUMERICS_VERSION})"
    _renew(folder / "README.md", {name: f"## {name}\n\n{command}\n\n{text}"}, title=_TITLE)


def renew_page(page: str | os.PathLike[str], results: str | os.PathLike[str]) -> list[str]:
    """Update the generated parts of a page from the files in the results folder; return the names of the updated parts.

    Raises
    ------
    FileNotFoundError
        If the folder has no `table1.csv` and no figure.
    """
    page = Path(page)
    results = Path(results)
    parts = _table_parts(results)
    parts |= _procedure_parts(results)
    parts |= _exact_parts(results)
    parts |= _variant_parts(results)
    parts |= _figure_parts(page, results)
    if not parts:
        raise FileNotFoundError(f"no table1.csv and no figure in {results}; run `abnet reproduce table1` first")
    _renew(page, parts, title="# Reproduction\n")
    return list(parts)


def with_part(page: str, name: str, text: str) -> str:
    """Return the page with the part `name` updated; if the page lacks it, it is added at the end.

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


def _renew(path: Path, parts: Mapping[str, str], *, title: str) -> None:
    page = title
    if path.exists():
        page = path.read_text(encoding="utf-8")
    for name, text in parts.items():
        page = with_part(page, name, text)
    write_file(path, page)


def _command_line(name: str, options: Mapping[str, object]) -> str:
    """A command of `abnet reproduce`; options that are None or False are left out, and one that is True is a flag.

    Examples
    --------
    >>> _command_line("table1", {"datasets": ["ads", "adult"], "models": None, "repetitions": 5, "race": True})
    'abnet reproduce table1 --datasets ads,adult --repetitions 5 --race'
    """
    words = [f"abnet reproduce {name}"]
    for option, value in options.items():
        if value is None or value is False:
            continue
        words.append(f"--{option.replace('_', '-')}")
        if isinstance(value, (list, tuple)):
            words.append(",".join(map(str, value)))
        elif value is not True:
            words.append(str(value))
    return " ".join(words)


def _table_parts(results: Path) -> dict[str, str]:
    rows = reproduced_rows(results)
    if not rows:
        return {}
    comparisons = compare(rows)
    return {
        "progress": _progress(comparisons, results / "runs.csv"),
        "agreement": agreement_text(comparisons),
        "table1": to_markdown(comparisons),
    }


def _progress(comparisons: Sequence[TableComparison], published_runs: Path) -> str:
    """How much of Table 1 there is; finished runs are counted as `abnet reproduce status` counts them."""
    complete = sum(comparison.complete for comparison in comparisons)
    text = f"{len(comparisons)} of 84 rows"
    if published_runs.exists():
        finished = {run.setting for run in read_runs(published_runs.read_text(encoding="utf-8"))}
        grid = table1_grid()
        text += f" from {len(finished.intersection(grid)):,} of {len(grid):,} runs"
    return f"{text}; {complete} rows compare their whole grid."


def _procedure_parts(results: Path) -> dict[str, str]:
    path = results / "table1_procedures.csv"
    if not path.exists():
        return {}
    rows = read_table1(path.read_text(encoding="utf-8"))
    return {"procedures": procedures_to_markdown(rows, reproduced_rows(results))}


def _exact_parts(results: Path) -> dict[str, str]:
    path = results / "table1_exact.csv"
    if not path.exists():
        return {}
    return {"exact": exact_to_markdown(read_exact(path.read_text(encoding="utf-8")))}


def reproduced_rows(results: Path) -> list[Table1Row]:
    """The rows of `table1.csv` in a folder; none if it is not there."""
    path = results / "table1.csv"
    if not path.exists():
        return []
    return read_table1(path.read_text(encoding="utf-8"))


def _variant_parts(results: Path) -> dict[str, str]:
    from abnet.paper.reproduction.variant_display import variants_to_markdown
    from abnet.paper.reproduction.variant_rows import read_variants

    path = results / "table1_variants.csv"
    if not path.exists():
        return {}
    rows = read_variants(path.read_text(encoding="utf-8"))
    return {"variants": variants_to_markdown(rows, reproduced_rows(results), paper_table())}


def _figure_parts(page: Path, results: Path) -> dict[str, str]:
    folder = Path(os.path.relpath(results, page.parent)).as_posix()
    parts = {}
    for name, title in _FIGURES.items():
        if (results / f"{name}.svg").exists():
            parts[name] = f"![{title}]({folder}/{name}.svg)"
    return parts
