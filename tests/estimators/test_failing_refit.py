"""A fit that fails leaves nothing behind: neither the last fit's certificate, nor half of a new one."""

from typing import Any

import numpy as np
import pytest

import abnet
from abnet.certificates.goals import TargetRecall
from abnet.estimators.search import ABNetSearch

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 3))
Y = np.where(X[:, 0] > 0, "ill", "well")


class Failing:
    """A teacher that cannot learn from rows with a large first cell."""

    def __init__(self) -> None:
        pass

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {}

    def set_params(self) -> "Failing":
        return self

    def fit(self, X: Any, y: Any) -> "Failing":
        if np.max(X) > 1e3:
            raise OSError("no room")
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X: Any) -> Any:
        return np.full((len(X), len(self.classes_)), 1 / len(self.classes_))


def fitted_names(estimator: Any) -> list[str]:
    return [name for name in vars(estimator) if name.endswith("_")]


SMALL: dict[str, Any] = {"max_iter": 1, "random_state": 0}
ESTIMATORS: dict[str, Any] = {
    "network": lambda: abnet.ABNetClassifier((2,), **SMALL),
    "mixture": lambda: abnet.CertifiedClassifier((2,), n_estimators=2, **SMALL),
    "pbgnet": lambda: abnet.PBGNetClassifier((2,), **SMALL),
    "baseline": lambda: abnet.EBPClassifier((2,), **SMALL),
    "search": lambda: ABNetSearch(abnet.ABNetClassifier((2,), **SMALL), {"hidden_layer_sizes": [(2,), (3,)]}),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ESTIMATORS)
def test_rows_that_are_refused(kind: str) -> None:
    estimator = ESTIMATORS[kind]().fit(X, Y)
    assert fitted_names(estimator)
    with pytest.raises(ValueError, match="class"):
        estimator.fit(X, np.full(80, "ill"))
    assert fitted_names(estimator) == []


@pytest.mark.filterwarnings("ignore")
def test_a_fit_that_fails_half_way() -> None:
    """The parts had been drawn by then: they stood beside the certificate of the first fit."""
    clf = abnet.CertifiedClassifier((2,), teacher=Failing(), **SMALL).fit(X, Y)
    assert clf.certificate_ is not None
    with pytest.raises(OSError, match="no room"):
        clf.fit(1e6 * np.tile(X, (2, 1)), np.tile(Y, 2))
    assert fitted_names(clf) == []


@pytest.mark.filterwarnings("ignore")
def test_a_decision_that_fails() -> None:
    clf = abnet.CertifiedClassifier((2,), n_estimators=2, **SMALL).fit(X, Y)
    clf.set_params(decision=TargetRecall(0.9, positive="sick"))
    with pytest.raises(ValueError, match="sick"):
        clf.fit(X, Y)
    assert fitted_names(clf) == []


def test_weights_of_unknown_classes() -> None:
    clf = abnet.CertifiedClassifier((2,), class_weight={"ill": 2.0, "wel": 1.0}, **SMALL)
    with pytest.raises(ValueError, match=r"'wel'.*'ill', 'well'"):
        clf.fit(X, Y)
