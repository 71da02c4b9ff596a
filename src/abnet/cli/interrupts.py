"""Ctrl-C: one line and an exit code at any time, also while libraries are loaded or compiled code runs.

The command line loads this module first. It imports no library, so that Ctrl-C is handled from the start.
"""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from abnet.cli.console import message
from abnet.cli.exit_codes import INTERRUPTED
from abnet.utils.atomic import discard_unfinished

__all__ = ["command_begun", "install_handler", "when_interrupted"]


_INTERRUPT_MESSAGES = ["interrupted; nothing was written."]
"""Ctrl-C prints the last message; the first is for the time before a command has begun."""


def install_handler() -> None:
    """Install the Ctrl-C handler, unless the signal is ignored, as in a background job."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end_process)


@contextmanager
def command_begun() -> Iterator[None]:
    """Mark that a command has begun: from now on it sets the message for Ctrl-C itself."""
    _INTERRUPT_MESSAGES.append("interrupted.")
    try:
        yield
    finally:
        _INTERRUPT_MESSAGES.pop()


@contextmanager
def when_interrupted(line: str) -> Iterator[None]:
    """Set the message for Ctrl-C during a block."""
    _INTERRUPT_MESSAGES.append(line)
    try:
        yield
    except KeyboardInterrupt:
        message(line)
        raise SystemExit(INTERRUPTED) from None
    finally:
        _INTERRUPT_MESSAGES.pop()


def _end_process(number: int, frame: FrameType | None) -> None:
    """Remove unfinished files, print one line and end the process, whatever it is doing.

    No exception is raised: while JAX's compiled parts are loaded, it would abort the process; during JAX's garbage
    collection it would be lost; and training would catch it and keep its best network so far, which is not wanted here.
    """
    discard_unfinished()
    if sys.stderr is not None and sys.stderr.isatty():
        os.write(2, _SHOW_CURSOR + b"\r\n")  # progress bars hide the cursor
    os.write(2, _INTERRUPT_MESSAGES[-1].encode("ascii", "replace") + b"\n")
    os._exit(INTERRUPTED)


_SHOW_CURSOR = b"\x1b[?25h"
