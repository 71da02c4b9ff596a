"""Ctrl-C at moments that a person could hardly choose."""

import subprocess
import sys
from pathlib import Path

import pytest

START = """
import os, signal, sys, time
from abnet.cli.guarded import guarded
from abnet.cli.interrupts import install_handler

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
    assert run("ctrl_c()\nprint('still there')") == (130, "", "interrupted; nothing was written.\n")


def test_a_command_ends_in_one_line_and_leaves_no_unfinished_file(tmp_path: Path) -> None:
    script = f"""
from abnet.utils.atomic import atomic_path, temporary_folder
from abnet.cli.interrupts import when_interrupted
@guarded
def command():
    with atomic_path({str(tmp_path / "model")!r}) as file, temporary_folder() as folder:
        file.write_text("half of it")
        (folder / "part").write_text("rows")
        print(folder, flush=True)
        with when_interrupted("nothing was written."):
            ctrl_c()
        time.sleep(10)
command()
"""
    code, folder, message = run(script)
    assert (code, message) == (130, "nothing was written.\n")
    assert list(tmp_path.iterdir()) == []
    assert not Path(folder.strip()).exists()


def test_nobody_can_swallow_it() -> None:
    script = """
@guarded
def command():
    try:
        ctrl_c()
    except BaseException:
        pass
    print("goes on")
command()
"""
    assert run(script) == (130, "", "interrupted.\n")


@pytest.mark.parametrize("package", ["jax", "jaxlib"])
def test_nothing_is_raised_through_the_loading_of_jax(tmp_path: Path, package: str) -> None:
    (tmp_path / package).mkdir()
    (tmp_path / package / "__init__.py").write_text(
        "import os, signal\ntry:\n    os.kill(os.getpid(), signal.SIGINT)\nexcept BaseException:\n    os.abort()\n"
    )
    script = f"@guarded\ndef command():\n    import {package}\n    print('loaded')\ncommand()"
    assert run(script, fake=tmp_path) == (130, "", "interrupted.\n")


def test_a_job_in_the_background_goes_on() -> None:
    script = "signal.signal(signal.SIGINT, signal.SIG_IGN)\ninstall_handler()\nctrl_c()\nprint('done')"
    assert run(script) == (0, "done\n", "")
