"""Memory for the training rows: in large pages, and where JAX wants it."""

import mmap
from contextlib import suppress
from math import prod

import numpy as np
from numpy.typing import NDArray

__all__ = ["zeros_in_large_pages"]

LARGE = 2**22
"""Bytes from which on an array gets large pages."""


def zeros_in_large_pages(shape: tuple[int, ...]) -> NDArray[np.float32]:
    """Zeros in float32, for rows that are read in random order.

    With pages of 4 kB, a processor has to look up the page of nearly every row. Large pages are only requested: a
    system without them gives small ones. The memory is aligned as JAX requires, so JAX takes the array without a copy.
    Do not write to it afterwards.

    Examples
    --------
    >>> zeros_in_large_pages((2, 3)).tolist()
    [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    """
    size = prod(shape) * np.dtype(np.float32).itemsize
    if size < LARGE or not hasattr(mmap, "MADV_HUGEPAGE"):
        return np.zeros(shape, np.float32)
    memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    with suppress(OSError):
        memory.madvise(mmap.MADV_HUGEPAGE)
    return np.frombuffer(memory, np.float32).reshape(shape)
