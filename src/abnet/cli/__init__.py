"""The command line: `abnet fit`, `predict`, `inspect`, `certify`, `monitor`, `export`, `compare`, `demo`, `data`.

Modules of this folder import nothing but typer and the standard library when they are loaded, so that help appears at
once; the jobs in `abnet.cli.jobs` do the work and return values, the commands show them.
"""

__all__ = ["main"]


def main() -> None:
    """Run the command line; the entry point of the `abnet` program."""
    import atexit
    import gc

    from abnet.cli.console import install_handler

    install_handler()
    atexit.register(gc.freeze)  # the program ends: nothing that still lives is looked through for garbage
    _check_streams()
    from abnet.cli.app import app

    app()


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
