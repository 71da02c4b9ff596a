"""Compilation of an epoch: XLA's options for each learner, and JAX's cache of compiled programs on disk.

On a CPU, XLA by default uses a kernel library, splits loops among cores and runs kernels in parallel. The library is
slow for sums over large tables of 2^d representations, and steps of a tenth of a millisecond lose more by waking
another core than they gain. So aggregations with such tables are compiled without the library, and narrow exact ones
(ABNet, PBGNet) with kernels in sequence. The trained networks are the same up to rounding.
"""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import jax

from abnet.training.loop import Learner, one_epoch
from abnet.utils.cache import program_folder

__all__ = ["Hinted", "compilation_cache", "compiled_epoch", "epoch"]


@runtime_checkable
class Hinted(Protocol):
    """A learner with hints for the compilation of its steps."""

    @property
    def in_sequence(self) -> bool:
        """Whether its steps are so short that kernels run fastest in sequence."""

    @property
    def by_library(self) -> bool:
        """Whether XLA may use its kernel library, which is slow for sums over large tables."""


STATIC = ("learners", "batch_size", "seen")
"""Arguments of an epoch that are compiled in."""

epoch = jax.jit(one_epoch, static_argnames=STATIC)
"""`one_epoch`, compiled with XLA's default options."""

NO_LIBRARY = {"xla_cpu_experimental_ynn_fusion_type": ""}
IN_SEQUENCE = {
    "xla_cpu_scheduler_type": "CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED",  # kernels reuse memory, so each waits for the last
    "xla_disable_hlo_passes": "cpu-parallel-task-assigner",  # no loop is split among cores
}


def compiled_epoch(learners: tuple[Learner, ...]) -> Any:
    """`one_epoch`, compiled for these learners; options that this version of XLA lacks are left out."""
    hinted = [learner for learner in learners if isinstance(learner, Hinted)]
    if len(hinted) < len(learners):
        return epoch
    by_library = all(learner.by_library for learner in hinted)
    in_sequence = all(learner.in_sequence for learner in hinted)
    return _epoch(by_library=by_library, in_sequence=in_sequence)


@cache
def _epoch(*, by_library: bool, in_sequence: bool) -> Any:
    wanted: dict[str, str] = {}
    if not by_library:
        wanted |= NO_LIBRARY
    if in_sequence:
        wanted |= IN_SEQUENCE
    options = _available(wanted)
    if not options:
        return epoch
    return jax.jit(one_epoch, static_argnames=STATIC, compiler_options=options)


def _available(options: dict[str, str]) -> dict[str, str]:
    """The options that this XLA knows and the user has not set."""
    if jax.default_backend() != "cpu":
        return {}
    flags = os.environ.get("XLA_FLAGS", "")
    not_set = {name: value for name, value in options.items() if name not in flags}
    if _known(not_set):
        return not_set
    return {name: value for name, value in not_set.items() if _known({name: value})}


def _known(options: dict[str, str]) -> bool:
    """Whether this XLA knows all of the options."""
    try:
        jax.jit(lambda x: x).lower(0.0).compile(compiler_options=dict(options))
    except jax.errors.JaxRuntimeError as error:
        if "INVALID_ARGUMENT" not in str(error):
            raise
        return False
    return True


_lock = threading.Lock()
_depth = 0
_SET_HERE = ("jax_compilation_cache_dir", "jax_persistent_cache_min_compile_time_secs")


@contextmanager
def compilation_cache() -> Iterator[None]:
    """Cache compiled programs on disk, so that a second process starts fast; JAX's settings are restored afterwards.

    A cache configured by the user is kept. Set ``ABNET_CACHE`` to another folder, or to an empty string for no cache.
    """
    folder = _folder()
    if folder is None or (_depth == 0 and _read(_SET_HERE[0]) is not None):
        yield
        return
    saved = _enter(folder)
    try:
        yield
    finally:
        _leave(saved)


def _read(name: str) -> Any:
    """A JAX setting; they are attributes that the type checker does not know."""
    return getattr(jax.config, name)


def _folder() -> Path | None:
    """The cache folder, created if missing; None if there is no cache or it cannot be written."""
    folder = program_folder()
    if folder is None:
        return None
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    if not os.access(folder, os.W_OK):
        return None
    return folder


def _enter(folder: Path) -> float:
    global _depth
    with _lock:
        _depth += 1
        saved = float(_read(_SET_HERE[1]))
        jax.config.update(_SET_HERE[0], str(folder))
        jax.config.update(_SET_HERE[1], 0.05)
    return saved


def _leave(saved: float) -> None:
    from jax.experimental.compilation_cache.compilation_cache import reset_cache

    global _depth
    with _lock:
        _depth -= 1
        jax.config.update(_SET_HERE[1], saved)
        if _depth == 0:
            jax.config.update(_SET_HERE[0], None)
            reset_cache()
