"""Every name in backticks in the documentation and in docstrings exists: functions, parameters, options, files.

A name is looked up where a reader would look: paths in the repository, commands and options in the command line, and
identifiers among everything that the source defines or knows as a text (values of options, fields of files).
"""

import ast
import builtins
import importlib
import keyword
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer

from abnet.cli.app import app
from alternatives import named

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "abnet"
PAGES = [
    path
    for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), ROOT / "results" / "README.md"]
    if path.name != "CHANGELOG.md"  # it names what is gone
]
SOURCES = sorted(PACKAGE.rglob("*.py"))
CODE = [
    path
    for folder in ("src", "tests", "benchmarks", "examples", "docs")
    for path in (ROOT / folder).rglob("*.py")
    if path != Path(__file__)
]
FOLDERS = (ROOT, *(ROOT / name for name in ("src", "docs", "tests", "results")), PACKAGE, *PACKAGE.glob("*/"))
pytestmark = pytest.mark.skipif(not (ROOT / "docs").exists(), reason="the pages are in the repository alone")

FOREIGN = frozenset({
    "JAX_PLATFORMS", "LightGBM", "arm", "artanh", "Bin", "casefold", "default_matmul_precision", "eabi", "frac", "fsum",
    "fwer_method", "grad", "jit", "kill", "linspace", "parse_math", "preprocessing", "strip", "to_datetime", "vmap",
})  # fmt: skip
"""Names of other programs and libraries, and mathematical functions."""
MADE = re.compile(r"(dist|build)(/.*)?|(digits|mnist)\d\d|probability_\w+|abnet\.predictor")
"""What a command makes, names with a part that the user chooses, and a function of the exported JavaScript."""


# The vocabulary


def definitions(tree: ast.AST) -> Iterator[str]:
    """Names that a file defines, and texts in it that are one word."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr
        elif isinstance(node, ast.alias):
            yield (node.asname or node.name).split(".")[0]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and re.fullmatch(r"[\w.-]+", node.value):
            yield from re.findall(r"\w+", node.value)


@cache
def vocabulary() -> frozenset[str]:
    known = {*dir(builtins), *keyword.kwlist, *FOREIGN}
    for path in CODE:
        known |= {path.stem, path.parent.name}
        known.update(definitions(ast.parse(path.read_text(encoding="utf-8"))))
    for table in (ROOT / "results").glob("*.csv"):
        with table.open(encoding="utf-8") as lines:
            known.update(next(lines).strip().split(","))
    return frozenset(known)


@cache
def command_options() -> dict[str, frozenset[str]]:
    """Options of each command; of all of them under an empty name."""
    found: dict[str, frozenset[str]] = {}

    def collect(name: str, command: Any) -> None:
        found[name] = frozenset({"--help", *(o for p in command.params for o in (*p.opts, *p.secondary_opts))})
        for child, nested in getattr(command, "commands", {}).items():
            collect(f"{name} {child}".strip(), nested)

    collect("", typer.main.get_command(app))
    return found


@cache
def script_options() -> frozenset[str]:
    """Options of the scripts in benchmarks and in the documentation."""
    found = set()
    for path in CODE:
        if "src" not in path.parts:
            found |= set(re.findall(r'"(--[a-z][a-z-]*)"', path.read_text(encoding="utf-8")))
    return frozenset(found)


@cache
def export_source() -> str:
    """The templates of exported files, where names begin with a prefix of the user's."""
    return "".join(
        path.read_text(encoding="utf-8") for path in (PACKAGE / "export").rglob("*.*") if path.suffix != ".pyc"
    )


