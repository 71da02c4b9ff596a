"""How the benchmarks measure: ratios of best times, taken in turns in one run."""

import time
from collections.abc import Callable
from typing import Any, NamedTuple


class Row(NamedTuple):
    """One line of the report: a measured ratio and what it should be."""

    what: str
    value: float
    target: str
    met: bool
    detail: str


def at_least(what: str, value: float, target: float, detail: str) -> Row:
    return Row(what, value, f">= {target:g}", value >= target, detail)


def at_most(what: str, value: float, target: float, detail: str) -> Row:
    return Row(what, value, f"<= {target:g}", value <= target, detail)


def stated(what: str, value: float, detail: str) -> Row:
    """A ratio that nothing is promised of, shown beside one that is."""
    return Row(what, value, "none", True, detail)


def best_times(*jobs: Callable[[], Any], repeat: int = 5, warm: bool = True) -> list[float]:
    """Best wall time of each job in seconds; jobs take turns, so that a busy moment hits all of them."""
    best = [float("inf")] * len(jobs)
    if warm:
        for job in jobs:
            job()
    for _ in range(repeat):
        for i, job in enumerate(jobs):
            begin = time.perf_counter()
            job()
            best[i] = min(best[i], time.perf_counter() - begin)
    return best


class Cost(NamedTuple):
    """Seconds of a job: by the clock, and of CPU in all threads of this process, which other programs disturb less."""

    wall: float
    cpu: float


def best_costs(*jobs: Callable[[], Any], repeat: int = 2) -> list[Cost]:
    """Best wall and CPU seconds (all threads) of each job; jobs take turns."""
    best = [Cost(float("inf"), float("inf"))] * len(jobs)
    for _ in range(repeat):
        for i, job in enumerate(jobs):
            begin = Cost(time.perf_counter(), time.process_time())
            job()
            end = Cost(time.perf_counter(), time.process_time())
            best[i] = Cost(*(min(old, b - a) for old, a, b in zip(best[i], begin, end, strict=True)))
    return best


def certified_error(classifier: Any) -> float:
    """The bound on the error of a fitted classifier, which must have one."""
    bound = classifier.certificate_.vote_error_bound
    if classifier.certificate_ is None:
        bound = None
    assert bound is not None
    return float(bound)
