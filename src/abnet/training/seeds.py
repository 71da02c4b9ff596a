"""Random numbers of a fit: one generator for each purpose, all from one seed."""

from typing import NamedTuple

import numpy as np

__all__ = ["Streams", "seeds"]


def seeds(seed: int, count: int) -> list[np.random.Generator]:
    """Independent random generators from one seed."""
    return [np.random.default_rng(child) for child in np.random.SeedSequence(seed).spawn(count)]


class Streams(NamedTuple):
    """Independent generators of a fit: initialisation, training, the predictor's draws, the certificates' draws."""

    start: np.random.Generator
    train: np.random.Generator
    deploy: np.random.Generator
    paths: np.random.Generator
    certify: np.random.Generator
    single: np.random.Generator

    @classmethod
    def of(cls, seed: int) -> "Streams":
        """The generators of a fit with this seed. The first child is skipped: an earlier version used it for the
        split."""
        return cls(*seeds(seed, 7)[1:])
