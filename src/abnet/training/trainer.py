"""Learning an aggregation: a prior on a first part of the rows, a posterior through the bound, or the linear loss.

A stage is training from the host's side: shuffle, dispatch compiled epochs, report, stop.

Runs of one learner form a `Stack`: they train in one program and may leave it as they stop. The program is the same on
one device and on many: examples and weights are on all of them, minibatches are split among them, and JAX's compiler
adds the exchange of gradients. With `jax.distributed` the devices may belong to several processes.

On a CPU, XLA by itself takes kernels from a library, splits loops among cores and runs kernels side by side. The
library's sums over tables of 2^d representations are slow, and steps of a tenth of a millisecond lose more by waking
another core than they gain. So aggregations are compiled without the library, and narrow exact ones (ABNet, PBGNet)
with one kernel after the other. The networks are the same up to rounding.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from numpy.typing import NDArray

from abnet.bam import BAM
from abnet.training.learners import AggregationLearner, Objective, start
from abnet.training.loop import (
    STATIC,
    Aggregating,
    Learner,
    Limits,
    Rows,
    Run,
    Span,
    epoch,
    one_epoch,
    open_runs,
    pad_rows,
)
from abnet.training.padding import bucket

__all__ = [
    "NEVER",
    "PRIOR_RATE",
    "RATE",
    "Report",
    "Stack",
    "StageOutcome",
    "Trainer",
    "batch_mesh",
    "best_of",
    "compiled_epoch",
    "learn_linear",
    "learn_posterior",
    "learn_prior",
    "leave_out_finished",
    "lifted_rows",
    "new_keys",
    "prior_spans",
    "run_stage",
    "stack",
]


class Stack:
    """The runs of one learner: those in the program (`run`, at `places` among all), and how the others ended."""

    def __init__(self, learner: Learner, run: Run) -> None:
        self.learner, self.run = learner, run
        self.places = np.arange(len(run.rate))
        self._ended: Any = None
        self._key = run.key
        self._values = [np.array(run.value), np.array(run.best_value)]

    @property
    def active(self) -> NDArray[np.bool_]:
        """Which runs of the program go on."""
        return np.asarray(self.run.active)

    def values(self) -> NDArray[np.float32]:
        """Last monitored value of every run."""
        self._values[0][self.places] = self.run.value
        return self._values[0].copy()

    def best_values(self) -> NDArray[np.float32]:
        """Best monitored value of every run."""
        self._values[1][self.places] = self.run.best_value
        return self._values[1].copy()

    def keep(self, count: int) -> None:
        """Go on with `count` runs, the active ones first."""
        self._put_back()
        chosen = np.sort(np.argsort(~self.active, kind="stable")[:count])
        key = self.run.key[chosen] if count else self.run.key
        kept = jax.tree.map(lambda leaf: np.asarray(leaf)[chosen], self.run._replace(key=None))
        self.run, self.places = _placed(kept._replace(key=key)), self.places[chosen]

    def all_runs(self) -> Run:
        """Every run as it stands."""
        if self._ended is None:
            return self.run
        if self.places.size:
            self._put_back()
        ended: Run = self._ended._replace(key=self._key)
        return ended

    def _put_back(self) -> None:
        now = self.run._replace(key=None)
        if self._ended is None:
            self._ended = jax.tree.map(np.array, now)
        else:
            jax.tree.map(lambda whole, part: whole.__setitem__(self.places, np.asarray(part)), self._ended, now)


def leave_out_finished(stacks: Sequence[Stack]) -> None:
    """Go on without finished runs once at most half of the program's runs are active.

    The stacks that go on have equal sizes, powers of two, so that there are few programs to compile.
    """
    active = [int(stack.active.sum()) if stack.places.size else 0 for stack in stacks]
    size = 2 ** (max(active) - 1).bit_length() if any(active) else 0
    wanted = [size if count else 0 for count in active]
    if any(active) and 2 * sum(wanted) <= sum(stack.places.size for stack in stacks):
        for stack, count in zip(stacks, wanted, strict=True):
            if stack.places.size:
                stack.keep(min(count, stack.places.size))


Report = Callable[[int, NDArray[np.float32]], None]
"""Called after each epoch with its number and the best monitored value of every run, learner after learner."""


class StageOutcome(NamedTuple):
    """What a stage leaves: the runs, the monitored values by epoch (epochs, runs) and whether it was interrupted."""

    runs: tuple[Run, ...]
    curve: NDArray[np.float32]
    interrupted: bool


def run_stage(
    learners: tuple[Learner, ...],
    runs: tuple[Run, ...],
    rows: Rows,
    train: Span,
    watch: Span,
    *,
    rng: np.random.Generator,
    batch_size: int,
    limits: Limits,
    report: Report | None = None,
    shrink: bool = False,
    seen: bool = False,
) -> StageOutcome:
    """Train all runs until each has stopped; Ctrl-C ends the stage and keeps the best of every run so far.

    Parameters
    ----------
    learners, runs
        One stack of runs per learner (`abnet.training.loop.open_runs`); all see the same minibatches.
    rows : Rows
    train, watch : Span
        Rows to learn from, and rows that the monitored value is computed on.
    rng : numpy.random.Generator
        Shuffles the training rows: the order does not depend on the padding.
    shrink
        Whether finished runs leave the program once they are half of it. The networks are the same up to rounding; each
        smaller program has to be compiled.
    seen
        Whether the rows are watched in the training pass itself (`abnet.training.loop.one_epoch`); `watch` is `train`.
    """
    # One spare batch, so that the last slice of the order is never shifted.
    order = np.zeros(rows.targets.shape[0] + batch_size, np.int32)
    mesh = batch_mesh(batch_size)
    rows, runs = _replicate(mesh, (rows, runs))
    limits = Limits(*(np.asarray(v, np.float32 if isinstance(v, float) else np.int32) for v in limits))
    span, count = Span(np.int32(watch.first), np.int32(watch.size)), np.int32(train.size)
    stacks = [Stack(learner, run) for learner, run in zip(learners, runs, strict=True)]
    curve: list[NDArray[np.float32]] = []
    interrupted = False
    try:
        while any(stack.active.any() for stack in stacks):
            live = [stack for stack in stacks if stack.places.size]
            order[: train.size] = train.first + rng.permutation(train.size)
            names, now = tuple(stack.learner for stack in live), tuple(stack.run for stack in live)
            done = compiled_epoch(names)(
                names, now, rows, order, count, span, limits, batch_size=batch_size, mesh=mesh, seen=seen
            )
            # An interrupt here leaves the epoch before; and the order must not change while it is read.
            jax.block_until_ready(done)
            for stack, run in zip(live, done, strict=True):
                stack.run = run
            curve.append(np.concatenate([stack.values() for stack in stacks]))
            if report is not None:
                report(len(curve) - 1, np.concatenate([stack.best_values() for stack in stacks]))
            if shrink:
                leave_out_finished(stacks)
    except KeyboardInterrupt:
        interrupted = True
    return StageOutcome(tuple(stack.all_runs() for stack in stacks), np.array(curve), interrupted)


def best_of(run: Run, index: int = 0) -> Any:
    """The best state of one run of a stack, in NumPy arrays."""
    return jax.tree.map(lambda leaf: np.asarray(leaf)[index], run.best)


def batch_mesh(batch_size: int) -> Mesh | None:
    """All devices in a row, or None if there is one alone or they do not divide the batch."""
    devices = jax.devices()
    if len(devices) == 1 or batch_size % len(devices):
        return None
    return Mesh(np.array(devices), ("rows",))


def _replicate(mesh: Mesh | None, tree: Any) -> Any:
    """Arrays of the host on all devices of the mesh, or on the one that JAX takes."""
    if mesh is None:
        return _placed(tree)
    sharding = NamedSharding(mesh, PartitionSpec())
    if jax.process_count() == 1:
        return jax.device_put(tree, sharding)
    return jax.tree.map(lambda leaf: _from_every_process(sharding, leaf), tree)


def _placed(tree: Any) -> Any:
    """Arrays bound to the device that JAX takes, as an epoch leaves them: else its second call would compile again."""
    (device,) = jax.device_put(0).devices()
    return jax.device_put(tree, device)


def _from_every_process(sharding: NamedSharding, leaf: Any) -> Any:
    """One array across processes, all of which hold the same values; keys have no NumPy form of their own."""
    if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        return jax.random.wrap_key_data(_from_every_process(sharding, jax.random.key_data(leaf)))
    values = np.asarray(leaf)
    return jax.make_array_from_process_local_data(sharding, values, values.shape)


NEVER = 2**30
"""A patience that is never used up."""
PRIOR_RATE, RATE = 0.05, 0.01
"""Learning rates that suit most tables: of a prior, and of a stage that minimises the bound or the linear loss."""
LINEAR_SHARE = 5
"""A prior's linear loss learns at this fraction of the rate of its log loss: it only refines what is there."""


