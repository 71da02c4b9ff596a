"""A model that was fitted on groups is not certified by rows that share one, wherever single rows are counted."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import abnet
from abnet.certificates.grouped_rows import GroupedRowsError
from abnet.model.card import Card
from export import models

MODEL = replace(
    models.model("compact", 3, feature_names=("a", "b", "c")), card=Card(n_training_groups=9, group="patient")
)
X = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 3)), columns=["a", "b", "c"])
Y = MODEL.predict(X)


def first_label(rows: Any) -> np.ndarray:
    return np.full(len(rows), Y[0])


@pytest.mark.parametrize(
    "certify",
    [
        abnet.certify,
        lambda model, rows, y: abnet.certify(model.predict, rows, y),
        lambda model, rows, y: abnet.compare_errors(first_label, model, rows, y),
        lambda model, rows, y: abnet.certify_table(model, rows.assign(y=y), truth="y"),
    ],
    ids=["certify", "of its method", "compare_errors", "certify_table"],
)
def test_rows_that_share_a_group_are_refused(certify: Callable[..., Any]) -> None:
    with pytest.raises(GroupedRowsError, match="patient"):
        certify(MODEL, X.assign(patient=np.arange(60) // 2), Y)
    assert certify(MODEL, X.assign(patient=np.arange(60)), Y) is not None


def test_without_their_column_there_is_a_warning() -> None:
    for certify in (abnet.certify, lambda *given: abnet.compare_errors(first_label, *given)):
        with pytest.warns(UserWarning, match="single rows"):
            certify(MODEL, X, Y)
    made: Any = abnet.certify(MODEL, X, Y, groups=np.arange(60) // 2)
    assert made.facts.n_groups == 30
