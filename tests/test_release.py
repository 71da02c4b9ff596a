"""What a release says about itself: its version, the formats of its files, and what it was tested with."""

import json
import re
import tomllib
from pathlib import Path

import numpy as np

import abnet
from abnet.model.file import VERSION

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
WORKFLOW = (ROOT / ".github" / "workflows" / "test.yml").read_text(encoding="utf-8")


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def matrix(key: str) -> list[str]:
    """The values of a key of the workflow's matrix."""
    found = re.search(rf"^ +{key}: \[(.*)\]$", WORKFLOW, re.MULTILINE)
    assert found is not None
    return [value.strip(' "') for value in found[1].split(",")]


def classified(prefix: str) -> list[str]:
    """What follows a prefix in the classifiers."""
    return [name.removeprefix(prefix) for name in PROJECT["classifiers"] if name.startswith(prefix)]


def test_every_file_names_the_same_version() -> None:
    assert PROJECT["version"] == abnet.__version__
    assert f"\nversion: {abnet.__version__}\n" in text("CITATION.cff")
    newest = re.search(r"^## (\S+)", text("CHANGELOG.md"), re.MULTILINE)
    assert newest is not None
    assert newest[1] == abnet.__version__
    assert set(re.findall(r"\| abnet (\S+) \|", text("docs/alternatives.md"))) == {abnet.__version__}


def test_the_changelog_states_the_formats_of_all_files(tmp_path: Path) -> None:
    answers = np.array(["a", "b"])
    certificate = abnet.certify(lambda rows: answers[rows[:, 0].astype(int)], np.eye(2)[:, :1], answers)
    certificate.save(tmp_path / "certificate.json")
    abnet.Monitor(error=0.1).save(tmp_path / "monitor.json")
    numbers = []
    for name in ("certificate", "monitor"):
        written = json.loads((tmp_path / f"{name}.json").read_text(encoding="utf-8"))["format"]
        numbers.append(written.removeprefix(f"abnet {name}, version "))
    stated = f"model files {VERSION}, certificates and estimates {numbers[0]}, records of a monitor {numbers[1]}."
    assert stated in text("CHANGELOG.md")
    assert f"| `format_version` | `{VERSION}` |" in text("docs/model-format.md")


def test_classifiers_name_only_what_the_workflow_tests() -> None:
    versions = [name for name in classified("Programming Language :: Python :: ") if "." in name]
    assert set(versions) <= set(matrix("python"))
    assert PROJECT["requires-python"] == f">={versions[0]}"
    assert matrix("python")[0] == versions[0]
    systems = {"POSIX :: Linux": "ubuntu-latest", "MacOS": "macos-latest", "Microsoft :: Windows": "windows-latest"}
    assert {systems[name] for name in classified("Operating System :: ")} <= set(matrix("os"))
