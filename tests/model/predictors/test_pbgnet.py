import numpy as np
import pytest
from scipy.special import erf

from abnet.model.deployment import deploy
from abnet.model.predictors.compact import Compact
from abnet.model.predictors.paths import Paths
from abnet.model.predictors.pbgnet import PBGNetPredictor
from abnet.model.predictors.predictor import Predictor
from abnet.model.predictors.sampled_pbgnet import SampledPBGNetPredictor
from abnet.networks import Aggregation, Ancestral, Exact, pbgnet
from conftest import random_network


@pytest.mark.parametrize("sizes", [(3, 1, 1), (3, 4, 1), (2, 5, 2, 3, 1), (2, 30, 1), (2, 20, 15, 3, 1)], ids=str)
def test_scores_are_the_output_of_the_full_network(sizes: tuple[int, ...], rng: np.random.Generator) -> None:
    bam = random_network(rng, sizes)
    X = 2 * rng.normal(size=(1500, sizes[0]))
    X = X.astype(np.float32).astype(np.float64)
    scores = PBGNetPredictor.from_networks([bam]).scores(X)
    np.testing.assert_allclose(scores, pbgnet.expected_output(bam, X), atol=1e-13)


def test_sampled_pbgnet_is_the_loop_over_its_thresholds(rng: np.random.Generator) -> None:
    network = random_network(rng, (4, 6, 5, 1))
    x = rng.normal(size=4).astype(np.float32).astype(np.float64)
    predictor = SampledPBGNetPredictor.from_network(network, rng, n_samples=7)
    F = erf((network.weights[0] @ x + network.biases[0]) / np.sqrt(2 * (x @ x + 1)))
    for W, b, u in zip(network.weights[1:], network.biases[1:], predictor.thresholds, strict=True):
        signs = [np.where(u_t < F, 1.0, -1.0) for u_t in u]
        F = np.mean([erf((W @ s + b) / np.sqrt(2 * (len(s) + 1))) for s in signs], axis=0)
    np.testing.assert_allclose(predictor.scores(x[None]), F, atol=1e-14)


def test_members_are_averaged_and_their_errors_added_to_losses(rng: np.random.Generator) -> None:
    nets = [random_network(rng, (2, 20, 1)) for _ in range(3)]
    X = rng.normal(size=(20, 2))
    X = X.astype(np.float32).astype(np.float64)
    predictor = PBGNetPredictor.from_networks(nets)
    scores = predictor.scores(X)
    np.testing.assert_allclose(scores, np.mean([pbgnet.expected_output(net, X) for net in nets], axis=0), atol=1e-13)
    error = np.mean([pbgnet.output_error(net.layers) for net in nets])
    assert 0 < predictor.score_error == error < 1e-11
    assert ((predictor.expected_losses(scores, np.ones(20, int)) - (1 - scores) / 2) >= 0.49 * error).all()
    assert predictor.expected_losses(-np.ones(1), np.ones(1, int)) == 1
    with pytest.raises(ValueError, match="one output"):
        PBGNetPredictor.from_networks([random_network(rng, (2, 20, 2))])


def test_one_layer_is_deployed_by_cost_and_a_deep_network_with_its_error(rng: np.random.Generator) -> None:
    def deployed(*hidden: int, aggregation: Aggregation = Exact()) -> Predictor:  # noqa: B008 (a frozen value)
        return deploy(aggregation, [random_network(rng, (2, *hidden, 1))], rng)

    assert isinstance(deployed(12), Compact)
    assert isinstance(deployed(13), PBGNetPredictor)
    for aggregation in (Exact(), Ancestral(5)):
        assert isinstance(deployed(30, aggregation=aggregation), PBGNetPredictor)
    assert isinstance(deployed(4, aggregation=Ancestral(5)), Compact)
    assert isinstance(deployed(30, 3, aggregation=Ancestral(5)), Paths)
    deep = deployed(3, 30)
    assert isinstance(deep, Compact)
    assert 0 < deep.score_error < 1e-11
    assert Compact.from_arrays(deep.arrays()).score_error == deep.score_error
    with pytest.raises(ValueError, match="score_error"):
        Compact.from_arrays({**deep.arrays(), "score_error": -np.ones(1)})
    assert deployed(3, 4).score_error == 0
