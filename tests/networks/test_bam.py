import jax
import jax.numpy as jnp
import numpy as np
import pytest

from abnet.networks.bam import BAM, check_sizes, sgn
from conftest import random_network


def test_sgn_of_zero_is_plus_one() -> None:
    np.testing.assert_array_equal(sgn(jnp.array([-0.5, 0.0, -0.0, 2.0])), [-1, 1, 1, 1])
    assert sgn(jnp.float32(0)).dtype == jnp.float32


def test_predict_follows_the_definition_neuron_by_neuron(rng: np.random.Generator) -> None:
    bam = random_network(rng, (3, 4, 2, 1))
    X = rng.normal(size=(20, 3))
    for x, label in zip(X, bam.predict(X), strict=True):
        s = x
        for W, b in zip(bam.weights, bam.biases, strict=True):
            s = np.array([1.0 if row @ s + bias >= 0 else -1.0 for row, bias in zip(W, b, strict=True)])
        assert label == s[0]


def test_perturb_adds_unit_normals_to_weights_and_biases(seed: int) -> None:
    bam = BAM.init(jax.random.key(0), (50, 40, 1))
    noise = jax.tree.map(lambda a, b: np.asarray(a) - np.asarray(b), bam.perturb(jax.random.key(seed + 1)), bam)
    assert abs(noise.weights[0].var() - 1) < 0.1
    assert abs(noise.biases[0].var() - 1) < 1
    assert noise.biases[0].shape == (40,)


def test_layers_and_back(rng: np.random.Generator) -> None:
    bam = random_network(rng, (3, 4, 1))
    again = BAM.from_layers(bam.layers)
    assert again.sizes == bam.sizes
    np.testing.assert_array_equal(again.weights[0], bam.weights[0])
    np.testing.assert_array_equal(again.biases[1], bam.biases[1])


@pytest.mark.parametrize("sizes", [(3,), (3, 0, 1), (3, 2.5, 1)])
def test_impossible_sizes_are_refused(sizes: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match="sizes"):
        check_sizes(sizes)


def test_init_checks_its_sizes(rng: np.random.Generator) -> None:
    with pytest.raises(ValueError, match="sizes"):
        BAM.init(rng, (3, 0, 1))
