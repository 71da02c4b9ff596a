"""A model learned once from a small table, and ways to run commands."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from abnet.cli.app import app
from cli.tables import SMALL, Run, csv_text


@pytest.fixture(scope="session")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tables") / "moods.csv"
    path.write_text(csv_text())
    return path


@pytest.fixture(scope="session")
def run() -> Run:
    """Run a command; by default it must succeed."""

    def invoke(*arguments: object, code: int = 0) -> Any:
        result = CliRunner().invoke(app, [str(argument) for argument in arguments])
        if isinstance(result.exception, Exception):
            raise result.exception
        assert result.exit_code == code, (result.exit_code, result.stdout, result.stderr)
        return result

    return invoke


@pytest.fixture(scope="session")
def fitted(table: Path, run: Run, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What `abnet fit --json` says about the table, with the path of the model."""
    path = tmp_path_factory.mktemp("models") / "moods.abnet"
    result = run("fit", table, "--target", "mood today", "--output", path, "--json", *SMALL)
    record = json.loads(result.stdout)
    assert isinstance(record, dict)
    return {**record, "stderr": result.stderr}


@pytest.fixture
def model(fitted: dict[str, Any]) -> Path:
    return Path(fitted["model"]["path"])


@pytest.fixture
def failure(run: Run) -> Callable[..., str]:
    """Run a command that must fail: its message, one line on stderr with nothing on stdout.

    `naming` lists what the message must name: options, columns, files, rows, cells and numbers. The sentence around
    them may change; `test_wording.py` has the few that are tested word by word.
    """

    def invoke(*arguments: object, code: int = 1, naming: Sequence[object] = ()) -> str:
        result = run(*arguments, code=code)
        assert result.stdout == ""
        lines = [line for line in result.stderr.splitlines() if line.startswith("error: ")]
        assert len(lines) == 1
        assert "Traceback" not in result.stderr
        text = lines[0].removeprefix("error: ")
        for fact in naming:
            assert str(fact) in text, text
        return text

    return invoke
