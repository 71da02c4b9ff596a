import itertools

import jax
import mpmath
import numpy as np
import pytest
from scipy.special import erf, ndtr

from abnet.model.predictors.moments import MomentsPredictor, layer_moments, posterior_average
from abnet.networks.bam import BAM
from abnet.networks.codebook import code_words, decode_table
from abnet.paper.methods.ebp import EBP


def random_network(rng: np.random.Generator, sizes: tuple[int, ...]) -> BAM:
    pairs = list(zip(sizes[1:], sizes[:-1], strict=True))
    return BAM(tuple(rng.normal(size=p) for p in pairs), tuple(rng.normal(size=d) for d, _ in pairs))


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("e", [0.0, 1.0])
def test_equals_the_learners_output(e: float) -> None:
    rng = np.random.default_rng(2)
    network = random_network(rng, (5, 4, 3, 1))
    X = rng.normal(size=(20, 5))
    expected = jax.jit(EBP(e=e).output)(network, X, jax.random.key(0))
    np.testing.assert_allclose(posterior_average(network, X, e=e), expected, rtol=1e-12)


def test_two_layers_by_hand_in_mpmath() -> None:
    network = BAM((np.array([[0.5, -1.0]]), np.array([[2.0]])), (np.array([0.25]), np.array([-0.5])))
    a_1 = mpmath.mpf(0.5 * 3 - 2 + 0.25)
    s_1 = mpmath.sqrt(3**2 + 2**2 + 1)
    v = mpmath.erf(a_1 / s_1 / mpmath.sqrt(2))
    s_2 = mpmath.sqrt(2 + 4 * (1 - v**2) + 0.75)
    expected = mpmath.erf((2 * v - 0.5) / s_2 / mpmath.sqrt(2))
    np.testing.assert_allclose(
        posterior_average(network, np.array([[3.0, 2.0]]), e=0.75), [float(expected)], rtol=1e-14
    )


def exact_average(network: BAM, x: np.ndarray) -> float:
    """Mean output over ``N(network, I)`` of one hidden layer, by enumeration of its representations."""
    (M_1, M_2), (b_1, b_2) = network
    p = ndtr((M_1 @ x + b_1) / np.sqrt(x @ x + 1))
    d = len(p)
    return sum(
        np.prod(np.where(np.array(s) > 0, p, 1 - p)) * erf((M_2[0] @ s + b_2[0]) / np.sqrt(2 * (d + 1)))
        for s in itertools.product([-1.0, 1.0], repeat=d)
    )


def test_consistent_variance_is_closer_to_the_exact_average_than_the_authors() -> None:
    rng = np.random.default_rng(0)
    pairs = [(random_network(rng, (6, 4, 1)), rng.normal(size=6)) for _ in range(300)]
    exact = np.array([exact_average(*pair) for pair in pairs])
    error = {
        e: np.abs([posterior_average(net, x[None], e=e)[0] for net, x in pairs] - exact).mean() for e in (0.0, 1.0)
    }
    assert error[0.0] == pytest.approx(0.011, abs=0.004)
    assert error[1.0] == pytest.approx(0.023, abs=0.006)


def test_the_predictor_computes_in_float64_from_single_precision_means_of_either_library() -> None:
    rng = np.random.default_rng(4)
    network = random_network(rng, (5, 4, 1)).astype(np.float32)
    X = rng.normal(size=(9, 5)).astype(np.float32)
    expected = posterior_average(network.astype(np.float64), X.astype(np.float64), e=1.0)
    for means in (network, jax.tree.map(jax.numpy.asarray, network)):
        scores = MomentsPredictor.from_networks([means], e=1.0).scores(X)
        assert scores.dtype == np.float64
        np.testing.assert_allclose(scores, expected, rtol=1e-13)


def test_shares_of_several_classes_are_the_posterior_of_the_labels_that_can_be() -> None:
    """Bayes' rule over all K labels, each a vector with one +1, with the probit likelihood of every output."""
    rng = np.random.default_rng(7)
    network = random_network(rng, (5, 4, 3))
    X = rng.normal(size=(20, 5)).astype(np.float32).astype(np.float64)
    predictor = MomentsPredictor.from_networks([network], e=1.0)
    z = layer_moments(network, X, e=1.0)[-1].z
    likelihood = np.array(
        [[np.prod([ndtr(zk if k == j else -zk) for k, zk in enumerate(row)]) for j in range(3)] for row in z]
    )
    expected = likelihood / likelihood.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(predictor.scores(X), expected, rtol=1e-10)
    np.testing.assert_array_equal(predictor.votes(X), z.argmax(axis=1))
    far = random_network(rng, (5, 4, 3))
    far.weights[1][...] *= 1e4
    shares = MomentsPredictor.from_networks([far], e=1.0).scores(X)
    assert np.isfinite(shares).all()
    np.testing.assert_allclose(shares.sum(axis=1), 1, rtol=1e-12)


@pytest.mark.parametrize("K", [2, 3])
def test_wide_members_are_the_formulas_by_hand(K: int) -> None:
    """``o_b = erf((W_b m + c_b)/√(2(d + 1 + v_b)))``, and the code table's multilinear extension at o."""
    rng = np.random.default_rng(1)
    c = 4
    if K == 2:
        c = 1
    networks = [random_network(rng, (5, 7, c)) for _ in range(3)]
    words = None if K == 2 else code_words(K, c)
    X = rng.normal(size=(20, 5)).astype(np.float32).astype(np.float64)
    expected = []
    for x in X:
        shares = []
        for (V_1, W), (b_1, b_2) in networks:
            m = erf((V_1 @ x + b_1) / np.sqrt(2 * (x @ x + 1)))
            o = erf((W @ m + b_2) / np.sqrt(2 * (7 + 1 + W**2 @ (1 - m**2))))
            corners = itertools.product([-1.0, 1.0], repeat=c)
            chances = np.array([np.prod(0.5 + 0.5 * np.array(s) * o) for s in corners])
            shares.append(o[0] if words is None else chances @ decode_table(words))
        expected.append(np.mean(shares, axis=0))
    np.testing.assert_allclose(MomentsPredictor.from_networks(networks, words).scores(X), expected, atol=1e-13)


def test_two_outputs_without_words_are_refused() -> None:
    with pytest.raises(ValueError, match="output"):
        MomentsPredictor.from_networks([random_network(np.random.default_rng(0), (5, 4, 2))])
