"""Run a stage of training: shuffle, dispatch compiled epochs, report progress, stop.

Runs of one learner form a `Stack`: they are trained in one program and may leave it when they stop.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np
from numpy.typing import NDArray

from abnet.training.compilation import compiled_epoch
from abnet.training.loop import Learner, Limits, Rows, Run, Span

__all__ = [
    "NEVER",
    "Report",
    "Stack",
    "StageOutcome",
    "best_of",
    "leave_out_finished",
    "new_keys",
    "run_stage",
    "stack",
]

NEVER = 2**30
"""A patience that is never used up."""


class Stack:
    """The runs of one learner: those still in the program (`run`, with indices `places`), and the finished ones."""

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
    """Continue without finished runs once at most half of the program's runs are active.

    The remaining stacks have equal sizes, powers of two, so that there are few programs to compile.
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
            done = compiled_epoch(names)(names, now, rows, order, count, span, limits, batch_size=batch_size, seen=seen)
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


def _placed(tree: Any) -> Any:
    """Arrays bound to the device that JAX takes, as an epoch leaves them: else its second call would compile again."""
    (device,) = jax.device_put(0).devices()
    return jax.device_put(tree, device)


def stack(states: list[Any]) -> Any:
    """Equal pytrees stacked along a new leading axis, in NumPy (nothing to compile)."""
    return jax.tree.map(lambda *leaves: np.stack(leaves), *states)


def new_keys(rng: np.random.Generator, count: int) -> Any:
    """Independent JAX keys from a NumPy generator."""
    numbers = rng.integers(0, 2**32, (count, 2), dtype=np.uint32)
    return jax.random.wrap_key_data(jax.device_put(numbers))