@dataclass
class Trainer:
    """Everything that the stages of one fit share, and the curves that they leave.

    Parameters
    ----------
    learner : AggregationLearner
    rows : Rows
        Lifted inputs, targets and weights (`abnet.training.loop.pad_rows`).
    batch_size : int
    delta : float
    limits : Limits
        Of the stages that stop early on their own objective.
    rng : numpy.random.Generator
        Shuffles minibatches and seeds the sampling keys.
    report : callable, optional
        Called after each epoch with the stage's name, the epoch, the most epochs that there may be, and the best value.
    n_draws : int, optional
        Independent draws that a bound counts: the groups, where rows come in groups; by default the rows.
    """

    learner: AggregationLearner
    rows: Rows
    batch_size: int
    delta: float
    limits: Limits
    rng: np.random.Generator
    report: Any = None
    n_draws: int | None = None
    curves: dict[str, list[float]] = field(default_factory=dict)
    interrupted: bool = False

    def stage(
        self,
        name: str,
        objective: Objective,
        network: BAM,
        prior: BAM,
        train: Span,
        watch: Span,
        rate: float,
        limits: Limits,
        *,
        seen: bool = False,
    ) -> BAM:
        """The best network of one stage that starts at `network`."""
        if self.interrupted:
            return network
        states = stack([start(network, prior, objective, self.n_draws or train.size, self.delta)])
        runs = open_runs(states, [rate], new_keys(self.rng, 1))
        outcome = run_stage(
            (self.learner,), (runs,), self.rows, train, watch,
            rng=self.rng, batch_size=self.batch_size, limits=limits, report=self._reporter(name, limits.max_epochs),
            seen=seen,
        )  # fmt: skip
        self.curves[name] = [float(value) for value in outcome.curve[:, 0]] if len(outcome.curve) else []
        self.interrupted = outcome.interrupted
        return self.learner.network(best_of(outcome.runs[0]))

    def _reporter(self, name: str, most: int) -> Report | None:
        if self.report is None:
            return None
        return lambda epoch, values: self.report(name, epoch, most, float(values[0]))


