"""The compiled epoch that suits a network's steps.

XLA runs a program on a CPU with its own library of kernels and on all cores. The library's sums over tables of 2^d
representations are slow, and steps of a tenth of a millisecond lose more by waking another core than they gain. So
aggregations are compiled without the library, and the narrow ones for one thread (`make bench` shows the difference).
The networks are the same up to rounding.
"""

from functools import cache
from typing import Any

import jax

from abnet.training.loop import Learner, epoch
from abnet.training.objective import AggregationLearner

__all__ = ["compiled_epoch"]

WIDEST_ON_ONE_THREAD = 10

Options = dict[str, str | bool]

NO_LIBRARY: Options = {"xla_cpu_experimental_ynn_fusion_type": ""}

ONE_THREAD: Options = {
    "xla_cpu_scheduler_type": "CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED",  # one kernel after the other
    "xla_disable_hlo_passes": "cpu-parallel-task-assigner",  # no loop split among cores
    "xla_cpu_multi_thread_eigen": False,  # no matrix product either
}


def compiled_epoch(learners: tuple[Learner, ...]) -> Any:
    """`abnet.training.loop.epoch`, compiled for these learners; an XLA without such choices compiles as it likes."""
    if not all(isinstance(learner, AggregationLearner) for learner in learners):
        return epoch
    return _epoch(one_thread=all(_short_steps(learner) for learner in learners))


def _short_steps(learner: Any) -> bool:
    return learner.method in ("exact", "meanfield") and max(learner.sizes[1:]) <= WIDEST_ON_ONE_THREAD


@cache
def _epoch(*, one_thread: bool) -> Any:
    options = NO_LIBRARY | ONE_THREAD if one_thread else NO_LIBRARY
    if jax.default_backend() != "cpu" or not _known(options):
        return epoch
    raw: Any = epoch
    return jax.jit(raw.__wrapped__, static_argnames=("learners", "batch_size", "mesh"), compiler_options=options)


def _known(options: Options) -> bool:
    try:
        jax.jit(lambda x: x).lower(0.0).compile(compiler_options=options)
    except jax.errors.JaxRuntimeError:  # an older or newer XLA
        return False
    return True
