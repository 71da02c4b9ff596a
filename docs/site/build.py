"""Build the site: ``python docs/site/build.py [FOLDER]`` (build/site), what `make docs` runs.

The pages of the repository and pages of the public names, which are read off the package, are staged side by side; so
links between pages are those of the repository, and nothing generated lies among the sources. Every warning of Sphinx
is an error, and so is a link of the finished site that leads nowhere. Links to other sites are not followed.
"""

import importlib
import inspect
import pkgutil
import re
import shutil
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).resolve().parents[2]

GUIDE = ["tables", "decisions", "explanation", "report", "certificates", "distributed"]
BACKGROUND = ["theory", "theory-wide", "architecture", "reproduction", "model-format"]
BESIDE = ["results/README", "CONTRIBUTING", "CHANGELOG"]

PACKAGES = [
    "abnet",
    "abnet.bounds",
    "abnet.certificates",
    "abnet.decisions",
    "abnet.data",
    "abnet.tables",
    "abnet.preparation",
    "abnet.model",
    "abnet.explanation",
    "abnet.report",
    "abnet.export",
    "abnet.distributed_scoring",
    "abnet.posterior",
    "abnet.aggregation",
    "abnet.cube",
    "abnet.codebook",
    "abnet.labels",
    "abnet.predictors",
    "abnet.baselines",
    "abnet.paper",
]
"""Whose names are public, in the order of the reference."""


# The reference


def modules_of(name: str) -> list[ModuleType]:
    """The module of that name, and the modules in it where they are the list of what there is."""
    module = importlib.import_module(name)
    if name not in ("abnet.aggregation", "abnet.predictors"):
        return [module]
    inside = [importlib.import_module(f"{name}.{found.name}") for found in pkgutil.iter_modules(module.__path__)]
    return [module, *inside]


def public_names(module: ModuleType) -> list[tuple[str, Any]]:
    """The names of `__all__` with what they stand for; modules, which have pages of their own, are left out."""
    found = [(name, getattr(module, name)) for name in getattr(module, "__all__", [])]
    return [(name, value) for name, value in found if not inspect.ismodule(value)]


def reference() -> dict[str, str]:
    """Pages of the reference by their names; an object with several names is described under the first of them."""
    pages, homes = {}, {}
    for package in PACKAGES:
        lines = [f"# {package}", ""]
        for module in modules_of(package):
            lines += _described(module, package, homes)
        pages[package] = "\n".join(lines)
    return pages


def _described(module: ModuleType, package: str, homes: dict[int, str]) -> Iterator[str]:
    if module.__name__ != package:
        yield f"## {module.__name__}\n"
    yield f"```{{eval-rst}}\n.. py:module:: {module.__name__}\n```\n"
    yield f"{(inspect.getdoc(module) or '').splitlines()[0]}\n"
    for name, value in public_names(module):
        full = f"{module.__name__}.{name}"
        kind = "class" if inspect.isclass(value) else "function" if callable(value) else "data"
        shared = kind != "data" and homes.setdefault(id(value), full) != full
        if shared:
            yield f"`{full}` is {{py:obj}}`{homes[id(value)]}`.\n"
        else:
            yield f"```{{eval-rst}}\n.. auto{kind}:: {full}\n```\n"


def commands() -> str:
    """The page of the command line: what ``--help`` says, command by command."""
    from typer.main import get_command
    from typer.testing import CliRunner

    from abnet.cli.app import app

    names = [[], *([name] for name in get_command(app).commands if name != "reproduce")]  # type: ignore[attr-defined]
    lines = ["# The command line", ""]
    for name in names:
        shown = CliRunner().invoke(app, [*name, "--help"], prog_name="abnet", env={"COLUMNS": "84", "NO_COLOR": "1"})
        text = "\n".join(line.rstrip() for line in shown.output.strip("\n").splitlines())
        lines += [f"## {' '.join(['abnet', *name])}", "", "```text", text, "```", ""]
    return "\n".join(lines)


# Staging


def links(page: str) -> list[str]:
    """Targets of the links of a page within the repository."""
    prose = re.sub(r"^```.*?^```", "", page, flags=re.DOTALL | re.MULTILINE)
    found = re.findall(r"\]\(([^)\s#]+)[^)\s]*\)", re.sub(r"`[^`\n]*`", "", prose))
    return [target for target in found if not re.match(r"[a-z]+:", target)]


def contents(caption: str, pages: list[str]) -> str:
    """A table of contents for the side of every page."""
    return "\n".join(["", "```{toctree}", ":hidden:", f":caption: {caption}", "", *pages, "```", ""])


def stage(folder: Path) -> None:
    """Write all pages, and copy what they link to."""
    for name in [*(f"docs/{page}" for page in GUIDE + BACKGROUND), *BESIDE]:
        source = ROOT / f"{name}.md"
        text = source.read_text(encoding="utf-8")
        for target in links(text):
            file = (source.parent / target).resolve()
            if file.suffix != ".md":
                _copy(file, folder / file.relative_to(ROOT))
        _write(folder / f"{name}.md", text.replace("](../README.md", "](../index.md"))
    pages = reference()
    for name, text in pages.items():
        _write(folder / "api" / f"{name}.md", text)
    _write(folder / "api" / "commands.md", commands())
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for target in links(readme):
        if not target.endswith(".md"):
            _copy(ROOT / target, folder / target)
    tables = [
        contents("User guide", [f"docs/{page}" for page in GUIDE]),
        contents("Background", [f"docs/{page}" for page in BACKGROUND] + ["results/README"]),
        contents("Reference", ["api/commands", *(f"api/{name}" for name in pages)]),
        contents("The project", ["CONTRIBUTING", "CHANGELOG"]),
    ]
    _write(folder / "index.md", readme + "".join(tables))


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


# The finished site


class Page(HTMLParser):
    """What a page links to, what it loads, and the places in it that a link can name."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note one element."""
        found = {name: value for name, value in attrs if value}
        self.places |= {found[name] for name in ("id", "name") if name in found}
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        elif tag in ("script", "img", "source", "iframe") and "src" in found:
            self.loaded.append(found["src"])
        elif tag == "link" and found.get("rel") in ("stylesheet", "icon"):
            self.loaded.append(found.get("href", ""))


def broken_links(site: Path) -> list[str]:
    """Links and loaded files of a site that are not there; loading anything from elsewhere counts as broken."""
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}
    wrong = []
    for path, page in pages.items():
        for link in page.links + page.loaded:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                if link in page.loaded and parts.scheme != "data":
                    wrong.append(f"{path.relative_to(site)}: loads {link}")
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            there = target in pages or target.is_file()
            if not there or (
                parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].places
            ):
                wrong.append(f"{path.relative_to(site)}: {link}")
    return wrong


def main(arguments: list[str]) -> int:
    """Stage, build, check."""
    from sphinx.cmd.build import main as sphinx

    site = Path(arguments[0]) if arguments else ROOT / "build" / "site"
    pages = site.with_name(f"{site.name}-pages")
    for folder in (site, pages):
        shutil.rmtree(folder, ignore_errors=True)
    stage(pages)
    options = ["-W", "--keep-going", "-q", "-c", str(Path(__file__).parent), "-d", str(pages / "_build")]
    code = sphinx([*options, str(pages), str(site)])
    wrong = broken_links(site) if code == 0 else []
    print("\n".join(wrong) or f"{site / 'index.html'} is built." * (code == 0), file=sys.stderr)
    return code or bool(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
