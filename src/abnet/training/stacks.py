"""Runs of one learner that train in one program and may leave it as they stop."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.training.loop import Learner, Run

__all__ = ["Stack", "leave_out_finished"]


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
        import jax

        self._put_back()
        chosen = np.sort(np.argsort(~self.active, kind="stable")[:count])
        key = self.run.key[chosen] if count else self.run.key
        kept = jax.tree.map(lambda leaf: np.asarray(leaf)[chosen], self.run._replace(key=None))
        self.run, self.places = kept._replace(key=key), self.places[chosen]

    def all_runs(self) -> Run:
        """Every run as it stands."""
        if self._ended is None:
            return self.run
        if self.places.size:
            self._put_back()
        ended: Run = self._ended._replace(key=self._key)
        return ended

    def _put_back(self) -> None:
        import jax

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
