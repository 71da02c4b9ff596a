"""The training loop: compiled epochs for several settings side by side, with early stopping inside the program.

A *learner* defines one method (see `Learner`); a `Run` holds everything that changes while one setting is trained. All
runs of a learner are stacked along a leading axis and stepped together under `jax.vmap`, on the same minibatches.
Learners of different methods that share data run in the same program. A finished run stays fixed while the others
continue.

Nothing that varies between fits is compiled in: the number of rows is padded to one of a few sizes, and the number of
rows, the learning rate, the tolerances and the keys are arguments. So one program serves every fold, learning rate and
seed of an architecture.
"""

from functools import partial
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from abnet.training.padding import bucket, padded

__all__ = [
    "Learner",
    "Limits",
    "Rows",
    "Run",
    "Span",
    "evaluate",
    "one_epoch",
    "open_runs",
    "outputs",
    "pad_rows",
]


EVALUATION_BLOCK = 1024


class Learner(Protocol):
    """One training method as pure functions for one setting; hashable, so it is a static argument of `jax.jit`."""

    def step(self, state: Any, inputs: Any, targets: Any, weights: Any, rate: Any, key: Any) -> Any:
        """State after one minibatch; rows of weight 0 are padding and have no influence."""
        ...

    def output(self, state: Any, inputs: Any, key: Any) -> Any:
        """One real score per row; its sign is the label."""
        ...

    def monitor(self, state: Any, outputs: Any, targets: Any, weights: Any) -> Any:
        """The value that early stopping monitors, from the outputs on the watched rows."""
        ...


class Rows(NamedTuple):
    """Padded examples: inputs (N, d), targets (N,) or (N, K), weights (N,), which are 0 for padding."""

    inputs: Any
    targets: Any
    weights: Any


class Span(NamedTuple):
    """`size` consecutive rows from row `first` on."""

    first: Any
    size: Any


class Limits(NamedTuple):
    """When a run halves its rate and when it ends; these are arguments, so a change needs no new compilation."""

    tolerance: Any = 1e-4
    patience: Any = 20
    halving_patience: Any = 5
    max_epochs: Any = 100
    cosine_epochs: Any = 0
    """Length of a cosine decay of the rate to zero; 0 for none."""


class Run(NamedTuple):
    """One setting in training."""

    state: Any
    best: Any
    value: Any  # monitored at the end of the last epoch
    best_value: Any
    reference: Any  # the value that an improvement must undercut by the tolerance
    best_epoch: Any
    epoch: Any
    stale: Any  # epochs since the last improvement
    halving: Any  # the same, counted anew after each halving
    rate: Any
    key: Any
    active: Any


def pad_rows(inputs: NDArray[Any], targets: NDArray[Any], weights: NDArray[Any] | None = None) -> Rows:
    """Rows padded with zeros to their bucket, in float32; inputs may have been padded before."""
    if weights is None:
        weights = np.ones(len(targets))
    size = bucket(len(targets))
    arrays = (padded(inputs, size), padded(targets, size), padded(weights, size))
    return Rows(*jax.device_put(arrays))


def open_runs(states: Any, rates: Any, keys: Any) -> Run:
    """Runs that have seen no data, from stacked states, one rate and one key each."""
    count = len(rates)
    infinite = np.full(count, np.inf, np.float32)
    zero = np.zeros(count, np.int32)
    return Run(
        state=states,
        best=states,
        value=infinite,
        best_value=infinite,
        reference=infinite,
        best_epoch=zero,
        epoch=zero - 1,
        stale=zero,
        halving=zero,
        rate=np.asarray(rates, np.float32),
        key=keys,
        active=np.ones(count, bool),
    )


