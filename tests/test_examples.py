"""The scripts of the gallery run, and print what docs/gallery.md shows."""

import contextlib
import io
import re
import runpy
from pathlib import Path

import pytest

from readme import agrees, blocks

ROOT = Path(__file__).parents[1]
SCRIPTS = sorted((ROOT / "examples").glob("*.py"))
pytestmark = pytest.mark.skipif(not SCRIPTS, reason="the scripts are in the repository, not in the wheel")


def section(name: str) -> str:
    """The part of the page about a script."""
    page = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    found = re.search(rf"^### {re.escape(name)}$(.*?)(?=^### |\Z)", page, flags=re.DOTALL | re.MULTILINE)
    assert found is not None, f"docs/gallery.md says nothing about {name}"
    return found[1]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_prints_what_the_page_shows(script: Path) -> None:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        runpy.run_path(str(script))
    ((language, shown),) = blocks(section(script.name))
    assert language == "text"
    assert agrees(shown, printed.getvalue()), printed.getvalue()


def test_the_code_of_the_page_runs() -> None:
    page = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    codes = [code for language, code in blocks(page) if language == "python"]
    assert codes
    for code in codes:
        exec(code, {})
