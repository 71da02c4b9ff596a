"""Which rows a certificate is computed on: witnesses other than the split itself."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.preprocessing import StandardScaler

import abnet
from abnet.certificates.goals import Costs
from abnet.certificates.statements.cost_bound import CostBound
from estimators.worlds import classifier
from promised import promised

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
    assert len(clf.bound_rows_) == promised(clf).facts.n_rows


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
    assert promised(clf).empirical_gibbs_risk == pytest.approx(risk, abs=1e-12)
    assert [part.n_examples for part in promised(clf).per_class] == np.bincount(y[rows], minlength=2).tolist()
    others = np.setdiff1d(np.arange(N), rows)
    assert set(clf.other_rows_) == set(others)
    share = {"init": 0, "loss": 0.2}.get(next(iter(settings.values()), ""), 0.5)
    assert len(others) == round(share * N)


def test_labels_of_the_bound_rows_do_not_reach_a_frozen_network(rng: np.random.Generator, split_as: Any) -> None:
    X, y = numbered(rng)
    split_as(X, y)
    clf = classifier(0, posterior="frozen", max_iter=30).fit(X[:, :-1], y)

    def weights(flipped: np.ndarray) -> np.ndarray:
        again = classifier(0, posterior="frozen", max_iter=30)
        labels = y.copy()
        labels[flipped] = 1 - labels[flipped]
        return np.asarray(again.fit(X[:, :-1], labels).network_.weights[0])

    np.testing.assert_array_equal(weights(clf.bound_rows_), clf.network_.weights[0])
    assert np.any(weights(clf.other_rows_[:20]) != clf.network_.weights[0])


@pytest.mark.parametrize(
    "kind", [abnet.ABNetClassifier, abnet.PBGNetClassifier, abnet.EBPClassifier, abnet.BNNClassifier]
)
def test_the_fitted_preprocessor_makes_the_inputs_of_the_predictor(kind: Any, rng: np.random.Generator) -> None:
    X, y = numbered(rng)
    given = StandardScaler()
    clf = kind((2,), preprocessor=given, max_iter=1, random_state=0).fit(X, y)
    assert not hasattr(given, "mean_")  # what the caller gave is left as it was
    prepared = clf.preprocessor_.transform(X)
    np.testing.assert_array_equal(clf.model_.predictor.scores(prepared), clf.decision_function(X))
    if hasattr(clf, "other_rows_"):
        np.testing.assert_allclose(clf.preprocessor_.mean_, X[clf.other_rows_].mean(axis=0), rtol=1e-12)
    assert kind((2,), preprocessor=None, max_iter=1, random_state=0).fit(X, y).preprocessor_ is None


def labelled(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    X, y = numbered(rng)
    return X[:, :-1], np.where(y == 1, "yes", "no").astype(object)


@pytest.mark.parametrize("settings", [{}, {"posterior": "train"}, {"aggregation": "ancestral"}], ids=str)
def test_a_label_that_bound_rows_alone_have_is_an_error_and_no_class(
    settings: dict[str, Any], rng: np.random.Generator, split_as: Any
) -> None:
    """It must not make the network one of three classes: the first part alone decides that."""
    X, y = labelled(rng)
    split_as(X, y)
    clf = abnet.ABNetClassifier((2,), max_iter=3, random_state=0, **settings).fit(X, y)
    row = clf.bound_rows_[0]
    y[row] = "perhaps"
    # a trained posterior has seen them
    kind = "held-out"
    if settings.get("posterior"):
        kind = "bound"
    with pytest.warns(UserWarning, match=f"1 {kind} row"):
        again = abnet.ABNetClassifier((2,), max_iter=3, random_state=0, **settings).fit(X, y)
    assert again.classes_.tolist() == ["no", "yes"]
    assert promised(again).facts.classes == ("no", "yes", "another label")
    parts = promised(again).per_class
    assert [part.n_examples for part in parts] == [*(np.sum(y[clf.bound_rows_] == name) for name in ("no", "yes")), 1]
    if not settings.get("posterior"):
        np.testing.assert_array_equal(again.network_.weights[0], clf.network_.weights[0])
        assert sum(promised(again).facts.class_errors) == np.sum(
            again.predict(X[clf.bound_rows_]) != y[clf.bound_rows_]
        )
        assert parts[2].vote_errors == 1
    assert parts[2].gibbs_risk_bound == 1.0
    promised(again).check()


def test_declared_classes_decide_whatever_the_rows_hold(rng: np.random.Generator, split_as: Any) -> None:
    X, y = labelled(rng)
    split_as(X, y)
    clf = abnet.ABNetClassifier((2,), classes=["no", "yes"], max_iter=2, random_state=0)
    first = clf.fit(X, y).other_rows_[0]
    y[first] = "perhaps"
    with pytest.raises(ValueError, match="no, yes"):
        clf.fit(X, y)


def paid(clf: Any) -> float:
    """Costs of all bound rows together."""
    (cost,) = promised(clf).each(CostBound)
    return cost.mean * cost.largest * cost.n


def test_the_first_part_decides_about_thresholds_and_costs_too(rng: np.random.Generator, split_as: Any) -> None:
    """A bound row whose label is not known costs as much as anything can; it is no negative row."""
    X, y = labelled(rng)
    split_as(X, y)
    costs = {("yes", "no"): 10.0, ("no", "yes"): 1.0}
    clf = abnet.CertifiedClassifier((2,), max_iter=2, random_state=0, decision=Costs(costs))
    rows = clf.fit(X, y).bound_rows_
    before = paid(clf)
    decided = clf.predict(X[rows])
    right = rows[np.flatnonzero((decided == "no") & (y[rows] == "no"))[0]]
    y[right] = "perhaps"
    with pytest.warns(UserWarning, match="label"):
        clf.fit(X, y)
    assert paid(clf) == pytest.approx(before + 10.0)


@pytest.mark.parametrize(("widths", "gap"), [("auto", np.nan), ((2,), np.nan), ((2,), "NA")], ids=str)
def test_a_gap_that_bound_rows_alone_have_changes_nothing_else(
    widths: Any, gap: Any, rng: np.random.Generator, split_as: Any
) -> None:
    """How a frame is prepared is decided by its type and the first part, not by a cell that may be a bound row's.

    A text for a gap makes a column of pandas one of objects, all of it.
    """
    X, y = labelled(rng)
    frame = pd.DataFrame(X, columns=["a", "b"])
    split_as(X, y)

    def fitted(frame: Any) -> Any:
        few: dict[str, Any] = {"n_estimators": 2} if widths == "auto" else {}
        return abnet.CertifiedClassifier(widths, teacher=None, max_iter=2, random_state=0, **few).fit(frame, y)

    clf = fitted(frame)
    if isinstance(gap, float):
        holed = frame.copy()
    else:
        holed = frame.astype({"a": object})
    holed.loc[clf.bound_rows_[0], "a"] = gap
    again = fitted(holed)
    np.testing.assert_array_equal(again.network_.weights[0], clf.network_.weights[0])
    np.testing.assert_array_equal(again.decision_function(frame), clf.decision_function(frame))
    assert np.isfinite(again.decision_function(holed)).all()
    if widths != "auto":  # whoever shapes the network has its numbers as they are
        by_array = abnet.CertifiedClassifier(widths, teacher=None, max_iter=2, random_state=0).fit(X, y)
        np.testing.assert_array_equal(by_array.decision_function(X), clf.decision_function(frame))
    assert promised(again).facts.n_rows == len(clf.bound_rows_)


@pytest.mark.parametrize(
    "make",
    [
        lambda **seed: abnet.ABNetClassifier((2,), max_iter=3, **seed),
        lambda **seed: abnet.CertifiedClassifier(n_estimators=2, teacher=None, max_iter=3, **seed),
    ],
    ids=["network", "mixture"],
)
def test_the_same_rows_in_another_order_give_the_same_model(make: Any, rng: np.random.Generator) -> None:
    X, y = labelled(rng)
    shuffled = rng.permutation(N)
    one = make().fit(X, y)
    other = make(random_state=one.seed_).fit(X[shuffled], y[shuffled])
    assert other.certificate_ == one.certificate_
    np.testing.assert_array_equal(other.predict_proba(X), one.predict_proba(X))
    np.testing.assert_array_equal(shuffled[other.bound_rows_], one.bound_rows_)
