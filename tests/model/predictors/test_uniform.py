import numpy as np

from abnet.model.predictors.uniform import UniformPredictor
from abnet.networks import uniform
from abnet.networks.lifting import lift
from conftest import random_network


def test_compact_stochastic_abnet_is_the_pass_on_its_draws(rng: np.random.Generator) -> None:
    network = random_network(rng, (4, 30, 20, 1))
    X = rng.normal(size=(10, 4))
    predictor = UniformPredictor.from_network(network, np.random.default_rng(3), n_samples=12)
    X = X.astype(np.float32).astype(np.float64)
    again = uniform.output(network.layers, lift(X), np.random.default_rng(3), 12)
    np.testing.assert_allclose(predictor.scores(X), again, atol=1e-12)
