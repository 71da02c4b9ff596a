import inspect
import re
import subprocess
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

import abnet
from abnet.cli import options
from abnet.cli.app import app
from abnet.cli.console import UsageError, guarded, said
from abnet.cli.fit import fit as fit_command
from cli.tables import Run

COMMANDS = ["fit", "predict", "inspect", "export", "compare", "demo", "data"]


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
    "certificates",
    "multiclass",
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
    assert re.search(r"--help +-h +Show", text)


def help_texts(command: Any) -> Iterator[str]:
    """What a command and its options, and the commands below it, say of themselves."""
    yield from filter(None, [command.help, *(getattr(option, "help", "") for option in command.params)])
    for below in getattr(command, "commands", {}).values():
        yield from help_texts(below)


def test_no_help_loses_what_stands_in_brackets() -> None:
    texts = list(help_texts(typer.main.get_command(app)))  # where a bracket that is not escaped begins a style
    assert len(texts) > 100
    assert [text for text in texts if re.search(r"(?<!\\)\[", text)] == []


def test_the_program_lists_its_commands(run: Run) -> None:
    text = run("--help").stdout
    assert all(f" {command} " in text for command in COMMANDS)
    assert run("--version").stdout == f"abnet {abnet.__version__}\n"


@pytest.mark.parametrize("arguments", [["--help"], ["fit", "--help"], ["--version"]])
def test_help_loads_no_library(arguments: list[str]) -> None:
    program = (
        f"import sys; sys.argv = ['abnet', *{arguments!r}]\nfrom abnet.cli import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "bad = ('numpy', 'scipy', 'jax', 'sklearn', 'pandas', 'matplotlib', 'safetensors', 'joblib')\n"
        "print([name for name in bad if name in sys.modules], file=sys.stderr)\n"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert result.stderr == "[]\n"


def test_options_are_the_parameters_of_the_estimator() -> None:
    parameters = inspect.signature(abnet.CertifiedClassifier).parameters
    assert set(parameters) - set(options.PARAMETERS) == {"preprocessor", "verbose", "classes", "decision"}
    defaults = inspect.signature(fit_command).parameters
    for name in set(options.PARAMETERS) & set(parameters):
        assert defaults[name].default == parameters[name].default, name


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
        assert said() == ["mind the gap"]

    assert CliRunner().invoke(app, []).stderr == "note: mind the gap\n"


def test_brackets_are_no_markup_in_help_texts(run: Run) -> None:
    """Rich takes a word in brackets for markup and leaves it out."""
    assert "abnet[onnx]" in run("export", "--help").stdout
    text = " ".join(run("monitor", "--help").stdout.replace("│", " ").split())
    assert "[default: 0.01]" in text
    assert "[default: the model's certificate]" in text
    assert "[[TABLE]]" not in run("certify", "--help").stdout
