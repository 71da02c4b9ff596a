"""Mixtures with four classes keep their promise over hundreds of fits, taught and untaught, frozen and trained."""

from typing import Any

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from abnet import ABNetClassifier, CertifiedClassifier
from abnet.bounds import clopper_pearson_bound
from abnet.model.predictors.compact import Compact
from abnet.networks.codebook import code_words
from broken_promise import breaks
from estimators.test_class_promise import DELTA, broken
from estimators.worlds import FOUR, POINTS, FourClasses

REPETITIONS = 200
MUTANTS = 90
KINDS: dict[str, dict[str, Any]] = {
    "frozen": {"posterior": "frozen"},
    "trained": {"posterior": "train", "learning_rate_init": 0.1},
    "ancestral": {"posterior": "frozen", "aggregation": "ancestral", "n_samples": 5},
    "taught": {"teacher": DecisionTreeClassifier(random_state=0), "codes": "thermometer"},
}


def fitted(world: FourClasses, seed: int, **settings: Any) -> Any:
    """A network fitted to a fresh sample, all four classes declared."""
    options: dict[str, Any] = {"max_iter": 4, "delta": DELTA, "preprocessor": None, "random_state": seed, **settings}
    if "teacher" in settings:
        taught = CertifiedClassifier((3,), classes=np.arange(4), **options)
        return taught.fit(*world.draw(np.random.default_rng([seed, 5])))
    clf = ABNetClassifier((3,), classes=np.arange(4), code_length=3, **options)
    return clf.fit(*world.draw(np.random.default_rng([seed, 5])))


def failures_of_fits(world: FourClasses, repetitions: int, **settings: Any) -> Any:
    """How often Gibbs, vote and classes are false over fits to fresh samples."""
    total: Any = np.zeros(3, int)
    for seed in range(repetitions):
        clf = fitted(world, seed, **settings)
        exact = Compact.from_networks(clf.networks_, code_words(4, clf.network_.sizes[-1])).scores(POINTS)
        total += broken(world, clf.certificate_, exact, clf.decision_function(POINTS))
    return total


@pytest.mark.parametrize("world", FOUR)
@pytest.mark.parametrize("kind", KINDS)
def test_certificates_keep_their_promise(world: str, kind: str) -> None:
    failures = failures_of_fits(FOUR[world], REPETITIONS, **KINDS[kind]).tolist()
    print({"Gibbs": failures[0], "vote": failures[1], "classes": failures[2], "of": REPETITIONS})
    for count in failures:
        assert not breaks(count, REPETITIONS, DELTA)


def test_the_simulation_notices_rows_that_the_teacher_saw() -> None:
    """The twin: errors counted on the first part, which the teacher knows by heart, bound nothing."""
    world = FOUR["noise"]
    failures = 0
    for seed in range(MUTANTS):
        clf = fitted(world, seed, **KINDS["taught"])
        X, y = world.draw(np.random.default_rng([seed, 5]))
        first = clf.other_rows_
        errors = int(np.sum(clf.predict(X[first]) != y[first]))
        bound = clopper_pearson_bound(errors, len(first), DELTA)
        failures += bound < world.vote_error(clf.decision_function(POINTS))
    assert breaks(failures, MUTANTS, DELTA)
