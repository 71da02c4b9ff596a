"""Check the names on the page about other libraries: `python benchmarks/alternatives.py FOLDER`.

FOLDER has one folder for each library, with its unpacked wheel. Every name in backticks in the column of a library has
to be defined there: a class, a function, an argument, a module or a command. The version in the heading of the column
has to be that of the wheel. To get the wheels: `pip download --no-deps mapie crepes torchcp fairlearn evidently`.
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

__all__ = ["named", "undefined"]

PAGE = Path(__file__).resolve().parents[1] / "docs" / "alternatives.md"


def tables(page: str) -> Iterator[list[list[str]]]:
    """The cells of each table, headings first."""
    for table in re.findall(r"(?:^\|.*\|\n)+", page, re.MULTILINE):
        yield [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]


def named(page: str) -> dict[tuple[str, str], set[str]]:
    """The names in backticks by library and version."""
    found: dict[tuple[str, str], set[str]] = {}
    for table in tables(page):
        for column, heading in enumerate(table[0][1:], start=1):
            library, version = heading.rsplit(" ", 1)
            names = found.setdefault((library, version), set())
            for row in table[2:]:
                names.update(re.findall(r"`([^`]+)`", row[column]))
    return found


def definitions(folder: Path) -> set[str]:
    """Everything that the sources in a folder define, and the commands that they register."""
    known = set()
    for path in folder.rglob("*.py"):
        known |= {path.stem, path.parent.name}
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef | ast.FunctionDef):
                known.add(node.name)
            elif isinstance(node, ast.arg):
                known.add(node.arg)
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "command":
                known.update(str(text.value) for text in node.args if isinstance(text, ast.Constant))
    return known


def undefined(page: str, folder: Path) -> list[str]:
    """What the page says about the libraries in a folder and their sources do not."""
    wrong = []
    for (library, version), names in named(page).items():
        if library == "abnet":
            continue
        sources = folder / library.lower()
        if not list(sources.glob(f"*-{version}.dist-info")):
            wrong.append(f"{library}: no wheel of version {version} in {sources}")
            continue
        wrong += [f"{library}: {name}" for name in sorted(names - definitions(sources))]
    return wrong


def main(arguments: list[str]) -> int:
    wrong = undefined(PAGE.read_text(encoding="utf-8"), Path(arguments[0]))
    print("\n".join(wrong) or "every name is defined")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
