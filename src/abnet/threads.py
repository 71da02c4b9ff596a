"""Several cores for what is done to many columns, or many blocks of rows: NumPy and Polars let others run meanwhile."""

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

__all__ = ["cores", "mapped", "return_memory", "threads_for"]

MOST = 8
"""Threads at the most: beyond, the memory is what limits."""
MANY = 10_000
"""Rows from which on a column is worth a thread."""


def cores() -> int:
    """Cores that this process may use, no more than ``OMP_NUM_THREADS`` if that is set.

    Examples
    --------
    >>> 1 <= cores() <= MOST
    True
    """
    here = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    wanted = os.environ.get("OMP_NUM_THREADS", "")
    return max(min(here, MOST, int(wanted) if wanted.isdecimal() else MOST), 1)


def threads_for(rows: int) -> int:
    """Threads for what is done to a column of so many rows.

    Examples
    --------
    >>> threads_for(MANY - 1), threads_for(MANY) == cores()
    (1, True)
    """
    return cores() if rows >= MANY else 1


def mapped(function: Callable[[Any], Any], items: Iterable[Any], threads: int) -> list[Any]:
    """``function`` of every item, in their order, as is the error that comes first.

    Examples
    --------
    >>> mapped(abs, [-1, 2, -3], 2)
    [1, 2, 3]
    """
    if threads == 1:
        return [function(item) for item in items]
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(threads) as pool:
        begun = [pool.submit(function, item) for item in items]
        try:
            return [each.result() for each in begun]
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def return_memory() -> None:
    """Let the system have what was freed: the C library of Linux keeps what threads had, for others like them."""
    import ctypes

    with suppress(AttributeError, OSError, TypeError):  # other systems have no such function, or no such library
        ctypes.CDLL(None).malloc_trim(0)
