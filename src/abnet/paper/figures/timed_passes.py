"""The forward passes that Figure 2 times: ours, and the formula as the paper writes it."""

import os
import platform
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from statistics import fmean, stdev
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from abnet.networks import exact, pbgnet
from abnet.networks.bam import BAM
from abnet.networks.cube import corners
from abnet.networks.lifting import lift, mean_activation

__all__ = [
    "DEPTHS",
    "Panel",
    "Timing",
    "WIDEST_IN_PAPER",
    "WIDTHS",
    "machine",
    "measure",
    "output_as_written",
    "points_of",
]

Panel: TypeAlias = Literal["width", "depth"]

WIDEST_IN_PAPER = 13
"""Where the paper ends: one transition matrix of width 14 takes 1 GB."""
WIDTHS = tuple(range(2, 18))
DEPTH_OF_WIDTHS = 6
DEPTHS = (2, 3, 4, 6, 8, 10, 12, 16, 20)
WIDTH_OF_DEPTHS = 12
SAMPLES = 100
PASSES = 100

Point: TypeAlias = tuple[Panel, str, int, int]
"""What is measured: (panel, method, width, depth)."""

Forward: TypeAlias = Callable[[], object]
Builder: TypeAlias = Callable[[BAM, NDArray[np.float32]], Forward]


@dataclass(frozen=True)
class Timing:
    """A row of `fig2.csv`: a method's time on one batch, at one width and depth (number of weight layers L).

    `panel` says which curve it belongs to: "width" (L fixed) or "depth" (width fixed); `repetitions` how many passes
    the mean is of.
    """

    panel: Panel
    method: str
    width: int
    depth: int
    milliseconds: float
    milliseconds_std: float
    repetitions: int = 100


def points_of(methods: Iterable[str], widths: Iterable[int] = WIDTHS, depths: Iterable[int] = DEPTHS) -> list[Point]:
    """Return the points to measure, the formula as written up to the paper's width.

    Examples
    --------
    >>> points_of(["formula as written"], widths=(13, 14), depths=(2,))
    [('width', 'formula as written', 13, 6), ('depth', 'formula as written', 12, 2)]
    """
    methods = list(methods)
    by_width: list[Point] = [("width", method, width, DEPTH_OF_WIDTHS) for method in methods for width in widths]
    by_depth: list[Point] = [("depth", method, WIDTH_OF_DEPTHS, depth) for method in methods for depth in depths]
    points = []
    for point in by_width + by_depth:
        _, method, width, _ = point
        if method != "formula as written" or width <= WIDEST_IN_PAPER:
            points.append(point)
    return points


def measure(
    points: Sequence[Point],
    X: NDArray[np.float32],
    *,
    repetitions: int = PASSES,
    seconds: float = 5.0,
    seed: int = 0,
    verbose: bool = False,
) -> Iterator[Timing]:
    """Time each point on one batch, after a first pass that compiles: mean and deviation of the repetitions.

    NumPy's matrix products use one thread: for 32 rows a second one costs more to wake than it does.

    Parameters
    ----------
    points
        From `points_of`.
    X : float32 array (rows, d_0)
        The batch.
    repetitions
        Passes timed, fewer (at least 3) where they would take longer than `seconds`.
    verbose
        Whether to print a line for each point on standard error.
    """
    from threadpoolctl import threadpool_limits

    for number, (panel, method, width, depth) in enumerate(points, start=1):
        network = BAM.init(np.random.default_rng(seed), (X.shape[1], *(width,) * (depth - 1), 1))
        forward = _BUILDERS[method](network, X)
        with threadpool_limits(1, "blas"):
            times = _times(forward, repetitions, seconds)
        timing = Timing(
            panel=panel,
            method=method,
            width=width,
            depth=depth,
            milliseconds=1e3 * fmean(times),
            milliseconds_std=1e3 * stdev(times),
            repetitions=len(times),
        )
        if verbose:
            shown = f"{method}, width {width}, L = {depth}: {timing.milliseconds:.3g} ms (mean of {len(times)})"
            print(f"[{number}/{len(points)}] {shown}", file=sys.stderr, flush=True)
        yield timing


def machine() -> str:
    """Return the processor, its cores and the version of JAX, in a few words."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []  # not Linux
    processor = platform.processor() or platform.machine()
    for line in lines:
        if line.startswith("model name"):
            processor = line.split(":", 1)[1].strip()
            break
    return f"{processor}, {os.cpu_count()} cores, JAX {version('jax')}"


def output_as_written(layers: tuple[Any, ...], lifted: Any) -> Any:
    """``F_A = P_L[+1] - P_L[-1]`` with ``P_k = Ψ_k P_{k-1}`` and ``Ψ_k[s, s̄] = Π_i (1/2 + s_i/2 · m_k(s̄)_i)``.

    Parameters
    ----------
    layers : tuple of JAX arrays (d_k, d_{k-1} + 1)
    lifted : JAX array (rows, d_0 + 1)

    Returns
    -------
    array (rows,)
    """
    import jax.numpy as jnp

    P = _products(mean_activation(layers[0], lifted))
    for V in layers[1:]:
        below = jnp.asarray(lift(corners(V.shape[1] - 1, V.dtype)))
        P = P @ _products(mean_activation(V, below))
    return P[:, 1] - P[:, 0]


def _products(m: Any) -> Any:
    """``Π_i (1/2 + s_i/2 · m_i)`` for all s, factor by factor; in the rows of Ψᵀ."""
    import jax.numpy as jnp

    signs = jnp.asarray(corners(m.shape[1], m.dtype))
    return jnp.prod(0.5 + 0.5 * signs[None, :, :] * m[:, None, :], axis=2)


def _times(forward: Forward, repetitions: int, seconds: float) -> list[float]:
    forward()
    times: list[float] = []
    while len(times) < 3 or (len(times) < repetitions and sum(times) < seconds):
        begin = time.perf_counter()
        forward()
        times.append(time.perf_counter() - begin)
    return times


def _compiled(output: Callable[..., Any]) -> Builder:
    """A method on the full network, compiled; the batch is lifted beforehand, as in training."""

    def build(network: BAM, X: NDArray[np.float32]) -> Forward:
        import jax

        layers, lifted = jax.device_put((network.layers, np.asarray(lift(X))))
        program = jax.jit(output)
        return lambda: jax.block_until_ready(program(layers, lifted))

    return build


def _stochastic(layers: Any, lifted: Any) -> Any:
    import jax

    from abnet.networks import uniform

    return uniform.output(layers, lifted, jax.random.key(0), SAMPLES)


def _compact(network: BAM, X: NDArray[np.float32]) -> Forward:
    from abnet.model.predictors.compact import Compact

    predictor = Compact.from_networks([network])
    return lambda: predictor.scores(X)


def _compact_stochastic(network: BAM, X: NDArray[np.float32]) -> Forward:
    from abnet.model.predictors.uniform import UniformPredictor

    predictor = UniformPredictor.from_network(network, np.random.default_rng(0), n_samples=SAMPLES)
    return lambda: predictor.scores(X)


_BUILDERS: dict[str, Builder] = {
    "formula as written": _compiled(output_as_written),
    "PBGNet": _compiled(pbgnet.output),
    "ABNet": _compiled(exact.output),
    "stochastic ABNet": _compiled(_stochastic),
    "compact ABNet": _compact,
    "compact stochastic ABNet": _compact_stochastic,
}
"""The methods of the figure: from a network and a batch to a function that passes forward once."""
