"""Measures of answers against scikit-learn's, and against counting one by one."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix, log_loss

from abnet.certificates.fitted_rows import row_filter
from abnet.model.card import Card
from abnet.model.model import Model
from abnet.model.performance_measures import interval
from abnet.report.measures import calibration_bins, measure_rows, risk_by_coverage
from export import models


def judged(kind: str, n: int = 300) -> tuple[Model, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    model = models.model(kind, 4, calibration=models.calibrated())
    X = rng.normal(size=(n, 4))
    codes = model.predictor.votes(X)
    wrong = rng.random(n) < 0.3
    codes[wrong] = rng.integers(model.n_classes, size=int(wrong.sum()))
    return model, X, codes


@pytest.mark.parametrize("kind", ["compact", "mixture", "classes"])
def test_against_scikit_learn(kind: str) -> None:
    model, X, codes = judged(kind)
    found = measure_rows(model, X, codes).measures
    labels = list(range(model.n_classes))
    assert found.confusion.tolist() == confusion_matrix(codes, model.predictor.votes(X), labels=labels).tolist()
    assert found.errors == int(np.sum(model.predictor.votes(X) != codes))
    np.testing.assert_allclose(found.log_loss or 0.0, log_loss(codes, model.predict_proba(X), labels=labels))
    assert found.base_rate == pytest.approx(1 - np.bincount(codes).max() / len(codes))
    assert found.low < found.error < found.high


def test_bins_one_by_one() -> None:
    rng = np.random.default_rng(2)
    said = rng.random(500)
    true = rng.random(500) < 0.4
    said[:2] = 0.0, 1.0
    for place, found in enumerate(calibration_bins(said, true)):
        inside = [i for i in range(500) if min(int(said[i] * 10), 9) == place]
        assert found.n_rows == len(inside)
        assert found.predicted == pytest.approx(sum(said[i] for i in inside) / len(inside))
        assert found.observed == pytest.approx(sum(bool(true[i]) for i in inside) / len(inside))
        assert found.low <= found.observed <= found.high


def test_calibration_error_one_by_one() -> None:
    model, X, codes = judged("mixture")
    top = model.predict_proba(X).max(axis=1)
    right = model.predict_proba(X).argmax(axis=1) == codes
    gap = 0.0
    for place in range(15):
        inside = [i for i in range(len(top)) if min(int(top[i] * 15), 14) == place]
        gap += abs(sum(top[i] for i in inside) - sum(bool(right[i]) for i in inside)) / len(top)
    assert measure_rows(model, X, codes).measures.calibration_error == pytest.approx(gap)


@pytest.mark.parametrize("tied", [False, True])
def test_risk_at_every_coverage_one_by_one(tied: bool) -> None:
    rng = np.random.default_rng(3)
    sure = rng.random(200)
    wrong = rng.random(200) < 0.2
    if tied:
        sure = sure.round(1)
    else:
        sure = sure
    shares, risks = risk_by_coverage(sure, wrong)
    possible = {}
    for threshold in sure:
        above = sure >= threshold
        possible[float(above.mean())] = float(wrong[above].mean())
    assert shares[-1] == 1.0
    assert len(shares) == (len(possible) if tied else 40)
    assert all(possible[share] == pytest.approx(risk) for share, risk in zip(shares, risks, strict=True))


def test_the_interval_covers_the_rate() -> None:
    """In at least 95 % of samples: by enumeration, with the probability of every count."""
    from scipy.stats import binom

    n = 40
    rate = 0.13
    inside = sum(binom.pmf(k, n, rate) for k in range(n + 1) if interval(k, n)[0] <= rate <= interval(k, n)[1])
    assert inside >= 0.95
    assert interval(0, n)[0] == 0.0
    assert interval(n, n)[1] == 1.0


def test_labels_that_the_model_does_not_know_are_errors() -> None:
    model, X, codes = judged("compact")
    codes[:10] = -1
    found = measure_rows(model, X, codes).measures
    assert found.confusion.shape == (3, 2)
    assert found.confusion[2].sum() == 10
    assert found.errors == int(np.sum(model.predictor.votes(X) != codes))


@pytest.mark.parametrize("kind", ["mixture", "classes"])
def test_rows_that_were_fitted_are_found(kind: str) -> None:
    model, X, codes = judged(kind)
    assert measure_rows(model, X, codes).measures.n_fitted is None
    if model.n_classes == 2:
        marks = 2.0 * codes - 1
    else:
        marks = codes.astype(float)
    model = replace(model, card=Card(row_filter=row_filter(X[:100], marks[:100])))
    found = measure_rows(model, X, codes).measures
    assert 100 <= (found.n_fitted or 0) <= 103
    assert found.were_fitted
    new = measure_rows(model, X[150:], codes[150:]).measures
    assert not new.were_fitted
    assert new.n_fitted is not None


def test_no_row_is_no_report() -> None:
    model, X, _ = judged("compact")
    with pytest.raises(ValueError, match="label"):
        measure_rows(model, X[:0], np.zeros(0, np.intp))


def test_a_model_without_probabilities_has_none_of_their_measures() -> None:
    model = models.model("drawn", 4)
    X = np.random.default_rng(1).normal(size=(50, 4))
    found = measure_rows(model, X, model.predictor.votes(X)).measures
    assert found.log_loss is found.calibration_error is None
    assert found.bins == ()
    assert found.errors == 0
