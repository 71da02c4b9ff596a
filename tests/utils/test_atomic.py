"""Files appear whole or not at all; `tests/test_architecture.py` checks that all files are written this way."""

import os
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
    with pytest.raises(OSError, match="nothing") as caught:
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
    with pytest.raises(IsADirectoryError, match="folder"):
        check_writable(tmp_path)
    with pytest.raises(FileNotFoundError, match="folder"):
        check_writable(tmp_path / "absent" / "a")
    with pytest.raises(OSError, match="regular"):
        check_writable("/dev/null")
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # the superuser may write everywhere
    with pytest.raises(PermissionError, match="permission"):
        check_writable(tmp_path / "a")
