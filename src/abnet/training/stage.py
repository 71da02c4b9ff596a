"""One stage of training from the host's side: shuffle, dispatch compiled epochs, report, stop."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import numpy as np
from numpy.typing import NDArray

from abnet.training.compiled import compiled_epoch
from abnet.training.devices import batch_mesh, replicate
from abnet.training.loop import Learner, Limits, Rows, Run, Span
from abnet.training.stacks import Stack, leave_out_finished

__all__ = ["Outcome", "Report", "best_of", "run_stage"]

Report = Callable[[int, NDArray[np.float32]], None]
"""Called after each epoch with its number and the best monitored value of every run, learner after learner."""


class Outcome(NamedTuple):
    """What a stage leaves: the runs, the monitored values by epoch (epochs, runs) and whether the user broke it off."""

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
) -> Outcome:
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
    """
    # One spare batch, so that the last slice of the order is never shifted.
    order = np.zeros(rows.targets.shape[0] + batch_size, np.int32)
    mesh = batch_mesh(batch_size)
    rows, runs = replicate(mesh, (rows, runs))
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
            done = compiled_epoch(names)(names, now, rows, order, count, span, limits, batch_size=batch_size, mesh=mesh)
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
    return Outcome(tuple(stack.all_runs() for stack in stacks), np.array(curve), interrupted)


def best_of(run: Run, index: int = 0) -> Any:
    """The best state of one run of a stack, in NumPy arrays."""
    return jax.tree.map(lambda leaf: np.asarray(leaf)[index], run.best)
