"""Scikit-learn's checks of the classifiers that are not checked in the fast tests."""

from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from estimators.test_every_classifier import BC, BNN, NETWORK, PBGNET, expected_failures


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks([NETWORK, PBGNET, BC, BNN], expected_failed_checks=expected_failures)
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    check(estimator)
