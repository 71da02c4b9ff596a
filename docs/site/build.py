"""Build the site: ``python docs/site/build.py [FOLDER]`` (build/site), what `make docs` runs.

The pages of the repository and pages of the public names, which are read off the package, are staged side by side; so
links between pages are those of the repository, and nothing generated lies among the sources. Every warning of Sphinx
is an error, and so is a link of the finished site that leads nowhere. Links to other sites are not followed.
"""

import importlib
import inspect
import json
import pkgutil
import re
import shutil
import sys
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import unquote, urlsplit

from notebooks import notebook

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]

CONTENTS = {
    "Start here": ["docs/installation", "docs/quickstart", "docs/faq"],
    "Tutorials": [
        "docs/tutorials/table",
        "docs/tutorials/certify",
        "docs/tutorials/deploy",
        "docs/tutorials/monitor",
        "docs/tutorials/research",
    ],
    "How-to guides": [
        "docs/tables",
        "docs/messy-tables",
        "docs/decisions",
        "docs/explanation",
        "docs/report",
        "docs/distributed",
        "docs/serving",
    ],
    "Concepts": ["docs/certificates", "docs/assumptions", "docs/promises", "docs/alternatives", "docs/glossary"],
    "Validation": [
        "docs/validation/index",
        *(f"docs/validation/{path.stem}" for path in sorted(ROOT.glob("docs/validation/*.md")) if path.stem != "index"),
    ],
    "Reference": ["api/commands", "api/index", "docs/model-format"],
    "Research": [
        "docs/gallery",
        "docs/theory",
        "docs/theory-wide",
        "docs/measurements",
        "docs/reproduction",
        "results/README",
    ],
    "Project": ["CHANGELOG", "docs/versions", "SECURITY", "docs/cite", "CONTRIBUTING", "docs/architecture"],
}
"""The side bar: captions, and the pages under each. Pages of `api` are generated, the others are files."""

PACKAGES = [
    "abnet",
    "abnet.bounds",
    "abnet.certificates",
    "abnet.tables",
    "abnet.tables.preparation",
    "abnet.model",
    "abnet.explanation",
    "abnet.report",
    "abnet.export",
    "abnet.model.distributed_scoring",
    "abnet.networks",
    "abnet.tables.labels",
    "abnet.model.predictors",
    "abnet.paper.methods",
    "abnet.paper",
]
"""Whose names are public, in the order of the reference."""

INTERNAL = ("shapes", "jax_helpers")
"""Modules of these packages that hold annotations and helpers, and nothing to call."""


# The reference


def modules_of(name: str) -> list[ModuleType]:
    """The module of that name, and the modules in it where they are the list of what there is."""
    module = importlib.import_module(name)
    if name not in ("abnet.networks", "abnet.model.predictors"):
        return [module]
    names = [found.name for found in pkgutil.iter_modules(module.__path__)]
    inside = [importlib.import_module(f"{name}.{found}") for found in names if found not in INTERNAL]
    return [module, *inside]


def public_names(module: ModuleType) -> list[tuple[str, Any]]:
    """The names of `__all__` with what they stand for; modules, which have pages of their own, are left out."""
    found = [(name, getattr(module, name)) for name in getattr(module, "__all__", [])]
    return [(name, value) for name, value in found if not inspect.ismodule(value)]


def reference() -> dict[str, str]:
    """Pages of the reference by name: one for each package, and one for each public name.

    An object with several names is described under the first of them. The page of its package lists it; the side bar
    does not, because hundreds of entries on every page make the site slow to build.
    """
    pages: dict[str, str] = {}
    homes: dict[int, str] = {}
    for package in PACKAGES:
        lines = [f"# {package}", ""]
        for module in modules_of(package):
            lines += [f"## {module.__name__}\n"] if module.__name__ != package else []
            lines += [f"```{{eval-rst}}\n.. py:module:: {module.__name__}\n```\n", f"{_summary(module)}\n"]
            rows = []
            for name, value in public_names(module):
                full = f"{module.__name__}.{name}"
                home = full if _is_constant(value) else homes.setdefault(id(value), full)
                rows.append(
                    f"| [`{name}`]({home}.md) | {_summary(value) if not _is_constant(value) else 'A constant.'} |"
                )
                if home == full:
                    pages[full] = _object_page(full, value)
            lines += ["| name | what it is |", "| --- | --- |", *rows, ""] if rows else []
        pages[package] = "\n".join(lines) + "\n"
    listed = "\n".join(f"| [`{name}`]({name}.md) | {_summary(importlib.import_module(name))} |" for name in PACKAGES)
    pages["index"] = f"{_PREFACE}\n| module | what is in it |\n| --- | --- |\n{listed}\n" + contents("", PACKAGES)
    return pages


