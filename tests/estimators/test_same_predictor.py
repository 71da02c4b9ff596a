"""What is certified is what predicts: same rows, same bits, same order of columns, same words."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.preprocessing import StandardScaler

from abnet import ABNetClassifier, PBGNetClassifier
from abnet.networks import pbgnet

SMALL: dict[str, Any] = {"max_iter": 6, "random_state": 0}


def far_away(rng: np.random.Generator, n: int = 200) -> tuple[np.ndarray, np.ndarray]:
    """Float64 rows whose information float32 would round away before scaling."""
    y = rng.integers(0, 2, n)
    return (1e8 + 6.0 * y + 0.4 * rng.normal(size=n))[:, None] * np.array([[1.0, 2.0]]), y


@pytest.mark.parametrize("preprocessor", ["standardise", StandardScaler(), None], ids=str)
@pytest.mark.parametrize("aggregation", ["exact", "ancestral"])
def test_the_certificate_counts_the_errors_of_predict(
    preprocessor: Any, aggregation: str, rng: np.random.Generator
) -> None:
    X, y = far_away(rng)
    clf = ABNetClassifier((2,), preprocessor=preprocessor, aggregation=aggregation, **SMALL).fit(X, y)
    certificate = clf.certificate_
    assert certificate is not None
    bound = clf.bound_rows_  # which rows these are: test_bound_rows
    assert sum(certificate.facts.class_errors) == np.sum(clf.predict(X[bound]) != y[bound])
    if aggregation == "exact":
        signs = np.where(y[bound] == 1, 1.0, -1.0)
        risk = np.mean((1 - signs * clf.decision_function(X[bound])) / 2)
        assert certificate.empirical_gibbs_risk == pytest.approx(risk, abs=1e-15)
    drawn = clf.draw_network()
    assert drawn.certificate is not None
    assert sum(drawn.certificate.facts.class_errors) == np.sum(drawn.predict(X[bound]) != y[bound])


def test_weights_of_the_bound_rows_do_not_reach_the_prior(rng: np.random.Generator) -> None:
    X = rng.normal(size=(100, 2))
    y = rng.integers(0, 2, 100)
    bound = ABNetClassifier((2,), **SMALL).fit(X, y).bound_rows_
    weights = rng.random(100)
    heavy = weights.copy()
    heavy[bound] *= 1e50
    one, other = (ABNetClassifier((2,), **SMALL).fit(X, y, sample_weight=w) for w in (weights, heavy))
    for a, b in zip(one.prior_.weights, other.prior_.weights, strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(one.bound_rows_, bound)


def test_columns_of_a_frame_are_taken_by_name(rng: np.random.Generator) -> None:
    frame = pd.DataFrame(rng.normal(size=(80, 3)), columns=["a", "b", "c"])
    y = (frame["a"] > 0).to_numpy()
    clf = ABNetClassifier((2,), preprocessor="standardise", **SMALL).fit(frame, y)
    for model in (clf.model_, clf.draw_network()):
        np.testing.assert_array_equal(model.predict(frame[["c", "a", "b"]]), model.predict(frame))
        with pytest.raises(ValueError, match="'b'"):
            model.predict(frame[["a", "c"]])


def test_sparse_rows_are_certified_too(rng: np.random.Generator) -> None:
    X = rng.normal(size=(80, 2))
    y = rng.integers(0, 2, 80)
    clf = ABNetClassifier((2,), preprocessor="standardise", **SMALL).fit(csr_array(X), y)
    assert clf.certify(csr_array(X + 0.01), y) == clf.certify(X + 0.01, y)


@pytest.mark.parametrize("hidden", [(3, 3), (30,)], ids=str)
def test_a_sampled_pbgnet_is_certified_by_its_expected_output(
    hidden: tuple[int, ...], rng: np.random.Generator
) -> None:
    X = rng.normal(size=(120, 5))
    y = rng.integers(0, 2, 120)
    clf = PBGNetClassifier(hidden, aggregation="sampled", n_samples=2, **SMALL).fit(X, y)
    X = X + 0.01  # rows that neither learned from
    rows = X.astype(np.float32).astype(np.float64)
    F = pbgnet.expected_output(clf.network_.astype(np.float64), rows)
    risk = np.mean((1 - np.where(y == 1, 1.0, -1.0) * F) / 2)
    assert clf.certify(X, y).empirical_gibbs_risk == pytest.approx(risk, abs=1e-11)
