"""The commands and the code of docs/report.md run, and do what the page says."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from abnet.cli.app import app
from readme import agrees, blocks, commands

PAGE = Path(__file__).parents[2] / "docs" / "report.md"
pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="the page is in the repository, not in the wheel")


def test_the_commands_and_the_code_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shown_blocks = blocks(PAGE.read_text(encoding="utf-8"))
    (shell,) = [block for language, block in shown_blocks if language == "console"]
    (code,) = [block for language, block in shown_blocks if language == "python"]
    for arguments, shown in commands(shell):
        result = CliRunner().invoke(app, arguments, catch_exceptions=False)
        assert result.exit_code == 0, result.output
        assert agrees(shown, result.output), f"abnet {' '.join(arguments)} prints\n{result.output}"
    exec(compile(code, "report.md", "exec"), {})
    names = ("tumours.html", "with-rows.html", "again.html")
    alone, rows, again = (Path(name).read_text(encoding="utf-8") for name in names)
    assert 'data-warning="training rows"' not in alone
    assert "284 of 569" in rows.split('data-warning="training rows"')[1].split("</li>")[0]
    assert "<h1>Tumours</h1>" in again
    (arguments,) = [arguments for arguments, _ in commands(shell) if "--purpose" in arguments]
    purpose = arguments[arguments.index("--purpose") + 1]
    assert purpose in alone
