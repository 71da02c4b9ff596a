"""The mean output of neurons that read independent signs: by the series, by enumeration, and by drawing signs.

The paper enumerates the 2^d representations of a layer, or samples them. The neurons of a PBGNet read independent
signs, and so does the output neuron above one hidden layer. Their mean outputs have a series with a proved error
(docs/theory-wide.md), and sampling is not needed. First the theorem of that page as it stands, for one neuron above 14
signs; then the library, for a network with two layers of 100 neurons.
"""

from itertools import product
from math import erfc, exp, pi, sqrt

import numpy as np

from abnet.networks import BAM, pbgnet
from abnet.networks.ancestral import sign_means
from abnet.networks.lifting import lift, mean_activation

rng = np.random.default_rng(0)


def mean_sign(v: np.ndarray, c: float, m: np.ndarray, T: float = 8.6) -> tuple[float, float]:
    """F_N and R + S of the theorem, with the half period B + T."""
    B = np.abs(v).sum() + abs(c)
    half_period = B + T
    N = int(np.ceil((T * half_period / pi - 1) / 2)) + 1
    total = 0.0
    for k in range(N):
        t = (2 * k + 1) * pi / half_period
        characteristic = np.exp(1j * c * t) * np.prod(np.cos(v * t) + 1j * m * np.sin(v * t))
        total += exp(-(t**2) / 2) / (2 * k + 1) * characteristic.imag
    t = (2 * N + 1) * pi / half_period
    beyond = 2 * erfc((half_period - B) / sqrt(2))
    remainder = (4 / (half_period * t) + 2 / (pi * t**2)) * exp(-(t**2) / 2)
    return 4 / pi * total, beyond + remainder


d = 14
w = rng.normal(size=d + 1)
v = w[:d] / sqrt(d + 1)
c = w[d] / sqrt(d + 1)
m = rng.uniform(-1, 1, d)
series, proved = mean_sign(v, c, m)
corners = np.array(list(product((-1.0, 1.0), repeat=d)))
chances = np.prod((1 + corners * m) / 2, axis=1)
enumerated = chances @ sign_means(w[None], corners)[:, 0]
print(f"one neuron above {d} signs: series {series:.12f}, enumeration {enumerated:.12f}, R + S = {proved:.0e}")
assert abs(series - enumerated) < 1e-14

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
