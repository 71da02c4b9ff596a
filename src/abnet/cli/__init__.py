"""The command line, a file for each command: parse, call one public function, print.

Modules of this folder import nothing but typer and the standard library when they are loaded, so that help appears at
once.
"""

__all__ = ["main"]


def main() -> None:
    """Run the command line; the entry point of the `abnet` program."""
    import atexit
    import gc

    _check_installation()
    from abnet.cli.console import plain_streams
    from abnet.cli.interrupts import install_handler

    install_handler()
    atexit.register(gc.freeze)  # the program ends: nothing that still lives is looked through for garbage
    _check_streams()
    plain_streams()
    from abnet.cli.app import app

    app()


def _check_installation() -> None:
    """Say in one line that an installation for prediction alone has no commands."""
    import sys
    from importlib.util import find_spec

    from abnet.utils.lazy import INSTALL

    if find_spec("typer") is None:
        print(f"error: abnet's commands need all of its dependencies: {INSTALL}", file=sys.stderr)
        sys.exit(1)


def _check_streams() -> None:
    """Refuse a closed stdout before any work is done; with stderr closed, messages go nowhere."""
    import os
    import sys
    from pathlib import Path

    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115 open until the end
    if sys.stdout is None:
        print("error: stdout is closed, so results cannot be shown; send it to a file or /dev/null.", file=sys.stderr)
        sys.exit(1)