def outputs_on(learner: Learner, states: Any, keys: Any, rows: Rows, span: Any) -> Any:
    """Outputs of every stacked state on the rows of the span, (states, N) or (states, N, K); zero for other rows."""
    total = rows.targets.shape[0]
    size = min(EVALUATION_BLOCK, total)

    def block_outputs(i: Any, inputs: Any) -> Any:
        return jax.vmap(lambda s, k: learner.output(s, inputs, jax.random.fold_in(k, i)))(states, keys)

    def block(i: Any, outputs: Any) -> Any:
        # If the last block would go past the end, JAX moves it back by the same number of rows in both calls.
        first = span.first + i * size
        values = block_outputs(i, jax.lax.dynamic_slice_in_dim(rows.inputs, first, size))
        return jax.lax.dynamic_update_slice_in_dim(outputs, values.astype(outputs.dtype), first, axis=1)

    one_block = jax.eval_shape(lambda: block_outputs(0, rows.inputs[:size]))
    zeros = jnp.zeros((len(keys), total, *one_block.shape[2:]), rows.inputs.dtype)
    n_blocks = -(-span.size // size)
    return jax.lax.fori_loop(0, n_blocks, block, zeros)


outputs = jax.jit(outputs_on, static_argnames="learner")
"""`outputs_on`, compiled."""


def evaluate(learner: Learner, states: Any, keys: Any, rows: Rows, span: Any) -> Any:
    """Monitored value of every stacked state on the rows of the span."""
    return monitored(learner, states, outputs_on(learner, states, keys, rows, span), rows, span)


def monitored(learner: Learner, states: Any, values: Any, rows: Rows, span: Any) -> Any:
    """Monitored value of every stacked state, from outputs on the rows of the span."""
    index = jnp.arange(rows.targets.shape[0])
    weights = jnp.where((index >= span.first) & (index < span.first + span.size), rows.weights, 0)
    return jax.vmap(lambda s, o: learner.monitor(s, o, rows.targets, weights))(states, values)


def one_epoch(
    learners: tuple[Learner, ...],
    runs: tuple[Run, ...],
    rows: Rows,
    order: Any,
    count: Any,
    watch: Any,
    limits: Limits,
    *,
    batch_size: int,
    seen: bool = False,
) -> tuple[Run, ...]:
    """One pass over the training rows in the given order, then an evaluation of the watched rows.

    The first call of a run only evaluates: the initial network is a candidate too.

    Parameters
    ----------
    order : int array (N,)
        Row numbers of the training rows, shuffled; entries from `count` on are ignored.
    watch : Span
        The watched rows.
    seen : bool
        Whether to monitor the outputs of the training pass itself, each computed before the step of its minibatch, with
        the divergence after the last step. This saves a second pass, which takes a third of the time of the first.
    """
    batches = jnp.where(runs[0].epoch[0] < 0, 0, -(-count // batch_size))

    def body(i: Any, carry: Any) -> Any:
        states, outputs = carry
        index = jax.lax.dynamic_slice_in_dim(order, i * batch_size, batch_size)
        real = i * batch_size + jnp.arange(batch_size) < count
        inputs = rows.inputs[index]
        targets = rows.targets[index]
        weights = jnp.where(real, rows.weights[index], 0)

        def step(learner: Learner, state: Any, run: Run) -> Any:
            key = jax.random.fold_in(jax.random.fold_in(run.key, run.epoch + 1), i)
            rate = run.rate * _cosine_decay(run.epoch + i / batches, limits)
            if seen:
                return learner.step_seen(state, inputs, targets, weights, rate, key)  # type: ignore[attr-defined]
            return learner.step(state, inputs, targets, weights, rate, key)

        stepped = tuple(
            jax.vmap(partial(step, learner))(state, run)
            for learner, state, run in zip(learners, states, runs, strict=True)
        )
        if not seen:
            return stepped, outputs
        # Padding is written beyond the last row, which JAX ignores.
        places = jnp.where(real, index, rows.targets.shape[0])
        written = [old.at[:, places].set(new, mode="drop") for old, (_, new) in zip(outputs, stepped, strict=True)]
        return tuple(state for state, _ in stepped), tuple(written)

    outputs: tuple[Any, ...] = ()
    if seen:
        outputs = tuple(jnp.zeros((len(run.rate), rows.targets.shape[0]), rows.inputs.dtype) for run in runs)
    states = tuple(run.state for run in runs)
    states, outputs = jax.lax.fori_loop(0, batches, body, (states, outputs))
    closed = []
    for place, (learner, state, run) in enumerate(zip(learners, states, runs, strict=True)):
        keys = jax.vmap(lambda k, e: jax.random.fold_in(jax.random.fold_in(k, e), 2**31))(run.key, run.epoch + 1)
        second_pass = partial(evaluate, learner, state, keys, rows, watch)
        if seen:
            training_pass = partial(monitored, learner, state, outputs[place], rows, watch)
            values = jax.lax.cond(batches > 0, training_pass, second_pass)
        else:
            values = second_pass()
        closed.append(jax.vmap(partial(_close_epoch, limits=limits))(run, state, values))
    return tuple(closed)


def _cosine_decay(epochs: Any, limits: Limits) -> Any:
    """The factor of the rate after so many epochs; 1 without a cosine decay."""
    progress = jnp.minimum(epochs / jnp.maximum(limits.cosine_epochs, 1), 1.0)
    return jnp.where(limits.cosine_epochs > 0, 0.5 + 0.5 * jnp.cos(jnp.pi * progress), 1.0)


def _close_epoch(run: Run, state: Any, value: Any, *, limits: Limits) -> Run:
    """Early stopping and rate halving for one run; the epoch with the smallest value is the best."""
    better = value < run.best_value
    improved = value < run.reference - limits.tolerance
    first = run.epoch < 0
    stale = jnp.where(improved | first, 0, run.stale + 1)
    waited = jnp.where(improved | first, 0, run.halving + 1)
    halve = waited >= limits.halving_patience
    number = run.epoch + 1
    after = Run(
        state=state,
        best=_select(better, state, run.best),
        value=value,
        best_value=jnp.where(better, value, run.best_value),
        reference=jnp.where(improved, value, run.reference),
        best_epoch=jnp.where(better, number, run.best_epoch),
        epoch=number,
        stale=stale,
        halving=jnp.where(halve, 0, waited),
        rate=jnp.where(halve, run.rate * 0.5, run.rate),
        key=run.key,
        active=(stale < limits.patience) & (number < limits.max_epochs),
    )
    return _select(run.active, after, run)


def _select(condition: Any, yes: Any, no: Any) -> Any:
    """One of two equal pytrees, leaf by leaf."""
    return jax.tree.map(lambda a, b: jnp.where(condition, a, b), yes, no)
