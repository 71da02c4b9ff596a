"""The tree is what docs/architecture.md says: rooms in their order, no import from below, one atomic writer."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "architecture.md"
SOURCE = ROOT / "src" / "abnet"
pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="the page is in the repository, not in the wheel")

ALIASES = {("data.py", "abnet.paper.data.datasets"): "`abnet.paper.load` stays as a second name of `abnet.paper.load`"}
"""Imports from below that are allowed, each with its reason."""

METHODS = {
    "model/model.py": {
        "abnet.export.to_c",
        "abnet.export.to_onnx",
        "abnet.explanation.certified_region.CertifiedRegions",
        "abnet.explanation.certified_region.regions_of",
        "abnet.explanation.row_explanation.Explanation",
        "abnet.export.CSource",
        "abnet.explanation.row_explanation.explain",
        "abnet.robustness.certified_rows.Robustness",
        "abnet.robustness.certified_rows.robustness",
    }
}
"""Imports from below, inside methods that hand a model on to functions of a lower room."""


# The page


def table(heading: str, page: str) -> list[list[str]]:
    """The cells of the first table whose first column has this heading."""
    lines = page.splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith(f"| {heading} |"))
    rows = []
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return rows


def quoted(text: str) -> list[str]:
    return re.findall(r"`([^`]+)`", text)


def rooms(page: str) -> list[list[str]]:
    """The rooms from the top down; those of one row may import from each other."""
    return [quoted(row[0]) for row in table("room", page)]


@pytest.fixture(scope="module")
def page() -> str:
    return PAGE.read_text(encoding="utf-8")


# The tree


@dataclass(frozen=True)
class Tree:
    """The modules of a package, by their path without the package's own folder, such as ``bounds/vote.py``."""

    root: Path

    def modules(self) -> dict[str, ast.Module]:
        paths = sorted(self.root.rglob("*.py"))
        return {path.relative_to(self.root).as_posix(): ast.parse(path.read_bytes()) for path in paths}

    def exists(self, name: str) -> bool:
        return (self.root / name).exists() or (self.root / f"{name}.py").exists()

    def public_homes(self) -> dict[str, str | None]:
        """Where the names of the front door come from: the full name of a module, or None for its own constants."""
        homes: dict[str, str | None] = {}
        for node in ast.walk(ast.parse((self.root / "__init__.py").read_bytes())):
            if isinstance(node, ast.ImportFrom):
                homes |= {alias.name: _joined(node.module, alias.name) for alias in node.names}
            elif isinstance(node, ast.Assign):
                homes |= {target.id: None for target in node.targets if isinstance(target, ast.Name)}
        return homes


def _joined(module: str | None, name: str) -> str:
    return f"{module}.{name}"


