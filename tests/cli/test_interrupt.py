"""Ctrl-C at moments that a person could hardly choose."""

import subprocess
import sys
from pathlib import Path

import pytest

START = """
import os, signal, sys, time
from abnet.cli.console import guarded, install_handler

def ctrl_c():
    os.kill(os.getpid(), signal.SIGINT)

install_handler()
"""


def run(script: str, **folders: Path) -> tuple[int, str, str]:
    paths = "".join(f"import sys; sys.path.insert(0, {str(folder)!r})\n" for folder in folders.values())
    done = subprocess.run(
        [sys.executable, "-c", paths + START + script], capture_output=True, text=True, check=False, timeout=60
    )
    return done.returncode, done.stdout, done.stderr


def test_before_a_command_runs_it_ends_in_one_line() -> None:
    assert run("ctrl_c()\nprint('still there')") == (130, "", "interrupted.\n")


def test_a_command_may_tidy_up() -> None:
    script = """
@guarded
def command():
    try:
        ctrl_c()
        time.sleep(10)
    finally:
        print("tidy")
import typer
typer.run(command)
"""
    assert run(script) == (130, "tidy\n", "interrupted.\n")


@pytest.mark.parametrize("package", ["jax", "jaxlib"])
def test_nothing_is_raised_through_the_loading_of_jax(tmp_path: Path, package: str) -> None:
    (tmp_path / package).mkdir()
    (tmp_path / package / "__init__.py").write_text(
        "import os, signal\ntry:\n    os.kill(os.getpid(), signal.SIGINT)\nexcept BaseException:\n    os.abort()\n"
    )
    script = f"@guarded\ndef command():\n    import {package}\n    print('loaded')\ncommand()"
    assert run(script, fake=tmp_path) == (130, "", "interrupted.\n")


def test_what_jax_would_swallow_comes_a_little_later() -> None:
    script = """
def _xla_gc_callback():
    try:
        ctrl_c()
    except BaseException:
        print("swallowed")

@guarded
def command():
    _xla_gc_callback()
    print("goes on")
    time.sleep(10)
import typer
typer.run(command)
"""
    assert run(script) == (130, "goes on\n", "interrupted.\n")


def test_a_job_in_the_background_goes_on() -> None:
    script = "signal.signal(signal.SIGINT, signal.SIG_IGN)\ninstall_handler()\nctrl_c()\nprint('done')"
    assert run(script) == (0, "done\n", "")
