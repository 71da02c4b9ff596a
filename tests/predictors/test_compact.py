"""The deployed predictors against the aggregation they stand for."""

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from abnet.aggregation import expected_output, meanfield
from abnet.predictors.compact import CompactABNet, CompactMAP
from abnet.predictors.mean_field_network import MeanFieldNetwork
from abnet.predictors.predictor import ModelInfo
from conftest import random_network

ARCHITECTURES = [(3, 1, 1), (3, 4, 1), (3, 3, 4, 1), (2, 5, 2, 3, 1)]


@pytest.mark.parametrize("sizes", ARCHITECTURES, ids=str)
def test_compact_equals_the_full_network(sizes: tuple[int, ...], rng: np.random.Generator) -> None:
    bam = random_network(rng, sizes)
    X = np.concatenate([np.zeros((1, sizes[0])), 2 * rng.normal(size=(1500, sizes[0]))])
    X = X.astype(np.float32).astype(np.float64)
    scores = CompactABNet.from_network(bam).decision_function(X)
    np.testing.assert_allclose(scores, expected_output(bam, X), atol=1e-13)
    np.testing.assert_allclose(
        MeanFieldNetwork.from_network(bam).decision_function(X), meanfield.expected_output(bam, X), atol=1e-13
    )


@pytest.mark.parametrize("sizes", ARCHITECTURES, ids=str)
def test_compact_map_equals_the_sign_network(sizes: tuple[int, ...], rng: np.random.Generator) -> None:
    bam = random_network(rng, sizes)
    X = rng.normal(size=(200, sizes[0])).astype(np.float32)
    compact = CompactMAP.from_network(bam)
    np.testing.assert_array_equal(compact.predict(X), bam.predict(X))
    assert compact.bits.nbytes == -(-(2 ** sizes[1]) // 8)


def test_map_takes_a_zero_activation_as_plus_one() -> None:
    bam = random_network(np.random.default_rng(0), (2, 3, 1))
    zero = type(bam)(bam.weights, (np.zeros(3), bam.biases[1]))
    x = np.zeros((1, 2))
    assert CompactMAP.from_network(zero).predict(x)[0] == zero.predict(x)[0]


def test_labels_probabilities_and_votes_agree(rng: np.random.Generator) -> None:
    info = ModelInfo(classes=np.array(["no", "yes"]))
    model = CompactABNet.from_network(random_network(rng, (3, 4, 1)), info)
    X = rng.normal(size=(50, 3))
    F, p = model.decision_function(X), model.predict_proba(X)
    np.testing.assert_allclose(p.sum(1), 1)
    np.testing.assert_allclose(p[:, 1] - p[:, 0], F, atol=1e-15)
    np.testing.assert_array_equal(model.predict(X) == "yes", F >= 0)


def test_sparse_integer_and_single_precision_rows_are_taken(rng: np.random.Generator) -> None:
    model = CompactABNet.from_network(random_network(rng, (3, 4, 1)))
    X = rng.integers(0, 3, (30, 3))
    expected = model.decision_function(X.astype(float))
    same: Any
    for same in (X, X.astype(np.float32), csr_array(X), X.tolist()):
        np.testing.assert_array_equal(model.decision_function(same), expected)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([[1.0, 2.0]], r"shape \(1, 2\).*\(rows, 3\)"),
        ([1.0, 2.0, 3.0], r"shape \(3,\)"),
        ([[1.0, np.nan, 2.0]], "NaN, infinity or a value too large for float32 in row 0"),
        ([[1.0, 2.0, 3.0], [np.inf, 0.0, 0.0]], "NaN, infinity or a value too large for float32 in row 1"),
        ([["a", "b", "c"]], "expects numbers"),
    ],
)
def test_impossible_rows_are_refused(rows: list, message: str, rng: np.random.Generator) -> None:
    for kind in (CompactABNet, CompactMAP, MeanFieldNetwork):
        with pytest.raises(ValueError, match=message):
            kind.from_network(random_network(rng, (3, 4, 1))).predict(rows)


def test_huge_but_finite_rows_have_a_score(rng: np.random.Generator) -> None:
    bam = random_network(rng, (2, 3, 1))
    direction = rng.normal(size=(1, 2))
    far = CompactABNet.from_network(bam).decision_function(1e37 * direction)
    np.testing.assert_allclose(far, CompactABNet.from_network(bam).decision_function(1e8 * direction), atol=1e-6)
    with pytest.raises(ValueError, match="too large for float32"):
        CompactABNet.from_network(bam).decision_function(1e200 * direction)


def test_no_rows_give_no_scores(rng: np.random.Generator) -> None:
    assert CompactABNet.from_network(random_network(rng, (3, 4, 1))).predict(np.empty((0, 3))).shape == (0,)


def test_prediction_imports_neither_jax_nor_sklearn() -> None:
    program = """
import sys, numpy as np
from abnet import BAM, CompactABNet
net = BAM.init(np.random.default_rng(0), (3, 4, 2, 1))
CompactABNet.from_network(net).predict(np.ones((5, 3)))
print([name for name in ("jax", "sklearn", "pandas", "optax") if name in sys.modules])
"""
    out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"
