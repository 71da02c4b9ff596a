"""Wide networks: the time of a training step, and bias and spread of the sampled gradients.

`python benchmarks/wide.py` prints the table of the gradients too.
"""

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

from abnet.networks import Aggregation, Ancestral, Uniform, ancestral, exact, uniform
from abnet.networks.bam import BAM
from abnet.networks.lifting import lift
from abnet.networks.posterior import Posterior
from abnet.training.compilation import compiled_epoch
from abnet.training.loop import Limits, Span, open_runs
from abnet.training.objective import Objective
from abnet.training.posterior_learner import PosteriorLearner, start
from abnet.training.runner import new_keys, stack
from abnet.training.stages import lifted_rows
from measure import Row, at_most, best_times

SIZES = (784, 100, 100, 1)
BATCH = 64
STEPS = 100
ROWS = BATCH * STEPS


def tanh_steps(X: Any, y: Any, order: Any) -> Callable[[], Any]:
    """An epoch of a plain tanh network under Optax's Adam, compiled as one loop."""
    adam = optax.adam(0.01)
    shapes = [(d_in, d_out) for d_in, d_out in pairwise(SIZES)]
    params = [(0.05 * jax.random.normal(jax.random.key(d), (d, e)), jnp.zeros(e)) for d, e in shapes]

    def loss(params: Any, x: Any, t: Any) -> Any:
        for W, b in params[:-1]:
            x = jnp.tanh(x @ W + b)
        W, b = params[-1]
        return jnp.mean(jnp.log1p(jnp.exp(-t * (x @ W + b)[:, 0])))

    @jax.jit
    def run(params: Any, state: Any, X: Any, y: Any, order: Any) -> Any:
        def body(i: Any, carry: Any) -> Any:
            params, state = carry
            index = jax.lax.dynamic_slice_in_dim(order, i * BATCH, BATCH)
            updates, state = adam.update(jax.grad(loss)(params, X[index], y[index]), state)
            return optax.apply_updates(params, updates), state

        return jax.lax.fori_loop(0, STEPS, body, (params, state))

    return lambda: jax.block_until_ready(run(params, adam.init(params), X, y, order))


def our_steps(aggregation: Aggregation, rows: Any, order: Any) -> Callable[[], Any]:
    """The same number of steps of ours, as `fit` makes them, on Catoni's bound; one block of rows is watched."""
    rng = np.random.default_rng(0)
    net = BAM.init(rng, SIZES)
    learner = PosteriorLearner(SIZES, aggregation)
    state = start(Posterior.from_networks([net], [net], aggregation), Objective.BOUND, ROWS, 0.05)
    runs: Any = open_runs(stack([state]), [0.01], new_keys(rng, 1))
    limits = Limits(*map(np.asarray, Limits()))
    span = Span(np.int32(0), np.int32(BATCH))
    call = partial(
        compiled_epoch((learner,)), (learner,), rows=rows, order=order, count=np.int32(ROWS), watch=span, limits=limits
    )
    first = call(runs=(runs,), batch_size=BATCH)
    return lambda: jax.block_until_ready(call(runs=first, batch_size=BATCH))


def steps() -> list[Row]:
    rng = np.random.default_rng(0)
    X = rng.random((ROWS, 784), dtype=np.float32)
    y = np.where(rng.random(ROWS) < 0.5, 1.0, -1.0)
    rows = lifted_rows(X, y, None)
    order = np.zeros(len(rows.targets) + BATCH, np.int32)
    order[:ROWS] = rng.permutation(ROWS)
    jobs = [
        tanh_steps(jnp.asarray(X), jnp.asarray(y, jnp.float32), order),
        our_steps(Ancestral(), rows, order),
        our_steps(Uniform(100), rows, order),
    ]
    tanh, ours, paper = (1e3 * t / STEPS for t in best_times(*jobs, repeat=15))
    return [
        at_most("ancestral / tanh network, step of 784-100-100-1", ours / tanh, 3, f"{ours:.2f} / {tanh:.2f} ms"),
        at_most("uniform n = 100 / tanh network, same step", paper / tanh, 5, f"{paper:.2f} / {tanh:.2f} ms"),
    ]


ESTIMATORS: dict[str, Callable[..., Any]] = {
    "straight-through": ancestral.straight_through,
    "local expectation": ancestral.local_expectation,
    "normal last layer": lambda layers, lifted, key: ancestral.normal_output(layers, lifted, key, 1),
    "uniform, n = 32": lambda layers, lifted, key: uniform.output(layers, lifted, key, 32),
    "uniform, n = 128": lambda layers, lifted, key: uniform.output(layers, lifted, key, 128),
}


def gradient_quality(hidden: tuple[int, ...], scale: float, draws: int = 1000) -> dict[str, tuple[float, float]]:
    """Relative bias and relative spread of each estimator's gradient of the linear loss on a minibatch of 64."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(BATCH, 10))
    y = jnp.asarray(np.where(X[:, 0] * X[:, 1] > 0, 1.0, -1.0), jnp.float32)
    sizes = (10, *hidden, 1)
    network = [scale * rng.normal(size=(e, d + 1)) for d, e in pairwise(sizes)]
    layers = tuple(jnp.asarray(V, jnp.float32) for V in network)
    lifted = jnp.asarray(lift(X), jnp.float32)
    keys = jax.random.split(jax.random.key(0), draws)

    def slope(output: Callable[..., Any], *key: Any) -> Any:
        gradient = jax.grad(lambda v: jnp.mean(0.5 - 0.5 * y * output(v, lifted, *key)))(layers)
        return jnp.concatenate([g.ravel() for g in gradient])

    truth = np.asarray(jax.jit(lambda: slope(exact.output))())
    quality = {}
    for name, output in ESTIMATORS.items():
        drawn = np.asarray(jax.jit(lambda k, f=output: jax.lax.map(partial(slope, f), k, batch_size=50))(keys))
        bias = np.linalg.norm(drawn.mean(axis=0) - truth) / np.linalg.norm(truth)
        quality[name] = (float(bias), float(np.sqrt(drawn.var(axis=0).sum()) / np.linalg.norm(truth)))
    return quality


def gradients() -> list[Row]:
    quality = gradient_quality((8, 8), 2.0)
    rough = quality["straight-through"][1]
    smooth = quality["normal last layer"][1]
    detail = f"{smooth:.2f} / {rough:.2f} of the gradient's length, 10-8-8-1"
    return [at_most("spread of the training gradient / straight-through's", smooth / rough, 1, detail)]


def rows() -> list[Row]:
    return [*steps(), *gradients()]


def main() -> None:
    for hidden, scale in [((8,), 2.0), ((8, 8), 2.0), ((8, 8), 6.0)]:
        print(
            f"\ngradient of the linear loss, hidden {hidden}, weights of size {scale:g}: relative bias, relative spread"
        )
        for name, (bias, spread) in gradient_quality(hidden, scale).items():
            print(f"  {name:20s} {bias:6.3f} {spread:7.3f}")
    for row in rows():
        print(row)


if __name__ == "__main__":
    main()
