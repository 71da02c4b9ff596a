"""The exact aggregation: against the formula as written, against the machine's matrix product, and its memory."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from abnet.networks import exact
from abnet.networks.bam import BAM
from abnet.networks.lifting import lift
from abnet.paper.figures.timed_passes import output_as_written
from measure import Row, at_least, at_most, best_times


def network(width: int, depth: int, inputs: int = 100) -> tuple[jax.Array, ...]:
    sizes = (inputs, *(width,) * (depth - 1), 1)
    return tuple(jnp.asarray(V) for V in BAM.init(np.random.default_rng(0), sizes).layers)


def _timed(function: Callable[..., Any], *arguments: Any) -> Callable[[], Any]:
    compiled = jax.jit(function)
    return lambda: jax.block_until_ready(compiled(*arguments))


def against_the_formula() -> list[Row]:
    layers = network(12, 6)
    x = lift(jnp.asarray(np.random.default_rng(1).normal(size=(32, 100)), jnp.float32))

    def gradient(output: Callable[..., Any]) -> Callable[..., Any]:
        return jax.grad(lambda layers, x: output(layers, x).sum())

    ours, ours_both = best_times(_timed(exact.output, layers, x), _timed(gradient(exact.output), layers, x), repeat=10)
    # A first pass pays for fresh memory: several are timed here too.
    (fused,) = best_times(_timed(output_as_written, layers, x), repeat=8)
    (fused_both,) = best_times(_timed(gradient(output_as_written), layers, x), repeat=2)
    # Not compiled: every factor of every transition matrix goes through memory.
    (theirs,) = best_times(lambda: jax.block_until_ready(output_as_written(layers, x)), repeat=3)

    def times(theirs: float, ours: float) -> str:
        return f"{theirs * 1e3:.0f} / {ours * 1e3:.1f} ms"

    what = "formula as written / exact"
    return [
        at_least(f"{what}, forward, the formula not compiled", theirs / ours, 300, times(theirs, ours)),
        at_least(f"{what}, forward, both compiled", fused / ours, 300, times(fused, ours)),
        at_least(
            f"{what}, forward + backward, both compiled", fused_both / ours_both, 300, times(fused_both, ours_both)
        ),
    ]


def against_the_matrix_product(width: int = 16, size: int = 4096) -> list[Row]:
    V = network(width, 3)[1]
    h = jnp.tanh(jnp.asarray(np.random.default_rng(2).normal(size=2**width), jnp.float32))
    square = jnp.asarray(np.random.default_rng(3).normal(size=(size, size)), jnp.float32)

    def layer(h: jax.Array, V: jax.Array) -> jax.Array:
        return exact._folded(h, V)

    both = jax.grad(lambda h, V: layer(h, V).sum(), argnums=(0, 1))
    product, forward, backward = best_times(
        _timed(jnp.matmul, square, square), _timed(layer, h, V), _timed(both, h, V), repeat=4
    )
    ours = 2 * 4.0**width / forward
    machine = 2 * size**3 / product
    detail = f"{ours / 1e9:.0f} of {machine / 1e9:.0f} GFLOP/s"
    return [
        at_least(f"width {width}: share of the matrix product's speed, forward", ours / machine, 0.65, detail),
        at_most(
            f"width {width}: forward + backward / forward", backward / forward, 6, f"{backward:.2f} / {forward:.2f} s"
        ),
    ]


def peak_memory(width: int = 18) -> list[Row]:
    """Forward and backward of one layer pair in a process of its own; its peak resident memory."""
    done = subprocess.run([sys.executable, __file__, str(width)], capture_output=True, text=True, check=True)
    gigabytes = float(done.stdout) / 1e6
    return [at_most(f"width {width}: peak memory of forward + backward, GB", gigabytes, 2, "whole process")]


def peak_kilobytes() -> int:
    """Peak resident memory of this process alone; getrusage would start from the parent's."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0])


def rows() -> list[Row]:
    return [*against_the_formula(), *against_the_matrix_product(), *peak_memory()]


if __name__ == "__main__":
    layers = network(int(sys.argv[1]), 3)
    x = lift(jnp.ones((32, 100)))
    jax.block_until_ready(jax.jit(jax.grad(lambda layers: exact.output(layers, x).sum()))(layers))
    print(peak_kilobytes())
