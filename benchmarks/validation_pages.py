"""The generated parts of the validation pages: the table of each page, its figure, and the table of the index."""

import re
from collections.abc import Sequence
from pathlib import Path

from abnet.paper.reproduction.results_folder import with_part
from abnet.utils.wording import percent
from validation_figure import draw_rates
from validation_rows import Row

__all__ = ["HEADINGS", "claim", "renew_pages", "renewed"]

HEADINGS = ("Claim", "Assumptions", "Theorem", "Simulation", "Figure", "Limits")
"""The sections of every page, in this order."""


def renewed(folder: Path, rows: Sequence[Row]) -> dict[Path, str]:
    """Every page and figure in a folder as it has to be, from these rows; pages without rows are left out."""
    made = {}
    pages = {path.stem: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.md"))}
    index = pages.pop("index")
    made[folder / "index.md"] = with_part(index, "promises", _index_table(pages, rows))
    for name, page in pages.items():
        own = rows_of(name, rows)
        if own:
            made[folder / f"{name}.md"] = with_part(page, "simulation", _page_table(own))
            made[folder / "figures" / f"{name}.svg"] = draw_rates(title(page), own)
    return made


def renew_pages(folder: Path, rows: Sequence[Row]) -> None:
    """Update the pages and figures in a folder."""
    (folder / "figures").mkdir(exist_ok=True)
    for path, content in renewed(folder, rows).items():
        path.write_text(content, encoding="utf-8", newline="\n")


def rows_of(name: str, rows: Sequence[Row]) -> list[Row]:
    """The rows of a page, traps last."""
    return sorted((row for row in rows if row.promise == name), key=lambda row: row.trap)


def title(page: str) -> str:
    """The heading of a page."""
    return page.partition("\n")[0].removeprefix("# ")


def claim(page: str) -> str:
    """The first paragraph under "Claim", in one line."""
    (section,) = re.findall(r"^## Claim\n\n(.*?)\n\n", page, re.DOTALL | re.MULTILINE)
    return " ".join(section.split())


def _page_table(rows: Sequence[Row]) -> str:
    lines = ["| setting | δ | repetitions | false | rate | 95% interval |", "| --- | --- | --- | --- | --- | --- |"]
    for row in rows:
        low, high = row.interval
        setting = row.setting
        if row.trap:
            setting = f"**trap:** {setting}"
        lines.append(
            f"| {setting} | {percent(row.delta)} | {row.repetitions:,} | {row.false:,} | {percent(row.rate)} "
            f"| {percent(low)} to {percent(high)} |"
        )
    return "\n".join(lines)


def _index_table(pages: dict[str, str], rows: Sequence[Row]) -> str:
    lines = ["| promise | claim | false in simulation | allowed | traps |", "| --- | --- | --- | --- | --- |"]
    for name, page in pages.items():
        own = rows_of(name, rows)
        kept = [row for row in own if not row.trap]
        if not kept:
            continue
        # The setting that comes nearest to its δ.
        worst = max(kept, key=lambda row: row.rate / row.delta)
        traps = [percent(row.rate) for row in own if row.trap]
        lines.append(
            f"| [{title(page)}]({name}.md) | {claim(page)} | {percent(worst.rate)} of {worst.repetitions:,} "
            f"| {percent(worst.delta)} | {', '.join(traps)} |"
        )
    return "\n".join(lines)
