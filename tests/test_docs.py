"""Links in README and docs lead somewhere: files exist, and so do the headings that are named; a page that runs."""

import contextlib
import io
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from abnet.cli.app import app
from readme import agrees, blocks, commands

ROOT = Path(__file__).parents[1]
PAGES = [
    path for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), ROOT / "results" / "README.md"] if path.exists()
]
pytestmark = pytest.mark.skipif(
    not (ROOT / "docs").exists(), reason="the pages are in the repository, not in the wheel"
)


def prose(page: str) -> str:
    """A page without its code blocks."""
    return re.sub(r"^```.*?^```", "", page, flags=re.DOTALL | re.MULTILINE)


def links(page: str) -> list[str]:
    """Targets of links and pictures, those to other sites left out."""
    found = re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]*`", "", prose(page)))
    return [target for target in found if not re.match(r"[a-z]+:", target)]


def anchors(page: str) -> set[str]:
    """The headings of a page as a browser addresses them."""
    headings = re.findall(r"^#+ (.*)$", prose(page), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken(path: Path) -> list[str]:
    """Links of a page that lead nowhere."""
    page, wrong = path.read_text(encoding="utf-8"), []
    for link in links(page):
        name, _, anchor = link.partition("#")
        target = path.parent / name if name else path
        if not target.exists() or (anchor and anchor not in anchors(target.read_text(encoding="utf-8"))):
            wrong.append(link)
    return wrong


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_relative_link_leads_somewhere(path: Path) -> None:
    assert not broken(path)


def test_a_broken_link_is_found(tmp_path: Path) -> None:
    (tmp_path / "other.md").write_text("# One: two\n")
    page = tmp_path / "page.md"
    page.write_text(
        "# Here\n[a](other.md) [b](other.md#one-two) [c](#here) [d](https://example.org/x) `[e](f)`\n"
        "```\n[g](h)\n```\n[i](gone.md) [j](other.md#three) ![k](k.svg)\n"
    )
    assert broken(page) == ["gone.md", "other.md#three", "k.svg"]


def test_the_readme_leads_to_every_page() -> None:
    """A page that the README does not name is found by nobody; two are named by other pages."""
    linked = {
        (ROOT / link.partition("#")[0]).resolve() for link in links((ROOT / "README.md").read_text(encoding="utf-8"))
    }
    assert {path.name for path in ROOT.glob("docs/*.md") if path.resolve() not in linked} <= {"theory-wide.md"}


def test_the_page_on_explanations_prints_what_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shown = blocks((ROOT / "docs" / "explanation.md").read_text(encoding="utf-8"))
    assert [language for language, _ in shown] == ["python", "text", "console", "python", "text"]
    (_, first), (_, row), (_, shell), (_, second), (_, whole) = shown
    for code, expected in ((first, row), (second, whole)):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(code, {})
        assert agrees(expected, printed.getvalue()), printed.getvalue()
    for arguments, expected in commands(shell):
        result = CliRunner().invoke(app, arguments, catch_exceptions=False)
        assert result.exit_code == 0, result.output
        assert agrees(expected, result.output), result.output
