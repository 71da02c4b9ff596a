"""Random numbers of a fit: one generator for each purpose, all from one seed."""

from typing import NamedTuple

import numpy as np

__all__ = ["Generators", "generators_from"]


def generators_from(seed: int, count: int) -> list[np.random.Generator]:
    """Independent random generators from one seed.

    Examples
    --------
    >>> len(generators_from(0, 3))
    3
    """
    return [np.random.default_rng(child) for child in np.random.SeedSequence(seed).spawn(count)]


class Generators(NamedTuple):
    """The independent random generators of a fit.

    Attributes
    ----------
    start
        Initial weights of the paper's network.
    train
        Teachers, synthetic rows, members and minibatches.
    deploy
        Draws that a sampled predictor keeps.
    paths
        Draws of networks on the bound rows.
    certify
        The same for a later `certify`.
    single
        The one network that is drawn with its own certificate.
    columns
        The rows that choose columns, and the models that rank them.
    """

    start: np.random.Generator
    train: np.random.Generator
    deploy: np.random.Generator
    paths: np.random.Generator
    certify: np.random.Generator
    single: np.random.Generator
    columns: np.random.Generator

    @classmethod
    def of(cls, seed: int) -> "Generators":
        """The generators of a fit with this seed."""
        # The first child is skipped: fits of an earlier version, which split with it, keep their other generators.
        return cls(*generators_from(seed, 8)[1:])
