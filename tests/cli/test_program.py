import inspect
import json
import os
import re
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

import abnet
from abnet.cli import options
from abnet.cli.console import shown_notes
from abnet.cli.exit_codes import UsageError
from abnet.cli.fit import fit as fit_command
from abnet.cli.guarded import guarded
from cli.tables import Run, loaded_by

COMMANDS = ["fit", "predict", "explain", "inspect", "certify", "plan", "monitor", "report", "export", "compare", "demo"]
COMMANDS += ["data", "cache"]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself_with_an_example(run: Run, command: str) -> None:
    text = run(command, "--help").stdout
    assert f"abnet {command}" in text.split("Usage:")[1].split("\n", 1)[1]
    assert run(command, "-h").stdout == text


REPRODUCE = [
    "table1",
    "variants",
    "fig2",
    "fig3",
    "fig4",
    "exact",
    "width",
    "status",
    "export",
    "import",
    "report",
]


@pytest.mark.parametrize(
    "command",
    [[], *([name] for name in COMMANDS), ["reproduce"], *(["reproduce", name] for name in REPRODUCE)],
    ids=str,
)
def test_help_shows_no_types_of_python(run: Run, command: list[str]) -> None:
    text = run(*command, "--help").stdout
    assert not re.search(r"<[a-z]|{", text)
    assert re.search(r"-h, --help +Show", text)
    assert max(map(len, text.splitlines())) <= 80
    assert text.isascii()


def test_the_program_lists_its_commands(run: Run) -> None:
    text = run("--help").stdout
    assert all(f" {command} " in text for command in COMMANDS)
    assert run("--version").stdout == f"abnet {abnet.__version__}\n"


@pytest.mark.parametrize("arguments", [["--help"], ["fit", "--help"], ["--version"]])
def test_help_loads_no_library(arguments: list[str]) -> None:
    libraries = ("numpy", "scipy", "jax", "sklearn", "pandas", "matplotlib", "safetensors", "joblib")
    assert loaded_by(arguments, libraries) == []


def test_options_are_the_parameters_of_the_estimator() -> None:
    parameters = inspect.signature(abnet.CertifiedClassifier).parameters
    assert set(parameters) - set(options.PARAMETERS) == {
        "preprocessor",
        "verbose",
        "classes",
        "decision",
        "sets",
        "joint",
    }
    assert set(options.PARAMETERS) <= set(inspect.signature(fit_command).parameters)


def outcome(error: BaseException | None, message: str = "") -> Any:
    app = typer.Typer()

    @app.command()
    @guarded
    def command() -> None:
        if message:
            warnings.warn(message, stacklevel=1)
            warnings.warn("of no interest", DeprecationWarning, stacklevel=1)
        if error:
            raise error
        print("done")

    return CliRunner().invoke(app, [])


@pytest.mark.parametrize(
    ("error", "code", "text"),
    [
        (ValueError("two\n  lines"), 1, "error: two lines\n"),
        (ValueError(), 1, "error: ValueError\n"),
        (UsageError("no"), 2, "error: no\n"),
        (MemoryError(), 1, "error: not enough memory; use fewer rows or narrower layers.\n"),
        (OSError(28, "No space left on device", "a.csv"), 1, "error: a.csv: No space left on device\n"),
        (OSError(28, "No space left on device"), 1, "error: No space left on device\n"),
        (ImportError("pip install x"), 1, "error: pip install x\n"),
        (KeyboardInterrupt(), 130, "interrupted.\n"),
        (None, 0, ""),
    ],
)
def test_failures_are_one_line_and_a_code(error: BaseException | None, code: int, text: str) -> None:
    result = outcome(error)
    assert (result.exit_code, result.stderr) == (code, text)
    assert result.stdout == ("" if error else "done\n")


def test_faults_of_the_program_keep_their_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(outcome(KeyError("bug")).exception, KeyError)
    monkeypatch.setenv("ABNET_TRACEBACK", "1")
    assert isinstance(outcome(ValueError("shown")).exception, ValueError)


def test_warnings_are_notes() -> None:
    result = outcome(None, "mind\nthe gap")
    assert (result.stdout, result.stderr) == ("done\n", "note: mind the gap\n")


def test_a_note_is_given_once_even_if_warnings_are_caught_in_between() -> None:
    app = typer.Typer()

    @app.command()
    @guarded
    def command() -> None:
        for _ in range(2):
            with warnings.catch_warnings():
                warnings.simplefilter("once")
                warnings.warn("mind the gap", stacklevel=1)
        assert shown_notes() == ["mind the gap"]

    assert CliRunner().invoke(app, []).stderr == "note: mind the gap\n"


def test_defaults_are_told(run: Run) -> None:
    assert "abnet[onnx]" in run("export", "--help").stdout
    text = " ".join(run("monitor", "--help").stdout.split())
    assert "[default: 0.01]" in text
    assert len(re.findall(r"\[default: [^\]]*certificate\]", text)) == 1
    assert "[[TABLE]]" not in run("certify", "--help").stdout
    assert "[default: 1]" in run("fit", "--help").stdout


def test_the_help_of_fit_fits_on_a_screen_and_a_half(run: Run) -> None:
    usual, everything = (run("fit", option).stdout for option in ("--help", "--help-all"))
    assert len(usual.splitlines()) <= 64
    assert "--teacher" not in usual
    assert "--teacher" in everything
    names = re.findall(r"--[a-z][a-z-]+", usual)
    assert set(names) - {"--help-all"} <= set(re.findall(r"--[a-z][a-z-]+", everything))


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_every_encoding_will_do(encoding: str, model: Path, table: Path, tmp_path: Path) -> None:
    text = table.read_text().replace("Oslo", "Bodø ±…")
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    environment = {**os.environ, "PYTHONIOENCODING": encoding}
    for arguments in (["inspect", model], ["predict", model, tmp_path / "t.csv", "--keep", "all"], ["--help"]):
        command = [sys.executable, "-m", "abnet", *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, check=False, env=environment)
        assert done.returncode == 0, done.stderr
        told = done.stdout.decode("utf-8" if arguments[0] == "predict" else encoding)  # rows are as in a file
        assert ("Bodø ±…" in told) == (arguments[0] == "predict")


def test_the_cache_is_shown_and_cleared(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ABNET_CACHE", str(tmp_path))
    (tmp_path / "compiled").mkdir()
    (tmp_path / "compiled" / "program").write_bytes(b"12345")
    record = json.loads(run("cache", "--json").stdout)
    assert record == {"folder": str(tmp_path / "compiled"), "n_files": 1, "bytes": 5}
    run("cache", "--clear")
    assert list((tmp_path / "compiled").iterdir()) == []
    monkeypatch.setenv("ABNET_CACHE", "")
    assert str(tmp_path) not in run("cache").stdout
