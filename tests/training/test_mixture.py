"""Mixtures in training: what the objective is, that members learn together, that padding changes nothing."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from abnet.aggregation import exact
from abnet.bam import BAM
from abnet.codebook import code_words, decode_table
from abnet.training import mixture_trainer
from abnet.training.learners import LOG_MIXTURE, Objective
from abnet.training.mixture_trainer import Centring, MixtureLearner, MixturePlan, learn_members, start_mixture
from conftest import random_network


def oracle(members: list[np.ndarray], targets: np.ndarray, K: int, together: float) -> dict[str, float]:
    """Linear and log loss from the members' probabilities (rows, K) and a distribution for each row."""

    def log_loss(P: np.ndarray) -> float:
        mixed = (1 - LOG_MIXTURE) * P + LOG_MIXTURE / K
        return float(np.mean(-np.sum(targets * np.log(mixed), axis=1)))

    mean = np.mean(members, axis=0)
    alone = np.mean([log_loss(P) for P in members])
    return {
        "linear": 1 - float(np.mean(np.sum(targets * mean, axis=1))),
        "log": together * log_loss(mean) + (1 - together) * float(alone),
    }


@pytest.mark.parametrize(("sizes", "K"), [((3, 4, 1), 2), ((3, 4, 4), 3)])
def test_objectives_are_the_formulas(sizes: tuple[int, ...], K: int, rng: np.random.Generator) -> None:
    networks = tuple(random_network(rng, sizes, scale=2.0) for _ in range(3))
    X, soft = rng.normal(size=(7, 3)), rng.dirichlet(np.ones(K), 7)
    table = decode_table(code_words(K, sizes[-1]))
    expected = oracle([exact.expected_output(n, X, table) for n in networks], soft, K, 0.5)
    learner, targets = MixtureLearner(sizes, K, together=0.5), 2 * soft[:, 1] - 1 if K == 2 else soft
    members = jax.jit(learner._members)(
        jnp.asarray(start_mixture(networks, networks, Objective.LOG, 7, 0.05).theta),
        jnp.asarray(exact.lift(X), jnp.float32),
        jax.random.key(0),
    )
    for one in (learner, replace(learner, bounded=False)):
        value = jax.jit(one._objective)
        for objective, name in ((Objective.LINEAR, "linear"), (Objective.LOG, "log")):
            state = start_mixture(networks, networks, objective, 7, 0.05)
            found = value(state, members, jnp.asarray(targets, jnp.float32), jnp.ones(7))
            assert float(found) == pytest.approx(expected[name], abs=2e-6)


def test_divergence_in_the_bound_is_the_mean_of_the_members(rng: np.random.Generator) -> None:
    sizes, moved = (3, 2, 1), 0.3
    priors = tuple(random_network(rng, sizes) for _ in range(4))
    shifted = BAM.from_layers(tuple(V + moved for V in priors[0].layers))
    learner, args = MixtureLearner(sizes), (jnp.zeros((1, 5)), jnp.ones(5), jnp.ones(5))
    kl = 0.5 * moved**2 * sum(V.size for V in priors[0].layers) / 4
    one = learner._objective(start_mixture((shifted, *priors[1:]), priors, Objective.BOUND, 50, 0.05), *args)
    n, delta = 50, 0.05  # Catoni at C = 1, risk one half
    bound = (1 - np.exp(-0.5 - (kl + np.log(2 * n**0.5 / delta)) / n)) / (1 - np.exp(-1))
    assert float(one) == pytest.approx(bound, abs=1e-5)


def circle(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    X = rng.uniform(-1, 1, (n, 2)).astype(np.float32)
    return X, np.where((X**2).sum(axis=1) < 0.6, 1.0, -1.0)


def test_members_learn_what_one_neuron_cannot(rng: np.random.Generator) -> None:
    X, y = circle(rng, 600)
    outcome = learn_members(MixtureLearner((2, 6, 1)), 3, exact.lift(X), y, MixturePlan(400, 64), rng)
    F = np.mean([exact.expected_output(n.astype(np.float64), X.astype(np.float64)) for n in outcome.networks], axis=0)
    assert np.mean((F > 0) != (y > 0)) < 0.08
    assert outcome.curve[-1] < outcome.curve[0] - 0.2
    assert not any(np.allclose(outcome.networks[0].weights[0], n.weights[0]) for n in outcome.networks[1:])


def test_padded_columns_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = circle(np.random.default_rng(5), 120)
    plans = []
    for least in (2, 7):
        monkeypatch.setattr(mixture_trainer, "LEAST_INPUTS", least)
        learner = MixtureLearner((2, 3, 1))
        plans.append(learn_members(learner, 2, exact.lift(X), y, MixturePlan(20, 32), np.random.default_rng(0)))
    for one, other in zip(*(outcome.networks for outcome in plans), strict=True):
        assert one.sizes == other.sizes == (2, 3, 1)
        np.testing.assert_allclose(one.weights[0], other.weights[0], rtol=2e-4, atol=2e-4)


def test_centred_columns_have_no_part_in_the_constant(rng: np.random.Generator) -> None:
    lifted = exact.lift((3 + rng.normal(size=(500, 4)) * [1, 10, 0.1, 5]).astype(np.float32))
    centred = Centring.of(lifted).apply(lifted)
    np.testing.assert_allclose(np.mean(centred[:, :-1] * lifted[:, -1:], axis=0), 0, atol=1e-4)
    assert np.mean(centred[:, -1] ** 2) == pytest.approx(1, abs=1e-3)


def test_rows_are_centred_in_pieces_as_at_once(rng: np.random.Generator) -> None:
    """Bit for bit: the sums of a block go on where those before it ended."""
    lifted = exact.lift(rng.normal(size=(2 * mixture_trainer.STREAMED + 5, 7)).astype(np.float32))
    z, last = lifted[:, :-1], lifted[:, -1:]
    constant = last[:, 0].astype(np.float64)
    centring = Centring.of(lifted)
    square, mean = np.mean(constant**2), np.mean(z * last, axis=0, dtype=np.float64)
    np.testing.assert_array_equal(centring.shift, mean / square)
    second = np.einsum("ij,ij->j", z, z, dtype=np.float64) / len(z)
    first = np.mean(z, axis=0, dtype=np.float64) - centring.shift * constant.mean()
    variance = second - centring.shift**2 * square - first**2
    factor = 1 / np.sqrt(variance + mixture_trainer.FLOOR**2 * variance.mean() + 1e-12) / np.sqrt(7)
    np.testing.assert_array_equal(centring.factor, factor)
    order = rng.permutation(len(lifted))
    rows = mixture_trainer._centred(centring, lifted, order, 3)
    np.testing.assert_array_equal(rows[: len(order), :7], centring.apply(lifted[order])[:, :-1])
    np.testing.assert_array_equal(rows[: len(order), -1], centring.apply(lifted[order])[:, -1])
    assert not rows[:, 7:10].any()
    assert not rows[len(order) :].any()
    assert rows.ctypes.data % 64 == 0
