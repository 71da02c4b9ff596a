"""Return freed memory to the operating system."""

from contextlib import suppress

__all__ = ["return_memory"]


def return_memory() -> None:
    """Return freed memory to the operating system: the C library of Linux keeps the memory of threads for reuse."""
    import ctypes
    import gc

    gc.collect()  # arrays passed to JAX may be part of reference cycles
    with suppress(AttributeError, OSError, TypeError):  # other systems have no such function, or no such library
        ctypes.CDLL(None).malloc_trim(0)
