"""Files appear whole or not at all, and everything in the package is written that way."""

import ast
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

import abnet
from abnet.model.file import save
from abnet.utils.atomic import atomic_path, check_writable
from model.every_kind import model as stored


def write_half(target: Path, error: type[BaseException]) -> None:
    with atomic_path(target) as temporary:
        temporary.write_text("half")
        raise error


def test_nothing_is_left_of_a_failed_write(tmp_path: Path) -> None:
    target = tmp_path / "result.csv"
    target.write_text("old")
    for error in (RuntimeError, KeyboardInterrupt, SystemExit):
        with pytest.raises(error):
            write_half(target, error)
    assert [path.name for path in tmp_path.iterdir()] == ["result.csv"]
    assert target.read_text() == "old"


def test_nothing_is_left_when_the_disk_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left on device; nothing was written: make room there") as caught:
        save(stored(), tmp_path / "model.abnet")
    assert caught.value.filename == str(tmp_path / "model.abnet")
    assert not list(tmp_path.iterdir())


def test_a_file_is_replaced_in_one_step(tmp_path: Path) -> None:
    path = tmp_path / "model.abnet"
    save(stored("layers"), path)
    save(stored("pbgnet"), path)
    assert type(abnet.load(path).predictor).__name__ == "PBGNetPredictor"
    assert [path.name for path in tmp_path.iterdir()] == ["model.abnet"]


def test_the_content_is_on_disk_before_the_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[int, bool]] = []
    monkeypatch.setattr(os, "fsync", lambda fd: seen.append((os.fstat(fd).st_size, (tmp_path / "a").exists())))
    with atomic_path(tmp_path / "a") as temporary:
        temporary.write_text("12345")
    assert seen == [(5, False)]


def test_the_mode_of_a_file_follows_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        with atomic_path(tmp_path / "a") as temporary:
            temporary.write_text("x")
    finally:
        os.umask(before)
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o640


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with atomic_path(tmp_path / "link") as temporary:
        temporary.write_text("new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


def test_long_names_have_room_for_the_temporary_one(tmp_path: Path) -> None:
    with atomic_path(tmp_path / ("x" * 250)) as temporary:
        temporary.write_text("new")
    assert (tmp_path / ("x" * 250)).read_text() == "new"


def test_places_that_cannot_be_written_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(IsADirectoryError, match="is a folder"):
        check_writable(tmp_path)
    with pytest.raises(FileNotFoundError, match="no folder"):
        check_writable(tmp_path / "absent" / "a")
    with pytest.raises(OSError, match="not a regular file"):
        check_writable("/dev/null")
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # the superuser may write everywhere
    with pytest.raises(PermissionError, match="no permission"):
        check_writable(tmp_path / "a")


PACKAGE = Path(abnet.__file__).parent

METHODS = {"write_text", "write_bytes", "savefig", "to_csv", "to_parquet", "to_json", "mkstemp", "NamedTemporaryFile"}
FUNCTIONS = {"np.save", "np.savez", "np.savez_compressed", "np.savetxt", "json.dump", "pickle.dump"}
"""Calls that write a file: methods of anything, and functions of these modules."""

EXCEPTIONS = {
    "cli/__init__.py:_check_streams": "opens the null device, to end in silence",
}
"""Functions that write by themselves, each with its reason. The run store is SQLite's, which has its own journal."""


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef]:
    """Functions and methods, outermost ones only: what is nested belongs to them."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef):
            yield node
        else:
            yield from functions(node)


def names(call: ast.Call) -> tuple[str, str]:
    """The function called, and what it is an attribute of."""
    if isinstance(call.func, ast.Attribute):
        return call.func.attr, getattr(call.func.value, "id", "")
    return getattr(call.func, "id", ""), ""


def writes(call: ast.Call) -> bool:
    """Whether it is one of those, or opens a file in a mode that writes; a mode that is no constant counts."""
    name, owner = names(call)
    if (isinstance(call.func, ast.Attribute) and name in METHODS) or f"{owner}.{name}" in FUNCTIONS:
        return True
    if name not in ("open", "fdopen") or (owner, name) == ("os", "open"):
        return False
    first = 0 if isinstance(call.func, ast.Attribute) and name == "open" else 1
    modes = [*call.args[first : first + 1], *(word.value for word in call.keywords if word.arg == "mode")]
    return any(not isinstance(m, ast.Constant) or any(sign in str(m.value) for sign in "wax+") for m in modes)


def is_atomic(function: ast.FunctionDef) -> bool:
    """Whether there is a `with atomic_path(...)` in it."""
    items = [item.context_expr for node in ast.walk(function) if isinstance(node, ast.With) for item in node.items]
    return any(isinstance(item, ast.Call) and getattr(item.func, "id", "") == "atomic_path" for item in items)


def writing_functions(source: str) -> Iterator[str]:
    """Names of functions that write a file without `atomic_path`; `module` for what is outside of functions."""
    tree = ast.parse(source)
    inside: set[ast.AST] = set()
    for function in functions(tree):
        inside |= set(ast.walk(function))
        if not is_atomic(function) and any(writes(node) for node in ast.walk(function) if isinstance(node, ast.Call)):
            yield function.name
    if any(writes(node) for node in ast.walk(tree) if isinstance(node, ast.Call) and node not in inside):
        yield "module"


def test_everything_that_is_written_is_written_atomically() -> None:
    found = {
        f"{path.relative_to(PACKAGE).as_posix()}:{name}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for name in writing_functions(path.read_text(encoding="utf-8"))
    }
    assert found - set(EXCEPTIONS) == set(), "write through abnet.utils.atomic.atomic_path"
    assert set(EXCEPTIONS) - found == set(), "these exceptions are no longer needed"


@pytest.mark.parametrize(
    "body",
    ["path.write_text('x')", "open(path, 'w')", "path.open('ab')", "np.save(path, x)", "figure.savefig(path)",
     "open(path, mode)", "open(path, mode='r+')", "frame.to_csv(path)", "os.fdopen(handle, 'wb')"],
)  # fmt: skip
def test_the_rule_sees_what_writes(body: str) -> None:
    assert list(writing_functions(f"def f(path, x, mode):\n    {body}")) == ["f"]
    assert list(writing_functions(f"def f(path, x, mode):\n    with atomic_path(path) as t:\n        {body}")) == []
    assert list(writing_functions(body)) == ["module"]


@pytest.mark.parametrize("body", ["open(path)", "path.open('rb')", "path.read_text()", "os.open(path, os.O_RDWR)"])
def test_the_rule_lets_readers_pass(body: str) -> None:
    assert list(writing_functions(body)) == []
