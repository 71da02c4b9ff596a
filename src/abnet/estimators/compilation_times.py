"""How long JAX takes to compile programs, which is not counted as training time."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

__all__ = ["compilation_times"]

_EVENTS = ("/jax/core/compile/jaxpr_to_mlir_module_duration", "/jax/core/compile/backend_compile_duration")

_ACTIVE: list[list[float]] = []
"""The lists to which times are added."""


@contextmanager
def compilation_times() -> Iterator[list[float]]:
    """A list to which JAX adds the time, in seconds, of everything that it compiles in this block."""
    _listen_once()
    times: list[float] = []
    _ACTIVE.append(times)
    try:
        yield times
    finally:
        _ACTIVE.pop()


@cache
def _listen_once() -> None:
    """Register a listener for JAX compilations, once: not all versions of JAX can remove a listener."""
    from jax import monitoring

    def listen(event: str, duration_secs: float, **_: Any) -> None:
        if event in _EVENTS and _ACTIVE:
            _ACTIVE[-1].append(duration_secs)

    monitoring.register_event_duration_secs_listener(listen)
