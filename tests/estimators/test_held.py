"""Held rows: what is fixed before the bound rows are seen comes from rows that the model has not learned from."""

from functools import cache
from typing import Any

import numpy as np
import pytest

from abnet import ABNetClassifier, CertifiedClassifier
from abnet.certificates.goals import Costs, Goal, TargetError
from abnet.certificates.statements.cost_bound import CostBound
from abnet.certificates.statements.coverage import Coverage
from abnet.certificates.statements.trained_gibbs_bound import TrainedGibbsBound
from promised import promised

COSTS = {("ill", "well"): 5.0, ("well", "ill"): 1.0}
MADE: dict[str, dict[str, Any]] = {
    "taught": {"hidden_layer_sizes": (8,), "n_estimators": 4, "teacher": "forest"},
    "untaught": {"hidden_layer_sizes": (10,), "n_estimators": 4},
    "one network": {"hidden_layer_sizes": (10, 10)},
    "weighted": {"hidden_layer_sizes": (10,), "n_estimators": 4, "class_weight": "balanced"},
}


def world() -> tuple[Any, Any]:
    """Of 20 columns two matter: labels can be learned by heart, and the error on new rows stays above .1."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(600, 20)).astype(np.float32)
    ill = rng.random(600) < 1 / (1 + np.exp(-4 * X[:, 0] - 2 * X[:, 1]))
    return X, np.where(ill, "ill", "well")


@cache
def fitted(made: str, target_error: float | None = None) -> Any:
    X, y = world()
    goal: Goal = Costs(COSTS)
    if target_error is not None:
        goal = TargetError(target_error)
    return CertifiedClassifier(random_state=1, decision=goal, **MADE[made]).fit(X, y)


@pytest.mark.parametrize("made", MADE)
def test_held_rows_show_the_error_on_new_rows(made: str) -> None:
    X, y = world()
    clf = fitted(made)
    first = np.mean(clf.vote(X[clf.other_rows_]) != y[clf.other_rows_])
    new = promised(clf).empirical_error
    assert first < 0.8 * new  # learned by heart in part
    assert clf.held_.error > first
    assert abs(clf.held_.error - new) < 3 * np.sqrt(new * (1 - new) / len(clf.held_.codes))


@pytest.mark.parametrize("made", ["taught", "untaught"])
def test_thresholds_come_from_the_held_rows(made: str) -> None:
    """From the rows that were learned, the error target was never met, and the costs were half as high again."""
    abstaining = fitted(made, 0.1)
    assert abstaining.model_.decision.kind == "abstain"
    (coverage,) = promised(abstaining).each(Coverage)
    assert coverage.answered > 0.5 * coverage.n
    assert fitted(made).certificate_.find(CostBound).value < 0.45


def test_the_constant_of_the_bound_comes_from_the_held_rows() -> None:
    X, y = world()
    clf = ABNetClassifier((3,), random_state=1, posterior="train", max_iter=20).fit(X, y)
    seen = promised(clf).find(TrainedGibbsBound)
    assert seen.expected_risk == pytest.approx(clf.held_.expected().risk)
    assert clf.held_.loss > 0.15
