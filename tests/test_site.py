"""The site: every public name is described, broken links are found, and examples on the pages are ones that run."""

import ast
import importlib.util
import inspect
import re
import shlex
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from typer.main import get_command

import abnet

ROOT = Path(__file__).parents[1]
PAGES = [path for path in [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md"))] if path.exists()]
pytestmark = pytest.mark.skipif(
    not (ROOT / "docs").exists(), reason="the pages are in the repository, not in the wheel"
)


def module_at(path: Path) -> ModuleType:
    """A module that is not in a package."""
    spec = importlib.util.spec_from_file_location(f"docs_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def build() -> ModuleType:
    return module_at(ROOT / "docs" / "site" / "build.py")


# The reference


@pytest.fixture(scope="module")
def pages(build: ModuleType) -> dict[str, str]:
    found: dict[str, str] = build.reference()
    return found


def test_every_public_name_has_a_page_and_a_line_in_its_package(build: ModuleType, pages: dict[str, str]) -> None:
    for package in build.PACKAGES:
        for module in build.modules_of(package):
            for name, _ in build.public_names(module):
                (home,) = re.findall(
                    rf"^\| \[`{re.escape(name)}`\]\((\S+)\.md\)", section(pages, package, module), re.M
                )
                assert f":: {home}\n" in pages[home]


def section(pages: dict[str, str], package: str, module: ModuleType) -> str:
    """The part of a package's page that is about one module."""
    return pages[package].split(f".. py:module:: {module.__name__}\n")[1].split(".. py:module::")[0]


def test_the_reference_begins_at_the_front_door_and_leaves_out_no_package(
    build: ModuleType, pages: dict[str, str]
) -> None:
    offered = {name for name in abnet.__all__ if inspect.ismodule(getattr(abnet, name))}
    assert {f"abnet.{name}" for name in offered} <= set(pages)
    for name in abnet.__all__:
        assert name in offered or f":: abnet.{name}\n" in pages[f"abnet.{name}"]
    rooms = {
        path.parent.name for path in (ROOT / "src" / "abnet").glob("*/__init__.py") if "__all__" in path.read_text()
    }
    assert rooms - {"cli"} <= {package.split(".")[1] for package in build.PACKAGES if "." in package}


def test_what_is_public_has_a_docstring(build: ModuleType) -> None:
    for package in build.PACKAGES:
        for module in build.modules_of(package):
            for name, value in build.public_names(module):
                if callable(value):
                    assert inspect.getdoc(value), f"{module.__name__}.{name}"


def test_the_command_line_has_a_page(build: ModuleType) -> None:
    """Every command, argument and option that the program shows is on it."""
    from abnet.cli.app import app

    page = build.commands()
    for name, command in get_command(app).commands.items():  # type: ignore[attr-defined]
        part = page.split(f"\n## abnet {name}\n")[1].split("\n## ")[0]
        for item in command.params:
            if not item.hidden:
                if item.param_type_name == "option":
                    shown = item.opts[-1]
                else:
                    shown = item.metavar or item.name.upper()
                assert f"`{shown}`" in part, (name, shown)
    assert "``" not in page.replace("```", "")  # no code within code
    assert build.options_as_code("--a-b, `x --json`") == "`--a-b`, `x --json`"


def test_the_figures_are_those_that_the_script_draws(tmp_path: Path) -> None:
    drawing = module_at(ROOT / "docs" / "figures" / "draw.py")
    drawing.main([str(tmp_path)])
    for name in drawing.FIGURES:
        assert (tmp_path / f"{name}.svg").read_text() == (ROOT / "docs" / "figures" / f"{name}.svg").read_text()


# Links


def test_pages_are_staged_with_what_they_link_to(build: ModuleType, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(build, "PACKAGES", ["abnet.tables.labels"])
    build.stage(tmp_path)
    listed = [page for pages in build.CONTENTS.values() for page in pages if not page.startswith("api/")]
    for page in listed:
        assert (tmp_path / f"{page}.md").exists()
    written = {path.relative_to(ROOT).with_suffix("").as_posix() for path in ROOT.glob("docs/**/*.md")}
    assert written - {"docs/site/index"} <= set(listed)
    for path in tmp_path.rglob("*.md"):
        for link in build.links(path.read_text(encoding="utf-8")):
            assert (path.parent / link).exists() or "api" in (path.parent.name, *Path(link).parts), (path, link)


def test_a_broken_link_of_the_site_is_found(build: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "other.html").write_text('<h1 id="one">One</h1><a href="../index.html#here">back</a>')
    (tmp_path / "index.html").write_text(
        '<p id="here"><a href="in/other.html#one">a</a> <a href="https://example.org/x">b</a> <a href="#here">c</a>'
        '<a href="in/other.html#two">d</a> <a href="gone.html">e</a> <img src="gone.svg">'
        '<script src="https://example.org/x.js"></script> <img src="data:,x">'
    )
    assert build.broken_links(tmp_path) == [
        "index.html: in/other.html#two", "index.html: gone.html", "index.html: gone.svg",
        "index.html: loads https://example.org/x.js",
    ]  # fmt: skip


# Examples


def blocks(kind: str) -> list[Any]:
    """The code blocks of a kind on all pages."""
    found = []
    for path in PAGES:
        text = path.read_text(encoding="utf-8")
        for number, match in enumerate(re.finditer(rf"^```{kind}\n(.*?)^```", text, re.DOTALL | re.MULTILINE), 1):
            found.append(pytest.param(match[1], id=f"{path.stem}-{number}"))
    return found


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_code_on_the_pages_fits_beside_the_side_bar(path: Path) -> None:
    """At 1280 px the site has room for 116 columns: docs/site/static/site.css."""
    for block in re.findall(r"^```\w*\n(.*?)^```", path.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE):
        for line in block.splitlines():
            assert len(line) <= 116, line


def commands_in(block: str) -> list[list[str]]:
    """The calls of `abnet` in a block, split as a shell does."""
    lines = re.findall(r"\$\s+(?:\w+=\S+ )*(abnet .*)$", block.replace("\\\n", " "), re.MULTILINE)
    return [shlex.split(line, comments=True)[1:] for line in lines]


@pytest.mark.parametrize("block", blocks("console"))
def test_commands_of_the_pages_are_understood(block: str) -> None:
    from abnet.cli.app import app

    for words in commands_in(block):
        context = understood(get_command(app), words)
        assert context is not None, words


def understood(command: Any, words: list[str]) -> Any:
    """Parse a call down to its last command, and run nothing."""
    context = command.make_context("abnet", list(words))
    while hasattr(context.command, "resolve_command"):
        name, command, rest = context.command.resolve_command(
            context, [*getattr(context, "_protected_args", []), *context.args]
        )
        context = command.make_context(name, rest, parent=context)
    return context


@pytest.mark.parametrize("words", [["fit", "t.csv", "--tarket", "y"], ["fits", "t.csv"], ["fit"]])
def test_a_command_that_is_not_understood_is_found(words: list[str]) -> None:
    from abnet.cli.app import app

    with pytest.raises(Exception, match=r"No such|Missing"):
        understood(get_command(app), words)


@pytest.mark.parametrize("block", blocks("python"))
def test_python_on_the_pages_is_python(block: str) -> None:
    code = block
    if ">>>" in block:
        import doctest

        code = "\n".join(example.source for example in doctest.DocTestParser().get_examples(block))
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("abnet"):
            home = importlib.import_module(node.module or "")
            for alias in node.names:
                assert hasattr(home, alias.name), f"{node.module} has no {alias.name}"


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # Dask's own call of pandas
def test_scoring_a_partitioned_table_as_the_page_does(tmp_path: Path, monkeypatch: Any, capsys: Any) -> None:
    """The example of docs/distributed.md, on a model and partitions that are made for it."""
    pytest.importorskip("dask.dataframe")
    pandas = pytest.importorskip("pandas")
    from abnet.model import Model
    from abnet.model.predictors.compact import Compact
    from conftest import random_network

    page = (ROOT / "docs" / "distributed.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```python\n(import abnet\nimport dask.*?)^```", page, re.DOTALL | re.MULTILINE)
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    model = Model(Compact.from_networks([random_network(rng, (2, 3, 1))]), feature_names=("x0", "x1"))
    model.save("model.abnet")
    Path("new").mkdir()
    for part in range(2):
        rows = rng.normal(size=(40, 2))
        frame = pandas.DataFrame(rows, columns=["x0", "x1"]).assign(diagnosis=model.predict(rows))
        frame.to_parquet(f"new/{part}.parquet")
    exec(compile(block, "docs/distributed.md", "exec"), {})
    assert "0 of 80" in capsys.readouterr().out
    assert len(pandas.read_parquet("scored")) == 80
