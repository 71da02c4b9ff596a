"""Links in README and docs lead somewhere: files exist, and so do the headings that are named; a page that runs."""

import contextlib
import doctest
import io
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from abnet.cli.app import app
from readme import agrees, blocks, commands

ROOT = Path(__file__).parents[1]
PAGES = [
    path
    for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), ROOT / "results" / "README.md"]
    if path.exists() and path.parent.name != "site"  # staged first: tests/test_site.py
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
    page = path.read_text(encoding="utf-8")
    wrong = []
    for link in links(page):
        name, _, anchor = link.partition("#")
        target = path
        if name:
            target = path.parent / name
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
    """A page that cannot be reached from the README is found by nobody."""
    reached = set()
    waiting = {ROOT / "README.md"}
    while waiting:
        path = waiting.pop()
        reached.add(path)
        found = {(path.parent / link.partition("#")[0]).resolve() for link in links(path.read_text(encoding="utf-8"))}
        waiting |= {page for page in found if page.suffix == ".md"} - reached
    assert {path.resolve() for path in ROOT.glob("docs/*.md")} <= reached


RUN = [
    "certificates",
    "assumptions",
    "decisions",
    "alternatives",
    "tables",
    "messy-tables",
    "explanation",
    "quickstart",
    "tutorials/table",
    "tutorials/certify",
    "tutorials/deploy",
    "tutorials/monitor",
    "tutorials/research",
]
"""Pages that are run from top to bottom: a page is one program, and prints what it shows."""


@pytest.mark.parametrize("name", RUN)
def test_a_page_prints_what_it_shows(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shown, names = blocks((ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")), {}  # type: ignore[var-annotated]
    ran = 0
    for place, (language, block) in enumerate(shown):
        if language == "console":
            for arguments, expected in commands(block):
                result = CliRunner().invoke(app, arguments, catch_exceptions=False)
                assert result.exit_code == 0, result.output
                assert agrees(expected, result.output), f"abnet {' '.join(arguments)} prints\n{result.output}"
                ran += 1
        elif language == "python" and ">>>" in block:
            test = doctest.DocTestParser().get_doctest(block, names, name, None, 0)
            runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
            assert runner.run(test, clear_globs=False).failed == 0
            names = test.globs
            ran = ran + 1
        elif language == "python":
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile(block, f"docs/{name}.md", "exec"), names)
            if place + 1 < len(shown):
                following = shown[place + 1]
            else:
                following = ("", "")
            expected = ""
            if following[0] == "text":
                expected = following[1]
            assert agrees(expected, printed.getvalue()), f"prints\n{printed.getvalue()}\nnot\n{expected}"
            ran += 1
    assert ran


def printed_words(name: str) -> str:
    """The code blocks of a page, in one line."""
    shown = blocks((ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8"))
    return " ".join(" ".join(block for _, block in shown).split())


def test_sentences_in_the_table_of_promises_are_printed_on_pages_that_run() -> None:
    """Every question has a sentence, and a page whose output is tested prints it."""
    page = (ROOT / "docs" / "promises.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (?!you want|---)(.*) \|$", page, flags=re.MULTILINE)
    printed = [printed_words(name) for name in RUN]
    assert len(rows) > 15
    for row in rows:
        question, *_, cell = re.split(r"\s*(?<!\\)\|\s*", row)
        sentence = cell.replace("\\|", "|").removeprefix("“").removesuffix("”")
        assert len(sentence.split()) > 5, question
        assert any(sentence in words for words in printed), question
