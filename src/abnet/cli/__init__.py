"""The command line: `abnet fit`, `predict`, `inspect`, `compare`, `demo`, `data`.

Modules of this folder import nothing but typer and the standard library when they are loaded, so that help appears at
once; the jobs in `abnet.cli.jobs` do the work and return values, the commands show them.
"""

__all__ = ["main"]


def main() -> None:
    """Run the command line; the entry point of the `abnet` program."""
    import sys

    try:
        from abnet.cli.app import app

        app()
    except KeyboardInterrupt:  # while modules are loaded; a command of its own says more
        print("interrupted.", file=sys.stderr)
        sys.exit(130)
