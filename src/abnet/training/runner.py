"""Run a stage of training: shuffle the rows, call the compiled epoch, report progress, stop.

`train` trains one setting. `run_stage` trains several side by side: the runs of one learner form a `Stack`, which is
trained in one program, and a run may leave the program when it has stopped.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np
from numpy.typing import NDArray

from abnet.training.compilation import compiled_epoch
from abnet.training.loop import Learner, Limits, Rows, Run, Span, open_runs
from abnet.training.progress_bar import Report

__all__ = [
    "NEVER",
    "EpochReport",
    "Stack",
    "Stage",
    "StageOutcome",
    "Trained",
    "best_of",
    "leave_out_finished",
    "new_keys",
    "run_stage",
    "stack",
    "train",
]

NEVER = 2**30
"""A patience that is never used up."""


class Stage(NamedTuple):
    """One stage in the training of one setting.

    Attributes
    ----------
    name : str
        Shown with the progress.
    start : state of the learner
        Where training starts.
    train, watch : Span
        The training rows, and the rows on which early stopping computes the monitored value.
    rate : float
        Initial learning rate.
    batch_size : int
    limits : Limits
    seen : bool
        Whether to monitor in the training pass itself, as in `run_stage`.
    """

    name: str
    start: Any
    train: Span
    watch: Span
    rate: float
    batch_size: int
    limits: Limits
    seen: bool = False


class Trained(NamedTuple):
    """Result of `train`: the best state, the monitored value by epoch, and whether training was interrupted."""

    state: Any
    curve: list[float]
    interrupted: bool


def train(
    learner: Learner, stage: Stage, rows: Rows, rng: np.random.Generator, report: Report | None = None
) -> Trained:
    """Train one setting for one stage, and return its best state.

    Parameters
    ----------
    learner : Learner
    stage : Stage
    rows : Rows
    rng : numpy.random.Generator
        Draws the key of the run, then shuffles the training rows.
    report : callable, optional
        Called after each epoch (`abnet.training.progress_bar.Report`).
    """
    runs = open_runs(stack([stage.start]), [stage.rate], new_keys(rng, 1))
    on_epoch: EpochReport | None = None
    if report is not None:

        def on_epoch(epoch: int, best_values: NDArray[np.float32]) -> None:
            report(stage.name, epoch, stage.limits.max_epochs, float(best_values[0]))

    outcome = run_stage(
        (learner,),
        (runs,),
        rows,
        stage.train,
        stage.watch,
        rng=rng,
        batch_size=stage.batch_size,
        limits=stage.limits,
        report=on_epoch,
        seen=stage.seen,
    )
    curve = [float(values[0]) for values in outcome.curve]
    return Trained(best_of(outcome.runs[0]), curve, outcome.interrupted)


class Stack:
    """The runs of one learner: those still in the program (`run`, with indices `places`), and the finished ones."""

    def __init__(self, learner: Learner, run: Run) -> None:
        self.learner = learner
        self.run = run
        self.places = np.arange(len(run.rate))
        self._all: Any = None  # every run as last seen, without keys; None as long as no run has left the program
        self._keys = run.key
        self._last_values = np.array(run.value)
        self._best_values = np.array(run.best_value)

    @property
    def active(self) -> NDArray[np.bool_]:
        """Which runs of the program continue."""
        return np.asarray(self.run.active)

    def values(self) -> NDArray[np.float32]:
        """Last monitored value of every run."""
        self._last_values[self.places] = self.run.value
        return self._last_values.copy()

    def best_values(self) -> NDArray[np.float32]:
        """Best monitored value of every run."""
        self._best_values[self.places] = self.run.best_value
        return self._best_values.copy()

    def keep(self, count: int) -> None:
        """Continue with `count` runs, the active ones first."""
        self._store()
        chosen = np.sort(np.argsort(~self.active, kind="stable")[:count])
        keys = self.run.key
        if count:
            keys = keys[chosen]
        kept = jax.tree.map(lambda leaf: np.asarray(leaf)[chosen], self.run._replace(key=None))
        self.run = _placed(kept._replace(key=keys))
        self.places = self.places[chosen]

    def all_runs(self) -> Run:
        """Every run in its current state, finished or not."""
        if self._all is None:
            return self.run
        if self.places.size:
            self._store()
        runs: Run = self._all._replace(key=self._keys)
        return runs

    def _store(self) -> None:
        """Copy the runs of the program to their places among all runs."""
        current = self.run._replace(key=None)
        if self._all is None:
            self._all = jax.tree.map(np.array, current)
            return

        def store(whole: NDArray[Any], part: Any) -> None:
            whole[self.places] = np.asarray(part)

        jax.tree.map(store, self._all, current)


def leave_out_finished(stacks: Sequence[Stack]) -> None:
    """Continue without finished runs once at most half of the program's runs are active.

    The remaining stacks have equal sizes, powers of two, so that there are few programs to compile.
    """
    in_program = [stack for stack in stacks if stack.places.size]
    unfinished = [stack for stack in in_program if stack.active.any()]
    if not unfinished:
        return
    most_active = max(int(stack.active.sum()) for stack in unfinished)
    size = 2 ** (most_active - 1).bit_length()
    if 2 * size * len(unfinished) > sum(stack.places.size for stack in in_program):
        return
    for stack in in_program:
        if stack in unfinished:
            stack.keep(min(size, stack.places.size))
        else:
            stack.keep(0)


EpochReport = Callable[[int, NDArray[np.float32]], None]
"""Called after each epoch with its number and the best monitored value of every run, learner after learner."""


class StageOutcome(NamedTuple):
    """Result of a stage: the runs, the monitored values by epoch (epochs, runs) and whether it was interrupted."""

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
    report: EpochReport | None = None,
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
        Training rows, and rows on which the monitored value is computed.
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
    rows, runs = _placed((rows, runs))
    limits = _as_arrays(limits)
    watched = Span(np.int32(watch.first), np.int32(watch.size))
    n_train = np.int32(train.size)
    stacks = [Stack(learner, run) for learner, run in zip(learners, runs, strict=True)]
    curve: list[NDArray[np.float32]] = []
    interrupted = False
    try:
        while any(stack.active.any() for stack in stacks):
            live = [stack for stack in stacks if stack.places.size]
            order[: train.size] = train.first + rng.permutation(train.size)
            live_learners = tuple(stack.learner for stack in live)
            live_runs = tuple(stack.run for stack in live)
            program = compiled_epoch(live_learners)
            next_runs = program(
                live_learners, live_runs, rows, order, n_train, watched, limits, batch_size=batch_size, seen=seen
            )
            # An interrupt here leaves the previous epoch in place; and `order` must not change while it is read.
            jax.block_until_ready(next_runs)
            for stack, run in zip(live, next_runs, strict=True):
                stack.run = run
            curve.append(np.concatenate([stack.values() for stack in stacks]))
            if report is not None:
                report(len(curve) - 1, np.concatenate([stack.best_values() for stack in stacks]))
            if shrink:
                leave_out_finished(stacks)
    except KeyboardInterrupt:
        interrupted = True
    return StageOutcome(tuple(stack.all_runs() for stack in stacks), np.array(curve), interrupted)


def _as_arrays(limits: Limits) -> Limits:
    """The limits with the types that the program is compiled for."""
    arrays: list[NDArray[Any]] = []
    for value in limits:
        kind: type = np.int32
        if isinstance(value, float):
            kind = np.float32
        arrays.append(np.asarray(value, kind))
    return Limits(*arrays)


def best_of(run: Run, index: int = 0) -> Any:
    """The best state of one run of a stack, in NumPy arrays."""
    return jax.tree.map(lambda leaf: np.asarray(leaf)[index], run.best)


def _placed(tree: Any) -> Any:
    """Arrays committed to the device, as an epoch returns them; otherwise its second call would compile again."""
    (device,) = jax.device_put(0).devices()
    return jax.device_put(tree, device)


def stack(states: list[Any]) -> Any:
    """Equal pytrees stacked along a new leading axis, in NumPy (nothing to compile)."""
    return jax.tree.map(lambda *leaves: np.stack(leaves), *states)


def new_keys(rng: np.random.Generator, count: int) -> Any:
    """Independent JAX keys from a NumPy generator."""
    numbers = rng.integers(0, 2**32, (count, 2), dtype=np.uint32)
    return jax.random.wrap_key_data(jax.device_put(numbers))
