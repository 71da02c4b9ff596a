"""Compact networks against the aggregation they stand for; single precision may leave a label open, never err."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from abnet.model.predictors.compact import Compact
from abnet.model.predictors.predictor import Predictor
from abnet.model.predictors.single_precision import MOST_SLACK, single_precision_error
from abnet.networks import exact, expected_output
from abnet.networks.bam import BAM
from abnet.networks.codebook import code_words, decode_table
from abnet.utils.class_scores import losses_of
from conftest import random_network

ARCHITECTURES = [(3, 1, 1), (3, 4, 1), (3, 3, 4, 1), (2, 5, 2, 3, 1)]


@pytest.mark.parametrize("sizes", ARCHITECTURES, ids=str)
def test_compact_equals_the_full_network(sizes: tuple[int, ...], rng: np.random.Generator) -> None:
    bam = random_network(rng, sizes)
    X = np.concatenate([np.zeros((1, sizes[0])), 2 * rng.normal(size=(1500, sizes[0]))])
    X = X.astype(np.float32).astype(np.float64)
    scores = Compact.from_networks([bam]).scores(X)
    np.testing.assert_allclose(scores, expected_output(bam, X), atol=1e-13)


CASES = [(2, (3, 4, 1)), (2, (3, 4, 3, 1)), (3, (3, 4, 5)), (5, (3, 3, 4, 6))]
each_case = pytest.mark.parametrize(("K", "sizes"), CASES, ids=str)


def mixture(rng: np.random.Generator, K: int, sizes: tuple[int, ...]) -> tuple[list[BAM], Compact]:
    networks = [random_network(rng, sizes, scale=2.0) for _ in range(3)]
    return networks, Compact.from_networks(networks, None if K == 2 else code_words(K, sizes[-1]))


@each_case
def test_score_is_the_mean_of_the_members(K: int, sizes: tuple[int, ...], rng: np.random.Generator) -> None:
    (networks, table), X = mixture(rng, K, sizes), rng.normal(size=(7, 3)).astype(np.float32)
    decode = None if K == 2 else decode_table(code_words(K, sizes[-1]))
    expected = np.mean([exact.expected_output(n, X.astype(np.float64), decode) for n in networks], axis=0)
    np.testing.assert_allclose(table.scores(X), expected, atol=1e-12)


@each_case
def test_single_precision_changes_no_label(K: int, sizes: tuple[int, ...], rng: np.random.Generator) -> None:
    _, table = mixture(rng, K, sizes)
    X = np.concatenate([rng.normal(size=(500, 3)), np.zeros((3, 3)), 1e19 * rng.normal(size=(5, 3))])
    np.testing.assert_array_equal(table.votes(X), Predictor.votes(table, X))


def test_huge_but_finite_rows_have_a_score(rng: np.random.Generator) -> None:
    bam = random_network(rng, (2, 3, 1))
    direction = rng.normal(size=(1, 2))
    far = Compact.from_networks([bam]).scores(1e37 * direction)
    np.testing.assert_allclose(far, Compact.from_networks([bam]).scores(1e8 * direction), atol=1e-6)
    with pytest.raises(ValueError, match="float32"):
        Compact.from_networks([bam]).scores(1e200 * direction)


def compact(rng: np.random.Generator, sizes: tuple[int, ...], scale: float = 1.0) -> Compact:
    layers = [scale * rng.normal(size=(out, before + 1)) for before, out in pairwise(sizes)]
    return Compact.from_networks([BAM.from_layers(tuple(layers))])


@pytest.mark.parametrize("sizes", [(784, 4, 4, 1), (30, 8, 8, 1), (3, 1, 1), (2000, 11, 1)])
@pytest.mark.parametrize("scale", [0.1, 1.0, 10.0])
def test_the_error_stays_below_its_bound(rng: np.random.Generator, sizes: tuple[int, ...], scale: float) -> None:
    net = compact(rng, sizes, scale)
    W = net.W[0]
    # Sums of large terms that nearly cancel, where rounding hurts most.
    X = np.concatenate([rng.normal(size=(200, sizes[0])), 1e4 * rng.normal(size=(200, sizes[0]))]).astype(np.float32)
    X[::2] -= np.float32(1) * (X[::2].astype(np.float64) @ W[:1].T / (W[0] @ W[0]) * W[0]).astype("f4")
    error = np.abs(net._single_precision_scores(X, 1) - net.scores(X)).max()
    assert 0 < error <= single_precision_error(net.W[0], net.b[0])


def test_the_bound_is_no_wild_guess(rng: np.random.Generator) -> None:
    net = compact(rng, (784, 4, 4, 1))
    assert single_precision_error(net.W[0], net.b[0]) < MOST_SLACK


def test_rows_at_the_boundary_get_the_label_of_double_precision(rng: np.random.Generator) -> None:
    net = compact(rng, (50, 6, 6, 1))
    X = rng.normal(size=(4000, 50)).astype(np.float32)
    ends = X[net.scores(X) < 0][:300], X[net.scores(X) >= 0][:300]
    low, high = (end[: min(map(len, ends))] for end in ends)
    for _ in range(40):  # bisect to the place where the sign turns, as close as float32 inputs allow
        middle = (low + high) / 2
        below = (net.scores(middle) < 0)[:, None]
        low = np.where(below, middle, low)
        high = np.where(below, high, middle)
    X = np.concatenate([low, high])
    unsure = np.abs(net._single_precision_scores(X, 1)) <= single_precision_error(net.W[0], net.b[0])
    assert unsure.mean() > 0.9
    np.testing.assert_array_equal(net.votes(X), net.scores(X) >= 0)


def test_sure_rows_are_not_computed_twice(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    net = compact(rng, (20, 4, 1))
    X = rng.normal(size=(500, 20)).astype(np.float32)
    expected = net.scores(X) >= 0
    again = []
    scored = Predictor.scores

    def counting(self: Predictor, X: Any, **options: Any) -> Any:
        again.append(len(X))
        return scored(self, X, **options)

    monkeypatch.setattr(Predictor, "scores", counting)
    np.testing.assert_array_equal(net.votes(X), expected)
    assert sum(again) < 25


@pytest.mark.parametrize("kind", [np.float64, np.int64, np.float32, "sparse", "list"])
def test_every_kind_of_rows_gives_the_sign_of_the_score(rng: np.random.Generator, kind: Any) -> None:
    net = compact(rng, (5, 3, 1))
    X = np.round(rng.normal(size=(60, 5)) * 3)
    rows: Any = csr_array(X) if kind == "sparse" else X.tolist() if kind == "list" else X.astype(kind)
    np.testing.assert_array_equal(net.votes(rows), net.scores(X) >= 0)


def test_inputs_whose_squares_overflow_are_left_to_double_precision(rng: np.random.Generator) -> None:
    net = compact(rng, (3, 2, 1))
    X = np.array([[1e25, 2e25, -1e25], [1.0, 2.0, 3.0]], np.float32)
    assert np.isnan(net._single_precision_scores(X, 1)).tolist() == [True, False]
    np.testing.assert_array_equal(net.votes(X), net.scores(X) >= 0)


@pytest.mark.parametrize("norm", [1e18, 1.2e19, 1.5e19, 1.8e19, 1.9e19])
def test_rows_near_the_largest_single_number_get_their_label(rng: np.random.Generator, norm: float) -> None:
    net = compact(rng, (6, 4, 1))
    X = rng.normal(size=(300, 6))
    X = (norm * X / np.linalg.norm(X, axis=1, keepdims=True)).astype(np.float32)
    np.testing.assert_array_equal(net.votes(X), net.scores(X) >= 0)


def test_a_bad_value_is_named_by_its_row(rng: np.random.Generator) -> None:
    X = np.ones((9, 3), np.float32)
    X[7, 1] = np.nan
    with pytest.raises(ValueError, match="row 7"):
        compact(rng, (3, 2, 1)).votes(X)


def test_huge_weights_go_straight_to_double_precision(rng: np.random.Generator) -> None:
    net = compact(rng, (40, 3, 1), scale=1e5)
    assert single_precision_error(net.W[0], net.b[0]) > MOST_SLACK
    X = rng.normal(size=(50, 40)).astype(np.float32)
    np.testing.assert_array_equal(net.votes(X), net.scores(X) >= 0)


@each_case
def test_no_loss_is_below_the_least_one(K: int, sizes: tuple[int, ...], rng: np.random.Generator) -> None:
    """Small weights, so that outputs stay away from ±1; large inputs, so that some representation is nearly certain."""
    members = [random_network(rng, sizes, scale=0.4) for _ in range(3)]
    compact = Compact.from_networks(members, None if K == 2 else code_words(K, sizes[-1]))
    scores = compact.scores(50.0 * rng.normal(size=(500, sizes[0])))
    losses = [losses_of(scores, np.full(500, label)) for label in range(K)]
    assert 0.0 < compact.least_loss <= np.min(losses)
    alone = Compact.from_networks(members[:1], None if K == 2 else code_words(K, sizes[-1]))
    largest = np.abs(alone.H).max()
    assert alone.least_loss == pytest.approx((1 - largest) / 2 if K == 2 else 1 - largest, abs=2e-9)
