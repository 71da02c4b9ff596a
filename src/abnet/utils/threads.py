"""Parallel work: the number of cores, and a parallel map."""

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

__all__ = ["cores", "mapped", "one_blas_thread", "threads_for"]

MOST = 8
"""Maximum number of threads: with more, memory bandwidth is the limit."""


MANY = 10_000
"""Number of rows from which on columns are processed in parallel."""


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
    """Number of threads for processing columns with this many rows.

    Examples
    --------
    >>> threads_for(MANY - 1), threads_for(MANY) == cores()
    (1, True)
    """
    return cores() if rows >= MANY else 1


def mapped(function: Callable[[Any], Any], items: Iterable[Any], threads: int) -> list[Any]:
    """Map a function over items in parallel; results and errors are in the order of the items.

    Examples
    --------
    >>> mapped(abs, [-1, 2, -3], 2)
    [1, 2, 3]
    """
    if threads == 1:
        return [function(item) for item in items]
    from concurrent.futures import ThreadPoolExecutor

    with one_blas_thread(), ThreadPoolExecutor(threads) as pool:
        begun = [pool.submit(function, item) for item in items]
        try:
            return [each.result() for each in begun]
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


_guard = threading.Lock()


_limited: list[Any] = []
"""The limit in force, and the number of calls that use it."""


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit the BLAS library to one thread; as a decorator, ``@one_blas_thread()``.

    Together with our own threads, BLAS threads would wait for each other. Without them, products of blocks that fit
    into the cache take less time than waking a second thread, on a busy machine a twentieth of it.

    The limit is set once and removed after the last call. Without threadpoolctl nothing is limited.
    """
    with _guard:
        if not _limited:
            with suppress(ImportError):
                from threadpoolctl import threadpool_limits

                _limited.append(threadpool_limits(1, user_api="blas"))
        else:
            _limited.append(_limited[0])
    try:
        yield
    finally:
        with _guard:
            if _limited and (limit := _limited.pop()) and not _limited:
                limit.restore_original_limits()
