"""Forward passes at any width: the table of all representations, samples, and the series, timed in turns."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from abnet.networks import ancestral, exact, independent_signs, pbgnet, sampled_pbgnet, square_wave, uniform
from abnet.networks.bam import BAM
from abnet.networks.cube import multilinear
from abnet.networks.lifting import lift

__all__ = ["WIDEST_TIMED_TABLE", "WIDTHS", "WidthTiming", "measure_by_width", "passes"]

WIDTHS = (2, 3, 4, 6, 8, 10, 12, 14, 16, 18, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1000)
WIDEST_TIMED_TABLE = 20
"""Widest layer whose table is timed: that of width 20 has 2^20 rows, and a column for each neuron above it."""
SAMPLES = 100
WEIGHT = 2.0
"""Standard deviation of the weights above the first layer: the series then has 14 to 57 terms in float64."""

TABLE = "table of 2^d"
SERIES = "series"
CERTIFIED = "series, proved error"
UNIFORM = "100 uniform samples (paper)"
PATHS = "100 sampled paths"
"""Five methods; all but the certified one are compiled, in float32."""

Forward: TypeAlias = Callable[[], Any]


@dataclass(frozen=True)
class WidthTiming:
    """A row of `fig_width.csv`: the median CPU time of a forward pass of a batch, at one width, in all threads.

    `model` is "ABNet" (one hidden layer) or "PBGNet" (two hidden layers of this width); `repetitions` says of how many
    passes.
    """

    model: str
    method: str
    width: int
    milliseconds: float
    repetitions: int


def measure_by_width(
    widths: Sequence[int], X: NDArray[np.float32], *, repetitions: int, seconds: float = 4.0, seed: int = 0
) -> Iterator[WidthTiming]:
    """Time the methods at each width; they take turns, so that other programs disturb all of them alike.

    CPU time is measured: passes of seconds are never undisturbed on a machine that others use, too. The shortest ones
    may miss a part of what other threads did, so the median is taken.

    Parameters
    ----------
    widths
        Hidden units in each layer.
    X : float32 array (rows, d_0)
        The batch.
    repetitions
        Passes of each method, fewer (at least 3) where one turn of all methods takes long.
    seconds
        CPU time of all passes of a model at one width.
    """
    from threadpoolctl import threadpool_limits

    rng = np.random.default_rng(seed)
    for width in widths:
        for model, n_hidden in (("ABNet", 1), ("PBGNet", 2)):
            sizes = (X.shape[1], *(width,) * n_hidden, 1)
            network = BAM.init(rng, sizes)
            layers = (network.layers[0], *(rng.normal(0, WEIGHT, V.shape).astype(V.dtype) for V in network.layers[1:]))
            with threadpool_limits(1, "blas"):
                times = _cpu_times(passes(model, layers, X), repetitions, seconds)
            for method, own in times.items():
                yield WidthTiming(model, method, width, 1e3 * median(own), len(own))


def passes(model: str, layers: Sequence[NDArray[np.float32]], X: NDArray[np.float32]) -> dict[str, Forward]:
    """The forward passes of a network by method; tables only up to `WIDEST_TIMED_TABLE`."""
    lifted = np.asarray(lift(X))
    certified_layers = tuple(V.astype(np.float64) for V in layers)
    certified_lifted = np.asarray(lift(X.astype(np.float64)))
    if model == "ABNet":
        by_model = {
            TABLE: _compiled(lambda V, x: exact.output(V, x, means=_table_means), layers, lifted),
            UNIFORM: _sampled(uniform.output, layers, lifted),
            PATHS: _sampled(_paths, layers, lifted),
            SERIES: _compiled(_series, layers, lifted),
        }
    else:
        by_model = {
            TABLE: _compiled(lambda V, x: pbgnet.output(V, x, means=_table_means), layers, lifted),
            PATHS: _sampled(sampled_pbgnet.output, layers, lifted),
            SERIES: _compiled(_series, layers, lifted),
        }
    if len(layers[0]) > WIDEST_TIMED_TABLE:
        del by_model[TABLE]
    return by_model | {CERTIFIED: lambda: _series(certified_layers, certified_lifted)}


def _table_means(V: Any, m: Any) -> Any:
    return multilinear(independent_signs.layer_table(V), m)


def _series(layers: Any, lifted: Any) -> Any:
    return pbgnet.output(layers, lifted, means=square_wave.wave_means)


def _paths(layers: Any, lifted: Any, key: Any, n_samples: int) -> Any:
    return ancestral.mean_of_paths(ancestral.straight_through, layers, lifted, key, n_samples)


def _sampled(output: Callable[..., Any], layers: Any, lifted: Any) -> Forward:
    import jax

    return _compiled(lambda V, x: output(V, x, jax.random.key(0), SAMPLES), layers, lifted)


def _compiled(output: Callable[..., Any], layers: Any, lifted: Any) -> Forward:
    import jax

    program = jax.jit(output)
    arguments = jax.device_put((tuple(layers), lifted))
    return lambda: jax.block_until_ready(program(*arguments))


def _cpu_times(jobs: Mapping[str, Forward], repetitions: int, seconds: float) -> dict[str, list[float]]:
    """CPU times of each job, which take turns; a first turn compiles."""
    for job in jobs.values():
        job()
    times: dict[str, list[float]] = {name: [] for name in jobs}
    begin = time.process_time()
    turns = 0
    while turns < min(3, repetitions) or (turns < repetitions and time.process_time() - begin < seconds):
        for name, job in jobs.items():
            start = time.process_time()
            job()
            times[name].append(time.process_time() - start)
        turns += 1
    return times
