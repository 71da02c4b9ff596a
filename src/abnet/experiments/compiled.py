"""The compiled epoch of a sweep, with or without XLA's library of CPU kernels."""

from functools import cache
from typing import Any

from abnet.training.loop import epoch

__all__ = ["compiled_epoch"]


@cache
def compiled_epoch(*, library_sums: bool) -> Any:
    """`abnet.training.loop.epoch`, compiled with or without the library; an XLA that has no such choice keeps it.

    The library's sums over tables of 2^8 representations are slow: without it an epoch of 784-8-8-8-1 takes 0.45 s in
    place of 0.68 s; narrower networks lose a little.
    """
    import jax

    options: dict[str, str | bool] = {"xla_cpu_experimental_ynn_fusion_type": ""}
    if library_sums or not _known(options):
        return epoch
    raw: Any = epoch
    return jax.jit(raw.__wrapped__, static_argnames=("learners", "batch_size", "mesh"), compiler_options=options)


def _known(options: dict[str, str | bool]) -> bool:
    import jax

    try:
        jax.jit(lambda x: x).lower(0.0).compile(compiler_options=options)
    except jax.errors.JaxRuntimeError:  # an older or newer XLA, or another device
        return False
    return True
