"""Notebooks of the tutorials: all code and all outputs of the page, in its order, in the form that Jupyter reads."""

import ast
import json
from pathlib import Path

import pytest
from notebooks import notebook

from readme import blocks

TUTORIALS = sorted((Path(__file__).parents[1] / "docs" / "tutorials").glob("*.md"))
pytestmark = pytest.mark.skipif(not TUTORIALS, reason="the pages are in the repository, not in the wheel")


@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
def test_a_notebook_has_the_code_and_the_outputs_of_its_page(path: Path) -> None:
    page = path.read_text(encoding="utf-8")
    made = json.loads(json.dumps(notebook(page, path.stem)))
    assert (made["nbformat"], made["nbformat_minor"]) == (4, 5)
    assert len({cell["id"] for cell in made["cells"]}) == len(made["cells"])
    code = [cell for cell in made["cells"] if cell["cell_type"] == "code"]
    for cell in code:
        if not cell["source"].startswith("!"):
            ast.parse(cell["source"])
    commands = sum(
        block.count("\n$ ") + block.startswith("$ ") for language, block in blocks(page) if language == "console"
    )
    assert sum(cell["source"].startswith("!") for cell in code) == commands
    shown = "".join(output["text"] for cell in code for output in cell["outputs"])
    for language, block in blocks(page):
        if language == "text":
            assert block in shown
    prose = "\n".join(cell["source"] for cell in made["cells"] if cell["cell_type"] == "markdown")
    headings = [line for line in page.splitlines() if line.startswith("#") and line in prose]
    assert headings


def test_doctests_become_code_with_their_output() -> None:
    page = "Text.\n\n```python\n>>> a = 1\n>>> for i in range(2):\n...     print(i)\n0\n1\n>>> a\n1\n\n```\n"
    cells = notebook(page, "x")["cells"]
    assert [cell.get("source") for cell in cells] == ["Text.", "a = 1\nfor i in range(2):\n    print(i)", "a"]
    assert [cell["outputs"][0]["text"] for cell in cells[1:]] == ["0\n1\n", "1\n"]
