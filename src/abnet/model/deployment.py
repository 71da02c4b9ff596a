"""`deploy`: make the NumPy predictor of an aggregation and its networks, by the type of the aggregation."""

from collections.abc import Sequence
from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.model.predictors import compact, in_memory, paths, pbgnet, uniform
from abnet.model.predictors.predictor import Predictor
from abnet.networks import Aggregation, Ancestral, Exact, PBGNet, SampledPBGNet, Uniform
from abnet.networks.bam import BAM

__all__ = ["deploy"]

Words = NDArray[np.int8] | None


@singledispatch
def deploy(aggregation: Any, networks: Sequence[BAM], rng: np.random.Generator, words: Words = None) -> Predictor:
    """The predictor of the members; sampled quantities are drawn once and kept.

    An aggregation that is not registered here is called directly (`InMemory`), if it does not sample.

    Parameters
    ----------
    aggregation : Aggregation
    networks : sequence of BAM
        One network is a mixture of one.
    rng : numpy.random.Generator
    words : int8 array (K, c), optional
        Code words of several classes.
    """
    if isinstance(aggregation, Aggregation) and not aggregation.sampled:
        return in_memory.InMemory.from_networks(aggregation, networks, words)
    raise TypeError(f"there is no predictor for {aggregation!r}: register one with abnet.model.deployment.deploy.")


@deploy.register
def _(aggregation: Exact, networks: Sequence[BAM], rng: np.random.Generator, words: Words = None) -> Predictor:
    return compact.Compact.from_networks(networks, words)


@deploy.register
def _(aggregation: Ancestral, networks: Sequence[BAM], rng: np.random.Generator, words: Words = None) -> Predictor:
    n_paths = aggregation.n_samples * len(networks)
    return paths.Paths.from_networks(networks, rng, n_paths=n_paths, words=words)


@deploy.register
def _(aggregation: Uniform, networks: Sequence[BAM], rng: np.random.Generator, words: Words = None) -> Predictor:
    (network,) = networks
    return uniform.UniformPredictor.from_network(network, rng, n_samples=aggregation.n_samples)


@deploy.register
def _(aggregation: PBGNet, networks: Sequence[BAM], rng: np.random.Generator, words: Words = None) -> Predictor:
    (network,) = networks
    return pbgnet.PBGNetPredictor.from_network(network)


@deploy.register
def _(aggregation: SampledPBGNet, networks: Sequence[BAM], rng: np.random.Generator, words: Words = None) -> Predictor:
    (network,) = networks
    return pbgnet.PBGNetPredictor.from_network(network, rng, n_samples=aggregation.n_samples)
