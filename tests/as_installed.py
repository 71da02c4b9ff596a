"""`make test`, as installed: the built wheel in new environments with nothing but its declared dependencies.

python tests/as_installed.py

Environments are made by uv, which links packages from its shared cache; by pip where uv fails. All programs run in a
temporary folder, without PYTHONPATH, so that nothing of the checkout is found.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

from readme import agrees, blocks, commands

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
FORBIDDEN = ("flatbuffers", "pandas", "onnx", "dask", "distributed", "pytest")
"""Packages that no declared dependency brings: finding one means that the environment is not a plain one."""

ONNX = """
import onnx
import abnet
abnet.load("tumours.abnet").to_onnx("tumours.onnx")
onnx.checker.check_model(onnx.load("tumours.onnx"))
"""
PREDICT = """
import csv
from importlib.metadata import distributions
import abnet
assert not {"abnet", "jax", "polars", "scikit-learn", "typer"} & {found.name for found in distributions()}
model = abnet.load("tumours.abnet")
rows = list(csv.DictReader(open("tumours.csv", encoding="utf-8")))
labels = model.predict(rows)
assert sum(label == row["label"] for label, row in zip(labels, rows, strict=True)) > 540
columns = {name: [float(row[name]) for row in rows] for name in model.feature_names}
assert (model.predict(columns) == labels).all()
for use in (lambda: abnet.predict_table(model, "tumours.csv", "again.csv"), lambda: abnet.CertifiedClassifier):
    try:
        use()
    except ModuleNotFoundError as error:
        assert "abnet-predict" in str(error), error
    else:
        raise AssertionError("a package is there that prediction does not need")
"""
"""A model of a table answers rows, and what needs another package says which distribution has it."""
TABLES = """
import abnet
assert abnet.predict_table("tumours.abnet", "tumours.csv", "again.csv").n_rows == 569
"""
DASK = """
import dask.dataframe as dd
import pandas as pd
import abnet
from abnet.model.distributed_scoring import score_frame
model, table = abnet.load("tumours.abnet"), pd.read_csv("tumours.csv").drop(columns="label")
scored = score_frame(model, dd.from_pandas(table, npartitions=3)).compute()
assert len(scored) == len(table) == 569, scored
"""


class Environment:
    """A virtual environment, and how to run things in it."""

    def __init__(self, folder: Path, work: Path) -> None:
        self.bin = folder / "bin"
        self.work = work
        self.folder = folder
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "ABNET_"))}
        self.environment = {**kept, "ABNET_CACHE": str(folder.parent / "cache"), "VIRTUAL_ENV": str(folder)}

    def install(self, *packages: str, lowest: bool = False) -> None:
        """By uv, or by pip where that fails; `lowest` takes the lowest versions that are declared, and needs uv."""
        if lowest:
            constraints = []
            resolution = ["--resolution", "lowest-direct"]
        else:
            constraints = ["--constraint", str(ROOT / "constraints.txt")]
            resolution = []
        try:
            if not self.bin.exists():
                _run([sys.executable, "-m", "uv", "venv", "-q", "--python", sys.executable, str(self.folder)], _index())
            install = ["pip", "install", "-q", "--python", str(self.bin / "python")]
            _run([sys.executable, "-m", "uv", *install, *resolution, *constraints, *packages], _index())
        except subprocess.CalledProcessError as error:
            if lowest:
                raise
            print(f"uv failed, so pip installs: {error.stderr.strip()[-300:]}", flush=True)
            subprocess.run([sys.executable, "-m", "venv", "--clear", str(self.folder)], check=True)
            _run([str(self.bin / "python"), "-m", "pip", "install", "-q", *resolution, *constraints, *packages], {})

    def run(self, *command: str) -> str:
        """What a program of the environment prints; it must succeed."""
        full = [str(self.bin / command[0]), *command[1:]]
        done = subprocess.run(
            full, cwd=self.work, env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True
        )
        if done.returncode:
            raise SystemExit(f"{' '.join(command)[:300]} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        return done.stdout

    def python(self, program: str) -> str:
        """What a program of Python prints."""
        return self.run("python", "-c", program)


def _run(command: list[str], extra: dict[str, str]) -> None:
    subprocess.run(command, check=True, capture_output=True, text=True, env={**os.environ, **extra})


def _index() -> dict[str, str]:
    """Pip's package index for uv, which does not read pip's settings; one that is set for uv itself stays."""
    asked = [sys.executable, "-m", "pip", "config", "get", "global.index-url"]
    url = os.environ.get("PIP_INDEX_URL") or subprocess.run(asked, capture_output=True, text=True).stdout.strip()
    if url and "UV_DEFAULT_INDEX" not in os.environ:
        return {"UV_DEFAULT_INDEX": url}
    return {}


# Steps


def build(folder: Path) -> tuple[str, str]:
    """The paths of the wheels of abnet and abnet-predict; what an earlier build left behind is not packed."""
    source = folder / "source"
    source.mkdir()
    for name in ("src", "predict", "pyproject.toml", "README.md", "LICENSE"):
        copy: Callable[..., object] = shutil.copytree if (ROOT / name).is_dir() else shutil.copy2
        copy(ROOT / name, source / name)
    for left in (source / "src").glob("*.egg-info"):
        shutil.rmtree(left)
    for project in (source, source / "predict"):
        _run([sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(project)], {})
    return str(next(folder.glob("abnet-*.whl"))), str(next(folder.glob("abnet_predict-*.whl")))


def is_plain(plain: Environment) -> None:
    """The package is the installed one, and nothing is there that only developers have."""
    home = plain.python("import abnet; print(abnet.__file__)").strip()
    assert Path(home).is_relative_to(plain.folder), home
    found = plain.python(f"from importlib.util import find_spec; print([n for n in {FORBIDDEN} if find_spec(n)])")
    assert found.strip() == "[]", f"not a plain environment: {found}"


def demo(environment: Environment) -> None:
    """`abnet demo`, whose report needs the package's scripts and styles."""
    environment.run("abnet", "demo", "--output-dir", "demo")
    page = next((environment.work / "demo").glob("*.html")).read_text(encoding="utf-8")
    assert "<style>" in page
    assert "<script>" in page


