"""Parallel work: the number of cores, and a parallel map."""

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

__all__ = ["cores", "parallel_map", "one_blas_thread", "threads_for"]

MOST = 8
"""Maximum number of threads: with more, memory bandwidth is the limit."""


MANY = 10_000
"""From this many rows on, columns are processed in parallel."""


def cores() -> int:
    """Cores that this process may use, no more than ``OMP_NUM_THREADS`` if that is set.

    Examples
    --------
    >>> 1 <= cores() <= MOST
    True
    """
    if hasattr(os, "sched_getaffinity"):
        available = len(os.sched_getaffinity(0))
    else:
        available = os.cpu_count() or 1
    limit = os.environ.get("OMP_NUM_THREADS", "")
    if limit.isdecimal():
        available = min(available, int(limit))
    return max(min(available, MOST), 1)


def threads_for(rows: int) -> int:
    """Number of threads for processing columns with this many rows.

    Examples
    --------
    >>> threads_for(MANY - 1), threads_for(MANY) == cores()
    (1, True)
    """
    if rows < MANY:
        return 1
    return cores()


def parallel_map(function: Callable[[Any], Any], items: Iterable[Any], threads: int) -> list[Any]:
    """Map a function over items in parallel; results and errors are in the order of the items.

    Examples
    --------
    >>> parallel_map(abs, [-1, 2, -3], 2)
    [1, 2, 3]
    """
    if threads == 1:
        return [function(item) for item in items]
    from concurrent.futures import ThreadPoolExecutor

    with one_blas_thread(), ThreadPoolExecutor(threads) as pool:
        futures = [pool.submit(function, item) for item in items]
        try:
            return [future.result() for future in futures]
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


_guard = threading.Lock()


_limited: list[Any] = []
"""The limit in force, once for each call that uses it."""


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit the BLAS library to one thread; as a decorator, ``@one_blas_thread()``.

    BLAS threads inside our own threads would wait for each other. And a product of blocks that fit into the cache takes
    less time than waking a second thread.

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
            _end_of_call()


def _end_of_call() -> None:
    """Remove the limit after the last call that uses it."""
    if not _limited:  # without threadpoolctl
        return
    limit = _limited.pop()
    if not _limited:
        limit.restore_original_limits()
