"""Ctrl-C at any moment: one line and exit code 130, or an exception where a command has something to tidy up."""

import os
import signal
from types import FrameType

__all__ = ["INTERRUPTED", "take_over"]

INTERRUPTED = 130

_SWALLOWS = "_xla_gc_callback"
_AGAIN = 0.05  # seconds


def take_over() -> None:
    """Answer Ctrl-C from now on, unless it is ignored, as in a job in the background."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _answer)


def _answer(number: int, frame: FrameType | None) -> None:
    """End at once while modules are loaded; raise KeyboardInterrupt inside a command, which knows what to do.

    An exception that passes through the loading of JAX's compiled parts aborts the process, and one raised while JAX
    collects garbage is printed and lost: the first must not be raised, the second is raised a little later.
    """
    frames = _stack(frame)
    if any(frame.f_code.co_name == _SWALLOWS for frame in frames):
        _ask_again()
    elif _in_command(frames) and not _loads_jax(frames):
        raise KeyboardInterrupt
    else:
        os.write(2, b"interrupted.\n")
        os._exit(INTERRUPTED)


def _stack(frame: FrameType | None) -> list[FrameType]:
    frames = []
    while frame is not None:
        frames.append(frame)
        frame = frame.f_back
    return frames


def _in_command(frames: list[FrameType]) -> bool:
    return any(frame.f_globals.get("__name__") == "abnet.cli.guard" for frame in frames)


def _loads_jax(frames: list[FrameType]) -> bool:
    loading = (frame.f_globals.get("__name__") or "" for frame in frames if frame.f_code.co_name == "<module>")
    return any(name.split(".")[0] in ("jax", "jaxlib") for name in loading)


def _ask_again() -> None:
    import threading

    timer = threading.Timer(_AGAIN, signal.raise_signal, [signal.SIGINT])
    timer.daemon = True
    timer.start()
