"""From an aggregation and its networks to the predictor in NumPy, by the aggregation's type."""

from functools import singledispatch
from typing import Any

import numpy as np

from abnet.aggregation import Ancestral, Exact, MeanField, StochasticMeanField, Uniform
from abnet.bam import BAM
from abnet.predictors.compact import CompactABNet
from abnet.predictors.mean_field_network import MeanFieldNetwork, SampledMeanField
from abnet.predictors.mixture import CompactMixture, PathMixture
from abnet.predictors.paths import CompactUniform, PathPredictor
from abnet.predictors.predictor import ModelInfo, Predictor

__all__ = ["deploy_mixture", "deploy_network"]


@singledispatch
def deploy_network(aggregation: Any, network: BAM, rng: np.random.Generator) -> Predictor:
    """The predictor of one network; what it draws, it draws once."""
    raise TypeError(f"there is no predictor of one network for {aggregation!r}: register one with deploy_network.")


@deploy_network.register
def _(aggregation: Exact, network: BAM, rng: np.random.Generator) -> Predictor:
    return CompactABNet.from_network(network)


@deploy_network.register
def _(aggregation: Ancestral, network: BAM, rng: np.random.Generator) -> Predictor:
    return PathPredictor.from_network(network, rng, n_paths=aggregation.n_samples)


@deploy_network.register
def _(aggregation: Uniform, network: BAM, rng: np.random.Generator) -> Predictor:
    return CompactUniform.from_network(network, rng, n_samples=aggregation.n_samples)


@deploy_network.register
def _(aggregation: MeanField, network: BAM, rng: np.random.Generator) -> Predictor:
    return MeanFieldNetwork.from_network(network)


@deploy_network.register
def _(aggregation: StochasticMeanField, network: BAM, rng: np.random.Generator) -> Predictor:
    return SampledMeanField.from_network(network, rng, n_samples=aggregation.n_samples)


@singledispatch
def deploy_mixture(aggregation: Any, networks: tuple[BAM, ...], rng: np.random.Generator, info: ModelInfo) -> Predictor:
    """The predictor of several members; what it draws, it draws once."""
    raise TypeError(f"there is no predictor of several networks for {aggregation!r}: register one with deploy_mixture.")


@deploy_mixture.register
def _(aggregation: Exact, networks: tuple[BAM, ...], rng: np.random.Generator, info: ModelInfo) -> Predictor:
    return CompactMixture.from_networks(networks, info)


@deploy_mixture.register
def _(aggregation: Ancestral, networks: tuple[BAM, ...], rng: np.random.Generator, info: ModelInfo) -> Predictor:
    return PathMixture.from_networks(networks, rng, n_paths=aggregation.n_samples * len(networks), info=info)
