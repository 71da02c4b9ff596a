"""A predictor of a user's own aggregation: scores, and no file."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from abnet.model.predictors.compact import Compact
from abnet.model.predictors.in_memory import InMemory
from abnet.model.predictors.kinds import kind_of
from abnet.networks import Aggregation, exact
from abnet.networks.codebook import code_words
from abnet.networks.gaussian_kl import gaussian_kl
from conftest import random_network


@dataclass(frozen=True)
class Own(Aggregation):
    share: float = 0.5

    def output(self, layers: tuple[Any, ...], lifted: Any, key: Any = None, table: Any = None) -> Any:
        return self.share * exact.output(layers, lifted, table)

    def kl(self, layers: tuple[Any, ...], prior: tuple[Any, ...], log_sigma: Sequence[Any]) -> Any:
        return gaussian_kl(layers, prior, log_sigma)


def test_scores_are_the_mean_of_the_outputs(rng: np.random.Generator) -> None:
    networks = [random_network(rng, (3, 2, 1)) for _ in range(2)]
    X = rng.normal(size=(50, 3)).astype(np.float32)
    half = InMemory.from_networks(Own(), networks).scores(X)
    np.testing.assert_allclose(2 * half, Compact.from_networks(networks).scores(X), atol=1e-14)


def test_several_classes_have_shares(rng: np.random.Generator) -> None:
    words = code_words(3, 4)
    own = InMemory.from_networks(Own(1.0), [random_network(rng, (3, 2, 4))], words)
    np.testing.assert_allclose(own.scores(rng.normal(size=(5, 3))).sum(axis=1), 1)
    assert own.n_classes == 3


def test_no_file_holds_it(rng: np.random.Generator) -> None:
    own = InMemory.from_networks(Own(), [random_network(rng, (3, 2, 1))])
    with pytest.raises(ValueError, match="Own"):
        own.arrays()
    with pytest.raises(ValueError, match="InMemory"):
        kind_of(own)
    with pytest.raises(ValueError, match="file"):
        InMemory.from_arrays({})
