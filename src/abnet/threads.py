"""Work shared among cores: how many there are, and a map over blocks of rows."""

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

__all__ = ["cores", "mapped", "one_blas_thread", "threads_for"]

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

    with one_blas_thread(), ThreadPoolExecutor(threads) as pool:
        begun = [pool.submit(function, item) for item in items]
        try:
            return [each.result() for each in begun]
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


_guard = threading.Lock()


_limited: list[Any] = []
"""The limit in force, once for each call that is under it."""


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Give the library of matrix products one thread; as a decorator, ``@one_blas_thread()``.

    Beside threads of ours, all would wait for each other. Alone, in blocks of rows that stay in the cache, waking a
    second thread for each takes longer than the product, on a busy machine twenty times as long.

    It is told so once, and gets its threads back when the last call is done; without threadpoolctl it is left alone.
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
