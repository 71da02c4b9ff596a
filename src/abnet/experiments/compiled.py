"""The compiled epoch of a sweep: with or without XLA's library of CPU kernels, for long runs or for short ones."""

from functools import cache
from typing import Any

from abnet.training.loop import epoch

__all__ = ["compiled_epoch"]


@cache
def compiled_epoch(*, library_sums: bool, short: bool = False) -> Any:
    """`abnet.training.loop.epoch`, compiled as asked; an XLA that has no such choices keeps its own.

    Parameters
    ----------
    library_sums
        Whether to use the library. Its sums over tables of 2^8 representations are slow: without it an epoch of
        784-8-8-8-1 takes 0.45 s in place of 0.68 s; narrower networks lose a little.
    short
        For few epochs: two stochastic hidden layers compile in 6 s in place of 22 s and run up to a third slower.
    """
    import jax

    options: dict[str, Any] = {}
    if not library_sums:
        options["xla_cpu_experimental_ynn_fusion_type"] = ""
    if short:
        options["xla_backend_optimization_level"] = 1
    if not options or not _known(options):
        return epoch
    raw: Any = epoch
    return jax.jit(raw.__wrapped__, static_argnames=("learners", "batch_size", "mesh"), compiler_options=options)


def _known(options: dict[str, Any]) -> bool:
    import jax

    try:
        jax.jit(lambda x: x).lower(0.0).compile(compiler_options=options)
    except jax.errors.JaxRuntimeError:  # an older or newer XLA, or another device
        return False
    return True
