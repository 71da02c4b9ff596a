"""Random numbers of a fit: one generator for each purpose, all from one seed."""

from typing import NamedTuple

import numpy as np

__all__ = ["Streams", "seeds"]


def seeds(seed: int, count: int) -> list[np.random.Generator]:
    """Independent generators from one seed: what is drawn from one tells nothing about another."""
    return [np.random.default_rng(child) for child in np.random.SeedSequence(seed).spawn(count)]


class Streams(NamedTuple):
    """Generators of a fit: start, training, the predictor's draws, the certificates'. None tells of another."""

    start: np.random.Generator
    train: np.random.Generator
    deploy: np.random.Generator
    paths: np.random.Generator
    certify: np.random.Generator
    single: np.random.Generator

    @classmethod
    def of(cls, seed: int) -> "Streams":
        """The generators of the fit with this seed; the first child of the seed once drew the split."""
        return cls(*seeds(seed, 7)[1:])
