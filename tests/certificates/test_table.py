"""The certificate as a table: every class beside its own numbers, in natural order."""

import numpy as np

from abnet.certificates.describe import main_table
from abnet.certificates.evidence import observe
from abnet.certificates.from_evidence import certify
from abnet.certificates.terms import Terms


def test_classes_are_listed_in_natural_order_with_their_own_numbers() -> None:
    names = ("c1", "c10", "c2")
    truth = np.repeat([0, 1, 2], [50, 60, 70])
    answers = truth.copy()
    answers[[0, 50, 51, 110, 111, 112]] = [1, 0, 0, 0, 0, 0]
    losses = (answers != truth).astype(float)
    made = certify(observe(answers, truth, names, losses=losses, keys=np.arange(180, dtype=np.uint64)), Terms())
    _, _, *lines = main_table(made, details=True)
    assert [(line[0], line[2]) for line in lines] == [
        ("class c1", "1 of 50"),
        ("class c2", "3 of 70"),
        ("class c10", "2 of 60"),
    ]
