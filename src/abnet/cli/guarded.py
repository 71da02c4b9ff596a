"""`guarded`: what every command does around its own work."""

import sys
from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any

from abnet.cli.console import warnings_as_notes, width
from abnet.cli.exit_codes import exit_codes
from abnet.cli.interrupts import command_begun
from abnet.utils.text_layout import page_width

__all__ = ["guarded"]


def guarded(command: Callable[..., None]) -> Callable[..., None]:
    """Wrap a command so that failures print one line on stderr and set an exit code.

    Errors in the data, the files or the options (ValueError, OSError, ImportError, MemoryError) can be fixed by the
    user and print no traceback; ``ABNET_TRACEBACK=1`` shows it anyway. Anything else is a bug, and its traceback is
    printed for the bug report. Parameter names in messages of the library are replaced by option names.
    """
    options = frozenset(signature(command).parameters)

    @wraps(command)
    def run(*args: Any, **values: Any) -> None:
        with exit_codes(options), warnings_as_notes(options), command_begun(), page_width(width(most=100)):
            command(*args, **values)
            sys.stdout.flush()

    return run
