"""Scikit-learn's checks of the two comparison methods that share all but the learner with EBP."""

from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from estimators.test_every_classifier import CLASSIFIERS, expected_failures


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks(CLASSIFIERS[-2:], expected_failed_checks=expected_failures)
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    check(estimator)
