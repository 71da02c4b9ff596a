"""Return freed memory to the operating system."""

from contextlib import suppress

__all__ = ["return_memory"]


def return_memory() -> None:
    """Let the system have what was freed: the C library of Linux keeps what threads had, for others like them."""
    import ctypes
    import gc

    gc.collect()  # arrays that JAX was given may be in a circle with what it made of them
    with suppress(AttributeError, OSError, TypeError):  # other systems have no such function, or no such library
        ctypes.CDLL(None).malloc_trim(0)
