"""Training the runs of a group in one program that shrinks as they stop.

The loop of `abnet.training.stage` with two savings that only a sweep has use for; the networks are the same.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.training.loop import Learner, Limits, Rows, Run, Span, epoch
from abnet.training.stage import Outcome, Report

__all__ = ["SHRINK_FROM", "train_side_by_side"]

SHRINK_FROM = 20_000
"""Training rows from which a smaller program is worth its compilation (about 6 s, once for an architecture)."""


def train_side_by_side(
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
    library_sums: bool = True,
    shrink: bool | None = None,
) -> Outcome:
    """Train all runs until each has stopped, as `abnet.training.stage.run_stage` does.

    Parameters
    ----------
    learners, runs, rows, train, watch, rng, batch_size, limits, report
        As there.
    library_sums
        Whether sums may go to XLA's library of CPU kernels. Its sums over tables of 2^8 representations are slow:
        without it an epoch of 784-8-8-8-1 takes 0.45 s in place of 0.68 s; narrower networks lose a little.
    shrink
        Whether to go on with fewer runs once at most half of them are active; by default with `SHRINK_FROM` rows or
        more.
    """
    step = _program(library_sums)
    shrink = train.size >= SHRINK_FROM if shrink is None else shrink
    order = np.zeros(rows.targets.shape[0] + batch_size, np.int32)
    limits = Limits(*(np.asarray(v, np.float32 if isinstance(v, float) else np.int32) for v in limits))
    span, count = Span(np.int32(watch.first), np.int32(watch.size)), np.int32(train.size)
    stacks = [_Stack(learner, run) for learner, run in zip(learners, runs, strict=True)]
    curve: list[NDArray[np.float32]] = []
    interrupted = False
    try:
        while live := [stack for stack in stacks if stack.places.size]:
            order[: train.size] = train.first + rng.permutation(train.size)
            names, now = tuple(s.learner for s in live), tuple(s.run for s in live)
            for stack, run in zip(
                live, step(names, now, rows, order, count, span, limits, batch_size=batch_size), strict=True
            ):
                stack.run = run
            curve.append(np.concatenate([stack.values() for stack in stacks]))
            if report is not None:
                report(len(curve) - 1, np.concatenate([stack.best_values() for stack in stacks]))
            _reduce(stacks, shrink)
    except KeyboardInterrupt:
        interrupted = True
    return Outcome(tuple(stack.all_runs() for stack in stacks), np.array(curve), interrupted)


class _Stack:
    """The runs of one learner: those in the program (`run`, at `places` among all), and how the others ended."""

    def __init__(self, learner: Learner, run: Run) -> None:
        import jax

        self.learner, self.run = learner, run
        self.places = np.arange(len(run.rate))
        self._key = run.key
        self._ended: Any = jax.tree.map(np.array, run._replace(key=None))

    def values(self) -> NDArray[np.float32]:
        """Last monitored value of every run."""
        self._ended.value[self.places] = self.run.value
        return np.array(self._ended.value)

    def best_values(self) -> NDArray[np.float32]:
        """Best monitored value of every run."""
        self._ended.best_value[self.places] = self.run.best_value
        return np.array(self._ended.best_value)

    @property
    def active(self) -> NDArray[np.intp]:
        """Places, within the program, of the runs that go on."""
        return np.flatnonzero(np.asarray(self.run.active))

    def keep(self, count: int) -> None:
        """Go on with `count` runs, the active ones first."""
        import jax

        self._put_back()
        active = np.asarray(self.run.active)
        chosen = np.sort(np.argsort(~active, kind="stable")[:count])
        key = self.run.key[chosen] if count else self.run.key
        kept = jax.tree.map(lambda leaf: np.asarray(leaf)[chosen], self.run._replace(key=None))
        self.run, self.places = kept._replace(key=key), self.places[chosen]

    def all_runs(self) -> Run:
        """Every run as it stands."""
        if self.places.size:
            self._put_back()
        ended: Run = self._ended._replace(key=self._key)
        return ended

    def _put_back(self) -> None:
        import jax

        def put(whole: NDArray[Any], part: Any) -> None:
            whole[self.places] = np.asarray(part)

        jax.tree.map(put, self._ended, self.run._replace(key=None))


def _reduce(stacks: Sequence[_Stack], shrink: bool) -> None:
    """Leave finished runs out: all of them at the end, else when at most half of the program's runs are active.

    The stacks that go on have equal sizes, powers of two, so that there are few programs to compile.
    """
    active = [len(stack.active) if stack.places.size else 0 for stack in stacks]
    size = 2 ** (max(active) - 1).bit_length() if any(active) else 0
    wanted = [size if count else 0 for count in active]
    if not any(active) or (shrink and 2 * sum(wanted) <= sum(stack.places.size for stack in stacks)):
        for stack, count in zip(stacks, wanted, strict=True):
            if stack.places.size:
                stack.keep(min(count, stack.places.size))


@cache
def _program(library_sums: bool) -> Any:
    """`abnet.training.loop.epoch`, compiled with or without the library; one that does not know the option is kept."""
    import jax

    options: dict[str, str | bool] = {"xla_cpu_experimental_ynn_fusion_type": ""}
    if library_sums or not _known(options):
        return epoch
    raw: Any = epoch
    return jax.jit(raw.__wrapped__, static_argnames=("learners", "batch_size"), compiler_options=options)


def _known(options: dict[str, str | bool]) -> bool:
    import jax

    try:
        jax.jit(lambda x: x).lower(0.0).compile(compiler_options=options)
    except jax.errors.JaxRuntimeError:  # an older or newer XLA, or another device
        return False
    return True
