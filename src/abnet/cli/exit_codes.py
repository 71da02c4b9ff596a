"""Exit codes of the commands, and the errors that lead to them."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from abnet.cli.console import message, on_one_line, with_options
from abnet.utils.errors import NamesParameters, ParameterError

__all__ = ["BROKEN_PIPE", "FAILED", "INTERRUPTED", "WRONG_USAGE", "UsageError", "exit_codes"]

FAILED = 1
WRONG_USAGE = 2
INTERRUPTED = 128 + signal.SIGINT
BROKEN_PIPE = 141  # 128 + SIGPIPE, a signal that Windows does not have


class UsageError(ValueError):
    """Invalid options, alone or in combination."""


@contextmanager
def exit_codes(options: frozenset[str]) -> Iterator[None]:
    """Turn errors into a message and an exit code; `options` are the parameters of the command."""
    try:
        yield
    except KeyboardInterrupt:
        message("interrupted.")
        raise SystemExit(INTERRUPTED) from None
    except BrokenPipeError:
        # The reader closed the pipe (as in `abnet predict … | head`); Python must not complain when it closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(BROKEN_PIPE) from None
    except (ValueError, OSError, ImportError, MemoryError) as error:
        if os.environ.get("ABNET_TRACEBACK") == "1":
            raise
        message(f"error: {_error_text(error, options)}")
        if isinstance(error, UsageError | ParameterError):
            raise SystemExit(WRONG_USAGE) from None
        raise SystemExit(FAILED) from None


def _error_text(error: BaseException, options: frozenset[str]) -> str:
    """An error on one line."""
    if isinstance(error, MemoryError):
        return "not enough memory; use fewer rows or narrower layers."
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.filename}: {error.strerror}"
    if isinstance(error, OSError) and error.strerror:
        return str(error.strerror)
    if isinstance(error, NamesParameters):
        return on_one_line(with_options(error, options))
    return on_one_line(error) or type(error).__name__
