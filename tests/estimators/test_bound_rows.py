"""Which rows a certificate is computed on: witnesses other than the split itself."""

from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.preprocessing import StandardScaler

import abnet
from estimators.worlds import classifier

N = 60


def numbered(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Rows whose last column is their number."""
    y = rng.integers(0, 2, N)
    X = rng.normal(size=(N, 2)) + 1.5 * y[:, None]
    return np.column_stack([X, np.arange(N)]), y


class Witness(TransformerMixin, BaseEstimator):
    """Takes the numbers away, and remembers those that it was fitted on."""

    def fit(self, X: Any, y: Any = None) -> "Witness":
        self.seen_ = X[:, -1].astype(int)
        return self

    def transform(self, X: Any) -> Any:
        return X[:, :-1]


@pytest.mark.parametrize("posterior", ["train", "frozen"])
@pytest.mark.parametrize("fraction", [0.2, 0.5, 0.75])
def test_the_bound_rows_are_those_that_the_preparation_never_saw(
    posterior: str, fraction: float, rng: np.random.Generator
) -> None:
    X, y = numbered(rng)
    clf = classifier(3, preprocessor=Witness(), posterior=posterior, prior_fraction=fraction, max_iter=1).fit(X, y)
    seen = clf.preprocessor_.seen_
    assert len(seen) == round(fraction * N)
    assert set(clf.bound_rows_) == set(range(N)) - set(seen)
    np.testing.assert_array_equal(clf.other_rows_, seen)
    assert len(clf.bound_rows_) == clf.certificate_.n_examples


@pytest.mark.parametrize("settings", [{}, {"posterior": "frozen"}, {"prior": "init"}, {"objective": "loss"}], ids=str)
def test_the_certificate_can_be_counted_again_on_the_bound_rows(
    settings: dict[str, Any], rng: np.random.Generator
) -> None:
    X, y = numbered(rng)
    X = X[:, :-1]
    clf = classifier(0, max_iter=3, **settings).fit(X, y)
    rows = clf.bound_rows_
    signs = 2.0 * y[rows] - 1
    risk = np.mean((1 - signs * clf.decision_function(X[rows])) / 2)
    assert clf.certificate_.empirical_gibbs_risk == pytest.approx(risk, abs=1e-12)
    assert [part.n_examples for part in clf.certificate_.per_class] == np.bincount(y[rows], minlength=2).tolist()
    others = np.setdiff1d(np.arange(N), rows)
    assert set(clf.other_rows_) == set(others)
    share = {"init": 0, "loss": 0.2}.get(next(iter(settings.values()), ""), 0.5)
    assert len(others) == round(share * N)


def test_labels_of_the_bound_rows_do_not_reach_a_frozen_network(rng: np.random.Generator) -> None:
    X, y = numbered(rng)
    clf = classifier(0, posterior="frozen", max_iter=3).fit(X[:, :-1], y)

    def weights(flipped: np.ndarray) -> np.ndarray:
        again = classifier(0, posterior="frozen", max_iter=3)
        labels = y.copy()
        labels[flipped] = 1 - labels[flipped]
        return np.asarray(again.fit(X[:, :-1], labels).network_.weights[0])

    np.testing.assert_array_equal(weights(clf.bound_rows_), clf.network_.weights[0])
    assert np.any(weights(clf.other_rows_[:1]) != clf.network_.weights[0])


@pytest.mark.parametrize(
    "kind", [abnet.ABNetClassifier, abnet.PBGNetClassifier, abnet.EBPClassifier, abnet.BNNClassifier]
)
def test_the_fitted_preprocessor_makes_the_inputs_of_the_predictor(kind: Any, rng: np.random.Generator) -> None:
    X, y = numbered(rng)
    given = StandardScaler()
    clf = kind((2,), preprocessor=given, max_iter=1, random_state=0).fit(X, y)
    assert not hasattr(given, "mean_")  # what the caller gave is left as it was
    prepared = clf.preprocessor_.transform(X)
    np.testing.assert_array_equal(clf.predictor_.score_prepared(prepared), clf.decision_function(X))
    if hasattr(clf, "other_rows_"):
        np.testing.assert_allclose(clf.preprocessor_.mean_, X[clf.other_rows_].mean(axis=0), rtol=1e-12)
    assert kind((2,), preprocessor=None, max_iter=1, random_state=0).fit(X, y).preprocessor_ is None