def stack(states: list[Any]) -> Any:
    """Equal pytrees stacked along a new leading axis, in NumPy (nothing to compile)."""
    import jax

    return jax.tree.map(lambda *leaves: np.stack(leaves), *states)


def new_keys(rng: np.random.Generator, count: int) -> Any:
    """Independent JAX keys from a NumPy generator."""
    import jax

    numbers = rng.integers(0, 2**32, (count, 2), dtype=np.uint32)
    return jax.random.wrap_key_data(jax.device_put(numbers))


def learn_prior(
    trainer: Trainer,
    network: BAM,
    part: Span,
    validation_fraction: float,
    rate: float = PRIOR_RATE,
    held: int | None = None,
) -> BAM:
    """A prior from the first part alone, in two halves: log loss, then linear loss, each with a cosine decay.

    The log loss leaves the plateaus of the start, the linear loss is the risk. Either half has half of the epochs (at
    least one), and the second a fifth of the rate. Early stopping looks at the last `validation_fraction` of the part;
    a part too small to spare any watches itself. `held` is their number, where whole groups are to be kept together.
    """
    train, watch = prior_spans(part, validation_fraction, held)
    epochs = max(trainer.limits.max_epochs // 2, 1)
    limits = trainer.limits._replace(max_epochs=epochs, cosine_epochs=epochs, halving_patience=NEVER)
    for objective, speed in ((Objective.LOG, rate), (Objective.LINEAR, rate / LINEAR_SHARE)):
        name = f"prior, {objective.name.lower()} loss"
        network = trainer.stage(name, objective, network, network, train, watch, speed, limits)
    return network


def prior_spans(part: Span, validation_fraction: float, held: int | None = None) -> tuple[Span, Span]:
    """The rows of a part that a prior learns from, and those that early stopping watches: `held` rows, if it is given.

    Examples
    --------
    >>> prior_spans(Span(0, 10), 0.2)
    (Span(first=0, size=8), Span(first=8, size=2))
    """
    held = round(validation_fraction * part.size) if held is None else held
    if not 1 <= held < part.size:
        return part, part
    return Span(part.first, part.size - held), Span(part.first + part.size - held, held)


MANY_ROWS = 20_000
"""Rows from which on a posterior is watched in the training pass: fewer take less time than another program."""


def learn_posterior(trainer: Trainer, prior: BAM, part: Span, rate: float) -> BAM:
    """The posterior that minimises Catoni's bound on the part, starting at the prior.

    Which epoch is kept is decided by the bound on all rows after it, as in the paper's protocol; from `MANY_ROWS` on by
    the losses that the pass itself met. The bound that is certified is computed of the finished network.
    """
    many = part.size >= MANY_ROWS
    return trainer.stage("bound", Objective.BOUND, prior, prior, part, part, rate, trainer.limits, seen=many)


def learn_linear(trainer: Trainer, network: BAM, train: Span, watch: Span, rate: float) -> BAM:
    """The network of the lowest linear loss on the watched rows."""
    return trainer.stage("linear loss", Objective.LINEAR, network, network, train, watch, rate, trainer.limits)


def lifted_rows(X: NDArray[Any], y: NDArray[Any], weights: NDArray[Any] | None) -> Rows:
    """Prepared inputs lifted, padded and on the device."""
    from abnet.aggregation.exact import lift

    padded = np.zeros((bucket(len(y)), X.shape[1] + 1), np.float32)
    lift(np.asarray(X, np.float32), out=padded[: len(y)])
    return pad_rows(padded, y, weights)


NO_LIBRARY = {"xla_cpu_experimental_ynn_fusion_type": ""}
IN_SEQUENCE = {
    "xla_cpu_scheduler_type": "CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED",  # kernels reuse memory, so each waits for the last
    "xla_disable_hlo_passes": "cpu-parallel-task-assigner",  # no loop is split among cores
}


def compiled_epoch(learners: tuple[Learner, ...]) -> Any:
    """`abnet.training.loop.epoch`, compiled for these learners; what an XLA cannot choose is left to it."""
    aggregating = [learner for learner in learners if isinstance(learner, Aggregating)]
    if len(aggregating) < len(learners) or all(learner.by_library for learner in aggregating):
        return epoch
    return _epoch(in_sequence=all(learner.in_sequence for learner in aggregating))


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
