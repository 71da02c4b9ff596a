"""Scikit-learn's checks of the classifiers that are not checked in the fast tests."""

from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from abnet import ABNetClassifier
from abnet.estimators.search import ABNetSearch
from estimators.test_every_classifier import BC, BNN, NETWORK, PBGNET, expected_failures

SEARCH = ABNetSearch(
    ABNetClassifier((2,), posterior="train", max_iter=5, random_state=0), {"learning_rate_init": [0.1, 0.01]}
)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks([NETWORK, PBGNET, BC, BNN, SEARCH], expected_failed_checks=expected_failures)
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    check(estimator)