def imported(module: ast.Module, homes: dict[str, str | None]) -> Iterator[tuple[int, str]]:
    """Line and full name of everything of the package that a module imports, wherever in the module it does.

    A text that is the name of a module counts too: `lazy_names`, `import_module` and the kinds of models take them.
    """
    for node in ast.walk(module):
        found: list[str | None] = []
        if isinstance(node, ast.Import):
            found = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level:
            found = ["abnet.<relative import>"]
        elif isinstance(node, ast.ImportFrom) and node.module == "abnet":
            found = [homes.get(alias.name, f"abnet.{alias.name}") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found = [_joined(node.module, alias.name) for alias in node.names]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found = re.findall(r"^abnet(?:\.[A-Za-z_]\w*)+(?::\w+)?$", node.value)
        for name in found:
            if name is not None and name.split(".")[0] == "abnet":
                yield getattr(node, "lineno", 0), name


def upward_imports(tree: Tree, order: list[list[str]]) -> list[str]:
    """Imports from a lower room or from no room at all, as lines to print."""
    rank = {name: number for number, row in enumerate(order) for name in row}
    homes = tree.public_homes()
    wrong = []
    for path, module in tree.modules().items():
        room = path.split("/")[0].removesuffix(".py")
        for line, name in imported(module, homes):
            target = ""
            if "." in name:
                target = name.split(".")[1]
            below = room in rank and rank.get(target, len(order)) > rank[room]
            if below and name not in METHODS.get(path, ()):
                wrong.append(f"{path}:{line} imports {name}, below {room}")
    return wrong


# Rooms and imports


def test_every_import_comes_from_above(page: str) -> None:
    wrong = upward_imports(Tree(SOURCE), rooms(page))
    assert not wrong, "\n".join(wrong)


def test_certificates_need_nothing_but_bounds_and_utilities() -> None:
    tree = Tree(SOURCE)
    homes = tree.public_homes()
    modules = {path: module for path, module in tree.modules().items() if path.startswith("certificates/")}
    used = {name.split(".")[1] for module in modules.values() for _, name in imported(module, homes)}
    assert used == {"bounds", "certificates", "utils"}


FORBIDDEN = """
from typing import TYPE_CHECKING
import abnet.training.loop                                # 3
from abnet import cli, bounds                             # 4, the first
from abnet import Classifier                              # 5
if TYPE_CHECKING:
    from abnet.estimators.search import Search            # 7
def late():
    from abnet.model import load                          # 9
    return import_module("abnet.paper.runs.run_store")           # 10
HOMES = {"kind": "abnet.estimators.thing:Thing"}          # 11
from . import vote                                        # 12
import abnet                                              # 13
from abnet.attic import anything                          # 14
from abnet import __version__                             # a constant
from abnet.networks.cube import corners                   # from above
from abnet.bounds.vote import vote_bound                  # from the same room
"abnet.load is what a docstring may name"
"""


def test_a_forbidden_import_is_found_wherever_it_hides(tmp_path: Path) -> None:
    (tmp_path / "bounds").mkdir()
    (tmp_path / "bounds" / "made_up.py").write_text(FORBIDDEN)
    (tmp_path / "__init__.py").write_text("__version__ = '1'\nfrom abnet.estimators.classifier import Classifier\n")
    order = [["networks"], ["bounds"], ["training"], ["model"], ["estimators"], ["paper"], ["cli"]]
    found = [int(re.split("[: ]", line)[1]) for line in upward_imports(Tree(tmp_path), order)]
    assert sorted(found) == [3, 4, 5, 7, 9, 10, 11, 12, 13, 14]


def test_every_module_is_in_one_room_and_every_room_is_there(page: str) -> None:
    tree = Tree(SOURCE)
    named = [name for row in rooms(page) for name in row]
    assert len(set(named)) == len(named)
    found = {path.split("/")[0].removesuffix(".py") for path in tree.modules()} - {"__init__", "__main__"}
    to_come = {name for cells in table("room", page) if "to come" in cells[1] for name in quoted(cells[0])}
    assert found == set(named) - to_come


# One atomic writer


def writes(module: ast.Module) -> Iterator[int]:
    """Lines that write a file otherwise than inside a block that begins with `with atomic_path(…)`."""
    inside: set[ast.AST] = set()
    for node in ast.walk(module):
        if isinstance(node, ast.With) and any("atomic_path(" in ast.unparse(item) for item in node.items):
            inside |= set(ast.walk(node))
    for node in ast.walk(module):
        if isinstance(node, ast.Call) and node not in inside and _writes(node):
            yield node.lineno


WRITERS = {"write_text", "write_bytes", "savefig", "mkstemp", "NamedTemporaryFile", "fdopen"}
WRITERS |= {"to_csv", "to_parquet", "to_json", "savez", "savez_compressed", "savetxt"}
"""Names of functions and methods that write a file."""


def _writes(call: ast.Call) -> bool:
    function = ast.unparse(call.func)
    name = function.split(".")[-1]
    if name in WRITERS or function in ("np.save", "json.dump", "pickle.dump"):
        return True
    modes = [*call.args, *(keyword.value for keyword in call.keywords if keyword.arg == "mode")]
    texts = [mode.value for mode in modes if isinstance(mode, ast.Constant) and isinstance(mode.value, str)]
    written = any(re.fullmatch("[rwaxbt+]*[wax+][rwaxbt+]*", text) for text in texts)
    return name == "open" and written and "devnull" not in ast.unparse(call)


def test_everything_that_is_written_goes_through_the_atomic_writer() -> None:
    modules = Tree(SOURCE).modules()
    found = {path: list(writes(module)) for path, module in modules.items()}
    assert {path: lines for path, lines in found.items() if lines} == {}


def test_a_write_past_the_atomic_writer_is_found() -> None:
    code = """
with atomic_path(path) as temporary, temporary.open("w") as file:
    file.write("")
    temporary.write_text("")
path.write_text("")
with path.open("wb") as file, open(path, mode="a") as other:
    figure.savefig(file)
path.open("rb")
np.save(path, x)
frame.to_csv(path)
"""
    assert sorted(writes(ast.parse(code))) == [5, 6, 6, 7, 9, 10]


# Names


def shadowed(tree: Tree) -> list[str]:
    """Public names of a package that are also the name of one of its modules: whoever imports last decides."""
    wrong = []
    for path in sorted(tree.root.rglob("__init__.py")):
        modules = {module.stem for module in path.parent.glob("*.py")}
        modules |= {folder.parent.name for folder in path.parent.glob("*/__init__.py")}
        top = ast.parse(path.read_bytes()).body
        for node in [*top, *(inner for block in top if isinstance(block, ast.If) for inner in block.body)]:
            if isinstance(node, ast.ImportFrom) and node.module != "abnet":
                wrong += [f"{path}: {alias.name}" for alias in node.names if alias.name in modules]
    return wrong


def test_no_public_name_is_the_name_of_a_module_beside_it() -> None:
    assert shadowed(Tree(SOURCE)) == []


def test_a_shadowed_name_is_found(tmp_path: Path) -> None:
    (tmp_path / "compare.py").write_text("def compare(): ...\ndef other(): ...\n")
    (tmp_path / "__init__.py").write_text("from made_up.compare import compare, other\n")
    assert shadowed(Tree(tmp_path)) == [f"{tmp_path / '__init__.py'}: compare"]


ONE_MEANING = {
    **dict.fromkeys(
        ("draw", "expected_output", "kl", "output", "output_error", "regions"), "the same of each way of aggregation"
    ),
    "log_loss": "the log loss, of NumPy arrays and in JAX",
}
"""Public functions with one name and one meaning in several modules."""
TWO_MEANINGS = {
    **dict.fromkeys(("certify", "compare", "load"), "said with the room in front: `abnet.load`, `abnet.paper.load`"),
    **dict.fromkeys(("check_inputs", "check_names", "check_outputs", "check_width", "confidence"), "to rename"),
}
"""Public functions with one name for two things. None is to be added."""
MODULES = {
    **dict.fromkeys(("pbgnet", "sampled_pbgnet", "uniform"), "an aggregation, and the predictor that it becomes"),
    "drawn_network": "one network drawn from a posterior: its bounds, and how it is made",
    **dict.fromkeys(
        ("difference", "precision", "prediction_sets", "recall"), "a quantity: its bound, what is certified"
    ),
    **dict.fromkeys(("checks", "grids", "protocol", "search"), "to rename"),
}
"""Names of several modules."""


def homonyms(tree: Tree, kind: type[ast.ClassDef | ast.FunctionDef]) -> dict[str, list[str]]:
    """Public classes or functions of several modules with one name; a command has the name of the function it calls."""
    homes: dict[str, list[str]] = {}
    for path, module in tree.modules().items():
        if path.startswith("cli/"):
            continue
        for node in module.body:
            if isinstance(node, kind) and not node.name.startswith("_"):
                homes.setdefault(node.name, []).append(path)
    return {name: paths for name, paths in homes.items() if len(paths) > 1}


def test_no_two_public_classes_have_one_name() -> None:
    assert homonyms(Tree(SOURCE), ast.ClassDef) == {}


def test_no_two_public_functions_have_one_name_for_two_things() -> None:
    found = homonyms(Tree(SOURCE), ast.FunctionDef)
    assert set(found) <= set(ONE_MEANING) | set(TWO_MEANINGS), found


def module_homonyms(tree: Tree) -> dict[str, list[str]]:
    """Modules of one name in several rooms; a command has the name of what it calls, a goal that of its statement."""
    homes: dict[str, list[str]] = {}
    for path in tree.modules():
        if not path.startswith(("cli/", "certificates/goals/")) and not path.endswith("__init__.py"):
            homes.setdefault(Path(path).stem, []).append(path)
    return {name: paths for name, paths in homes.items() if len(paths) > 1}


def test_no_two_modules_have_one_name_for_two_things() -> None:
    found = module_homonyms(Tree(SOURCE))
    assert set(found) <= set(MODULES), found


def test_names_of_two_things_are_found(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text("class Thing: ...\nclass _Own: ...\ndef make(): ...\n")
    (tmp_path / "two.py").write_text("class Thing: ...\nclass _Own: ...\ndef make(): ...\ndef other(): ...\n")
    assert homonyms(Tree(tmp_path), ast.ClassDef) == {"Thing": ["one.py", "two.py"]}
    assert homonyms(Tree(tmp_path), ast.FunctionDef) == {"make": ["one.py", "two.py"]}
    (tmp_path / "room").mkdir()
    (tmp_path / "room" / "one.py").touch()
    assert module_homonyms(Tree(tmp_path)) == {"one": ["one.py", "room/one.py"]}
