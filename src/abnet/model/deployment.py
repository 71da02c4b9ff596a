"""`deploy`: make the NumPy predictor of an aggregation and its networks, by the type of the aggregation."""

from collections.abc import Sequence
from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.model.predictors import compact, in_memory, paths, pbgnet, sampled_pbgnet, uniform
from abnet.model.predictors.predictor import Predictor
from abnet.networks import Aggregation, Ancestral, Exact, PBGNet, SampledPBGNet, Uniform
from abnet.networks.bam import BAM
from abnet.networks.independent_signs import WIDEST_TABLE

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
    if words is None and _has_one_wide_layer(networks):
        return pbgnet.PBGNetPredictor.from_networks(networks)
    return compact.Compact.from_networks(networks, words)


@deploy.register
def _(aggregation: Ancestral, networks: Sequence[BAM], rng: np.random.Generator, words: Words = None) -> Predictor:
    if words is None and len(networks[0].weights) == 2:
        # Nothing has to be sampled above one hidden layer.
        return deploy(Exact(), networks, rng)
    n_paths = aggregation.n_samples * len(networks)
    return paths.Paths.from_networks(networks, rng, n_paths=n_paths, words=words)


@deploy.register
def _(aggregation: Uniform, networks: Sequence[BAM], rng: np.random.Generator, words: Words = None) -> Predictor:
    (network,) = networks
    return uniform.UniformPredictor.from_network(network, rng, n_samples=aggregation.n_samples)


@deploy.register
def _(aggregation: PBGNet, networks: Sequence[BAM], rng: np.random.Generator, words: Words = None) -> Predictor:
    return pbgnet.PBGNetPredictor.from_networks(networks)


@deploy.register
def _(aggregation: SampledPBGNet, networks: Sequence[BAM], rng: np.random.Generator, words: Words = None) -> Predictor:
    (network,) = networks
    return sampled_pbgnet.SampledPBGNetPredictor.from_network(network, rng, n_samples=aggregation.n_samples)


def _has_one_wide_layer(networks: Sequence[BAM]) -> bool:
    """Whether there is one hidden layer, too wide for a table to be the cheapest; the network is a PBGNet then."""
    return len(networks[0].weights) == 2 and networks[0].sizes[1] > WIDEST_TABLE
