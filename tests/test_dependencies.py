"""What the package imports is what pyproject.toml declares."""

import ast
import re
import subprocess
import sys
import tomllib
from collections import defaultdict
from importlib.metadata import packages_distributions
from pathlib import Path

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PREDICT = tomllib.loads((ROOT / "predict" / "pyproject.toml").read_text(encoding="utf-8"))["project"]

EXTRAS = {
    "dask": [
        "model/distributed_scoring.py",
        "cli/reproduce.py",
        "paper/figures/figure4.py",
        "paper/reproduction/exact_pbgnet.py",
        "paper/reproduction/reproduced.py",
        "paper/reproduction/table1.py",
        "paper/reproduction/variants.py",
        "paper/runs/group_dispatch.py",
        "paper/runs/sweeping.py",
    ],
    "onnx": ["export/onnx_graph.py"],
}
"""The modules that need an extra."""


def distributions(requirements: list[str]) -> set[str]:
    return {_normal(re.split(r"[\[<>=;! ]", requirement)[0]) for requirement in requirements}


def _normal(name: str) -> str:
    return re.sub("[-_.]+", "-", name).lower()


def third_party(source: str) -> set[str]:
    """Top-level modules that are imported, at the top or inside functions, and are neither ours nor Python's."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.split(".")[0])
    return found - set(sys.stdlib_module_names) - {"abnet"}


def importers() -> dict[str, set[str]]:
    """From each third-party distribution to the modules of the package that import it."""
    home = ROOT / "src" / "abnet"
    homes = packages_distributions()
    found = defaultdict(set)
    for path in home.rglob("*.py"):
        for name in third_party(path.read_text(encoding="utf-8")):
            found[_normal(homes.get(name, [name])[0])].add(path.relative_to(home).as_posix())
    return found


def test_every_import_is_declared_and_every_declared_package_is_imported() -> None:
    found = importers()
    core = distributions(PROJECT["dependencies"])
    extras = {name: distributions(PROJECT["optional-dependencies"][name]) for name in EXTRAS}
    assert core <= set(found)
    for distribution in set(found) - core:
        homes = [name for name in EXTRAS if distribution in extras[name]]
        assert homes, f"{distribution} is imported by {found[distribution]}, and not declared"
        assert found[distribution] <= {module for name in homes for module in EXTRAS[name]}


def test_prediction_needs_few_of_these_packages_in_the_same_versions() -> None:
    base = PREDICT["dependencies"]
    tables = PREDICT["optional-dependencies"]["tables"]
    assert distributions(base) == {"numpy", "scipy", "msgspec", "safetensors"}
    assert distributions(tables) == {"polars"}
    assert {*base, *tables} <= set(PROJECT["dependencies"])
    assert PREDICT["requires-python"] == PROJECT["requires-python"]


def test_imports_are_found_wherever_they_are() -> None:
    source = "import os, numpy.linalg\nfrom abnet import bam\ndef f():\n    from sklearn.base import clone\n"
    assert third_party(source) == {"numpy", "sklearn"}


def test_an_installation_for_prediction_says_what_it_lacks() -> None:
    program = "import sys; sys.modules['sklearn'] = None\nfrom abnet import CertifiedClassifier"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    last = done.stderr.splitlines()[-1]
    assert all(name in last for name in ("CertifiedClassifier", "sklearn", "abnet-predict"))
