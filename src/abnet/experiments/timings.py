"""Times of forward passes for Figure 2: abnet's, and the formula as the paper writes it."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from statistics import fmean, stdev
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from abnet.aggregation import exact, meanfield
from abnet.bam import BAM
from abnet.cube import corners
from abnet.experiments.figures.timing import WIDEST_IN_PAPER, Panel, Timing

__all__ = ["DEPTHS", "WIDTHS", "measure", "output_as_written", "plan"]

WIDTHS = tuple(range(2, 18))
DEPTH_OF_WIDTHS = 6
DEPTHS = (2, 3, 4, 6, 8, 10, 12, 16, 20)
WIDTH_OF_DEPTHS = 12
SAMPLES = 100
REPETITIONS = 100

Point: TypeAlias = tuple[Panel, str, int, int]
"""What is measured: (panel, method, width, depth)."""

Forward: TypeAlias = Callable[[], object]
Builder: TypeAlias = Callable[[BAM, NDArray[np.float32]], Forward]


def plan(methods: Iterable[str], widths: Iterable[int] = WIDTHS, depths: Iterable[int] = DEPTHS) -> list[Point]:
    """Return the points to measure, the formula as written up to the paper's width.

    Examples
    --------
    >>> plan(["formula as written"], widths=(13, 14), depths=(2,))
    [('width', 'formula as written', 13, 6), ('depth', 'formula as written', 12, 2)]
    """
    methods = list(methods)
    by_width: list[Point] = [("width", m, d, DEPTH_OF_WIDTHS) for m in methods for d in widths]
    by_depth: list[Point] = [("depth", m, WIDTH_OF_DEPTHS, k) for m in methods for k in depths]
    return [p for p in by_width + by_depth if p[1] != "formula as written" or p[2] <= WIDEST_IN_PAPER]


def measure(
    points: Sequence[Point],
    X: NDArray[np.float32],
    *,
    repetitions: int = REPETITIONS,
    seconds: float = 5.0,
    seed: int = 0,
) -> Iterator[Timing]:
    """Time each point on one batch, after a first pass that compiles: mean and deviation of the repetitions.

    NumPy's matrix products use one thread: for 32 rows a second one costs more to wake than it does.

    Parameters
    ----------
    points
        From `plan`.
    X : float32 array (rows, d_0)
        The batch.
    repetitions
        Passes timed, fewer (at least 3) where they would take longer than `seconds`.
    """
    from threadpoolctl import threadpool_limits

    for panel, method, width, depth in points:
        network = BAM.init(np.random.default_rng(seed), (X.shape[1], *(width,) * (depth - 1), 1))
        forward = _BUILDERS[method](network, X)
        with threadpool_limits(1, "blas"):
            times = _times(forward, repetitions, seconds)
        yield Timing(panel, method, width, depth, 1e3 * fmean(times), 1e3 * stdev(times), len(times))


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

    P = _products(exact.mean_activation(layers[0], lifted))
    for V in layers[1:]:
        below = jnp.asarray(exact.lift(corners(V.shape[1] - 1, V.dtype)))
        P = P @ _products(exact.mean_activation(V, below))
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

        layers, lifted = jax.device_put((network.layers, np.asarray(exact.lift(X))))
        program = jax.jit(output)
        return lambda: jax.block_until_ready(program(layers, lifted))

    return build


def _stochastic(layers: Any, lifted: Any) -> Any:
    import jax

    from abnet.aggregation import uniform

    return uniform.output(layers, lifted, jax.random.key(0), SAMPLES)


def _compact(network: BAM, X: NDArray[np.float32]) -> Forward:
    from abnet.predictors.compact import CompactABNet

    predictor = CompactABNet.from_network(network)
    return lambda: predictor.decision_function(X)


def _compact_stochastic(network: BAM, X: NDArray[np.float32]) -> Forward:
    from abnet.predictors.paths import CompactUniform

    predictor = CompactUniform.from_network(network, np.random.default_rng(0), n_samples=SAMPLES)
    return lambda: predictor.decision_function(X)


_BUILDERS: dict[str, Builder] = {
    "formula as written": _compiled(output_as_written),
    "PBGNet": _compiled(meanfield.output),
    "ABNet": _compiled(exact.output),
    "stochastic ABNet": _compiled(_stochastic),
    "compact ABNet": _compact,
    "compact stochastic ABNet": _compact_stochastic,
}
"""The methods of the figure: from a network and a batch to a function that passes forward once."""
