"""The README's commands and Python blocks run, and print what it shows."""

import contextlib
import io
import re
import shlex
from itertools import pairwise
from pathlib import Path

import pytest
from typer.testing import CliRunner

from abnet.cli.app import app

README = Path(__file__).parents[1] / "README.md"
pytestmark = pytest.mark.skipif(not README.exists(), reason="the page is in the repository, not in the wheel")

NUMBER = re.compile(r"\d+(?:\.\d+)?")
SLACK = 2.0
"""How far a figure in per cent, or a count of errors, may be off: processors round float32 sums in their own ways."""


def blocks(page: str) -> list[tuple[str, str]]:
    """Language and content of the code blocks."""
    return re.findall(r"^```(\w*)\n(.*?)^```", page, flags=re.DOTALL | re.MULTILINE)


def commands(block: str) -> list[tuple[list[str], str]]:
    """Arguments of each `$ abnet` line, and the output that is shown below it."""
    parts = re.split(r"^\$ abnet (.*)\n", block, flags=re.MULTILINE)[1:]
    return [(shlex.split(line), shown) for line, shown in zip(parts[::2], parts[1::2], strict=True)]


def agrees(shown: str, printed: str) -> bool:
    """Whether the shown text occurs in what was printed, in its order, with ``...`` for what is left out.

    Words must agree, numbers up to `SLACK` (and a share below 1 up to a hundredth of it); line breaks do not matter.
    """
    start = 0
    for piece in (" ".join(part.split()) for part in re.split(r"^\.\.\.$", shown, flags=re.MULTILINE)):
        if not piece:
            continue
        pattern = NUMBER.pattern.join(map(re.escape, NUMBER.split(piece)))
        found = re.compile(pattern).search(" ".join(printed.split()), start)
        if found is None:
            return False
        for expected, actual in zip(NUMBER.findall(piece), NUMBER.findall(found.group()), strict=True):
            slack = SLACK / 100 if expected.startswith("0.") else SLACK
            if abs(float(expected) - float(actual)) > slack:
                return False
        start = found.end()
    return True


@pytest.fixture(scope="module")
def page() -> str:
    return README.read_text(encoding="utf-8")


def test_the_first_lines_are_two_commands(page: str) -> None:
    first = blocks(page)[0][1].splitlines()
    assert [line.split("#")[0].strip() for line in first] == ["make demo", "make test"]


def test_commands_print_what_is_shown(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shell = [block for language, block in blocks(page) if language == "console"]
    ran = [call for block in shell for call in commands(block)]
    assert [arguments[0] for arguments, _ in ran] == ["data", "fit", "predict"]
    for arguments, shown in ran:
        result = CliRunner().invoke(app, arguments, catch_exceptions=False)
        assert result.exit_code == 0, result.output
        assert agrees(shown, result.output), f"abnet {shlex.join(arguments)} prints\n{result.output}\nnot\n{shown}"


def test_python_blocks_print_what_is_shown(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    pairs = [(code, shown) for (one, code), (two, shown) in pairwise(blocks(page)) if (one, two) == ("python", "text")]
    assert len(pairs) == sum(language == "python" for language, _ in blocks(page)) == 2
    for code, shown in pairs:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(code, {})
        assert agrees(shown, printed.getvalue()), f"prints\n{printed.getvalue()}\nnot\n{shown}"


@pytest.mark.parametrize(
    ("shown", "fits"),
    [
        ("at most 4.2 %", True),
        ("at most 5.9 %", True),
        ("at most 7.2 %", False),
        ("at least 4.2 %", False),
        ("a table\n...\nat most 4.2 %", True),
        ("at most 4.2 %\n...\na table", False),
        ("bound 0.042", True),
        ("bound 0.092", False),
    ],
)
def test_a_wrong_figure_is_found(shown: str, fits: bool) -> None:
    assert agrees(shown, "a table\nthen\nat most\n4.2 %, bound 0.042") is fits
