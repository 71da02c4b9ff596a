"""Mixtures with four classes keep their promise over hundreds of fits, taught and untaught, frozen and trained."""

from typing import Any

import pytest
from sklearn.tree import DecisionTreeClassifier

from estimators.test_class_promise import DELTA, failures_of_fits
from estimators.worlds import FOUR
from promise import breaks

REPETITIONS = 200
KINDS: dict[str, dict[str, Any]] = {
    "frozen": {"posterior": "frozen"},
    "trained": {"posterior": "train", "learning_rate_init": 0.1},
    "ancestral": {"posterior": "frozen", "aggregation": "ancestral", "n_samples": 5},
    "taught": {"posterior": "frozen", "teacher": DecisionTreeClassifier(random_state=0), "codes": "thermometer"},
}


@pytest.mark.parametrize("world", FOUR)
@pytest.mark.parametrize("kind", KINDS)
def test_certificates_keep_their_promise(world: str, kind: str) -> None:
    failures = failures_of_fits(FOUR[world], REPETITIONS, **KINDS[kind]).tolist()
    print({"Gibbs": failures[0], "vote": failures[1], "classes": failures[2], "of": REPETITIONS})
    for count in failures:
        assert not breaks(count, REPETITIONS, DELTA)
