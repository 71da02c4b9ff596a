"""From an aggregation and its networks to the predictor in NumPy, by the aggregation's type."""

from collections.abc import Sequence
from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet import aggregation as ways
from abnet.bam import BAM
from abnet.predictors.mean_field import MeanField
from abnet.predictors.paths import Paths
from abnet.predictors.predictor import Predictor
from abnet.predictors.table import Table
from abnet.predictors.uniform import Uniform

__all__ = ["deploy"]

Words = NDArray[np.int8] | None


@singledispatch
def deploy(aggregation: Any, networks: Sequence[BAM], rng: np.random.Generator, words: Words = None) -> Predictor:
    """The predictor of one network or several members; what it draws, it draws once.

    Code words are for several classes.
    """
    raise TypeError(f"there is no predictor for {aggregation!r}: register one with deploy.")


@deploy.register
def _(aggregation: ways.Exact, networks: Sequence[BAM], rng: np.random.Generator, words: Words = None) -> Predictor:
    return Table.from_networks(networks, words)


@deploy.register
def _(aggregation: ways.Ancestral, networks: Sequence[BAM], rng: np.random.Generator, words: Words = None) -> Predictor:
    return Paths.from_networks(networks, rng, n_paths=aggregation.n_samples * len(networks), words=words)


@deploy.register
def _(aggregation: ways.Uniform, networks: Sequence[BAM], rng: np.random.Generator, words: Words = None) -> Predictor:
    (network,) = networks
    return Uniform.from_network(network, rng, n_samples=aggregation.n_samples)


@deploy.register
def _(aggregation: ways.MeanField, networks: Sequence[BAM], rng: np.random.Generator, words: Words = None) -> Predictor:
    (network,) = networks
    return MeanField.from_network(network)


@deploy.register
def _(
    aggregation: ways.StochasticMeanField, networks: Sequence[BAM], rng: np.random.Generator, words: Words = None
) -> Predictor:
    (network,) = networks
    return MeanField.from_network(network, rng, n_samples=aggregation.n_samples)
