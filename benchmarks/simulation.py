"""What a simulation of a promise counts: how often a statement was false where the truth is known."""

import zlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

__all__ = ["Simulation", "repeated"]


@dataclass(frozen=True)
class Simulation:
    """One setting of a promise, simulated many times.

    Attributes
    ----------
    setting : str
        A few words, such as "rows sorted by label".
    delta : float
        Largest probability, as promised, that the statement is false.
    repetitions : int
    false : int
        Repetitions in which it was false.
    trap : bool
        Whether an assumption is violated on purpose, so that the promise is expected to break.
    """

    setting: str
    delta: float
    repetitions: int
    false: int
    trap: bool = False


def repeated(
    setting: str,
    fails: Callable[[np.random.Generator], bool],
    *,
    delta: float,
    repetitions: int,
    trap: bool = False,
) -> Simulation:
    """Simulate a setting; every repetition has a generator of its own, seeded by the setting and its number.

    ``fails`` draws a sample, makes the statement that a user would get, and returns whether it is false.
    """
    seed = zlib.crc32(setting.encode())
    false = sum(bool(fails(np.random.default_rng([seed, i]))) for i in range(repetitions))
    return Simulation(setting, delta, repetitions, false, trap)
