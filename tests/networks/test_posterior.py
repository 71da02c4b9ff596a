"""A posterior against drawn networks, closed forms and its own members, in NumPy and under JAX's transformations."""

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest

from abnet.networks import Aggregation, Ancestral, Exact, PBGNet, SampledPBGNet, Uniform, exact, pbgnet
from abnet.networks.aggregation import linear_loss
from abnet.networks.bam import BAM
from abnet.networks.codebook import code_words, decode_table
from abnet.networks.gaussian_kl import gaussian_kl
from abnet.networks.lifting import lift
from abnet.networks.posterior import Posterior, register_with_jax
from abnet.training.objective import Objective
from abnet.training.posterior_learner import PosteriorLearner, State, start
from conftest import random_network
from toy_aggregation import Halved

register_with_jax()
SIZES = (3, 2, 3, 1)
LOGS = (0.3, -0.5, 0.1)


def posterior(
    rng: np.random.Generator,
    count: int,
    *,
    sizes: tuple[int, ...] = SIZES,
    aggregation: Aggregation | None = None,
    log_sigma: Sequence[float] | None = LOGS,
) -> Posterior:
    networks, priors = ([random_network(rng, sizes) for _ in range(count)] for _ in range(2))
    return Posterior.from_networks(networks, priors, aggregation or Exact(), log_sigma)


def in_jax(some: Posterior) -> Posterior:
    return jax.tree.map(lambda leaf: jnp.asarray(leaf, jnp.float32), some)


def flat(network: BAM) -> np.ndarray:
    return np.concatenate([np.ravel(leaf) for leaf in (*network.weights, *network.biases)])


def deviations(some: Posterior) -> np.ndarray:
    """σ of every entry, in the order of `flat`."""
    network = BAM.from_layers(tuple(w[0] for w in some.layers))
    leaves = zip((*network.weights, *network.biases), some.log_sigma * 2, strict=True)
    return np.concatenate([np.full(leaf.size, np.exp(t)) for leaf, t in leaves])


@pytest.mark.parametrize("count", [1, 3])
def test_output_is_the_mean_over_drawn_networks(count: int, rng: np.random.Generator) -> None:
    """z-test against networks with every weight and bias drawn, sign activations, and deviations other than 1."""
    some = posterior(rng, count)
    X = rng.normal(size=(5, 3))
    draws = 2000
    F = some.output(lift(X))
    votes = np.mean([some.draw(rng)[0].predict(X) for _ in range(draws)], axis=0)
    assert np.abs((votes - F) / np.sqrt((1 - F**2) / draws)).max() < 4.5


def test_kl_is_the_sum_over_independent_gaussians(rng: np.random.Generator) -> None:
    some = posterior(rng, 1)
    with mpmath.workdps(30):
        terms = [
            (mpmath.exp(2 * mpmath.mpf(float(t))) + (mpmath.mpf(a) - mpmath.mpf(b)) ** 2 - 1) / 2 - mpmath.mpf(float(t))
            for w, v, t in zip(some.layers, some.prior, some.log_sigma, strict=True)
            for a, b in zip(w.ravel(), v.ravel(), strict=True)
        ]
        assert float(some.kl()) == pytest.approx(float(mpmath.fsum(terms)), rel=1e-12)


def test_kl_of_members_is_their_mean_and_pbgnet_counts_paths(rng: np.random.Generator) -> None:
    some = posterior(rng, 3, log_sigma=None)
    priors = [BAM.from_layers(tuple(v[m] for v in some.prior)) for m in range(3)]
    for aggregation, module in ((Exact(), exact), (Ancestral(), exact), (PBGNet(), pbgnet)):
        expected = np.mean([module.kl(w, v) for w, v in zip(some.members, priors, strict=True)])
        assert float(replace(some, aggregation=aggregation).kl()) == pytest.approx(expected, rel=1e-12)
    wide = posterior(rng, 1, aggregation=SampledPBGNet())
    layers, prior = ([w[0] for w in some] for some in (wide.layers, wide.prior))
    counted = [gaussian_kl([w], [v], [t]) for w, v, t in zip(layers, prior, LOGS, strict=True)]
    assert float(wide.kl()) == pytest.approx(3 * counted[0] + counted[1] + counted[2], rel=1e-12)


def test_log_density_ratio_is_that_of_two_gaussians(rng: np.random.Generator) -> None:
    some = posterior(rng, 1)
    h, ratio = some.draw(rng)
    v = BAM.from_layers(tuple(v[0] for v in some.prior))
    sigma = deviations(some)
    with mpmath.workdps(40):
        centred = zip(flat(h), flat(some.map_network), flat(v), sigma, strict=True)
        terms = [
            ((mpmath.mpf(x) - mpmath.mpf(b)) ** 2 - ((mpmath.mpf(x) - mpmath.mpf(a)) / mpmath.mpf(s)) ** 2) / 2
            - mpmath.log(mpmath.mpf(s))
            for x, a, b, s in centred
        ]
        assert float(ratio) == pytest.approx(float(mpmath.fsum(terms)), rel=1e-12)


