"""The output of a PBGNet with two layers of 100 neurons: exact, and by drawing signs.

The paper enumerates the 2^100 representations of a layer, or samples them. The neurons of a PBGNet read independent
signs, so their mean outputs have a series with a proved error (docs/theory-wide.md), and sampling is not needed.
"""

import numpy as np

from abnet.networks import BAM, pbgnet
from abnet.networks.ancestral import sign_means
from abnet.networks.lifting import lift, mean_activation

rng = np.random.default_rng(0)
network = BAM.init(rng, (20, 100, 100, 1))
network = BAM(tuple(4 * W for W in network.weights), network.biases).astype(np.float64)
X = rng.normal(size=(4, 20))

exact = pbgnet.expected_output(network, X)
error = pbgnet.output_error(network.layers)
print("exact output of 4 rows:", exact.round(6))
print(f"proved error of each:   {error:.0e}")


def sampled(X: np.ndarray, draws: int) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard error of the output over draws in which every neuron reads signs of its own."""
    first, second, last = network.layers
    m = mean_activation(first, lift(X))
    outputs = []
    for _ in range(draws):
        # One row of signs for each neuron of the second layer.
        signs = np.where(rng.uniform(-1, 1, (len(X), 100, 100)) < m[:, None, :], 1.0, -1.0)
        z = np.einsum("nij,ij->ni", signs, second[:, :-1]) + second[:, -1]
        above = np.where(z / np.sqrt(101) + rng.normal(size=z.shape) >= 0, 1.0, -1.0)
        outputs.append(sign_means(last, above)[:, 0])
    return np.mean(outputs, axis=0), np.std(outputs, axis=0) / np.sqrt(draws)


for draws in (100, 1000):
    mean, standard_error = sampled(X, draws)
    print(f"{draws:5,} draws: {mean.round(6)}, standard errors {standard_error.round(4)}")
    assert np.abs((mean - exact) / standard_error).max() < 5
