"""The compiled epoch that suits a network's steps.

On a CPU, XLA by itself takes kernels from a library, splits loops among cores and runs kernels side by side. The
library's sums over tables of 2^d representations are slow, and steps of a tenth of a millisecond lose more by waking
another core than they gain. So aggregations are compiled without the library, and narrow exact ones (ABNet, PBGNet)
with one kernel after the other. The networks are the same up to rounding.
"""

import os
from functools import cache
from typing import Any

import jax

from abnet.training.aggregation_learner import AggregationLearner
from abnet.training.loop import STATIC, Learner, epoch, one_epoch
from abnet.training.mixture_learner import MixtureLearner

__all__ = ["compiled_epoch"]

WIDEST_IN_SEQUENCE = 10
"""Exact layers up to this width: at 12 units a second core pays."""

NO_LIBRARY = {"xla_cpu_experimental_ynn_fusion_type": ""}

IN_SEQUENCE = {
    "xla_cpu_scheduler_type": "CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED",  # kernels reuse memory, so each waits for the last
    "xla_disable_hlo_passes": "cpu-parallel-task-assigner",  # no loop is split among cores
}


def compiled_epoch(learners: tuple[Learner, ...]) -> Any:
    """`abnet.training.loop.epoch`, compiled for these learners; what an XLA cannot choose is left to it."""
    if not all(isinstance(learner, (AggregationLearner, MixtureLearner)) for learner in learners):
        return epoch
    return _epoch(in_sequence=all(_short_steps(learner) for learner in learners))


def _short_steps(learner: Any) -> bool:
    alone = isinstance(learner, AggregationLearner) and learner.method in ("exact", "meanfield")
    return alone and max(learner.sizes[1:]) <= WIDEST_IN_SEQUENCE


@cache
def _epoch(*, in_sequence: bool) -> Any:
    options = _available(NO_LIBRARY | IN_SEQUENCE if in_sequence else NO_LIBRARY)
    return jax.jit(one_epoch, static_argnames=STATIC, compiler_options=options) if options else epoch


def _available(options: dict[str, str]) -> dict[str, str]:
    """The options that this XLA knows and the user has not set."""
    if jax.default_backend() != "cpu":
        return {}
    flags = os.environ.get("XLA_FLAGS", "")
    free = {name: value for name, value in options.items() if name not in flags}
    return free if _known(free) else {name: value for name, value in free.items() if _known({name: value})}


def _known(options: dict[str, str]) -> bool:
    try:
        jax.jit(lambda x: x).lower(0.0).compile(compiler_options=dict(options))
    except jax.errors.JaxRuntimeError as error:
        if "INVALID_ARGUMENT" not in str(error):
            raise
        return False
    return True