def test_the_mean_of_the_log_density_ratio_is_the_kl(rng: np.random.Generator) -> None:
    some = posterior(rng, 3)
    for ratios in (
        np.array([float(some.draw(rng)[1]) for _ in range(1500)]),
        np.asarray(jax.jit(jax.vmap(lambda k: in_jax(some).draw(k)[1]))(jax.random.split(jax.random.key(1), 4000))),
    ):
        assert abs(ratios.mean() - some.kl()) < 4.5 * ratios.std() / len(ratios) ** 0.5


def test_draws_are_normal_around_the_centres(rng: np.random.Generator) -> None:
    some = posterior(rng, 1)
    noise = np.array([(flat(some.draw(rng)[0]) - flat(some.map_network)) / deviations(some) for _ in range(2000)])
    assert abs(noise.mean()) < 4 / noise.size**0.5
    assert abs(np.mean(noise**2) - 1) < 4 * (2 / noise.size) ** 0.5
    assert np.max(np.abs(np.corrcoef(noise.T) - np.eye(noise.shape[1]))) < 5 / 2000**0.5


@pytest.mark.parametrize("count", [1, 2])
def test_jax_gives_what_numpy_gives_under_jit_vmap_and_grad(count: int, rng: np.random.Generator) -> None:
    some = posterior(rng, count)
    lifted = lift(rng.normal(size=(4, 3)))
    ours = in_jax(some)
    rows = jnp.asarray(lifted, jnp.float32)
    value = jax.jit(lambda p: (p.output(rows), p.kl()))
    np.testing.assert_allclose(value(ours)[0], some.output(lifted), atol=1e-5)
    np.testing.assert_allclose(value(ours)[1], some.kl(), rtol=1e-5)
    two = jax.tree.map(lambda leaf: jnp.stack([leaf, leaf]), ours)
    np.testing.assert_allclose(jax.jit(jax.vmap(lambda p: p.kl()))(two), [some.kl()] * 2, rtol=1e-5)
    slope = jax.jit(jax.grad(lambda p: p.kl()))(ours)
    np.testing.assert_allclose(slope.layers[1], (some.layers[1] - some.prior[1]) / count, rtol=1e-4, atol=1e-5)
    D = sum(w[0].size for w in some.layers[:1])
    np.testing.assert_allclose(slope.log_sigma[0], D * (np.exp(2 * LOGS[0]) - 1), rtol=1e-4)


def test_members_in_units_of_their_deviations_have_the_same_output(rng: np.random.Generator) -> None:
    some = posterior(rng, 2)
    X = rng.normal(size=(4, 3))
    mean = np.mean([exact.expected_output(network, X) for network in some.members], axis=0)
    np.testing.assert_allclose(some.output(lift(X)), mean, atol=1e-12)
    with pytest.raises(ValueError, match="2 members"):
        _ = some.map_network


def test_several_classes_have_probabilities(rng: np.random.Generator) -> None:
    table = decode_table(code_words(3, 4))
    some = posterior(rng, 2, sizes=(3, 2, 4), log_sigma=None)
    P = some.output(lift(rng.normal(size=(5, 3))), table=table)
    np.testing.assert_allclose(P.sum(axis=1), 1)


@pytest.mark.parametrize("aggregation", [PBGNet(), Uniform(4), SampledPBGNet(4)], ids=str)
def test_aggregations_of_two_classes_refuse_a_table(aggregation: Aggregation, rng: np.random.Generator) -> None:
    some = posterior(rng, 1, sizes=(3, 2, 2), aggregation=aggregation, log_sigma=None)
    with pytest.raises(ValueError, match="table"):
        some.output(lift(np.ones((1, 3))), table=np.eye(4))


def test_networks_that_do_not_belong_together_are_refused(rng: np.random.Generator) -> None:
    one = random_network(rng, (3, 2, 1))
    other = random_network(rng, (3, 4, 1))
    with pytest.raises(ValueError, match="sizes"):
        Posterior.from_networks([one], [other], Exact())
    with pytest.raises(ValueError, match="2 networks"):
        Posterior.from_networks([one, one], [one], Exact())
    with pytest.raises(ValueError, match="2 layers"):
        Posterior.from_networks([one], [one], Exact(), [0.0])


def test_training_does_not_forget_deviations_in_silence(rng: np.random.Generator) -> None:
    with pytest.raises(ValueError, match="log_sigma"):
        start(posterior(rng, 1), Objective.BOUND, 10, 0.05)


