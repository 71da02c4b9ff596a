"""The exact output at any width against two oracles, widths and depths up to what training uses, weights up to 10.

`pytest -s tests/long/networks/test_any_width.py` prints the table of docs/theory-wide.md. Narrow layers are enumerated
as the papers write them. Above wide layers the weights are whole numbers, so that the sum ``W s`` takes few values, and
its distribution is a sequence of convolutions of positive numbers.
"""

import itertools
from typing import Any

import numpy as np
import pytest
import scipy.special

from abnet.networks import exact, independent_signs, pbgnet
from abnet.networks.bam import BAM
from networks.as_written import abnet_output, pbgnet_output
from networks.test_square_wave import mean_by_convolution

SEEDS = 3
LARGEST = (0.1, 1.0, 10.0)


def network(rng: np.random.Generator, sizes: tuple[int, ...], largest: float) -> BAM:
    weights = [rng.uniform(-largest, largest, (above, below)) for below, above in itertools.pairwise(sizes)]
    return BAM(tuple(weights), tuple(rng.uniform(-largest, largest, len(W)) for W in weights))


def rounded(bam: BAM, largest: float) -> BAM:
    """The network with weights above the first layer that are multiples of a tenth of the largest."""
    step = largest / 10
    whole = [np.round(W / step) * step for W in bam.weights[1:]]
    return BAM((bam.weights[0], *whole), bam.biases)


def by_convolution(bam: BAM, X: np.ndarray, largest: float) -> np.ndarray:
    """PBGNet's output."""
    W = bam.weights[0]
    b = bam.biases[0]
    F: Any = scipy.special.erf((X @ W.T + b) / np.sqrt(2 * ((X**2).sum(axis=1, keepdims=True) + 1)))
    for V in bam.layers[1:]:
        F = np.array([[mean_by_convolution(neuron, row, largest / 10) for neuron in V] for row in F])
    return F[:, 0]


NARROW = [(3, 14, 1), (3, 6, 10, 1), (3, 5, 4, 8, 1), (3, 10, 6, 1), (3, 6, 7, 5, 1)]
WIDE = [(20, 30, 1), (20, 100, 1), (20, 300, 1), (20, 1000, 1), (20, 30, 30, 1), (20, 100, 100, 1), (20, 30, 20, 20, 1)]


@pytest.mark.parametrize("largest", LARGEST)
@pytest.mark.parametrize("sizes", NARROW, ids=str)
def test_series_equal_enumeration(sizes: tuple[int, ...], largest: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(independent_signs, "WIDEST_TABLE", 0)
    for module, oracle in ((exact, abnet_output), (pbgnet, pbgnet_output)):
        worst = 0.0
        proved = 0.0
        for seed in range(SEEDS):
            rng = np.random.default_rng(seed)
            bam = network(rng, sizes, largest)
            X = 2 * rng.normal(size=(4, sizes[0]))
            truth = np.array([oracle(bam.weights, bam.biases, x, np, scipy.special.erf) for x in X])
            worst = max(worst, float(np.abs(module.expected_output(bam, X) - truth).max()))
            proved = max(proved, module.output_error(bam.layers))
        print(f"| {module.__name__.split('.')[-1]} | {sizes} | {largest} | enumeration | {worst:.0e} | {proved:.0e} |")
        assert worst <= min(proved, 1e-13)


@pytest.mark.parametrize("largest", LARGEST)
@pytest.mark.parametrize("sizes", WIDE, ids=str)
def test_series_equal_convolutions(sizes: tuple[int, ...], largest: float) -> None:
    worst = 0.0
    proved = 0.0
    for seed in range(SEEDS):
        rng = np.random.default_rng(seed)
        bam = rounded(network(rng, sizes, largest), largest)
        X = rng.normal(size=(2, sizes[0]))
        worst = max(worst, float(np.abs(pbgnet.expected_output(bam, X) - by_convolution(bam, X, largest)).max()))
        proved = max(proved, pbgnet.output_error(bam.layers))
        if len(sizes) == 3:
            np.testing.assert_array_equal(exact.expected_output(bam, X), pbgnet.expected_output(bam, X))
    print(f"| pbgnet | {sizes} | {largest} | convolution | {worst:.0e} | {proved:.0e} |")
    assert worst <= min(proved, 1e-11)
