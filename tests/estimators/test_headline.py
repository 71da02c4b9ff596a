"""The first line about a model that is no better than a constant answer."""

from typing import Any

import numpy as np
import pytest

from abnet.certificates.evidence import observe
from abnet.certificates.from_evidence import certify
from abnet.certificates.terms import Terms
from abnet.estimators.useless_model import useless_message


def headline(errors: tuple[int, int], class_weight: Any, names: tuple[str, str] = ("no", "yes"), **terms: Any) -> str:
    """About a model that counted 900 rows of one class and 100 of another, with these errors."""
    truth = np.repeat([0, 1], [900, 100])
    wrong = np.repeat([True, False, True, False], [errors[0], 900 - errors[0], errors[1], 100 - errors[1]])
    made = certify(observe(np.where(wrong, 1 - truth, truth), truth, names, losses=0.5 * wrong), Terms(**terms))
    return useless_message(made.facts, names, class_weight)


def test_a_model_for_a_rare_class_is_judged_by_what_it_was_made_for() -> None:
    """20% of all rows are wrong, 10% by always answering no; but each class is wrong on 20%, not on 0 and 100%."""
    assert headline((180, 20), None)
    assert not headline((180, 20), "balanced")
    assert not headline((180, 20), {"yes": 9.0})
    assert headline((180, 20), {"yes": 1.5})


@pytest.mark.parametrize("class_weight", [None, "balanced", {"yes": 9.0}])
def test_a_constant_answer_is_useless_whatever_the_weights(class_weight: Any) -> None:
    assert "yes" in headline((900, 0), class_weight)
    assert "no" in headline((0, 100), class_weight)
    assert headline((600, 60), class_weight)


def test_weights_are_found_by_the_names_of_labels() -> None:
    assert not headline((180, 20), {1: 9.0}, ("0", "1"))
    assert headline((180, 20), {0: 9.0}, ("0", "1"))


@pytest.mark.parametrize(("source", "trained"), [("split", True), ("init", True), ("init", False), ("given", False)])
def test_only_rows_of_a_second_part_that_training_did_not_use_are_called_held_out(source: Any, trained: bool) -> None:
    for errors in ((900, 0), (600, 60)):
        assert "held-out" in headline(errors, None)
        assert "held-out" not in headline(errors, None, source=source, trained=trained)