def test_a_posterior_in_numpy_needs_no_jax() -> None:
    program = """
import sys
import numpy as np
from abnet.networks import Exact, PBGNet
from abnet.networks.lifting import lift
from abnet.networks.bam import BAM
from abnet.networks.posterior import Posterior
rng = np.random.default_rng(0)
nets = [BAM.init(rng, (3, 2, 2, 1)) for _ in range(2)]
for aggregation in (Exact(), PBGNet()):
    some = Posterior.from_networks(nets, nets[::-1], aggregation)
    some.output(lift(np.ones((2, 3), np.float32))), some.kl(), some.draw(rng), some.members
print("jax" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


# One contract for all aggregations, a user's own among them


ALL: list[Aggregation] = [Exact(), PBGNet(), Uniform(8), SampledPBGNet(8), Ancestral(8), Halved()]


@pytest.mark.parametrize("aggregation", ALL, ids=lambda a: type(a).__name__)
def test_every_aggregation_learns_in_the_one_learner(aggregation: Aggregation, rng: np.random.Generator) -> None:
    assert hash(aggregation) == hash(replace(aggregation))  # type: ignore[type-var]
    network = random_network(rng, SIZES, 0.7).astype(np.float32)
    learner = PosteriorLearner(SIZES, aggregation)
    state = start(Posterior.from_networks([network], [network], aggregation), Objective.BOUND, 500, 0.05)
    X = rng.normal(size=(16, 3))
    inputs = jnp.asarray(lift(X), jnp.float32)
    targets = jnp.asarray(np.sign(X[:, 0]), jnp.float32)

    @jax.jit
    def three_steps(state: State) -> tuple[State, jax.Array]:
        def step(k: int, state: State) -> State:
            return learner.step(state, inputs, targets, jnp.ones(16), 0.01, jax.random.key(k))

        moved = jax.lax.fori_loop(0, 3, step, jax.tree.map(jnp.asarray, state))
        return moved, learner.output(moved, inputs, jax.random.key(0))

    moved, out = three_steps(state)
    learned = learner.posterior(jax.tree.map(np.asarray, moved))
    assert learned.aggregation == aggregation
    assert float(learned.kl()) > 0
    assert out.shape == (16,)
    assert float(jnp.abs(out).max()) <= 1


@pytest.mark.parametrize("aggregation", ALL, ids=lambda a: type(a).__name__)
def test_losses_are_unbiased_or_not_offered(aggregation: Aggregation, rng: np.random.Generator) -> None:
    network = random_network(rng, SIZES).astype(np.float32)
    X = rng.normal(size=(5, 3))
    y = np.sign(rng.normal(size=5))
    lifted = jnp.asarray(lift(X), jnp.float32)
    targets = jnp.asarray(y, jnp.float32)
    layers = tuple(map(jnp.asarray, network.layers))
    keys = jax.random.split(jax.random.key(0), 4000)
    if jax.eval_shape(lambda k: aggregation.losses(layers, lifted, targets, k), keys[0]) is None:
        assert not aggregation.certified
        return
    drawn = jax.jit(jax.vmap(lambda k: aggregation.losses(layers, lifted, targets, k)))(keys)
    losses = np.asarray(drawn, np.float64)
    expected_output: Any = exact.expected_output
    if isinstance(aggregation, PBGNet):
        expected_output = pbgnet.expected_output
    truth = linear_loss(expected_output(network.astype(np.float64), X), y)
    assert (losses.std(axis=0).max() > 1e-3) == aggregation.sampled
    assert np.abs(losses.mean(axis=0) - truth).max() < 4.5 * losses.std(axis=0).max() / 4000**0.5 + 1e-5


@pytest.mark.parametrize("aggregation", ALL, ids=lambda a: type(a).__name__)
def test_every_aggregation_is_callable_on_a_network_and_plain_inputs(
    aggregation: Aggregation, rng: np.random.Generator
) -> None:
    """In the mean over keys it is the exact output, PBGNet's, or here half of it; the biased ones are only close."""
    network = random_network(rng, SIZES, 0.7).astype(np.float32)
    X = rng.normal(size=(5, 3))
    in_jax = jax.tree.map(jnp.asarray, network)
    keys = jax.random.split(jax.random.key(0), 500)
    mean = np.asarray(jax.jit(jax.vmap(lambda k: aggregation(in_jax, X, k)))(keys), np.float64).mean(axis=0)
    expected_output: Any = exact.expected_output
    if isinstance(aggregation, (PBGNet, SampledPBGNet)):
        expected_output = pbgnet.expected_output
    share = 1.0
    if isinstance(aggregation, Halved):
        share = 0.5
    tolerance = 0.02
    if isinstance(aggregation, (Uniform, SampledPBGNet)):
        tolerance = 0.1
    truth = share * expected_output(network.astype(np.float64), X)
    assert np.abs(mean - truth).max() < (tolerance if hasattr(aggregation, "n_samples") else 1e-5)
    with pytest.raises(ValueError, match=r"3 numbers.*\(5, 2\)"):
        aggregation(network, X[:, :2], keys[0])
    if hasattr(aggregation, "n_samples"):
        with pytest.raises(ValueError, match="key"):
            aggregation(in_jax, X)