@cache
def make_targets() -> frozenset[str]:
    return frozenset(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


# What is wrong with a span


def unknown(span: str, own: frozenset[str] = frozenset()) -> list[str]:
    """Names in a span of code that nothing has; ``own`` are those that the page defines."""
    words = span.split()
    if not words:
        return []
    if words[0] == "abnet" and len(words) > 1:
        return unknown_command(words[1:])
    if words[0] == "make" and len(words) > 1:
        return [word for word in words[1:2] if word not in make_targets()]
    if span.startswith("--") and len(span) > 2:
        every = frozenset().union(*command_options().values()) | script_options()
        return [word for word in re.findall(r"--[a-z][a-z-]*", span) if word not in every]
    paths = [word for word in words if re.fullmatch(r"[\w./*-]+\.(py|md|csv|toml|txt|json)|[\w./-]+/", word)]
    if paths:
        return [path for path in paths if "/" in path and not exists(path)]
    if re.fullmatch(r"abnet(\.\w+)+(\(.*\))?", span):
        dotted = span.partition("(")[0]
        if MADE.fullmatch(dotted) or resolves(dotted):
            return []
        return [span]
    return [name for name in identifiers(span) if not is_known(name, own)]


def exists(path: str) -> bool:
    return MADE.fullmatch(path) is not None or any([*folder.glob(path)] for folder in FOLDERS)


def is_known(name: str, own: frozenset[str]) -> bool:
    """Whether the source or the page has the name, perhaps with an index, or an exported file has it."""
    stem = re.sub(r"_[a-z]$", "", name)
    if {name, stem} & (vocabulary() | own) or MADE.fullmatch(name):
        return True
    exported = re.fullmatch(r"(abnet|prefix|PREFIX)_(\w+)", name)
    return exported is not None and f"_{exported[2]}" in export_source()


def unknown_command(words: list[str]) -> list[str]:
    """The command, or the options of it, that do not exist."""
    known = command_options()
    name = ""
    for word in words:
        longer = f"{name} {word}".strip()
        if longer not in known:
            break
        name = longer
    if not name and re.fullmatch(r"[a-z][a-z-]*", words[0]):
        return [words[0]]
    options = [word.partition("=")[0] for word in words if word.startswith("--")]
    return [option for option in options if option not in known[name]]


def resolves(dotted: str) -> bool:
    """Whether a dotted name is a module or an attribute of one."""
    parts = dotted.split(".")
    for n in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:n]))
        except ImportError:
            continue
        for part in parts[n:]:
            if not hasattr(found, part):
                return part in vocabulary() and isinstance(found, type)  # a field without a default
            found = getattr(found, part)
        return True
    return False


def identifiers(span: str) -> Iterator[str]:
    """Names in an expression, without the symbols of formulas: single letters, with an index or an accent."""
    try:
        tree = ast.parse(span, mode="eval")
    except (SyntaxError, ValueError):
        try:
            tree = ast.parse(f"f({span})", mode="eval")
        except (SyntaxError, ValueError):
            return
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.Name):
            names = [node.id]
        elif isinstance(node, ast.Attribute):
            names = [node.attr]
        elif isinstance(node, ast.keyword) and node.arg:
            names = [node.arg]
        yield from (name for name in names if name.isascii() and not re.fullmatch(r"\w(_?\w|_\w+)?", name))


# Pages and docstrings


def spans(text: str) -> list[str]:
    """What stands between backticks, single or double."""
    return [found.replace("\n", " ") for _, found in re.findall(r"(`{1,2})([^`]+)\1", text)]


def names_of_other_libraries(page: str) -> frozenset[str]:
    """Names in the columns of other libraries; `benchmarks/alternatives.py` looks for them in their sources."""
    others = [names for (library, _), names in named(page).items() if library != "abnet"]
    return frozenset().union(*others)


def stale(path: Path) -> list[str]:
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        blocks = re.findall(r"^```.*?^```", text, flags=re.DOTALL | re.MULTILINE)
        own = frozenset(re.findall(r"\w+", " ".join(blocks)))
        if path.stem == "alternatives":
            own |= names_of_other_libraries(text)
        prose = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
        texts = [re.sub(r"(`[^`\n]*)\n([^`\n]*`)", r"\1 \2", prose)]
    else:
        own = frozenset()
        tree = ast.parse(text)
        documented = [n for n in ast.walk(tree) if isinstance(n, ast.Module | ast.ClassDef | ast.FunctionDef)]
        texts = [ast.get_docstring(node) or "" for node in documented]
        constants = [n.value for n in ast.walk(tree) if isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant)]
        texts += [node.value for node in constants if isinstance(node.value, str)]
        texts = [re.sub(r"^\s*(>>>|\.\.\.).*$", "", found, flags=re.MULTILINE) for found in texts]
    return sorted({f"{name} in `{span}`" for found in texts for span in spans(found) for name in unknown(span, own)})


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_names_on_a_page_exist(path: Path) -> None:
    assert not stale(path)


def test_names_in_docstrings_exist() -> None:
    found = {path.relative_to(ROOT).as_posix(): stale(path) for path in SOURCES}
    assert not {path: names for path, names in found.items() if names}


@pytest.mark.parametrize(
    "span",
    ["vote_methods_", "abnet fitt", "abnet fit --nonsense", "--no-such-option", "abnet.bounds.no_bound", "make teste",
     "training/no_file.py", "fit(X, y, grooups=patients)", "certificate.no_attribute"],
)  # fmt: skip
def test_a_stale_name_is_found(span: str) -> None:
    assert unknown(span, frozenset({"patients", "certificate"}))
