import numpy as np
import pytest
from scipy.special import erf

from abnet.model.predictors.pbgnet import PBGNetPredictor
from abnet.model.predictors.sampled_pbgnet import SampledPBGNetPredictor
from abnet.networks import pbgnet
from conftest import random_network


@pytest.mark.parametrize("sizes", [(3, 1, 1), (3, 4, 1), (2, 5, 2, 3, 1)], ids=str)
def test_tables_give_the_output_of_the_full_network(sizes: tuple[int, ...], rng: np.random.Generator) -> None:
    bam, X = random_network(rng, sizes), 2 * rng.normal(size=(1500, sizes[0]))
    X = X.astype(np.float32).astype(np.float64)
    scores = PBGNetPredictor.from_networks([bam]).scores(X)
    np.testing.assert_allclose(scores, pbgnet.expected_output(bam, X), atol=1e-13)


def test_sampled_pbgnet_is_the_loop_over_its_thresholds(rng: np.random.Generator) -> None:
    network, x = random_network(rng, (4, 6, 5, 1)), rng.normal(size=4).astype(np.float32).astype(np.float64)
    predictor = SampledPBGNetPredictor.from_network(network, rng, n_samples=7)
    F = erf((network.weights[0] @ x + network.biases[0]) / np.sqrt(2 * (x @ x + 1)))
    for W, b, u in zip(network.weights[1:], network.biases[1:], predictor.thresholds, strict=True):
        signs = [np.where(u_t < F, 1.0, -1.0) for u_t in u]
        F = np.mean([erf((W @ s + b) / np.sqrt(2 * (len(s) + 1))) for s in signs], axis=0)
    np.testing.assert_allclose(predictor.scores(x[None]), F, atol=1e-14)