_PREFACE = """# Python API

Most programs need only the names of [`abnet`](abnet.md) itself. The other modules are the parts it is made of. Every
page links to the source code.
"""


def _is_constant(value: Any) -> bool:
    return not callable(value)


def _summary(value: Any) -> str:
    """The first sentence of a docstring, as one cell of a table."""
    first = (inspect.getdoc(value) or "").partition("\n\n")[0].replace("\n", " ")
    return re.sub(r"``", "`", first).replace("|", "\\|")


def _object_page(full: str, value: Any) -> str:
    from sphinx.pycode import ModuleAnalyzer

    package, _, name = full.rpartition(".")
    kind = "class" if inspect.isclass(value) else "function" if callable(value) else "data"
    text = f".. auto{kind}:: {full}"
    if kind == "data" and ("", name) not in ModuleAnalyzer.for_module(package).find_attr_docs():
        shown = repr(value) if len(repr(value)) < 80 else "…"
        text = f".. py:data:: {full}\n   :value: {shown}"  # autodata would show the docstring of its type
    return f"---\norphan: true\n---\n\n# {name}\n\n{{py:mod}}`{package}`\n\n```{{eval-rst}}\n{text}\n```\n"


def commands() -> str:
    """The page of the command line, read off the program: what each command does, its arguments and its options."""
    from typer.main import get_command

    from abnet.cli.app import app

    program: Any = get_command(app)
    lines = ["# Command line", "", *_help_text(program.help), "", "| command | what it does |", "| --- | --- |"]
    found = {name: command for name, command in program.commands.items() if not command.hidden}
    for name, command in found.items():
        lines.append(f"| [`abnet {name}`](#abnet-{name}) | {_summary_of_help(command.help)} |")
    lines += ["", "`abnet COMMAND --help` prints the same in a terminal.", ""]
    for name, command in found.items():
        lines += _command_section(f"abnet {name}", command, "##")
        for inner, part in getattr(command, "commands", {}).items():
            lines += _command_section(f"abnet {name} {inner}", part, "###")
    return "\n".join(lines) + "\n"


def _command_section(title: str, command: Any, level: str) -> list[str]:
    arguments = [item for item in command.params if item.param_type_name == "argument" and not item.hidden]
    options = [item for item in command.params if item.param_type_name == "option" and not item.hidden]
    kind = (
        ["COMMAND"] if hasattr(command, "commands") else [str(item.metavar or item.name.upper()) for item in arguments]
    )
    usage = " ".join([title, *kind, *(["[OPTIONS]"] if options else [])])
    lines = [f"{level} {title}", "", "```text", usage, "```", "", *_help_text(command.help), ""]
    panels: dict[str, list[Any]] = {"Arguments": arguments} if arguments else {}
    for item in options:
        panels.setdefault(item.rich_help_panel or "Options", []).append(item)
    for panel, items in panels.items():
        lines += [f"| {panel} | |", "| --- | --- |"]
        lines += [f"| {_option_name(item)} | {_option_text(item)} |" for item in items]
        lines.append("")
    return lines


def _summary_of_help(text: str | None) -> str:
    return (text or "").partition("\n\n")[0].replace("\n", " ").replace("|", "\\|")


def _help_text(text: str | None) -> list[str]:
    """Paragraphs of a help text; one whose lines are calls of the program becomes a block of code."""
    lines = []
    for paragraph in (text or "").replace("\b\n", "").split("\n\n"):
        calls = any(line.lstrip().startswith("abnet ") for line in paragraph.splitlines())
        lines += (
            ["```sh", inspect.cleandoc(paragraph), "```"] if calls else [options_as_code(paragraph.replace("*", "\\*"))]
        )
        lines.append("")
    return lines


def _option_name(item: Any) -> str:
    if item.param_type_name == "argument":
        return f"`{item.metavar or item.name.upper()}`"
    names = ", ".join(f"`{name}`" for name in [*item.opts, *item.secondary_opts])
    return names if item.is_flag else f"{names} `{item.metavar or 'VALUE'}`".replace("|", "\\|")