REPORT = """
import abnet, polars
model = abnet.load("tumours.abnet")
abnet.write_report(model, "<tumours>.html", owner="<b>me</b>")
page = open("<tumours>.html", encoding="utf-8").read()
assert "&lt;b&gt;me&lt;/b&gt;" in page and "Summary" in page and "<script>" in page
table = polars.read_csv("tumours.csv").head(1)
assert "Row 1" in abnet.explain(model, table)._repr_html_()
"""


def helps(environment: Environment) -> None:
    """Both ways to start the program show its commands."""
    for program in (["abnet"], ["python", "-m", "abnet"]):
        assert " predict " in environment.run(*program, "--help")


def readme_commands(environment: Environment) -> None:
    """The README's commands print what it shows."""
    ran = [call for language, block in blocks(README) if language == "console" for call in commands(block)]
    assert [arguments[0] for arguments, _ in ran] == ["data", "fit", "predict"]
    for arguments, shown in ran:
        printed = environment.run("abnet", *arguments)
        assert agrees(shown, printed), f"abnet {' '.join(arguments)} prints\n{printed}\nnot\n{shown}"


def readme_python(environment: Environment) -> None:
    """The README's Python prints what it shows."""
    pairs = [
        (code, shown) for (one, code), (two, shown) in pairwise(blocks(README)) if (one, two) == ("python", "text")
    ]
    assert len(pairs) == sum(language == "python" for language, _ in blocks(README)) == 1
    for code, shown in pairs:
        printed = environment.python(code)
        assert agrees(shown, printed), f"prints\n{printed}\nnot\n{shown}"


def main() -> None:
    """All steps, a line each with its time."""
    with tempfile.TemporaryDirectory(prefix="as-installed-") as name:
        folder = Path(name).resolve()

        def step(what: str, action: Callable[[], object]) -> None:
            start = time.perf_counter()
            action()
            print(f"as installed: {what}: {time.perf_counter() - start:.1f} s", flush=True)

        def environment(which: str) -> Environment:
            (folder / which / "work").mkdir(parents=True)
            return Environment(folder / which / "venv", folder / which / "work")

        wheel: list[str] = []
        step("build the wheels", lambda: wheel.extend(build(folder)))
        plain = environment("plain")
        lowest = environment("lowest")
        step("install with declared dependencies", lambda: plain.install(wheel[0]))
        step("nothing else is there", lambda: is_plain(plain))
        step("abnet --help, python -m abnet --help", lambda: helps(plain))
        step("abnet demo", lambda: demo(plain))
        step("Python of the README", lambda: readme_python(plain))
        step("commands of the README", lambda: readme_commands(plain))  # their model of a table stays for what follows
        step("a report and an explanation", lambda: plain.python(REPORT))
        for extra, program in (("onnx", ONNX), ("dask", DASK)):
            with_extra = Environment(folder / extra, plain.work)
            step(f"install with {extra} alone", lambda e=with_extra, x=extra: e.install(f"{wheel[0]}[{x}]"))  # type: ignore[misc]
            step(f"smoke test of {extra}", lambda e=with_extra, p=program: e.python(p))  # type: ignore[misc]
        predict = Environment(folder / "predict", plain.work)
        step("install abnet-predict", lambda: predict.install(wheel[1]))
        step("predict without Polars", lambda: predict.python(PREDICT))
        step("install abnet-predict[tables]", lambda: predict.install(f"{wheel[1]}[tables]"))
        step("predict a file", lambda: predict.python(TABLES))
        step("install the lowest declared versions", lambda: lowest.install(wheel[0], lowest=True))
        step("abnet --help, lowest", lambda: helps(lowest))
        step("abnet demo, lowest", lambda: demo(lowest))
        step("Python of the README, lowest", lambda: readme_python(lowest))


if __name__ == "__main__":
    main()
