"""stdout and stderr that are closed, full, or not read."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest


def shell(redirection: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = shlex.join([sys.executable, "-m", "abnet", *map(str, arguments)])
    return subprocess.run(["sh", "-c", f"{command} {redirection}"], capture_output=True, text=True, check=False)


def test_a_closed_stdout_is_one_line(model: Path, table: Path, tmp_path: Path) -> None:
    for options in ([], ["--output", tmp_path / "out.csv"]):
        result = shell(">&-", "predict", model, table, *options)
        assert result.returncode == 1
        assert result.stderr.startswith("error: stdout ")
        assert result.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_with_stderr_closed_notes_do_not_go_among_the_results(model: Path, table: Path, tmp_path: Path) -> None:
    wider = tmp_path / "wider.csv"
    first, *rest = table.read_text().splitlines()
    wider.write_text("\n".join([f"{first},new", *(f"{line},1" for line in rest)]))
    heard = shell("", "predict", model, wider)
    unheard = shell("2>&-", "predict", model, wider)
    assert "'new'" in heard.stderr
    assert unheard.stdout == heard.stdout
    assert (unheard.returncode, unheard.stderr) == (0, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_is_one_line(model: Path, table: Path) -> None:
    result = shell("> /dev/full", "predict", model, table)
    assert (result.returncode, result.stderr) == (1, "error: No space left on device\n")


def test_a_reader_that_never_reads(model: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "abnet", "inspect", str(model)]
    result = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True, check=False)
    os.close(write)
    assert (result.returncode, result.stderr) == (141, "")