def _option_text(item: Any) -> str:
    text = (item.help or "").replace("\n", " ").replace("|", "\\|").replace("*", "\\*").replace("<", "&lt;")
    text = options_as_code(text)
    shown = item.show_default and item.default not in (None, False, (), []) and not callable(item.default)
    ending = " **Required.**" if item.required else f" Default: `{item.default}`." if shown else ""
    return text + ending


def options_as_code(text: str) -> str:
    """Names of options between backticks, since two hyphens would be set as a dash; what is code already stays.

    Examples
    --------
    >>> options_as_code("With --json, as `abnet compare --json` prints it.")
    'With `--json`, as `abnet compare --json` prints it.'
    """
    parts = text.split("`")
    return "`".join(
        part if place % 2 else re.sub(r"(?<![\w-])(--[a-z-]+)", r"`\1`", part) for place, part in enumerate(parts)
    )


# Staging


def links(page: str) -> list[str]:
    """Targets of the links of a page within the repository."""
    prose = re.sub(r"^```.*?^```", "", page, flags=re.DOTALL | re.MULTILINE)
    found = re.findall(r"\]\(([^)\s#]+)[^)\s]*\)", re.sub(r"`[^`\n]*`", "", prose))
    return [target for target in found if not re.match(r"[a-z]+:", target)]


def contents(caption: str, pages: list[str]) -> str:
    """A table of contents for the side of every page."""
    if not pages:
        return "\n"
    head = ["", "```{toctree}", ":hidden:", *([f":caption: {caption}"] if caption else []), ""]
    return "\n".join([*head, *pages, "```", ""])


def stage(folder: Path) -> None:
    """Write all pages, and copy what they link to."""
    for name, text in reference().items():
        _write(folder / "api" / f"{name}.md", text)
    _write(folder / "api" / "commands.md", commands())
    for name in [page for pages in CONTENTS.values() for page in pages if not page.startswith("api/")]:
        source = ROOT / f"{name}.md"
        text = source.read_text(encoding="utf-8")
        _copy_linked(text, source.parent, folder)
        if name in CONTENTS["Tutorials"]:
            text = _with_notebook(text, folder / f"{name}.ipynb")
        _write(folder / f"{name}.md", text.replace("../README.md", "../index.md"))
    landing = (HERE / "index.md").read_text(encoding="utf-8")
    _copy_linked(landing, ROOT, folder)
    tables = [contents(caption, pages) for caption, pages in CONTENTS.items()]
    _write(folder / "index.md", landing + "".join(tables))


def _with_notebook(text: str, path: Path) -> str:
    """Write the notebook of a page, and link to it below the heading."""
    made = notebook(text, path.stem)
    _write(path, json.dumps(made, indent=1, ensure_ascii=False) + "\n")
    heading, _, rest = text.partition("\n")
    return f"{heading}\n\n{{download}}`Download this page as a notebook <{path.name}>`\n{rest}"


def _copy_linked(text: str, home: Path, folder: Path) -> None:
    for target in links(text):
        file = (home / target).resolve()
        if file.suffix != ".md":
            _copy(file, folder / file.relative_to(ROOT))


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


def mend_back_links(site: Path) -> None:
    """Let the pages of source code link back to the page of an object, not to a place in it.

    The place that Sphinx names is wrong for an object that several modules offer, and a page has only one object.
    """
    for path in site.glob("_modules/**/*.html"):
        text = path.read_text(encoding="utf-8")
        path.write_text(re.sub(r'(class="viewcode-back" href="[^"#]*)#[^"]*"', r'\1"', text), encoding="utf-8")


def main(arguments: list[str]) -> int:
    """Stage, build, check."""
    from sphinx.cmd.build import main as sphinx

    site = Path(arguments[0]) if arguments else ROOT / "build" / "site"
    pages = site.with_name(f"{site.name}-pages")
    for folder in (site, pages):
        shutil.rmtree(folder, ignore_errors=True)
    stage(pages)
    options = ["-W", "--keep-going", "-q", "-c", str(HERE), "-d", str(pages / "_build")]
    code = sphinx([*options, str(pages), str(site)])
    mend_back_links(site)
    wrong = broken_links(site) if code == 0 else []
    print("\n".join(wrong) or f"{site / 'index.html'} is built." * (code == 0), file=sys.stderr)
    return code or bool(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
